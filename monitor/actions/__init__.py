"""What is done about a bad model, and what makes it safe to do it."""
