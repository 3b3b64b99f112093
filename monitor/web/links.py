"""Addresses of pages, charts and reports, relative to the page's root; every view can be shared. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from monitor.report import WindowReport


def address(path: str, parameters: Mapping[str, str | None]) -> str:
    """Return a path with those of the parameters that are not None."""
    query = urlencode({name: text for name, text in parameters.items() if text is not None})
    return f"{path}?{query}" if query else path


def of_model(model: str, version: str | None = None, window: str | None = None, **others: str | None) -> str:
    """Return where a model is shown; a parameter called `class` is given as `class_`."""
    parameters = {"model": model, "version": version, "window": window}
    return address("model", parameters | {name.rstrip("_"): text for name, text in others.items()})


def of_chart(name: str, window: WindowReport, class_: str) -> str:
    """Return where a chart is on its own."""
    return address(f"charts/{name}.svg", {**_scope(window), "class": class_})


def of_report(window: WindowReport, format: str) -> str:
    """Return where the numbers of a window are; `format` is "json" or "csv"."""
    curves = "true" if format == "json" else None
    scope = _scope(window) | {"segment": window.segment}
    return address("api/v1/report", {**scope, "format": format, "curves": curves})


def of_history(model: str, version: str, window: str) -> str:
    """Return where the past of a window is."""
    return address("api/v1/history", {"model": model, "version": version, "window": window})


def _scope(window: WindowReport) -> dict[str, str]:
    return {"model": window.model, "version": window.version, "window": window.window}
