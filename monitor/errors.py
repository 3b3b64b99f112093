"""The errors that a user can cause. Each message names the cause and the remedy."""


class MonitorError(Exception):
    """Base of every error that is shown to a user as one message, without a traceback."""

    exit_code = 1


class ConfigurationError(MonitorError):
    """The configuration or the command line cannot be used as it stands."""

    exit_code = 2


class SourceError(MonitorError):
    """A broker, a topic or a file cannot be read; waiting does not help."""
