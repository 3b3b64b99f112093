"""How often the 95% intervals contain the truth, by simulation over the code that computes them.

Run from the repository: python -m tests.statistical.coverage [short]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import inf

import numpy as np
import torch

from monitor.metrics.catalog import CATALOG
from monitor.metrics.context import Context
from monitor.metrics.intervals import wilson
from monitor.metrics.labels import label_sets
from tests.statistical.populations import POPULATIONS, Binormal, Multinormal, Scheme

POSITIVES = (8, 20, 100, 1000)
LONG = {8: 20_000, 20: 20_000, 100: 8_000, 1000: 2_000}
SHORT = {8: 1_000, 20: 1_000, 100: 300, 1000: 60}
"""Samples for each number of positives (multiclass: of events)."""

MIN_GIVEN = 0.01
"""Below this share of samples with an interval there is nothing to judge."""

EVENTS_AT_ONCE = 1 << 18

RARER = ((0, 0.5), (0.5, 1), (1, 3), (3, 5), (5, inf))
"""Events that are expected of the rarer outcome of a proportion."""

METRICS = {metric.name: metric for metric in CATALOG}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A series with an interval, and how the samples are drawn that it is judged by."""

    family: str
    labels: tuple[str, ...] = ()
    scheme: Scheme = "random"

    @property
    def bound(self) -> float:
        """Coverage that the interval must reach."""
        return 0.93 if METRICS[self.family].interval == "wilson" else 0.92


BINARY = {
    "recall": Quantity("classifier_recall", ("1",), "fixed"),
    "specificity": Quantity("classifier_specificity", ("1",), "fixed"),
    "precision": Quantity("classifier_precision", ("1",)),
    "NPV": Quantity("classifier_npv", ("1",)),
    "accuracy": Quantity("classifier_accuracy"),
    "precision at k": Quantity("classifier_precision_at_k", ("1", "0.05")),
    "precision at k, these events": Quantity("classifier_precision_at_k", ("1", "0.05")),
    "recall at k": Quantity("classifier_recall_at_k", ("1", "0.05")),
    "recall at k, these events": Quantity("classifier_recall_at_k", ("1", "0.05")),
    "ROC AUC": Quantity("classifier_roc_auc", ("1",), "fixed"),
    "partial ROC AUC": Quantity("classifier_partial_roc_auc", ("1", "0.1"), "fixed"),
    "average precision": Quantity("classifier_average_precision", ("1",)),
    "F1": Quantity("classifier_f1", ("1",)),
    "F-beta": Quantity("classifier_fbeta", ("1", "2.23606797749979")),
    "Brier score": Quantity("classifier_brier_score", ("1", "all")),
    "Brier score, positives": Quantity("classifier_brier_score", ("1", "positive")),
    "Brier score, negatives": Quantity("classifier_brier_score", ("1", "negative")),
    "log loss": Quantity("classifier_log_loss", ("1",)),
}
MULTICLASS = {
    "top-1 accuracy": Quantity("classifier_top_k_accuracy", ("1",)),
    "top-2 accuracy": Quantity("classifier_top_k_accuracy", ("2",)),
    "Brier score": Quantity("classifier_brier_score", ("", "all")),
    "log loss": Quantity("classifier_log_loss", ("",)),
}


