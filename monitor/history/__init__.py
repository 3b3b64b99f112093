"""How headline metrics went: a bounded past of the reports, for timelines."""

from monitor.history.history import History
from monitor.history.track import Key, Metric, Track, Tracks

__all__ = ["History", "Key", "Metric", "Track", "Tracks"]
