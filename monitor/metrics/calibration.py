"""Whether events of probability p are of the class at rate p.

Of each scored class against the others; the whole (class "") is, in multiclass tasks, whether the top label
is right as often as its probability says, in binary tasks the positive class; multilabel tasks have none.
"""

from __future__ import annotations

import torch

from monitor.metrics import cells
from monitor.metrics.context import Context
from monitor.metrics.cox import CoxFit, cox
from monitor.metrics.labels import SCORED, WHOLE, LabelSets
from monitor.metrics.outcome import Outcome
from monitor.metrics.statement import MIN_SUPPORT, number, undefined


def calibration_error(context: Context) -> Outcome:
    """State the mean of |mean probability - rate| of 15 equal bins, weighted by events ("ECE", L1)."""
    return _of_bins(context, cells.calibration_error(context.shared(_bins)))


def calibration_error_debiased(context: Context) -> Outcome:
    """State the root mean square of the same, noise taken off (L2)."""
    bins = context.shared(_bins)
    return _of_bins(
        context, cells.calibration_error_debiased(bins), too_few_events=(bins[..., 0] <= 1).all(-1)
    )


def calibration_error_expected(context: Context) -> Outcome:
    """State the calibration_error that is to be expected if all probabilities are right."""
    return _of_bins(context, cells.calibration_error_expected(context.shared(_bins)))


def calibration_slope(context: Context) -> Outcome:
    """State the slope of the logistic fit of the outcomes on the log-odds of the probabilities."""
    fit = context.shared(_fit)
    return _of_fit(context, fit.slope, equal_scores=fit.equal, separated=fit.separated)


def calibration_intercept(context: Context) -> Outcome:
    """State the intercept of the same fit with the slope fixed at 1."""
    return _of_fit(context, context.shared(_fit).intercept)


def calibration_p_value(context: Context) -> Outcome:
    """State the p-value of Cox's score test, chi-squared with 2 degrees of freedom; one outcome is enough."""
    fit, few = context.shared(_fit), context.shared(_outcomes).amin(-1) < MIN_SUPPORT
    reason = undefined(_without_scores(context), equal_scores=fit.equal)
    return _state(context, torch.exp(-fit.statistic / 2), reason, few)


def _bins(context: Context) -> torch.Tensor:
    return cells.merge(context.counts.cells, cells.BINS)


def _fit(context: Context) -> CoxFit:
    return cox(context.counts.positives, context.counts.negatives, context.counts.probability)


def _outcomes(context: Context) -> torch.Tensor:
    """Return events that are not (0) and that are (1) of the class, or the top label: int64 (B, T, 2)."""
    sides = context.counts.negatives, context.counts.positives
    return torch.stack([side.sum(-1) for side in sides], dim=-1)


def _without_scores(context: Context) -> torch.Tensor:
    """Return the reason of everything that needs a labeled event with scores, int64 (B, T)."""
    return context.without_scores[:, :1].expand_as(context.counts.exact)


def _of_bins(context: Context, value: torch.Tensor, **checks: torch.Tensor) -> Outcome:
    """State numbers of T rows of bins, (B, T)."""
    return _state(context, value, undefined(_without_scores(context), **checks))


def _of_fit(context: Context, value: torch.Tensor, **checks: torch.Tensor) -> Outcome:
    """State numbers of T rows that need both outcomes, (B, T)."""
    outcomes = context.shared(_outcomes)
    reason = undefined(
        _without_scores(context),
        no_positives=outcomes[..., 1] == 0,
        no_negatives=outcomes[..., 0] == 0,
        **checks,
    )
    return _state(context, value, reason, outcomes.amin(-1) < MIN_SUPPORT)


def _state(
    context: Context, value: torch.Tensor, reason: torch.Tensor, few: torch.Tensor | None = None
) -> Outcome:
    """State numbers of T rows, (B, T), in the order of the labels."""
    labels: LabelSets = ((WHOLE,), (SCORED,))
    r = context.scored
    if context.task == "binary":
        rows = [0, 0]
    elif context.task == "multiclass":
        rows = [r, *range(r)]
    else:
        labels, rows = ((SCORED,),), [*range(r)]
    return number(
        labels,
        value[:, rows],
        reason[:, rows],
        context.ranked[:, :1].sum(-1),
        low_support=None if few is None else few[:, rows],
    )
