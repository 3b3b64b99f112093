"""What can be told and changed where no daemon answers: its checkpoints, and reports of what retired."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from monitor.archive import Archive, complete_report
from monitor.checkpoint.errors import CheckpointError
from monitor.checkpoint.folder import Folder
from monitor.checkpoint.tree import Tree
from monitor.client import NoDaemonError, ReportFormat, fetch_report, rendered
from monitor.clock import Clock, SystemClock
from monitor.config import Config
from monitor.errors import MonitorError
from monitor.memory.cut import cut
from monitor.memory.restore import Past, restore
from monitor.report import NotInReportError, Report
from monitor.report_csv import report_csv
from monitor.report_json import report_object
from monitor.report_parse import window_report
from monitor.wording import utc

Say = Callable[[str], None]
"""Takes a line for people, beside the result."""


class Query(NamedTuple):
    """What a report is wanted of; None is all."""

    model: str | None = None
    version: str | None = None
    window: str | None = None


def report_elsewhere(
    config: Config,
    refusal: MonitorError,
    query: Query,
    format: ReportFormat,
    say: Say,
    clock: Clock | None = None,
) -> str:
    """Return the reports that asking the daemon did not give; nothing is written.

    Where no daemon answers they come from its newest checkpoint, as the configuration reads it now. A
    version that is asked for and that neither knows may have retired: then its kept report is returned.

    Parameters
    ----------
    config
        The configuration.
    refusal
        How asking the daemon ended.
    query
        What is asked for.
    format
        What to return.
    say
        Told where the report comes from, and what must be known to read it.
    clock
        For the age of the checkpoint.

    Raises
    ------
    MonitorError
        There is no such report: what is known, or what can be done.
    """
    if not isinstance(refusal, NoDaemonError):
        return _kept(config, refusal, query, format, say)
    clock = clock or SystemClock()
    found = _newest(config, clock)
    if found is None:
        return _kept(config, MonitorError(f"{refusal}; {_none(config)}"), query, format, say)
    past = found.past
    age = timedelta(seconds=max(0, clock.now() - past.taken) // 1_000_000)
    say(f"no daemon answers: this is from its checkpoint of {utc(past.taken)}, {age} old: {found.path}")
    _say_misfits(found, say)
    report = _report(past)
    try:
        windows = report.select(*query)
    except NotInReportError as unknown:
        if unknown.what == "window":
            raise
        return _kept(config, unknown, query, format, say)
    if format is ReportFormat.CSV:
        return report_csv(windows)
    return rendered(report_object(report, windows), format)


def _report(past: Past) -> Report:
    """Return the report that the daemon had at that moment."""
    snapshot = past.pipeline.snapshot()
    snapshot = replace(snapshot, view=replace(snapshot.view, caught_up=past.caught_up))
    return replace(complete_report(past.pipeline, snapshot), evaluated_at=past.taken)


def _kept(config: Config, refusal: MonitorError, query: Query, format: ReportFormat, say: Say) -> str:
    """Return the kept report of a version that retired, else raise the refusal."""
    if query.version is None:
        raise refusal
    archive = Archive(_folder(config).path)
    try:
        found = archive.find(query.model, query.version)
        others = [] if found else archive.names()
    except CheckpointError as error:
        say(str(error))
        raise refusal from None
    if not found:
        kept = sorted({repr(version) for model, version in others if query.model in (None, model)})
        if kept:
            raise MonitorError(f"{refusal}; kept are reports of retired versions: {', '.join(kept[:20])}")
        raise refusal
    if len(found) > 1:
        models = ", ".join(sorted(repr(report["model"]) for report in found))
        raise MonitorError(
            f"version {query.version!r} retired in several models: {models}; name one with --model"
        )
    [report] = found
    windows = [window for window in report["reports"] if not window["segment"]]
    wanted = [window for window in windows if query.window in (None, window["window"])]
    if not wanted:
        raise NotInReportError("window", str(query.window), [window["window"] for window in windows])
    say(f"version {report['version']!r} of model {report['model']!r} retired at {report['retired']}")
    if format is ReportFormat.CSV:
        return report_csv(map(window_report, wanted))
    return rendered({**report, "reports": wanted}, format)


def reset(config: Config, model: str, say: Say, clock: Clock | None = None) -> str:
    """Forget the state of a model, in a new checkpoint of a new owner.

    Parameters
    ----------
    config
        The configuration; it need not have the model any more.
    model
        Name of the model.
    say
        Told what of the checkpoint does not fit the configuration.
    clock
        Time.

    Returns
    -------
    str
        What was forgotten.

    Raises
    ------
    MonitorError
        A daemon runs, there is no checkpoint, or it does not know the model. Then nothing has changed.
    """
    clock = clock or SystemClock()
    _refuse_while_running(config)
    # Looked at before, because a claim ends a daemon elsewhere: not for a name that is misspelt.
    _say_misfits(_with_model(config, model, clock), say)
    folder = _folder(config)
    epoch = folder.claim()
    found = _with_model(config, model, clock)
    found.past.pipeline.forget(model)
    tree = cut(found.past.pipeline, found.past.topic_ids).tree()
    if not folder.is_highest(epoch):
        raise MonitorError("another process has taken the state over meanwhile; stop it, then reset again")
    folder.write(epoch, 1, tree)
    versions = [version for version in found.versions if version["model"] == model]
    held = sum(version["held"] + version["waiting"] for version in versions)
    labeled = sum(version["labeled"] for version in versions)
    return (
        f"Forgotten of model {model!r}: {len(versions)} version{'s' * (len(versions) != 1)}, {held} events "
        f"held, {labeled} labeled events counted in all.\n"
        "Reading goes on where it was; the model's windows are incomplete until they have filled again.\n"
    )


def _refuse_while_running(config: Config) -> None:
    try:
        fetch_report(config.server, models=config.models)
    except NoDaemonError:
        return
    except MonitorError as error:
        raise MonitorError(f"the daemon must be stopped for a reset; {error}") from None
    where = f"server.host {config.server.host}, server.port {config.server.port}"
    raise MonitorError(f"the daemon at {where} must be stopped for a reset; stop it, then reset again")


class _Found(NamedTuple):
    """A checkpoint: `versions` has all that is in it, `past` what is still configured."""

    path: Path | None
    past: Past
    versions: Sequence[Mapping[str, Any]]
    problems: Sequence[str]


def _newest(config: Config, clock: Clock) -> _Found | None:
    """Return the newest good checkpoint, None where there is none at all."""

    def understand(tree: Tree) -> tuple[Past, list[Mapping[str, Any]]]:
        past = restore(tree, config, clock)  # refuses a tree that is anything else
        return past, [version for packed in tree["versions"] for version in packed["versions"]]

    found = _folder(config).newest(understand)
    if found is None:
        return None
    if found.content is None:
        raise CheckpointError(str(found.refusal))
    return _Found(found.path, *found.content, found.problems)


def _with_model(config: Config, model: str, clock: Clock) -> _Found:
    found = _newest(config, clock)
    if found is None:
        raise MonitorError(f"nothing to forget: {_none(config)}")
    known = sorted({version["model"] for version in found.versions})
    if model not in known:
        names = ", ".join(map(repr, known)) or "none"
        raise MonitorError(f"no model {model!r} in the checkpoint {found.path}; known: {names}")
    return found


def _say_misfits(found: _Found, say: Say) -> None:
    for problem in found.problems:
        say(f"a newer checkpoint is passed over: {problem}")
    for change in found.past.changes:
        say(f"the checkpoint does not fit the configuration: {change}")


def _folder(config: Config) -> Folder:
    return Folder(config.checkpoint.directory, config.kafka.group_id, config.checkpoint.keep)


def _none(config: Config) -> str:
    return (
        f"there is no checkpoint in {_folder(config).path}: set checkpoint.directory and kafka.group_id to "
        "those of the daemon"
    )
