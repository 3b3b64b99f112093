"""Alerts: rules, the state machine that follows them, and what an alert says of itself."""
