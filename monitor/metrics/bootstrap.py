"""Intervals by resampling: the Poisson bootstrap on groups of equal events.

Poisson(n) drawn for a group of n events is identical in distribution to Poisson(1) drawn for each of
them and added up: Hanley and MacGibbon, "Creating non-parametric bootstrap samples using Poisson
frequencies" (2006); Chamandy, Muralidharan, Najmi and Naidu (2012). Metrics that are ratios within the
true classes (recall, ROC AUC, partial ROC AUC) hardly depend on how many events of each class are drawn:
for them this is resampling stratified by class. For the others (precision, average precision, Brier
score) the prevalence varies from replicate to replicate, as it does from sample to sample.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

import torch

from monitor.metrics import ranking
from monitor.metrics.context import Context
from monitor.metrics.outcome import Interval
from monitor.metrics.ranked import ranked
from monitor.metrics.ranking import Curve
from monitor.metrics.statement import undefined

MIN_RARER = 100
"""Below so many events of the rarer class there are no bounds: they cover 33 to 88% at 8 or 20."""

MAX_UNDEFINED = 0.05
"""Above this share of replicates without a value, neither."""

_CELLS_AT_ONCE = 1 << 18
"""Drawn numbers in memory at a time; those of larger arrays cost page faults."""

_ERROR_BITS = 17  # that remain off a float32: squared errors within 1/64 of each other are drawn together

_POISSON_COST = 4
"""Of one Poisson number, in events that are put into a random group."""

Replicates = Mapping[str, torch.Tensor]
"""By family, values of some replicates: (n, X), in the order of the family's values."""


@dataclass(frozen=True, slots=True)
class Resampled:
    """Of one family: bounds and standard errors (X,), NaN where there are none, and why (in REASONS)."""

    interval: Interval
    no_interval: torch.Tensor


def bootstrap(context: Context, names: Collection[str], replicates: int, seed: int) -> dict[str, Resampled]:
    """Return percentile intervals of one case.

    Parameters
    ----------
    context
        Of one case (`Counts.case`), so that its bounds do not depend on what it was evaluated with.
    names
        Of `FAMILIES`.
    replicates
        Samples drawn.
    seed
        Of the case.
    """
    found = {}
    for families, sample in _SAMPLERS:
        wanted = [name for name in families if name in names]
        if not wanted:
            continue
        generator = torch.Generator(context.counts.events.device).manual_seed(seed)
        chunks = list(sample(context, wanted, replicates, generator))
        for name in wanted:
            values = torch.cat([chunk[name] for chunk in chunks])
            found[name] = _resampled(values, _RARER[name](context)[0], context.confidence_level)
    return found


def _resampled(values: torch.Tensor, rarer: torch.Tensor, confidence_level: float) -> Resampled:
    missing = values.isnan().double().mean(0)
    why = undefined(
        torch.zeros_like(rarer),
        no_interval_method=missing == 1,
        low_support=(rarer < MIN_RARER) | (missing > MAX_UNDEFINED),
    )
    tail = (1 - confidence_level) / 2
    lower, upper = values.nanquantile(values.new_tensor([tail, 1 - tail]), dim=0)
    spread = (values - values.nanmean(0)).square().nanmean(0).sqrt()
    bounds = (bound.masked_fill(why != 0, torch.nan) for bound in (lower, upper, spread))
    return Resampled(Interval("bootstrap", *bounds), why)


