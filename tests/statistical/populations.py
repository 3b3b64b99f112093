"""Populations that samples are drawn from: their logits are normal, and their metrics known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import comb, hypot
from statistics import NormalDist
from typing import Literal

import numpy as np
import torch

from monitor.metrics.counts import Counts
from monitor.metrics.parameters import Parameters
from tests.statistical.cases import Bools, Floats, Ints, binary_counts, losses, multiclass_counts
from tests.support.counts import parameters

Scheme = Literal["fixed", "random"]
"""Whether every sample has the same number of positives, or each event is one by chance."""

PREVALENCE = 0.05
MAX_FPR = 0.1
SHARE = 0.05
"""Of the events, for precision and recall at k."""

COSTS = (5.0, 1.0)
"""Of a false negative and of a false positive: F-beta weighs recall by beta**2 = 5."""


@dataclass(frozen=True)
class Binormal:
    """Logits of the positives and of the negatives are normal; from `cut` on a positive is decided."""

    positive: NormalDist
    negative: NormalDist
    cut: float

    @classmethod
    def reaching(cls, recall: float, positive: NormalDist, negative: NormalDist) -> Binormal:
        """Return the model whose threshold reaches the recall."""
        return cls(positive, negative, positive.inv_cdf(1 - recall))

    @property
    def parameters(self) -> Parameters:
        """What the metrics are told."""
        return parameters(max_fpr=(MAX_FPR,), at_k=(SHARE,), costs=COSTS)

    def sample(self, random: np.random.Generator, positives: int, cases: int, scheme: Scheme) -> Counts:
        """Draw cases of positives / PREVALENCE events, so many of them positive or expected to be."""
        events = round(positives / PREVALENCE)
        if scheme == "fixed":
            y = np.broadcast_to(np.arange(events) < positives, (cases, events))
        else:
            y = random.random((cases, events)) < PREVALENCE
        logits = random.standard_normal((cases, events))
        logits *= np.where(y, self.positive.stdev, self.negative.stdev)
        logits += np.where(y, self.positive.mean, self.negative.mean)
        return binary_counts(logits, y, self.cut)

    @cached_property
    def truth(self) -> dict[str, float]:
        """Values over all events there could be.

        In closed form, or integrated over logits by trapezoids of width 2e-4.
        """
        strip = np.linspace(self.negative.inv_cdf(1 - MAX_FPR), 40, 200_001)
        area = np.trapezoid(_above(self.positive, strip) * _density(self.negative, strip), strip)
        x = np.linspace(-40, 40, 400_001)
        found, alarms = PREVALENCE * _above(self.positive, x), (1 - PREVALENCE) * _above(self.negative, x)
        precision = found / np.maximum(found + alarms, 1e-300)
        limit = np.interp(SHARE, (found + alarms)[::-1], x[::-1])
        at_k = 1 - self.positive.cdf(limit)
        p = 1 / (1 + np.exp(-x))
        of_positives = [np.trapezoid(loss * _density(self.positive, x), x) for loss in losses(p, p >= 0)]
        of_negatives = [np.trapezoid(loss * _density(self.negative, x), x) for loss in losses(p, p < 0)]
        brier, log_loss = (
            float(PREVALENCE * of_positive + (1 - PREVALENCE) * of_negative)
            for of_positive, of_negative in zip(of_positives, of_negatives, strict=True)
        )
        spread = hypot(self.positive.stdev, self.negative.stdev)
        return self._of_decisions | {
            "ROC AUC": NormalDist().cdf((self.positive.mean - self.negative.mean) / spread),
            "partial ROC AUC": float(area) / MAX_FPR,
            "average precision": float(np.trapezoid(precision * _density(self.positive, x), x)),
            "precision at k": PREVALENCE * at_k / SHARE,
            "recall at k": at_k,
            "Brier score": brier,
            "Brier score, positives": float(of_positives[0]),
            "Brier score, negatives": float(of_negatives[0]),
            "log loss": log_loss,
        }

    def truth_of(self, counts: Counts) -> dict[str, torch.Tensor]:
        """Return what is expected of each case's own events, given their scores: float64, (B,)."""
        x = counts.probability[:, 0].logit().numpy()
        found = PREVALENCE * _density(self.positive, x)
        chance = torch.from_numpy(found / (found + (1 - PREVALENCE) * _density(self.negative, x)))
        k = round(SHARE * chance.shape[-1])
        hits = chance[:, :k].sum(1)
        return {"precision at k, these events": hits / k, "recall at k, these events": hits / chance.sum(1)}

    @property
    def _of_decisions(self) -> dict[str, float]:
        recall, fpr = 1 - self.positive.cdf(self.cut), 1 - self.negative.cdf(self.cut)
        tp, fp = PREVALENCE * recall, (1 - PREVALENCE) * fpr
        fn, tn = PREVALENCE - tp, 1 - PREVALENCE - fp
        beta2 = COSTS[0] / COSTS[1]
        return {
            "recall": recall,
            "specificity": 1 - fpr,
            "precision": tp / (tp + fp),
            "NPV": tn / (tn + fn),
            "accuracy": tp + tn,
            "F1": 2 * tp / (2 * tp + fp + fn),
            "F-beta": (1 + beta2) * tp / ((1 + beta2) * tp + beta2 * fn + fp),
        }


