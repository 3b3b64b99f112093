"""The process ends at a step of reading, saving or taking over; who comes next goes on as if it had not."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from monitor import takeover, tenure
from monitor.checkpoint import folder as folders
from monitor.checkpoint.folder import Folder
from monitor.checkpoint.names import Stamp
from monitor.config import Config, load_config
from monitor.daemon import Daemon
from monitor.pipeline import Pipeline
from monitor.records import Partition, RecordBatch
from monitor.sources.base import Poll
from tests.chaos.traffic import ALERTS, configuration, events
from tests.support.digest import Digest, Uninterrupted, digest_of_folder
from tests.support.records import RECORD_MS, Raw, raw
from tests.support.scripted import Scripted

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")

Log = Mapping[Partition, Sequence[Raw]]

ONCE = (
    "before the claim",
    "mark of the claim",
    "claimed",
    "before restoring",
    "restored",
)
"""Steps of taking over."""

STEPS = (
    *ONCE,
    "before decoding",
    "between decoding and applying",
    "after applying",
    "after the cut",
    "before the file",
    "half of the file",
    "file without its name",
    "file with its name",
    "written",
    "before the commit",
    "after the commit",
)


class Abort(BaseException):
    """The end of the process: nothing may catch it."""


class Plan:
    """Ends a daemon when a step is reached for the `count`-th time; its other threads go on meanwhile."""

    def __init__(self, step: str = "", count: int = 1) -> None:
        self.step = step
        self.ended = threading.Event()
        self._left = count

    def reach(self, step: str) -> None:
        if step and step == self.step:
            self._left -= 1
            if self._left <= 0:
                self.ended.set()
                raise Abort(step)

    def go_on(self) -> None:
        """End the thread that polls where another one has ended."""
        if self.ended.is_set():
            raise Abort("elsewhere")


class LogSource(Scripted):
    """Reads a log in polls of random sizes, and is its broker: what is committed outlives it."""

    def __init__(self, log: Log, plan: Plan, rng: random.Random) -> None:
        super().__init__()
        self.wanted = frozenset(log)
        self.read = threading.Event()
        self._log = log
        self._plan = plan
        self._rng = rng

    def poll(self, timeout: float) -> Poll:
        self._plan.go_on()
        if missing := self.wanted - self.owned:
            self.offsets |= dict.fromkeys(missing, 0) | dict(self.take_over(missing))
            self.owned, self.joined = self.wanted, True
        batches = []
        for partition in sorted(self.owned - self.held):
            first = self.offsets[partition]
            if found := self._log[partition][first : first + self._rng.randrange(100)]:
                self.offsets[partition] = found[-1].offset + 1
                batches.append(RecordBatch(partition, found))
        if not batches:
            self.closed.wait(0.01)
        if not any(self.lag().values()):
            self.read.set()
        return Poll(batches)

    def lag(self) -> Mapping[Partition, int]:
        return {p: len(self._log[p]) - self.offsets[p] for p in self.owned}

    def commit(self, next_offsets: Mapping[Partition, int]) -> bool:
        self._plan.reach("before the commit")
        done = super().commit(next_offsets)
        self._plan.reach("after the commit")
        return done


@pytest.fixture(scope="module")
def log() -> Log:
    found: dict[Partition, list[Raw]] = {Partition("t", number): [] for number in range(3)}
    for number, value in islice(events(1, RECORD_MS / 1000, rate=100, late_after=1500), 4000):
        records = found[Partition("t", number)]
        records.append(raw(len(records), value, RECORD_MS + 600_000))
    return found


@pytest.fixture
def config(tmp_path: Path) -> Config:
    text = configuration("localhost:9092", "t", tmp_path / "state") + ALERTS
    for old, new in {"every: 1s": "every: 15ms", "every: 5s": "every: 1h", "dead_letter_topic": "#"}.items():
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "monitor.yaml"
    path.write_text(text)
    return load_config(path, {})


@pytest.fixture(scope="module")
def expected(log: Log, tmp_path_factory: pytest.TempPathFactory) -> Digest:
    folder = tmp_path_factory.mktemp("expected")
    (folder / "monitor.yaml").write_text(configuration("localhost:9092", "t", folder) + ALERTS)
    run = Uninterrupted(load_config(folder / "monitor.yaml", {}), ["t"])
    run.take({p: iter([r[i : i + 100] for i in range(0, len(r), 100)]) for p, r in log.items()})
    found = run.digest()
    assert found["late"]
    assert {t.change for t in run.transitions} >= {"firing", "resolved"}
    assert found["rejected"]
    return found


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Have the newest plan asked at every step."""
    current: list[Plan] = [Plan()]

    def around(owner: Any, name: str, before: str = "", after: str = "") -> None:
        inner = getattr(owner, name)

        def wrapper(*arguments: Any, **options: Any) -> Any:
            current[-1].reach(before)
            result = inner(*arguments, **options)
            current[-1].reach(after)
            return result

        monkeypatch.setattr(owner, name, wrapper)

    monkeypatch.setattr(Daemon, "_evaluate", lambda _: None)  # nothing here is about it, and it takes time
    around(Pipeline, "decode", "before decoding")
    around(Pipeline, "apply", "between decoding and applying", "after applying")
    around(tenure, "cut", after="after the cut")
    around(Folder, "write", "before the file", "written")
    around(Folder, "claim", "before the claim", "claimed")
    around(takeover, "restore", "before restoring", "restored")
    monkeypatch.setattr(Folder, "_store", storing(current, Folder._store))
    monkeypatch.setattr(folders, "_create", claiming(current, folders._create))
    return current


