"""What stands in deploy/, read as those read it who run it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.alert_rules import rules
from monitor.config import Config, load_config
from monitor.prometheus_rules import configured, rules_file
from monitor.web.openapi import OPENAPI

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def load(name: str) -> Any:
    """Return the only document of a file."""
    return yaml.safe_load((DEPLOY / name).read_text())


def config(name: str, environ: Mapping[str, str] | None = None) -> Config:
    return load_config(DEPLOY / name, environ or {})


def rules_of(name: str) -> str:
    """Return what `monitor rules` writes for a configuration."""
    loaded = config(name)
    return rules_file(rules(loaded), configured(loaded))


def is_pinned(image: str) -> bool:
    """Whether a reference names one release: at least two numbers, not a tag that moves."""
    return re.fullmatch(r"[\w./-]+(:\d+)?(/[\w./-]+)?:v?\d+\.\d+[\w.-]*", image) is not None


def is_probe(path: str) -> bool:
    """Whether the application answers there to everybody."""
    return "get" in OPENAPI["paths"].get(path, {}) and path in ("/livez", "/readyz")


def installed(name: str) -> str:
    """Return a program, of this environment or of the machine; tests that need one it lacks are skipped."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"needs {name}")
    return found


def succeeds(*command: object) -> str:
    """Return what a command prints; fail where it does."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
