"""Whatever happens in whatever order: what must never be sent is never sent."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from monitor.actions.acts import ActRefused
from monitor.actions.decision import Decision
from monitor.actions.sender import Outcome
from monitor.actions.spec import DAY, HOUR, MINUTE, ActionSpec, Breaker
from tests.support.desks import Office, Sender, alert

MODELS = ("a", "b", "c")
VERSIONS = ("1", "2", "3")
MAX_PER_DAY = 2
BREAKER = Breaker(max_models=2, per=HOUR)

models, versions = st.sampled_from(MODELS), st.sampled_from(VERSIONS)
names = st.sampled_from(("Recall", "Calibration"))


class Story(RuleBasedStateMachine):
    """Alerts come and go, versions change, receivers fail, people meddle, the daemon crashes."""

    def __init__(self) -> None:
        super().__init__()
        self.firing: dict[tuple[str, str, str], int] = {}
        self.live = dict.fromkeys(MODELS, "1")
        self.before: dict[str, tuple[str, ...]] = {}
        self.told: tuple[Any, ...] = ({}, {}, {})
        self.known = self.lagging = False
        self.paused = False
        self.episodes = 0
        self.result: Any = "done"
        self.keys: dict[str, str] = {}
        self.first_sent: dict[str, Decision] = {}
        self.left: set[tuple[str, str]] = set()

    @initialize(approval=st.booleans())
    def open(self, approval: bool) -> None:
        spec = ActionSpec("rollback", "webhook", cooldown=MINUTE, max_per_day=MAX_PER_DAY, approval=approval)
        self.office = Office(spec, breaker=BREAKER, sender=Sender(self.send))
        self.saved = self.office.save()

    def send(self, decision: Decision) -> Outcome:
        firing, live, _ = self.told
        now = self.office.clock.now()
        assert self.known and not self.lagging and not self.paused
        assert live[decision.model] == decision.bad_version
        since = firing[decision.alert.model, decision.alert.version, decision.alert.alert]
        assert decision.episode.endswith(f"/{since}/{since}")
        assert now < decision.expires_at
        target = decision.target_version
        if target is not None:
            assert (decision.model, target) not in {key[:2] for key in firing}
            assert (decision.model, target) not in self.left
            assert target != decision.bad_version
        assert self.keys.setdefault(decision.episode, decision.idempotency_key) == decision.idempotency_key
        self.first_sent.setdefault(decision.idempotency_key, decision)
        self.check_limits(decision)
        if self.result == "done":
            self.left.add((decision.model, decision.bad_version))
        return Outcome(self.result, "as told")

    def check_limits(self, decision: Decision) -> None:
        assert decision.taken_at is not None
        sent = [each for each in self.first_sent.values() if each.taken_at is not None]
        of_model = [each for each in sent if each.model == decision.model]
        for each in of_model:
            day = [one for one in of_model if each.taken_at <= one.taken_at < each.taken_at + DAY]  # type: ignore[operator]
            assert len(day) <= MAX_PER_DAY
        if decision.by is None:
            lately = {one.model for one in sent if 0 <= decision.taken_at - one.taken_at < BREAKER.per}  # type: ignore[operator]
            assert len(lately) <= BREAKER.max_models

    @rule(model=models, version=versions, name=names)
    def raises(self, model: str, version: str, name: str) -> None:
        self.episodes += 1
        self.firing.setdefault((model, version, name), self.episodes)

    @rule(model=models, version=versions, name=names)
    def resolves(self, model: str, version: str, name: str) -> None:
        self.firing.pop((model, version, name), None)

    @rule(model=models, version=versions)
    def deploys(self, model: str, version: str) -> None:
        if self.live[model] != version:
            earlier = (self.live[model], *self.before.get(model, ()))
            self.before[model] = tuple(dict.fromkeys(each for each in earlier if each != version))
            self.live[model] = version

    @rule(lagging=st.sampled_from((False, False, False, True)))
    def considers(self, lagging: bool) -> None:
        self.told = (dict(self.firing), dict(self.live), dict(self.before))
        self.known, self.lagging = True, lagging
        everything = [
            alert(model, version, name=name, since=self.firing.get((model, version, name)))
            for model in MODELS
            for version in VERSIONS
            for name in ("Recall", "Calibration")
        ]
        self.office.consider(*everything, live=self.live, before=self.before, lagging=lagging)

    @rule(result=st.sampled_from(("done", "done", "retry", "failed")))
    def delivers(self, result: str) -> None:
        self.result = result
        self.saved = self.office.save()
        self.office.desk.deliver("rollback")

    @rule(seconds=st.sampled_from((1, 30, 300, 3600, 86_400)))
    def waits(self, seconds: int) -> None:
        self.office.pass_time(seconds)

    @rule()
    def saves(self) -> None:
        self.saved = self.office.save()

    @rule()
    def crashes(self) -> None:
        self.office.restart(self.saved)
        self.known = False
        self.paused = self.office.desk.view().paused is not None
        # What was done after the last checkpoint is known by the version that is live, or never.
        self.left = {(model, version) for model, version, _ in self.saved["rolled_back"]}

    @precondition(lambda self: not self.paused)
    @rule()
    def pauses(self) -> None:
        self.office.desk.pause("ann")
        self.paused = True

    @precondition(lambda self: self.paused)
    @rule()
    def resumes(self) -> None:
        self.office.desk.resume_actions("ann")
        self.paused = False

    @rule(data=st.data())
    def approves(self, data: st.DataObject) -> None:
        decisions = self.office.desk.view().decisions
        if decisions:
            decision = data.draw(st.sampled_from(decisions[:5]))
            try:
                self.office.desk.approve(decision.id, "ann")
            except ActRefused:
                return
            assert decision.status in ("waiting_for_approval", "held")


TestSafety = Story.TestCase
TestSafety.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