def _draws(rates: torch.Tensor, replicates: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
    """Yield Poisson numbers of whole rates (...), a few replicates at a time: float64, (n, ...)."""
    flat = rates.flatten()
    some = flat.nonzero().squeeze(1)  # most are 0: a group of one score is of one class
    draw = _by_group if _POISSON_COST * len(some) < int(flat.sum()) else _by_event
    chunk = max(1, _CELLS_AT_ONCE // max(1, len(flat)))
    for first in range(0, replicates, chunk):
        n = min(chunk, replicates - first)
        yield draw(flat, some, n, generator).reshape(n, *rates.shape)


def _by_group(rates: torch.Tensor, some: torch.Tensor, n: int, generator: torch.Generator) -> torch.Tensor:
    drawn = rates.new_zeros((n, len(rates)))
    drawn[:, some] = torch.poisson(rates[some].expand(n, -1), generator)
    return drawn


def _by_event(rates: torch.Tensor, some: torch.Tensor, n: int, generator: torch.Generator) -> torch.Tensor:
    """Draw their sum, each of which falls on an event at random: the same in distribution."""
    total = int(rates.sum())
    sums = torch.poisson(rates.new_full((n,), total), generator).long()
    event = torch.randint(max(total, 1), (int(sums.sum()),), generator=generator, device=rates.device)
    group = some.repeat_interleave(rates[some].long())
    first = torch.arange(n, device=rates.device) * len(rates)
    place = group[event] + first.repeat_interleave(sums)
    return place.bincount(minlength=n * len(rates)).double()


def _of_curves(
    context: Context, names: Collection[str], replicates: int, generator: torch.Generator
) -> Iterator[Replicates]:
    groups = context.shared(ranked)
    for drawn in _draws(
        torch.stack((groups.positives[0], groups.negatives[0])).double(), replicates, generator
    ):
        curve = Curve.from_groups(drawn[:, 0], drawn[:, 1])
        yield {name: _OF_CURVE[name](context, curve) for name in names}


def _of_decisions(
    context: Context, names: Collection[str], replicates: int, generator: torch.Generator
) -> Iterator[Replicates]:
    hits = context.correct[0]
    for drawn in _draws(
        torch.stack((hits, context.support[0] - hits, context.predicted[0] - hits)).double(),
        replicates,
        generator,
    ):
        hit, missed, wrong = drawn.unbind(1)
        of = {"classifier_recall": hit / (hit + missed), "classifier_precision": hit / (hit + wrong)}
        yield {name: of[name] for name in names}


def _of_errors(
    context: Context, names: Collection[str], replicates: int, generator: torch.Generator
) -> Iterator[Replicates]:
    """Draw squared errors in groups of nearly equal ones; the whole only where it is that of one class."""
    r = context.scored
    p = context.counts.probability[0, :r]
    counts = torch.stack([context.counts.negatives[0, :r], context.counts.positives[0, :r]])
    errors = torch.stack([p, 1 - p]).square()
    side, row, group = counts.nonzero(as_tuple=True)
    n, error = counts[side, row, group].double(), errors[side, row, group]
    part = side * r + row
    key = (part << 32) | (error.float().view(torch.int32).long() >> _ERROR_BITS)
    distinct, place = torch.unique(key, return_inverse=True)
    rates = n.new_zeros(len(distinct)).index_add_(0, place, n)
    mean = n.new_zeros(len(distinct)).index_add_(0, place, n * error) / rates
    of_part = distinct >> 32
    for drawn in _draws(rates, replicates, generator):
        empty = drawn.new_zeros((len(drawn), 2 * r))
        events = empty.index_add(1, of_part, drawn).reshape(-1, 2, r)
        total = empty.index_add(1, of_part, drawn * mean).reshape(-1, 2, r)
        every = total.sum(1) / events.sum(1)
        negative, positive = (total / events).unbind(1)
        whole = every if context.task == "binary" else torch.full_like(every[:, :1], torch.nan)
        subsets = torch.stack([every, positive, negative], dim=-1).flatten(1)
        yield dict.fromkeys(names, torch.cat([whole, subsets], dim=1))


def _rarer_scored(context: Context) -> torch.Tensor:
    return context.ranked.amin(-1)


def _rarer_of_max_fpr(context: Context) -> torch.Tensor:
    return _rarer_scored(context).repeat_interleave(context.max_fpr.shape[-1], dim=1)


def _rarer_decided(context: Context) -> torch.Tensor:
    return torch.minimum(context.support, context.labeled[:, None] - context.support)


def _rarer_of_brier(context: Context) -> torch.Tensor:
    rarer = _rarer_scored(context)
    return torch.cat([rarer.amin(1, keepdim=True), rarer.repeat_interleave(3, dim=1)], dim=1)


_OF_CURVE: Mapping[str, Callable[[Context, Curve], torch.Tensor]] = {
    "classifier_roc_auc": lambda _, curve: ranking.roc_auc(curve),
    "classifier_partial_roc_auc": lambda c, curve: ranking.partial_roc_auc(curve, c.max_fpr[0]).flatten(1),
    "classifier_average_precision": lambda _, curve: ranking.average_precision(curve),
}
_SAMPLERS = (
    (("classifier_recall", "classifier_precision"), _of_decisions),
    (tuple(_OF_CURVE), _of_curves),
    (("classifier_brier_score",), _of_errors),
)
_RARER: Mapping[str, Callable[[Context], torch.Tensor]] = {
    "classifier_recall": _rarer_decided,
    "classifier_precision": _rarer_decided,
    "classifier_roc_auc": _rarer_scored,
    "classifier_partial_roc_auc": _rarer_of_max_fpr,
    "classifier_average_precision": _rarer_scored,
    "classifier_brier_score": _rarer_of_brier,
}

FAMILIES = tuple(_RARER)
"""Families that can be resampled."""
