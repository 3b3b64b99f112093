"""What the daemon serves over HTTP: metrics, health, the JSON API and the page."""
