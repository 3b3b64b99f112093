"""Configurations with a section for the server, and whatever else a test is about."""

from __future__ import annotations

from pathlib import Path

from monitor.config import Config, load_config


def configured(folder: Path, server: str = "", kafka: str = "", rest: str = "") -> Config:
    """Write these options into monitor.yaml of a folder, and load it."""
    path = folder / "monitor.yaml"
    path.write_text(
        f"kafka: {{bootstrap_servers: [a], topics: [t], {kafka}}}\n"
        "models: {fraud: {task: binary, classes: [legit, fraud]}}\n"
        f"server: {{{server}}}\n{rest}\n"
    )
    return load_config(path, {})
