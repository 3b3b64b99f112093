"""All tracks, within a budget of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from monitor.history.budget import share
from monitor.history.growth import Pick, Point, grown, next_point
from monitor.history.track import Track, Tracks
from monitor.report import Report, WindowReport


class History:
    """Keeps what is picked of every report; one thread adds, any may read.

    Parameters
    ----------
    pick
        Chooses the values of a window that are kept.
    budget
        Bytes that all tracks may take together; 0 keeps nothing.

    Attributes
    ----------
    tracks
        By model, version and window; replaced as a whole, never changed.
    """

    def __init__(self, pick: Pick, budget: int) -> None:
        self._pick = pick
        self._budget = budget
        self.tracks: Tracks = {}

    def add(self, report: Report) -> None:
        """Take in a report; windows that it does not have are forgotten."""
        if self._budget:
            windows = [window for window in report.windows if not window.segment]
            self._keep([self._next(window, report.evaluated_at) for window in windows])

    def resume(self, tracks: Iterable[Track]) -> None:
        """Go on from tracks that were remembered."""
        self._keep([(track, None) for track in tracks])

    def _next(self, window: WindowReport, evaluated: int) -> tuple[Track, Point | None]:
        key = window.model, window.version, window.window
        track = self.tracks.get(key) or Track.empty(*key)
        return track, next_point(track, window, self._pick, evaluated)

    def _keep(self, steps: Sequence[tuple[Track, Point | None]]) -> None:
        """Let tracks that have a point, or get one, grow as far as there is room."""
        steps = [step for step in steps if len(step[0].times) or step[1] is not None]
        room = share(self._budget, [len((point or track).metrics) for track, point in steps])
        grow = [grown(track, point, room.points) for track, point in steps[: room.tracks]]
        self.tracks = {track.key: track for track in grow}
