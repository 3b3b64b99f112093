"""What the terminal shows. Pure: from what is known to text and tables."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from monitor.demo.configuration import MODEL, WINDOW
from monitor.demo.model import Fault
from monitor.demo.readings import MEASURES, RECALL, Look, Reading
from monitor.demo.traffic import DAMAGED_SITE

FAULT = Fault()
HEALTHY_STORY = "It predicts cases that it was not trained on, as well as it did before it was served."
STORY = (
    f"Since then a new scanner at site {DAMAGED_SITE} measures nuclei {1 - FAULT.factor:.0%} too small, and "
    f"a new server pushes all scores towards 0 and 1 (temperature {FAULT.temperature}): cancers are missed, "
    "with confidence."
)


@dataclass(frozen=True)
class Situation:
    """All that the screen shows.

    Attributes
    ----------
    page, broker, config
        Where they are.
    change_at
        When the model goes (or went) wrong, in seconds of `elapsed`.
    now
        The newest look.
    before
        The last look before the change; None while the model is healthy.
    elapsed
        Seconds since events flow.
    rate
        Events a second, over the last few looks.
    """

    page: str
    broker: str
    config: str
    change_at: float
    now: Look
    before: Look | None = None
    elapsed: float = 0.0
    rate: float = 0.0

    @property
    def phase(self) -> str:
        """What the model is doing."""
        if self.before is None:
            return f"healthy; goes wrong in {max(self.change_at - self.elapsed, 0):.0f} s"
        return f"WRONG for {self.elapsed - self.change_at:.0f} s"


def verdict(before: Reading, now: Reading, higher_is_better: bool = True) -> str:
    """Return "worse" or "better" where the two intervals do not overlap, else "".

    Two 95% intervals of the same proportion miss each other in less than 1% of all cases.
    """
    if before.lower is None or before.upper is None or now.lower is None or now.upper is None:
        return ""
    if now.upper < before.lower:
        return "worse" if higher_is_better else "better"
    if now.lower > before.upper:
        return "better" if higher_is_better else "worse"
    return ""


def screen(at: Situation) -> RenderableType:
    """Return the live display."""
    facts = Text(f"{places(at)}\nevents  {_counters(at)}", overflow="fold")
    phase = Text(f"The model is {at.phase}", "bold green" if at.before is None else "bold red")
    return Group(facts, Text(), phase, Text(HEALTHY_STORY if at.before is None else STORY), Text(), table(at))


def places(at: Situation) -> str:
    """Return where to look beside this screen."""
    return f"page    {at.page}\nbroker  {at.broker} (embedded)\ntry     monitor report -c {at.config}"


def line(at: Situation) -> str:
    """Return the situation in one line, for output that is no terminal."""
    return (
        f"{at.elapsed:4.0f} s  {at.phase}; {_counters(at)}; {RECALL.title} {_value(at.now.reading(RECALL))}"
    )


def table(at: Situation) -> Table:
    """Return the window's numbers, before the change and now."""
    grid = Table(
        title=f"{MODEL}, {'last 1000 events' if at.now.complete else 'window filling'} ({WINDOW})",
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
    )
    grid.add_column("")
    grid.add_column("before the change", style="dim")
    grid.add_column("now [95% interval]")
    grid.add_column("")
    for measure in MEASURES:
        old, new = (at.before or Look()).reading(measure), at.now.reading(measure)
        word = verdict(old, new, measure.higher_is_better)
        style = {"worse": "red", "better": "green"}.get(word, "")
        grid.add_row(measure.title, _value(old), Text(_value(new), style), Text(word, style))
    return grid


def conclusion(at: Situation) -> tuple[bool, str]:
    """Return whether the damage shows, and the last sentence."""
    if at.before is None:
        return False, "Stopped before the model went wrong."
    old, new = at.before.reading(RECALL), at.now.reading(RECALL)
    seen = verdict(old, new) == "worse"
    how = "fell" if seen else "did not clearly fall"
    return seen, f"{RECALL.title} {how}: {_value(old)} before the change, {_value(new)} now."


def _counters(at: Situation) -> str:
    return f"{at.rate:.0f}/s, lag {at.now.lag}, rejected {at.now.rejected}"


def _value(reading: Reading) -> str:
    if reading.lower is None or reading.upper is None:
        return _number(reading.value)
    return f"{_number(reading.value)} [{_number(reading.lower)}, {_number(reading.upper)}]"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
