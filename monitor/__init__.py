"""Watch production classifiers: exact windows and honest numbers from labeled prediction events."""

__version__ = "0.1.0"