def storing(plans: list[Plan], store: Callable[..., int]) -> Callable[..., int]:
    """Leave what a crash leaves, which no handler tidies up."""

    def stored(self: Folder, stamp: Stamp, pieces: Iterable[bytes | memoryview]) -> int:
        whole = b"".join(pieces)
        for step, share in {"half of the file": len(whole) // 2, "file without its name": len(whole)}.items():
            try:
                plans[-1].reach(step)
            except Abort:
                (self.path / stamp.temporary).write_bytes(whole[:share])
                raise
        size = store(self, stamp, [whole])
        plans[-1].reach("file with its name")
        return size

    return stored


def claiming(plans: list[Plan], create: Callable[[Path, int], int]) -> Callable[[Path, int], int]:
    def created(path: Path, flags: int) -> int:
        descriptor = create(path, flags)
        if path.name.startswith("epoch"):
            try:
                plans[-1].reach("mark of the claim")
            except Abort:
                os.close(descriptor)
                raise
        return descriptor

    return created


def lives(config: Config, log: Log, plans: list[Plan], steps: Sequence[str], rng: random.Random) -> LogSource:
    """Run one daemon after the other, each until its step; return the source of the last one."""
    for step in steps:
        plans.append(Plan(step, 1 if step in ONCE else rng.randrange(1, 6)))
        source = live(config, log, plans[-1], rng)
    return source


def live(config: Config, log: Log, plan: Plan, rng: random.Random) -> LogSource:
    """Run a daemon until its plan ends it, or else until it has read everything and is stopped."""
    source = LogSource(log, plan, rng)
    daemon = Daemon(config, source=source.made)
    ended: list[BaseException] = []

    def run() -> None:
        try:
            daemon.run()
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=run, name="daemon")
    thread.start()
    deadline = time.monotonic() + 30
    while (
        thread.is_alive() and time.monotonic() < deadline and not (source.read.wait(0.01) and not plan.step)
    ):
        pass
    daemon.stop()
    thread.join(30)
    assert not thread.is_alive()
    if plan.step:
        assert isinstance(ended[0], Abort), ended
    elif ended:
        raise ended[0]
    return source


@pytest.mark.parametrize("step", STEPS)
def test_a_process_that_ends_at_a_step_has_lost_and_doubled_nothing(
    step: str, config: Config, log: Log, expected: Digest, plans: list[Plan]
) -> None:
    rng = random.Random(step)
    lives(config, log, plans, ["written", step, ""], rng)
    assert digest_of_folder(config.checkpoint.directory, config) == expected


@pytest.mark.parametrize("seed", range(2))
def test_processes_that_end_at_any_steps(
    seed: int, config: Config, log: Log, expected: Digest, plans: list[Plan]
) -> None:
    rng = random.Random(seed)
    source = lives(config, log, plans, ["written", *rng.choices(STEPS, k=8), ""], rng)
    assert digest_of_folder(config.checkpoint.directory, config) == expected
    assert source.committed[-1] == {p: len(records) for p, records in log.items()}
