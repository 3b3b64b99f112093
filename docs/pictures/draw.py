"""The pictures of docs/concepts.md, drawn with the code that they explain.

`python docs/pictures/draw.py` writes them beside this file. Each has its own background and colours for light
and dark, so that it is readable on a page of either kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import exp, log10
from pathlib import Path

import numpy as np

from monitor.alerts.prevalence import wilson
from monitor.detection.procedure import Statistic
from monitor.detection.proportions import proportion_floor
from monitor.detection.running import run

WIDTH = 760
STYLE = """
  svg { font: 13px system-ui, sans-serif; }
  .back { fill: #fbfbfc; } text { fill: #24292f; } .small { font-size: 12px; fill: #57606a; }
  .axis { stroke: #8c959f; } .line { stroke: #0b62c4; fill: none; stroke-width: 2; }
  .band { fill: #0b62c4; opacity: .16; } .dot { fill: #0b62c4; } .bar { fill: #0b62c4; opacity: .75; }
  .bad { fill: #b42318; stroke: #b42318; } .limit { stroke: #b42318; stroke-dasharray: 5 4; }
  .waiting { fill: #8c959f; opacity: .22; }
  @media (prefers-color-scheme: dark) {
    .back { fill: #1b1f27; } text { fill: #e6edf3; } .small { fill: #a3adb8; } .axis { stroke: #7d8590; }
    .line { stroke: #6cb2ff; } .band, .dot, .bar { fill: #6cb2ff; }
    .bad { fill: #ff8f85; stroke: #ff8f85; } .limit { stroke: #ff8f85; }
  }
"""


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Return words that begin, end or are centred at a point."""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{words}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "axis") -> str:
    """Return a straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def box(x1: float, x2: float, y: float, height: float, kind: str) -> str:
    """Return a rectangle from x1 to x2, below y."""
    return f'<rect x="{x1:.1f}" y="{y:.1f}" width="{x2 - x1:.1f}" height="{height:.1f}" class="{kind}"/>'


def dot(x: float, y: float, kind: str = "dot", radius: float = 4) -> str:
    """Return a filled circle."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" class="{kind}"/>'


def curve(points: list[tuple[float, float]]) -> str:
    """Return a line through points."""
    return f'<polyline class="line" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def windows() -> Iterator[str]:
    """Events on a line of time, and which of them each window holds."""
    yield "What each window holds"
    times = [40, 62, 75, 120, 138, 190, 215, 222, 300, 318, 345, 420, 431, 470, 540, 560, 590, 612, 640, 668]
    positives = {62, 222, 345, 560, 640}
    for time in times:
        yield dot(time, 50, "bad" if time in positives else "dot", 5)
    yield line(30, 66, 690, 66)
    yield text(30, 26, "events in the order of their own times (red: of the positive class)", "small")
    yield text(700, 70, "newest", "small")
    for row, (start, name) in enumerate(
        [
            (times[-8] - 8, "events: 8, the newest 8"),
            (668 - 150, "duration: 1h, those of the last hour of event time"),
            (345 - 8, "positives: 3, back to the third newest positive"),
            (30, "all, every event since the beginning"),
        ]
    ):
        yield box(start, 676, 84 + 40 * row, 14, "bar")
        yield text(676, 114 + 40 * row, name, "small", "end")


def frontier() -> Iterator[str]:
    """Two partitions of which one is behind, and what that means for the frontier."""
    yield "The frontier of two partitions"
    partitions = {65: [120, 180, 230, 290, 360, 420, 490, 580, 660], 125: [140, 200, 290, 380, 415]}
    yield box(110, 345, 35, 120, "band")
    yield box(345, 415, 35, 120, "waiting")
    for number, (y, times) in enumerate(partitions.items()):
        yield line(110, y, 730, y)
        yield text(20, y + 5, f"partition {number}")
        for time in times:
            yield dot(time, y)
        yield line(times[-1], y - 13, times[-1], y + 13)
    yield text(660, 46, "read up to here", "small", "middle")
    yield text(424, 118, "read up to here: the slower one decides", "small")
    yield dot(250, 125, "bad", 6)
    yield text(250, 148, "one that comes only now is late", "small", "middle")
    yield line(345, 25, 345, 165, "limit")
    yield text(345, 182, "frontier", "", "middle")
    yield text(421, 150, "allowed_lateness", "small")
    yield text(228, 28, "complete: alerts look at this, in order", "small", "middle")


def maturity() -> Iterator[str]:
    """Recall as it is seen while hits are labeled sooner than misses."""
    yield "Recall, as seen while labels come in"
    left, right, days = 70, 720, 30

    def place(day: float, recall: float) -> tuple[float, float]:
        return left + (right - left) * day / days, 210 - (recall - 0.7) / 0.3 * 170

    def seen(day: float) -> float:
        hits, misses = 0.8 * (1 - exp(-day / 1.0)), 0.2 * (1 - exp(-day / 7.0))
        return hits / (hits + misses)

    yield box(left, place(21, 0)[0], 40, 170, "waiting")
    for recall in (0.7, 0.8, 0.9, 1.0):
        yield text(left - 8, place(0, recall)[1] + 4, f"{recall:.1f}", "small", "end")
    yield line(*place(0, 0.7), *place(days, 0.7))
    yield line(*place(0, 0.8), *place(days, 0.8), "limit")
    for day in range(0, days + 1, 5):
        yield text(place(day, 0)[0], 228, str(day), "small", "middle")
    yield curve([place(day / 4, seen(day / 4)) for day in range(1, 4 * days + 1)])
    yield text(right, 228 + 18, "age of the events in days", "small", "end")
    yield text(300, 70, "recall among the labels known so far")
    yield text(right, place(0, 0.8)[1] + 18, "recall once all are known", "small", "end")
    yield text(place(21, 0)[0] - 6, 200, "not looked at: label_maturity: 21d", "small", "end")


def intervals() -> Iterator[str]:
    """Forty windows of one model: of 95% intervals about two in forty miss the truth."""
    yield "Forty windows of a model whose recall is 0.8"

    def height(recall: float) -> float:
        return 205 - (recall - 0.5) / 0.5 * 175

    for recall in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        yield text(50, height(recall) + 4, f"{recall:.1f}", "small", "end")
    yield line(60, height(0.8), 735, height(0.8), "limit")
    for place, found in enumerate(np.random.default_rng(1).binomial(50, 0.8, 40).tolist()):
        x = 72 + 16.6 * place
        lower, upper = wilson(found, 50)
        bar, point = ("bar", "dot") if lower <= 0.8 <= upper else ("bad", "bad")
        yield box(x - 2, x + 2, height(upper), height(lower) - height(upper), bar)
        yield dot(x, height(found / 50), point, 3.5)
    yield text(60, 234, "each: 50 frauds, the share of them that was found, and its 95% interval", "small")


def evidence() -> Iterator[str]:
    """The statistic of a real detector on simulated frauds: recall 0.8, from the 400th on 0.6."""
    yield "Evidence that recall is below its floor"
    random = np.random.default_rng(3)
    hits = np.concatenate([random.random(400) < 0.8, random.random(160) < 0.6]).astype(float)
    detector = proportion_floor(0.75, 10_000.0)
    statistic, values, fired = Statistic.fresh(detector), [], 0
    for index, hit in enumerate(hits):
        [statistic], crossings = run([detector], [statistic], [np.array([hit])])
        if crossings[0]:
            fired = index
            break
        values.append(statistic.value(detector))
    left, right = 70, 720

    def place(index: int, value: float) -> tuple[float, float]:
        return left + (right - left) * index / 560, 210 - log10(max(value, 0.1) * 10) / 5.3 * 170

    for power in (1, 2, 3, 4):
        yield text(left - 8, place(0, 10**power)[1] + 4, f"{10**power:,}", "small", "end")
    yield line(left, 210, right, 210)
    yield line(left, place(0, 10_000)[1], right, place(0, 10_000)[1], "limit")
    yield text(left + 6, place(0, 10_000)[1] - 7, "false_alarm_every: 10000", "small")
    yield line(place(400, 0)[0], 40, place(400, 0)[0], 210)
    yield text(place(400, 0)[0] - 8, 96, "recall falls from 0.8 to 0.6", "small", "end")
    yield curve([place(index, value) for index, value in enumerate(values)])
    x, y = place(fired, 10_000)
    yield dot(x, y, "bad", 6)
    yield text(x - 12, y - 8, f"fires, {fired - 399} frauds later", "small", "end")
    for index in range(0, 561, 100):
        yield text(place(index, 0)[0], 228, str(index), "small", "middle")
    yield text(right, 246, "frauds, in the order of their times", "small", "end")


PICTURES: Mapping[str, int] = {
    "windows": 246,
    "frontier": 195,
    "maturity": 256,
    "intervals": 245,
    "evidence": 256,
}
"""Heights in pixels."""


def drawn(name: str) -> str:
    """Return a picture as SVG; its first part is its title."""
    title, *parts = globals()[name]()
    size = f'viewBox="0 0 {WIDTH} {PICTURES[name]}" width="{WIDTH}" height="{PICTURES[name]}"'
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n<title>{title}</title>\n'
        f"<style>{STYLE}</style>\n"
        f'<rect width="{WIDTH}" height="{PICTURES[name]}" rx="8" class="back"/>\n{body}\n</svg>\n'
    )


if __name__ == "__main__":
    for name in PICTURES:
        Path(__file__).with_name(f"{name}.svg").write_text(drawn(name), "utf-8")
