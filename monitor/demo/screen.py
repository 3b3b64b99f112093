"""What the terminal shows. Pure: from what is known to text and tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from monitor.demo.configuration import BAD_VERSION, GOOD_VERSION, MODEL, WINDOW
from monitor.demo.readings import MEASURES, RECALL, Look, Reading
from monitor.demo.story import Happening, Story


@dataclass(frozen=True)
class Situation:
    """All that the screen shows (times in epoch seconds).

    Attributes
    ----------
    address
        Of page and API.
    config
        Path of the daemon's configuration.
    act_token_file
        Path of what people need to act on the page.
    note
        Something to say about the address.
    begun
        When events began to flow.
    change_at
        When the bad version is to take over.
    time
        Of the newest look.
    now
        The newest look.
    story
        What has happened.
    rate
        Events a second, over the last few looks.
    """

    address: str
    config: str
    act_token_file: str
    begun: float
    change_at: float
    time: float
    now: Look
    note: str = ""
    story: Story = field(default_factory=Story)
    rate: float = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since events flow."""
        return self.time - self.begun

    @property
    def live(self) -> str:
        """The version that the traffic comes from."""
        return GOOD_VERSION if self.story.is_well else BAD_VERSION

    @property
    def phase(self) -> str:
        """How the live traffic is."""
        return self.story.phase(self.time, self.change_at)


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
    phase = Text(f"The live traffic is {at.phase}", "bold green" if at.story.is_well else "bold red")
    brief = happened(at, lambda each: each.what)
    return Group(facts, Text(), phase, Text(at.story.explanation), brief, Text(), table(at))


def places(at: Situation) -> str:
    """Return where to look beside this screen."""
    return (
        f"page    {at.address}/{at.note}; to pause or silence there: the token in {at.act_token_file}\n"
        f"try     monitor report -c {at.config}"
    )


HOW_TO_LOOK = (
    "Everything has ended here. Without DEMO_SECONDS it goes on, and you can look at the page, at "
    "/api/v1/alerts and /api/v1/actions, and at `monitor report`, with the addresses printed at the start."
)


def line(at: Situation) -> str:
    """Return the situation in one line, for output that is no terminal."""
    recall = at.now.window(at.live).reading(RECALL)
    return f"{at.elapsed:4.0f} s  {at.phase}; {_counters(at)}; {RECALL.title} by {at.live} {recall}"


def told(at: Situation, happening: Happening) -> str:
    """Return something that happened in one line."""
    return f"{happening.at - at.begun:4.1f} s  {happening}"


def happened(at: Situation, write: Callable[[Happening], str] = str) -> Table:
    """Return what has happened, each with its time."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column()
    for each in at.story.happenings:
        grid.add_row(f"{each.at - at.begun:.1f} s", Text(write(each)))
    return grid


def table(at: Situation) -> Table:
    """Return the window's numbers of both versions."""
    grid = Table(
        title=f"{MODEL}, newest 1000 events ({WINDOW}) [95% interval]",
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
    )
    grid.add_column("")
    for version in (GOOD_VERSION, BAD_VERSION):
        grid.add_column(f"{version} (live)" if version == at.live else version, min_width=20)
    grid.add_column("")
    good, bad = at.now.window(GOOD_VERSION), at.now.window(BAD_VERSION)
    for measure in MEASURES:
        old, new = good.reading(measure), bad.reading(measure)
        word = verdict(old, new, measure.higher_is_better)
        style = {"worse": "red", "better": "green"}.get(word, "")
        grid.add_row(measure.title, str(old), Text(str(new), style), Text(word, style))
    return grid


def conclusion(at: Situation) -> str:
    """Return the last sentences: how recall went, and what did not happen that should have."""
    story = at.story
    said = []
    if story.changed is not None:
        bad = at.now.window(BAD_VERSION).reading(RECALL)
        said.append(
            f"{RECALL.title}: {story.before} by {GOOD_VERSION}, {bad} by {BAD_VERSION}, "
            + (f"{story.recovered[1]} after the rollback." if story.recovered else "not yet known after it.")
        )
    if story.lacks is not None:
        actions = "".join(f" Action {status}: {reason}." for status, reason in at.now.actions)
        said.append(f"Failed: {story.lacks}.{actions}")
    return "\n".join([*said, HOW_TO_LOOK])


def _counters(at: Situation) -> str:
    return f"{at.rate:.0f}/s, lag {at.now.lag}, rejected {at.now.rejected}"
