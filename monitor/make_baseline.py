"""Files through the daemon's pipeline, and what a stored reference keeps of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from monitor import __version__
from monitor.assembly import spec
from monitor.baseline import (
    Baseline,
    Groups,
    Interval,
    StoredValue,
    calibration_map,
    load_baseline,
    meaning,
)
from monitor.clock import Clock
from monitor.config import Config
from monitor.detection.calibration_map import LEAST
from monitor.errors import ConfigurationError, MonitorError
from monitor.evaluation import Evaluation
from monitor.replay import Replay
from monitor.report import CUMULATIVE, Value, WindowReport
from monitor.state.counting import count_cumulative
from monitor.state.version import Version
from monitor.wording import interval_of, number, printable, utc

GROUPS = 16_384
"""Most scores of all classes together, so that a file stays within some hundred kilobytes."""

_CLASSES_SHOWN = 5
_SHOWN = ("recall", "precision", "specificity", "npv")


def make_baseline(
    config: Config,
    files: Sequence[Path],
    model: str | None = None,
    version: str | None = None,
    progress: Callable[[float], None] = lambda _: None,
    clock: Clock | None = None,
) -> Baseline:
    """Run files through the pipeline and return what one model version was like over all of them.

    Parameters
    ----------
    config
        The configuration; its alerts, windows and segments play no part.
    files
        As for `monitor.replay.Replay`.
    model, version
        Which; None where there is but one.
    progress
        Told the share that is done, from 0 to 1.
    clock
        For what counts as the future.

    Raises
    ------
    SourceError
        If a file cannot be read.
    ConfigurationError
        If it is not clear which model or version is meant, or there is none.
    MonitorError
        If it has no labeled event.
    """
    evaluation = Replay(_plain(config), files, clock).run(progress)
    window = _window(evaluation, model, version)
    if not window.labeled:
        raise MonitorError(
            f"no event of model {window.model!r} has a label: a baseline needs the true class; check "
            "events.fields.label"
        )
    view, settled = next(
        (view, settled)
        for view, settled in evaluation.settled
        if (view.model, view.version) == (window.model, window.version)
    )
    of_model = config.model_for(window.model)
    assert of_model is not None and window.start is not None
    return Baseline(
        model=window.model,
        version=window.version,
        meaning=meaning(spec(window.model, of_model)),
        events=window.events,
        labeled=window.labeled,
        first_event=view.since,
        last_event=view.last_event,
        confidence_level=evaluation.report.confidence_level,
        scored=dict(zip(window.scored, _groups(settled, len(window.scored)), strict=True)),
        values=tuple(_stored(value) for value in window.values if value.value is not None),
        made_by=__version__,
    )


def replaced_baseline(path: Path) -> Baseline | None:
    """Return the baseline in whose place another one is to be written, None where nothing is there.

    Raises
    ------
    ConfigurationError
        If there is something else, which is not to be lost.
    """
    if not path.exists():
        return None
    try:
        return load_baseline(path)
    except ConfigurationError:
        raise ConfigurationError(
            f"{path}: is there, and no baseline that can be read; name another file: -o FILE, or remove it"
        ) from None


def describe_baseline(baseline: Baseline, path: Path, size: int, before: Baseline | None = None) -> str:
    """Return what was made, in place of what, and what can be watched with it, in a few lines."""
    lines = list(_description(baseline, path, size))
    if before is not None:
        lines.insert(1, f"in place of that of {_whose(before)}")
    return "\n".join(lines) + "\n"


def _plain(config: Config) -> Config:
    """Return a configuration without what alerts and windows add; a version that is silent stays."""
    models = {
        name: model.model_copy(update={"windows": (), "segments": ()})
        for name, model in config.models.items()
    }
    alerts = config.alerts.model_copy(update={"rules": {}})
    limits = config.limits.model_copy(update={"retire_after": timedelta(days=100 * 365)})
    return config.model_copy(update={"models": models, "alerts": alerts, "limits": limits})


def _window(evaluation: Evaluation, model: str | None, version: str | None) -> WindowReport:
    if not evaluation.report.windows:
        raise MonitorError("no valid event: `monitor replay` with the same files says what is wrong")
    found = evaluation.report.select(model, version, CUMULATIVE)
    for option, names in (
        ("model", {window.model for window in found}),
        ("version", {window.version for window in found}),
    ):
        if len(names) > 1:
            known = ", ".join(map(repr, sorted(names)[:20]))
            raise ConfigurationError(f"the files have several {option}s ({known}); name one with --{option}")
    return found[0]


def _stored(value: Value) -> StoredValue:
    assert value.value is not None
    interval = interval_of(value)
    return StoredValue(
        family=value.name,
        labels=dict(value.labels),
        value=value.value,
        support=value.support,
        numerator=value.numerator,
        denominator=value.denominator,
        interval=None if interval is None else Interval(*interval[:3]),
    )


def _groups(version: Version, classes: int) -> Iterator[Groups]:
    """Yield the scores of each scored class over all events."""
    scores = count_cumulative([version]).scores
    for row in range(classes):
        positives, negatives = (side[0, row].cpu().numpy() for side in (scores.positives, scores.negatives))
        exact = bool(scores.exact[0, row])
        yield group(scores.probability[0, row].cpu().numpy(), positives, negatives, exact, GROUPS // classes)


def group(
    scores: NDArray[np.float64],
    positives: NDArray[np.int64],
    negatives: NDArray[np.int64],
    exact: bool,
    limit: int,
) -> Groups:
    """Return at most `limit` groups in ascending order, neighbours merged at their mean score.

    Parameters
    ----------
    scores, positives, negatives : shape (G,)
        In any order; groups without events do not count, and equal scores are put together.
    exact
        Whether each is a score rather than a bin.
    limit
        At least 2.
    """
    events = positives + negatives
    distinct, place = np.unique(scores[events > 0], return_inverse=True)
    sums = np.zeros((len(distinct), 2), np.int64)
    np.add.at(sums, place, np.stack((positives, events), -1)[events > 0])
    if len(distinct) > limit:
        n = sums[:, 1]
        first = np.unique((np.cumsum(n) - n) * limit // n.sum(), return_index=True)[1]
        total = np.add.reduceat(distinct * n, first)
        sums = np.add.reduceat(sums, first)
        distinct, exact = total / sums[:, 1], False
    return Groups(distinct, sums[:, 0], sums[:, 1], exact)


def _description(baseline: Baseline, path: Path, size: int) -> Iterator[str]:
    yield f"{path}: {size // 1000 + 1} kB, of {_whose(baseline)}"
    for class_ in list(baseline.scored)[:_CLASSES_SHOWN]:
        yield from _of_class(baseline, class_)
    if len(baseline.scored) > _CLASSES_SHOWN:
        yield f"and {len(baseline.scored) - _CLASSES_SHOWN} further classes"
    accuracy = baseline.proportion("classifier_accuracy", "")
    if accuracy is not None:
        yield f"accuracy {number(accuracy[0] / accuracy[1])} of {accuracy[1]} events"
    yield (
        f"To use it, write baselines: {{NAME: {path}}}, and baseline: NAME in a rule: of a metric, whose "
        "floor is then the lower bound, or of detector: calibration"
    )


def _whose(baseline: Baseline) -> str:
    return (
        f"model {printable(baseline.model)}, version {printable(baseline.version) or '(none)'}: "
        f"{baseline.events} events, {baseline.labeled} labeled, "
        f"{utc(baseline.first_event)} to {utc(baseline.last_event)}"
    )


def _of_class(baseline: Baseline, class_: str) -> Iterator[str]:
    _, positives, events = baseline.groups(class_)
    found = int(positives.sum())
    yield (
        f"class {printable(class_)}: {found} events of it and {events.sum() - found} others with a score, "
        f"{len(events)} {'' if baseline.scored[class_].exact else 'merged '}scores"
    )
    for name in _SHOWN:
        family = f"classifier_{name}"
        counted, bound = baseline.proportion(family, class_), baseline.bound(family, class_, {}, "floor")
        if counted is not None and bound is not None:
            k, n = counted
            yield f"  {name} {number(k / n)} ({k} of {n}); at least {number(bound)}"
    try:
        calibration_map(baseline, "NAME", class_)
        yield "  calibration can be watched"
    except ConfigurationError:
        yield f"  calibration cannot be watched: that needs {LEAST} events of it and {LEAST} others"
