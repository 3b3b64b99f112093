"""Files that hold one secret each, such as a token."""

from __future__ import annotations

import os
import stat

from monitor.errors import ConfigurationError

MAX_BYTES = 4096
"""Longest secret; whatever is longer is another file."""


def read_secret_file(path: str, key: str) -> str:
    """Return the secret in a file, without white space around it.

    Parameters
    ----------
    path
        Where it is.
    key
        The key of the configuration that names the file, for messages.

    Raises
    ------
    ConfigurationError
        If the file cannot be read, or holds anything else than one word of printable ASCII, which is what
        an HTTP header can carry. The message never shows what it holds.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1).strip()
    except (OSError, ValueError) as error:  # ValueError: a path with a null byte
        reason = error.strerror if isinstance(error, OSError) else "it is no path"
        raise ConfigurationError(
            f"{key}: {path} cannot be read: {reason}; check the path and its permissions"
        ) from None
    if not content:
        raise ConfigurationError(f"{key}: {path} is empty; write the secret into it")
    if len(content) > MAX_BYTES or not all(33 <= byte <= 126 for byte in content):
        raise ConfigurationError(
            f"{key}: {path} holds no secret, which is one word of up to {MAX_BYTES} ASCII characters; "
            "write one, such as what `openssl rand -hex 32` prints"
        )
    return content.decode("ascii")


def is_public(path: str) -> bool:
    """Return whether every user of this machine may read a file; False where there is none."""
    try:
        return bool(os.stat(path).st_mode & stat.S_IROTH)
    except (OSError, ValueError):
        return False
