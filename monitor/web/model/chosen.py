"""What of a model is shown: version, window, segment and class, from the parameters of the request. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from monitor.report import NotInReportError, Report, VersionReport, WindowReport
from monitor.web.links import of_model
from monitor.web.model.values import Values

MatrixMode = Literal["counts", "recall", "precision"]
"""What stands in the cells of a confusion matrix: events, shares of the row, or shares of the column."""

MATRIX_MODES: tuple[MatrixMode, ...] = get_args(MatrixMode)


@dataclass(frozen=True)
class Chosen:
    """One view of one model.

    Attributes
    ----------
    parameters
        As asked, without what has its default; links keep them.
    window
        Of the chosen segment, or over all events.
    whole
        Over all events.
    segments
        Every segment of the same version and window.
    windows
        Segments of every window, by its name; "" is all events.
    versions
        Of the model in the newest report, the newest first: not those that retired.
    class_
        One of the scored classes.
    matrix
        How the confusion matrix is shown.
    confidence_level
        Of the intervals; None where it is not known.
    kept
        Of a version that retired what is known beside its report, as the API gives it; None of others.
    """

    parameters: Mapping[str, str]
    window: WindowReport
    whole: WindowReport
    segments: tuple[WindowReport, ...]
    windows: Mapping[str, Collection[str]]
    versions: tuple[VersionReport, ...]
    class_: str
    matrix: MatrixMode
    confidence_level: float | None
    kept: Mapping[str, Any] | None = None

    @property
    def model(self) -> str:
        """Name."""
        return self.window.model

    @property
    def version(self) -> str:
        """Name, empty where versions have none."""
        return self.window.version

    @cached_property
    def values(self) -> Values:
        """Of the chosen window and segment."""
        return Values(self.window)

    def link(self, **changes: str | None) -> str:
        """Return the address of this view with some parameters changed; `class` is given as `class_`."""
        changed = {name.rstrip("_"): text for name, text in changes.items()}
        return address_of(self.model, {**self.parameters, "version": self.version, **changed})


def address_of(model: str, parameters: Mapping[str, str | None]) -> str:
    """Return the address of a model's page."""
    others = {
        f"{name}_": text for name, text in parameters.items() if name not in ("model", "version", "window")
    }
    return of_model(model, parameters.get("version"), parameters.get("window"), **others)


def from_report(report: Report, parameters: Mapping[str, str]) -> Chosen:
    """Return what is asked for of the newest report.

    Raises
    ------
    NotInReportError
        Names what is unknown, and what is known.
    """
    model = parameters["model"]
    versions = live_versions(report, model)
    if not versions:
        raise NotInReportError("model", model, (version.model for version in report.versions))
    version = parameters.get("version", versions[0].version)
    known = report.select(model, version, segment=None)
    return _chosen(known, parameters, versions, report.confidence_level)


def from_kept(
    kept: Mapping[str, Any],
    windows: Sequence[WindowReport],
    versions: tuple[VersionReport, ...],
    parameters: Mapping[str, str],
) -> Chosen:
    """Return what is asked for of the last report of a version that retired; raises as `from_report`."""
    return _chosen(windows, parameters, versions, kept.get("confidence_level"), kept)


def live_versions(report: Report, model: str) -> tuple[VersionReport, ...]:
    """Return the versions of a model in a report, the newest first."""
    found = (version for version in report.versions if version.model == model)
    return tuple(sorted(found, key=lambda version: -version.since))


def _chosen(
    known: Sequence[WindowReport],
    parameters: Mapping[str, str],
    versions: tuple[VersionReport, ...],
    confidence_level: float | None,
    kept: Mapping[str, Any] | None = None,
) -> Chosen:
    windows: defaultdict[str, dict[str, WindowReport]] = defaultdict(dict)
    for each in known:
        windows[each.window][each.segment] = each
    name = _one_of("window", parameters.get("window", next(iter(windows))), windows)
    of_window = windows[name]
    window = of_window[_one_of("segment", parameters.get("segment", ""), of_window)]
    default = window.scored[0]
    class_ = _one_of("class", parameters.get("class") or default, window.scored)
    matrix = _one_of("matrix", parameters.get("matrix", "counts"), MATRIX_MODES)
    return Chosen(
        {name: text for name, text in parameters.items() if (name, text) not in _DEFAULTS},
        window,
        of_window[""],
        tuple(segment for key, segment in of_window.items() if key),
        windows,
        versions,
        class_,
        next(mode for mode in MATRIX_MODES if mode == matrix),
        confidence_level,
        kept,
    )


_DEFAULTS = {("segment", ""), ("class", ""), ("matrix", "counts")}


def _one_of(what: str, name: str, known: Mapping[str, object] | Sequence[str]) -> str:
    if name not in known:
        raise NotInReportError(what, name, known)
    return name
