"""What the page of alerts and actions is made of. Pure."""