def quantities(population: Binormal | Multinormal) -> dict[str, Quantity]:
    """Return what is measured of a population, by its name in `truth` and in the tables."""
    return BINARY if isinstance(population, Binormal) else MULTICLASS


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of one quantity.

    Attributes
    ----------
    samples
        That had an interval.
    given
        Their share.
    covered
        Share of those whose interval contains the truth.
    width
        Mean of upper - lower.
    """

    samples: int
    given: float
    covered: float
    width: float


def measure(name: str, positives: int, samples: int) -> dict[str, Coverage]:
    """Return the coverage of every quantity of a population; the same at every call."""
    population = POPULATIONS[name]
    wanted = quantities(population)
    found: dict[str, list[torch.Tensor]] = {title: [] for title in wanted}
    for scheme in sorted({quantity.scheme for quantity in wanted.values()}):
        random = np.random.default_rng([*name.encode(), *scheme.encode(), positives])
        done = 0
        while done < samples:
            cases = min(samples - done, max(1, EVENTS_AT_ONCE // (20 * positives)))
            done += cases
            counts = population.sample(random, positives, cases, scheme)
            context = Context(counts, [population.parameters] * cases)
            truth = population.truth | population.truth_of(counts)
            for title, quantity in wanted.items():
                if quantity.scheme == scheme:
                    found[title].append(_compare(context, quantity, truth[title]))
    return {title: _summarise(torch.cat(parts, 1)) for title, parts in found.items()}


def _compare(context: Context, quantity: Quantity, truth: torch.Tensor | float) -> torch.Tensor:
    """Return whether the interval contains the truth, and its width: (2, B), NaN where there is none."""
    outcome = context.shared(METRICS[quantity.family].compute)
    sets = label_sets(outcome.labels, context.parameters[0])
    at = [tuple(labels.values()) for labels in sets].index(quantity.labels)
    assert outcome.interval is not None
    lower, upper = outcome.interval.lower[:, at], outcome.interval.upper[:, at]
    width = upper - lower
    return torch.stack((((lower <= truth) & (truth <= upper)).where(~width.isnan(), torch.nan), width))


def _summarise(found: torch.Tensor) -> Coverage:
    given = ~found[1].isnan()
    covered, width = found[:, given].mean(1).tolist()
    return Coverage(int(given.sum()), given.double().mean().item(), covered, width)


def wilson_least(events: int, least: float, most: float) -> float:
    """Return the least exact coverage of Wilson's 95% interval over proportions p of binomial counts.

    Those at which between `least` and `most` events (above, up to) are expected of the rarer outcome.
    """
    k = torch.arange(events + 1, dtype=torch.float64)
    p = torch.linspace(least, min(most, events / 2), 1001, dtype=torch.float64)[1:, None] / events
    interval = wilson(k, torch.full_like(k, events), 0.95)
    covered = (interval.lower <= p) & (p <= interval.upper)
    chance = torch.distributions.Binomial(events, p, validate_args=False).log_prob(k).exp()
    return (chance * covered).sum(1).amin().item()


def main(samples: dict[int, int]) -> None:
    """Print a table for each population, and one of Wilson's interval alone."""
    for name, population in POPULATIONS.items():
        columns = [measure(name, positives, samples[positives]) for positives in POSITIVES]
        unit = "positives" if isinstance(population, Binormal) else "events"
        print(f"\n| {name} | truth | " + " | ".join(f"{n} {unit}" for n in POSITIVES) + " |")
        print("| --- | ---: |" + " ---: |" * len(POSITIVES))
        for title, quantity in quantities(population).items():
            cells = [_cell(column[title], quantity.bound) for column in columns]
            truth = f"{population.truth[title]:.4f}" if title in population.truth else ""
            print(f"| {title} | {truth} | " + " | ".join(cells) + " |")
    print("\n| expected of the rarer outcome | " + " | ".join(f"{n} events" for n in POSITIVES) + " |")
    print("| --- |" + " ---: |" * len(POSITIVES))
    for least, most in RARER:
        cells = [f"{100 * wilson_least(n, least, most):.1f}" if least < n / 2 else "" for n in POSITIVES]
        print(f"| above {least}, up to {most} | ".replace(", up to inf", "") + " | ".join(cells) + " |")


def _cell(found: Coverage, bound: float) -> str:
    if found.given < MIN_GIVEN:
        return "none"
    covered = f"{100 * found.covered:.1f}"
    if found.covered < bound:
        covered = f"**{covered}**"
    given = "" if found.given > 0.995 else f", given {100 * found.given:.0f}%"
    return f"{covered} ({found.width:.3f}{given})"


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(SHORT if "short" in sys.argv[1:] else LONG)
