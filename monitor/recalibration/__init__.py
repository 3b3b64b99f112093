"""Suggested maps that bring probabilities back to the rates at which events come true."""

from monitor.recalibration.of_report import window_suggestion, window_suggestions
from monitor.recalibration.suggestion import Suggestion, apply, suggest

__all__ = ["Suggestion", "apply", "suggest", "window_suggestion", "window_suggestions"]
