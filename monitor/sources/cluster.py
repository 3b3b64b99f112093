"""The brokers and topics behind a source: reached, described, watched."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from kafka import KafkaConsumer
from kafka.errors import KafkaError

from monitor.clock import Clock
from monitor.errors import SourceError
from monitor.logs import log_change
from monitor.sources.connection import ConnectionFailed, check_settings, connect, connect_admin
from monitor.sources.diagnosis import servers_text
from monitor.sources.patience import Patience
from monitor.sources.topics import Topic, TopicWatch, describe, problem_of, recreated_topics
from monitor.wording import utc

logger = logging.getLogger(__name__)


class Cluster:
    """What is known of brokers and topics, and how long they are waited for.

    Attributes
    ----------
    admin
        A `KafkaAdminClient`, once `open` has succeeded.
    topic_ids
        Id of each topic as last seen; None where the broker gives none.
    problem
        What is wrong at the moment, in words; None while all is well.
    """

    def __init__(
        self,
        settings: Mapping[str, object],
        topics: Sequence[str],
        give_up_after: float,
        clock: Clock,
        *,
        restart: bool,
    ) -> None:
        self.admin: Any = None
        self.topic_ids: dict[str, str | None] = {}
        self.problem: str | None = None
        self._settings = settings
        self._topics = topics
        self._give_up_after = give_up_after
        self._clock = clock
        self._restart = restart
        self._patience = Patience(give_up_after, clock)
        self._watch: TopicWatch | None = None
        self._seen: Mapping[str, Topic] = {}

    def open(self, assignor: object, group_id: str) -> Any | None:
        """Try once to reach the brokers and all topics.

        Returns
        -------
        KafkaConsumer or None
            None where it failed and another attempt makes sense, or is not due yet.

        Raises
        ------
        SourceError
            Where waiting does not help, or has lasted for `give_up_after`.
        """
        if self.pause() > 0:
            return None
        try:
            problem = self._reach()
            if problem is None:
                own = {"group_id": group_id, "partition_assignment_strategy": [assignor]}
                consumer = connect(KafkaConsumer, {**self._settings, **own})
        except ConnectionFailed as error:
            if not error.waiting_helps:
                raise
            problem = str(error)
        self.problem = problem
        if problem is not None:
            self._patience.failed(problem)
            return None
        self._patience.succeeded()
        self._watch = TopicWatch(self.admin, self._topics, self._clock)
        self._watch.start()
        return consumer

    def pause(self) -> float:
        """Return the seconds until the next attempt of `open` is due."""
        return self._patience.remaining()

    def look(self) -> set[str]:
        """Take in what the watch has seen since; return the topics that are others now.

        Raises
        ------
        SourceError
            If a topic may no longer be read or was recreated, or no broker answers for `give_up_after`.
        """
        assert self._watch is not None
        silent = self._watch.silent_since
        if silent is not None:
            self.say(self._silence(*silent))
        elif self._watch.latest is not self._seen:
            self._seen = self._watch.latest
            self.say("; ".join(self._problems(self._seen)) or None)
            return self._recreated(self._seen)
        return set()

    def look_now(self) -> set[str]:
        """Ask the brokers about the topics; return those that are others now."""
        return self._recreated(describe(self.admin, self._topics))

    def say(self, problem: str | None) -> None:
        """Keep `problem` up to date, with one log line a change."""
        log_change(logger, self.problem, problem)
        self.problem = problem

    def close(self) -> None:
        """Let go of the brokers."""
        if self._watch is not None:
            self._watch.stop()
        if self.admin is not None:
            self.admin.close()

    def _silence(self, began: float, since: int) -> str:
        """Say that no broker answers any more; the same words all the while."""
        waited = self._clock.monotonic() - began
        what = f"Kafka at {servers_text(self._settings)} has not answered since {utc(since)}"
        remedy = "check that the brokers run and can be reached (monitor check --connect)"
        if waited >= self._give_up_after:
            raise SourceError(f"{what}; {remedy} (given up after {waited:.0f} s: kafka.give_up_after)")
        until = utc(since + round(self._give_up_after * 1e6))
        return (
            f"{what}; {remedy}; numbers stay as they were, and it is tried again until {until} "
            "(kafka.give_up_after)"
        )

    def _reach(self) -> str | None:
        """Reach the brokers and all topics; return what is missing."""
        if self.admin is None:
            check_settings(self._settings)
            self.admin = connect_admin(self._settings)
        try:
            topics = describe(self.admin, self._topics)
        except KafkaError as error:
            # The bootstrap address is right; the one that the broker gives for itself may not be.
            return (
                "a broker answers at kafka.bootstrap_servers, but not under the address that it "
                f"advertises; check its advertised.listeners ({error})"
            )
        self.topic_ids = {name: topic.topic_id for name, topic in topics.items()}
        return "; ".join(self._problems(topics)) or None

    def _problems(self, topics: Mapping[str, Topic]) -> list[str]:
        problems = {topic: problem_of(topic, self._settings) for topic in topics.values()}
        forbidden = [problem for topic, problem in problems.items() if problem and topic.forbids("READ")]
        if forbidden:
            raise SourceError("; ".join(forbidden))
        return [problem for problem in problems.values() if problem]

    def _recreated(self, topics: Mapping[str, Topic]) -> set[str]:
        was, seen = dict(self.topic_ids), {name: topic.topic_id for name, topic in topics.items()}
        self.topic_ids |= {name: known for name, known in seen.items() if known is not None}
        return recreated_topics(was, seen, restart=self._restart)
