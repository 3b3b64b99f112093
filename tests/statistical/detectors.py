"""How rarely detectors raise without cause and how soon with one, by simulation over the code that runs.

Run from the repository: python -m tests.statistical.detectors [short]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from math import inf, sqrt
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from monitor.detection import (
    Floats,
    Procedure,
    Statistic,
    calibration,
    difference_ceiling,
    mean_floor,
    proportion_floor,
    run,
)
from tests.statistical.streams import Placements, Stream, hits, mean_of, misses, outcomes, partial_auc

CHUNK = 1024
"""Observations of a run that are drawn at once."""

SIDE_BY_SIDE = 50
"""Runs for false alarms: so few that each is long, since the first alarm needs a while."""

LONGEST = 100_000
"""Observations after a change, at most."""

THRESHOLDS = (1e3, 1e4, 1e5)

RUNS = {
    "recall, floor 0.75": 2_000,
    "calibration, prevalence 0.33": 2_000,
    "calibration, prevalence 0.029": 500,
    "paired with the champion, margin 0.02": 2_000,
    "unpaired, margin 0.02": 500,
    "partial AUC, floor 0.8": 500,
}
"""With a change, by title of the case."""

TYPICAL = partial_auc(0.3)


@dataclass(frozen=True, slots=True)
class FalseAlarms:
    """Alarms without cause; after each, the detector begins anew."""

    observations: int
    alarms: int

    @property
    def mean(self) -> float:
        """Observations an alarm; inf without any."""
        return self.observations / self.alarms if self.alarms else inf

    @property
    def error(self) -> float:
        """Standard error of it: times between alarms vary about like exponential ones."""
        return self.mean / sqrt(self.alarms) if self.alarms else 0.0

    def allowed(self, threshold: float) -> bool:
        """Return whether the alarms are no more than the guarantee and chance (3 standard errors) explain."""
        promised = self.observations / threshold
        return self.alarms <= promised + 3 * sqrt(promised)


@dataclass(frozen=True, slots=True)
class Delays:
    """Runs that change after a healthy start, without those that raised before.

    Attributes
    ----------
    median, slow
        Observations from the change to the alarm: median and 90% quantile; inf where it did not come.
    early
        Runs that raised before.
    directions
        How many runs each direction won.
    """

    median: float
    slow: float
    early: int
    directions: dict[str, int]


@dataclass(frozen=True, slots=True)
class Case:
    """A detector, the streams at which it must not raise too often, and those at which it should.

    Attributes
    ----------
    procedure
        By threshold.
    boundary
        By name: streams on the edge of the hypothesis that all is well.
    healthy
        What a change follows.
    beyond
        By name: streams a little outside the hypothesis, to know what happens there.
    changes
        By name.
    warm_up
        Healthy observations before a change.
    """

    procedure: Callable[[float], Procedure]
    boundary: dict[str, Stream]
    healthy: Stream
    changes: dict[str, Stream]
    beyond: dict[str, Stream] = field(default_factory=dict)
    warm_up: int = 2_000


def calibration_case(mean: float) -> Case:
    """Return calibration with the default tolerance, for log-odds N(mean, 1.5)."""
    edges: dict[str, Callable[[Floats], Floats]] = {
        "most tolerated": lambda z: np.minimum(z + 0.1, np.maximum(z / 1.1, z * 1.1)),
        "least tolerated": lambda z: np.maximum(z - 0.1, np.minimum(z / 1.1, z * 1.1)),
        "flattest tolerated": lambda z: np.sign(z) * np.maximum(abs(z) - 0.1, abs(z) / 1.1),
        "steepest tolerated": lambda z: np.sign(z) * np.minimum(abs(z) + 0.1, abs(z) * 1.1),
    }
    near: dict[str, Callable[[Floats], Floats]] = {
        "shift +0.1": lambda z: z + 0.1,
        "shift -0.1": lambda z: z - 0.1,
        "temperature 1.1": lambda z: z / 1.1,
        "temperature 1/1.1": lambda z: z * 1.1,
    }
    drifts: dict[str, Callable[[Floats], Floats]] = {
        "shift +0.5": lambda z: z + 0.5,
        "shift -0.5": lambda z: z - 0.5,
        "temperature 1.5": lambda z: z / 1.5,
        "shift +0.2": lambda z: z + 0.2,
    }
    return Case(
        lambda h: calibration(0.1, 1.1, h),
        {name: outcomes(mean, line) for name, line in edges.items()},
        outcomes(mean),
        {name: outcomes(mean, line) for name, line in drifts.items()},
        {name: outcomes(mean, line) for name, line in near.items()},
        warm_up=5_000,
    )


def comparison_case(shared: float) -> Case:
    """Return the comparison with a champion of recall 0.8, margin 0.02."""
    return Case(
        lambda h: difference_ceiling(0.02, h),
        {"recall 0.78": misses(0.78, shared)},
        misses(0.8, shared),
        {f"recall {recall}": misses(recall, shared) for recall in (0.6, 0.72, 0.76)},
    )


def placements_case(floor: float, negatives: int) -> Case:
    """Return the partial AUC up to 0.1, in truth 0.831, through past negatives."""
    placements = _placements(negatives)
    stream = placements.of(0.3)
    if floor == TYPICAL:
        return Case(lambda h: mean_floor(floor, h), {"at the floor": stream}, stream, {})
    changes = {f"partial AUC {target}": placements.of(mean_of(target)) for target in (0.72, 0.61, 0.48)}
    return Case(lambda h: mean_floor(floor, h), {}, stream, changes)


@cache
def _placements(negatives: int) -> Placements:
    return Placements(np.random.default_rng(negatives), negatives)


@cache
def cases() -> dict[str, Case]:
    """Return all cases by title."""
    recall = Case(
        lambda h: proportion_floor(0.75, h),
        {"recall 0.75": hits(0.75)},
        hits(0.8),
        {f"recall {recall}": hits(recall) for recall in (0.6, 0.7, 0.72)},
    )
    return {
        "recall, floor 0.75": recall,
        "calibration, prevalence 0.33": calibration_case(-1.0),
        "calibration, prevalence 0.029": calibration_case(-4.5),
        "paired with the champion, margin 0.02": comparison_case(0.8),
        "unpaired, margin 0.02": comparison_case(0.0),
        "partial AUC, floor 0.8": placements_case(0.8, 20_000),
        "partial AUC 0.831, 20,000 negatives": placements_case(TYPICAL, 20_000),
        "partial AUC 0.831, 5,000 negatives": placements_case(TYPICAL, 5_000),
        "partial AUC 0.831, 1,000 negatives": placements_case(TYPICAL, 1_000),
    }


def false_alarms(case: Case, name: str, threshold: float, observations: float, seed: int = 1) -> FalseAlarms:
    """Return how often a detector raises at a boundary or other stream, or at the "healthy" one.

    SIDE_BY_SIDE runs; what follows an alarm within a chunk is thrown away.
    """
    stream = (case.boundary | case.beyond | {"healthy": case.healthy})[name]
    procedure, runs = case.procedure(threshold), np.arange(SIDE_BY_SIDE)
    rng = np.random.default_rng([seed, crc32(name.encode()), int(threshold)])
    fresh = Statistic.fresh(procedure)
    statistics = [fresh] * len(runs)
    n = min(CHUNK, int(threshold / 10))
    seen = alarms = 0
    while seen < observations:
        drawn = stream(rng, runs, n)
        statistics, crossings = run([procedure] * len(runs), statistics, list(drawn))
        raised = [found[0].index + 1 for found in crossings if found]
        seen += sum(raised) + n * (len(runs) - len(raised))
        alarms += len(raised)
        statistics = [
            fresh if found else statistic for found, statistic in zip(crossings, statistics, strict=True)
        ]
    return FalseAlarms(seen, alarms)


def first_alarm(case: Case, name: str, threshold: float, runs: int, seed: int = 1) -> tuple[float, float]:
    """Return the mean time to the first alarm at a boundary, and its standard error.

    For partial AUC this is not what `false_alarms` returns: a run keeps its reference, with the error that it
    has, and some raise again and again. Runs are cut short at 20 thresholds, which makes the mean less.
    """
    rng = np.random.default_rng([seed, crc32(name.encode()), int(threshold)])
    most = 20 * threshold
    times, _ = _alarms(case.procedure(threshold), rng, [(case.boundary[name], most)], runs)
    times = np.minimum(times, most)
    return float(times.mean()), float(times.std() / sqrt(runs))


def delays(case: Case, name: str, threshold: float, runs: int, seed: int = 1) -> Delays:
    """Return how soon a change is raised."""
    rng = np.random.default_rng([seed, crc32(name.encode()), int(threshold)])
    stages = [(case.healthy, case.warm_up), (case.changes[name], LONGEST)]
    times, directions = _alarms(case.procedure(threshold), rng, stages, runs)
    late = times > case.warm_up
    after = times[late] - case.warm_up
    names, counts = np.unique(directions[late & np.isfinite(times)], return_counts=True)
    return Delays(
        float(np.quantile(after, 0.5, method="lower")),
        float(np.quantile(after, 0.9, method="lower")),
        int((~late).sum()),
        dict(zip(names.tolist(), counts.tolist(), strict=True)),
    )


def _alarms(
    procedure: Procedure, rng: np.random.Generator, stages: list[tuple[Stream, float]], runs: int
) -> tuple[Floats, NDArray[np.str_]]:
    """Return the observation at which each run raises first, inf where none, and the direction."""
    times, directions = np.full(runs, inf), np.full(runs, "", dtype="<U20")
    alive = np.arange(runs)
    statistics = [Statistic.fresh(procedure)] * runs
    seen = 0
    for stream, length in stages:
        end = seen + length
        while len(alive) and seen < end:
            n = int(min(CHUNK, end - seen))
            observations = stream(rng, alive, n)
            statistics, crossings = run([procedure] * len(alive), statistics, list(observations))
            for i, found in zip(alive, crossings, strict=True):
                if found:
                    times[i], directions[i] = seen + found[0].index + 1, found[0].direction
            still = [not found for found in crossings]
            alive = alive[still]
            statistics = [statistic for statistic, on in zip(statistics, still, strict=True) if on]
            seen += n
    return times, directions


def main(share: float) -> None:
    """Print the tables of docs/detectors.md, from a share of the runs."""
    print(_row("detector", "truth", *(f"{h:,.0f}" for h in THRESHOLDS)))
    print(_row(*["---"] * (2 + len(THRESHOLDS))))
    for title, case in cases().items():
        least, times = (2e6, 100) if title.startswith("calibration") else (6e6, 200)
        for name in [*case.boundary, *case.beyond, *([] if "negatives" in title else ["healthy"])]:
            found = [false_alarms(case, name, h, share * max(least, times * h)) for h in THRESHOLDS]
            print(_row(title, name, *map(_time, found)), flush=True)
        if "negatives" in title:
            firsts = [first_alarm(case, "at the floor", h, round(100 * share)) for h in THRESHOLDS]
            cells = (f"{mean:,.0f} ± {error:,.0f}" for mean, error in firsts)
            print(_row(title, "at the floor, the first", *cells), flush=True)
    print()
    print(_row("detector", "change", *(f"{h:,.0f}" for h in THRESHOLDS)))
    print(_row(*["---"] * (2 + len(THRESHOLDS))))
    for title, case in cases().items():
        for name in case.changes if title in RUNS else ():
            found = [delays(case, name, h, round(RUNS[title] * share)) for h in THRESHOLDS]
            print(_row(title, name, *(f"{d.median:,.0f} ({d.slow:,.0f})" for d in found)), flush=True)


def _time(found: FalseAlarms) -> str:
    if not found.alarms:
        return f"none in {found.observations:,.0f}"
    return f"{found.mean:,.0f} ± {found.error:,.0f}"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main(0.05 if sys.argv[1:] == ["short"] else 1)
