"""Where the files go."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from monitor.alerts.rule import Rule
from monitor.errors import ConfigurationError
from monitor.prometheus_rules.files import rule_tests, rules_file
from monitor.prometheus_rules.settings import Settings


def write_files(rules: Sequence[Rule], settings: Settings, output: Path | None, tests: Path | None) -> str:
    """Write the rules and, where asked for, their tests; return what is to be printed.

    Parameters
    ----------
    rules, settings
        What the rules are made of.
    output
        Where the rules go; None: they are returned.
    tests
        Where the tests go; None: nowhere. They name the rules by their path from there.

    Raises
    ------
    ConfigurationError
        If a file cannot be written, or the tests have no rules beside them.
    """
    if output is None:
        if tests is not None:
            raise ConfigurationError("--tests needs a file of rules to test; add -o FILE")
        return rules_file(rules, settings)
    _write(output, rules_file(rules, settings))
    if tests is not None:
        _write(tests, rule_tests(rules, settings, os.path.relpath(output, tests.parent)))
    return ""


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}; name another file") from None
