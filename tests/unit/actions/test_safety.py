"""Whatever happens in whatever order: what must never be sent is never sent."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from monitor.actions.acts import ActRefused
from monitor.actions.decision import Decision
from monitor.actions.docket import LEAVING
from monitor.actions.sender import Outcome
from monitor.actions.spec import DAY, HOUR, MINUTE, ActionSpec, Breaker
from tests.support.desks import Office, Sender, alert

MODELS = ("a", "b", "c")
VERSIONS = ("1", "2", "3")
NAMES = ("Recall", "Calibration")
MAX_PER_DAY = 2
BREAKER = Breaker(max_models=2, per=HOUR)


class Story:
    """Alerts come and go, versions change, receivers fail, people meddle, the daemon crashes.

    What is checked is what the desk was told last, kept here a second time.
    """

    STEPS = ("turn", "raise", "resolve", "deploy", "obey", "wait", "lag", "crash", "pause", "approve")
    WEIGHTS = (30, 14, 6, 3, 8, 20, 3, 3, 4, 4)

    def __init__(self, random: Random) -> None:
        self.random = random
        self.firing: dict[tuple[str, str, str], int] = {}
        self.live = dict.fromkeys(MODELS, "1")
        self.before: dict[str, tuple[str, ...]] = {}
        self.told: tuple[dict[Any, int], dict[str, str]] | None = None
        self.lagging = self.paused = False
        self.episodes = 0
        self.sent: dict[str, Decision] = {}
        self.done: dict[tuple[str, str], int] = {}
        self.left: set[tuple[str, str]] = set()
        self.broken: Exception | None = None
        spec = ActionSpec(
            "rollback",
            "webhook",
            cooldown=random.choice((MINUTE, HOUR)),
            max_per_day=MAX_PER_DAY,
            approval=random.random() < 0.25,
        )
        self.office = Office(spec, breaker=BREAKER, sender=Sender(self.send))
        self.saved = self.office.save()

    def step(self) -> None:
        [name] = self.random.choices(self.STEPS, self.WEIGHTS)
        getattr(self, f"{name}_")()
        if self.broken is not None:
            raise self.broken

    def send(self, decision: Decision) -> Outcome:
        try:
            self.check(decision)
        except (AssertionError, KeyError) as error:
            self.broken = error  # the desk takes it for a failure of the sender
        result: Any = self.random.choice(("done", "done", "retry", "retry", "retry", "failed"))
        if result == "done":
            self.done[decision.model, decision.bad_version] = self.office.clock.now()
        return Outcome(result, "as told")

    def check(self, decision: Decision) -> None:
        assert self.told is not None and not self.lagging and not self.paused
        firing, live = self.told
        key = (decision.alert.model, decision.alert.version, decision.alert.alert)
        assert live[decision.model] == decision.bad_version
        assert decision.episode.endswith(f"/{firing[key]}/{firing[key]}")
        assert self.office.clock.now() < decision.expires_at
        target = decision.target_version
        if target is not None:
            assert target != decision.bad_version
            assert (decision.model, target) not in {known[:2] for known in firing}
            assert (decision.model, target) not in self.left
        first = self.sent.setdefault(decision.episode, decision)
        assert first.idempotency_key == decision.idempotency_key
        self.check_limits(decision)

    def check_limits(self, decision: Decision) -> None:
        taken = [(each.model, each.taken_at or 0) for each in self.sent.values()]
        assert decision.taken_at is not None
        ages = [(model, decision.taken_at - at) for model, at in taken]
        assert sum(model == decision.model and 0 <= age < DAY for model, age in ages) <= MAX_PER_DAY
        if decision.by is None:
            assert len({model for model, age in ages if 0 <= age < BREAKER.per}) <= BREAKER.max_models

    def turn_(self) -> None:
        self.consider(lagging=False)
        self.deliver()

    def lag_(self) -> None:
        self.consider(lagging=True)
        self.deliver()

    def consider(self, lagging: bool) -> None:
        self.told, self.lagging = (dict(self.firing), dict(self.live)), lagging
        if not lagging:  # who moves away long after an action does not do it for its sake
            early = self.office.clock.now() - LEAVING
            self.left |= {(m, v) for (m, v), at in self.done.items() if at >= early and self.live[m] != v}
        alerts = [
            alert(model, version, name=name, since=self.firing.get((model, version, name)))
            for model in MODELS
            for version in VERSIONS
            for name in NAMES
        ]
        self.office.consider(*alerts, live=dict(self.live), before=dict(self.before), lagging=lagging)

    def deliver(self) -> None:
        self.saved = self.office.save()
        while self.office.desk.deliver("rollback"):
            pass

    def raise_(self) -> None:
        self.episodes += 1
        model = self.random.choice(MODELS)
        version = self.random.choice((self.live[model], self.live[model], *VERSIONS))
        self.firing.setdefault((model, version, self.random.choice(NAMES)), self.episodes)

    def resolve_(self) -> None:
        if self.firing:
            del self.firing[self.random.choice(sorted(self.firing))]

    def deploy_(self) -> None:
        self.deploy(self.random.choice(MODELS), self.random.choice(VERSIONS))

    def deploy(self, model: str, version: str) -> None:
        if self.live[model] != version:
            earlier = (self.live[model], *self.before.get(model, ()))
            self.before[model] = tuple(dict.fromkeys(each for each in earlier if each != version))
            self.live[model] = version

    def obey_(self) -> None:
        """Do as a receiver of the last order would."""
        decision = next((each for each in reversed(self.sent.values()) if each.target_version), None)
        if decision is not None and self.live[decision.model] == decision.bad_version:
            self.deploy(decision.model, str(decision.target_version))

    def wait_(self) -> None:
        self.office.pass_time(self.random.choice((1, 20, 59, 300, 3600)))
        self.deliver()  # before anybody has looked again

    def crash_(self) -> None:
        self.office.restart(self.saved)
        self.told = None
        self.paused = self.office.desk.view().paused is not None
        # What was done after the last checkpoint is known by the version that is live, or never.
        self.left = {(model, version) for model, version, _ in self.saved["rolled_back"]}
        decided = [each for each in self.saved["decisions"] if each["status"] == "done"]
        self.done = {(each["model"], each["bad_version"]): each["changed_at"] for each in decided}
        self.deliver()

    def pause_(self) -> None:
        if self.paused:
            self.office.desk.resume_actions("ann")
        else:
            self.office.desk.pause("ann")
        self.paused = not self.paused

    def approve_(self) -> None:
        self.office.pass_time(1)  # so that what was let through before can be told from this
        for decision in self.office.desk.view().decisions[:3]:
            try:
                self.office.desk.approve(decision.id, "ann")
            except ActRefused:
                continue
            assert decision.status in ("waiting_for_approval", "held")


@given(st.integers(0, 2**32))
@settings(max_examples=60, phases=(Phase.explicit, Phase.generate))  # a smaller seed is no shorter story
def test_what_must_never_be_sent_never_is(seed: int) -> None:
    story = Story(Random(seed))
    for _ in range(150):
        story.step()


def test_stories_have_everything_in_them() -> None:
    statuses: set[str] = set()
    for seed in range(8):
        story = Story(Random(seed))
        for _ in range(150):
            story.step()
        statuses |= {each["status"] for each in story.office.audit.entries if "status" in each}
    assert statuses >= {"done", "failed", "expired", "superseded", "refused", "held", "waiting_for_approval"}