@dataclass(frozen=True)
class Multinormal:
    """Equally frequent classes; each logit is N(0, 1), that of the true class N(shift, 1)."""

    classes: int
    shift: float
    top_k: tuple[int, ...]

    @property
    def parameters(self) -> Parameters:
        """What the metrics are told."""
        return parameters(self.classes, max_fpr=(), top_k=self.top_k)

    def sample(self, random: np.random.Generator, events: int, cases: int, scheme: Scheme) -> Counts:
        """Draw cases of so many events; the classes are random."""
        assert scheme == "random"
        return multiclass_counts(*self._draw(random, (cases, events)), self.top_k)

    def truth_of(self, counts: Counts) -> dict[str, torch.Tensor]:
        """Return nothing: every quantity has one truth."""
        return {}

    def _draw(self, random: np.random.Generator, shape: tuple[int, int]) -> tuple[Floats, Ints]:
        true = random.integers(self.classes, size=shape)
        logits = random.standard_normal((*shape, self.classes))
        logits += self.shift * (true[..., None] == np.arange(self.classes))
        return logits, true

    @cached_property
    def truth(self) -> dict[str, float]:
        """Values over all events there could be: accuracies integrated, losses of 2**20 events drawn."""
        x = np.linspace(-10, 10 + self.shift, 100_001)
        others, above = self.classes - 1, _above(NormalDist(), x)
        density = _density(NormalDist(self.shift, 1), x)
        exactly = [comb(others, j) * above**j * (1 - above) ** (others - j) for j in range(others + 1)]
        logits, true = self._draw(np.random.default_rng(1), (1, 2**20))
        p = np.exp(logits)
        p /= p.sum(-1, keepdims=True)
        y: Bools = true[..., None] == np.arange(self.classes)
        squared, logs = losses(p, y)
        accuracy = [float(np.trapezoid(sum(exactly[:k]) * density, x)) for k in self.top_k]
        return {f"top-{k} accuracy": value for k, value in zip(self.top_k, accuracy, strict=True)} | {
            "Brier score": float(squared.sum(-1).mean()),
            "log loss": float((logs * y).sum(-1).mean()),
        }


def _density(normal: NormalDist, x: Floats) -> Floats:
    z = (x - normal.mean) / normal.stdev
    return np.exp(-z * z / 2) / (normal.stdev * np.sqrt(2 * np.pi))


def _above(normal: NormalDist, x: Floats) -> Floats:
    z = torch.from_numpy((normal.mean - x) / normal.stdev)
    return torch.special.ndtr(z).numpy()


POPULATIONS: dict[str, Binormal | Multinormal] = {
    "typical": Binormal.reaching(0.8, NormalDist(0.3, 1.5), NormalDist(-3.5, 1.3)),
    "strong": Binormal.reaching(0.95, NormalDist(3.3, 1.5), NormalDist(-3.5, 1.3)),
    "weak": Binormal.reaching(0.6, NormalDist(-2.2, 1.0), NormalDist(-2.95, 1.0)),
    "multiclass": Multinormal(classes=5, shift=1.5, top_k=(1, 2)),
}
"""ROC AUC of the binary ones: .972, .9997 and .702."""
