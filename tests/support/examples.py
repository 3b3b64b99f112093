"""What documentation shows: the JSON messages of a page, each with the configuration above it."""

from __future__ import annotations

import re

Block = tuple[str, str]


def blocks(page: str) -> list[Block]:
    """Return (language, text) of every code block."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def examples(page: str) -> list[tuple[str, str]]:
    """Return (configuration, message) of every message; the nearest configuration above it counts."""
    found, config = [], ""
    for language, text in blocks(page):
        if language == "yaml":
            config = text
        elif language == "json":
            found.append((config, text))
    return found
