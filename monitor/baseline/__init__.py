"""Stored references: what a model was like once, for alerts to hold it against."""

from monitor.baseline.baseline import Baseline, Groups, Interval, StoredValue
from monitor.baseline.file import load_baseline, store_baseline
from monitor.baseline.fitting import calibration_map, check_fit, meaning

__all__ = [
    "Baseline",
    "Groups",
    "Interval",
    "StoredValue",
    "calibration_map",
    "check_fit",
    "load_baseline",
    "meaning",
    "store_baseline",
]
