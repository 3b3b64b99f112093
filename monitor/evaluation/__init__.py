"""From a view of the state to the report: which counts make a case, and what the metrics say of it."""

from monitor.evaluation.evaluation import Evaluation, Wanted, evaluate
from monitor.evaluation.resampling import Bounds, Resampling, all_settled, resample, with_bounds

__all__ = [
    "Bounds",
    "Evaluation",
    "Resampling",
    "Wanted",
    "all_settled",
    "evaluate",
    "resample",
    "with_bounds",
]
