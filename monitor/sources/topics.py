"""What the brokers say about topics: asked for, never created."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from kafka.errors import KafkaError, TopicAuthorizationFailedError, UnknownTopicOrPartitionError, for_code

from monitor.clock import Clock
from monitor.errors import SourceError
from monitor.sources.diagnosis import servers_text

logger = logging.getLogger(__name__)

WATCH_EVERY = 5.0
"""Seconds between two looks at the topics."""


class Topic(NamedTuple):
    """One topic as a broker describes it.

    Attributes
    ----------
    topic_id
        None where the broker gives none (before Kafka 2.8).
    error
        kafka-python's error class; None for a topic that exists and may be seen.
    operations
        What this client may do, as ``"READ"``; None where the broker does not say.
    """

    name: str
    topic_id: str | None
    partitions: tuple[int, ...]
    error: type[KafkaError] | None
    operations: frozenset[str] | None

    def forbids(self, operation: str) -> bool:
        """Whether this client lacks the right to do something."""
        unseen = self.error is TopicAuthorizationFailedError
        return unseen or (
            self.error is None and self.operations is not None and operation not in self.operations
        )


def describe(admin: Any, names: Collection[str]) -> dict[str, Topic]:
    """Ask a broker about topics, by `KafkaAdminClient.describe_topics`, which never creates one."""
    answer = {}
    for found in admin.describe_topics(list(names)):
        code, operations = found["error_code"], found.get("authorized_operations")
        answer[found["name"]] = Topic(
            name=found["name"],
            topic_id=str(found["topic_id"]) if found["topic_id"] and code == 0 else None,
            partitions=tuple(sorted(partition["partition_index"] for partition in found["partitions"])),
            error=for_code(code) if code else None,
            operations=frozenset(operations) if operations else None,
        )
    return {name: answer[name] for name in names}


def problem_of(
    topic: Topic, settings: Mapping[str, object], *, operation: str = "READ", key: str = "kafka.topics"
) -> str | None:
    """Say what is wrong with a topic and what to do; None for a good one.

    Parameters
    ----------
    operation
        What we want to do with it.
    key
        Where the configuration names it.
    """
    where = servers_text(settings)
    if topic.forbids(operation):
        return (
            f"{user_text(settings)} may not {operation.lower()} the topic {topic.name!r}; allow it "
            f"(kafka-acls.sh --bootstrap-server {where} --add --allow-principal User:NAME "
            "--operation Describe "
            f"--operation {operation.title()} --topic {topic.name}) or correct {key}"
        )
    if topic.error is UnknownTopicOrPartitionError:
        return (
            f"there is no topic {topic.name!r} at {where}; create it (kafka-topics.sh --bootstrap-server "
            f"{where} --create --topic {topic.name} --partitions 6) or correct {key}"
        )
    if topic.error is not None:
        return f"the topic {topic.name!r} cannot be used: {topic.error.__name__}"
    return None


def recreated(name: str, was: str, now: str) -> SourceError:
    """Say that a topic is another one than the one that was read, and what to do.

    Parameters
    ----------
    name
        The topic.
    was, now
        Its ids.
    """
    return SourceError(
        f"the topic {name!r} was deleted and created again (its id was {was} and is now {now}), so that its "
        "offsets mean other records; set kafka.on_topic_recreated: restart to forget the state and read the "
        "new topic from its beginning"
    )


def other_topics(was: Mapping[str, str | None], now: Mapping[str, str | None]) -> list[str]:
    """Return the topics that have another id than they had; an id that is not known tells nothing."""
    return sorted(topic for topic, known in was.items() if known and now.get(topic) not in (None, known))


def recreated_topics(
    was: Mapping[str, str | None], now: Mapping[str, str | None], *, restart: bool
) -> set[str]:
    """Return the topics that were deleted and created again, with a warning for each.

    Raises
    ------
    SourceError
        For the first of them, where reading is not to begin anew.
    """
    changed = other_topics(was, now)
    for name in changed:
        if not restart:
            raise recreated(name, str(was[name]), str(now[name]))
        logger.warning("the topic %r was deleted and created again; beginning anew", name)
    return set(changed)


def user_text(settings: Mapping[str, object]) -> str:
    """Name the user that connects, for a message."""
    name = settings.get("sasl_plain_username")
    return f"the user {name!r}" if name else "this client"


class TopicWatch:
    """Looks at the topics every few seconds, in a thread of its own.

    A topic that is deleted and created again within a second shows nothing to a consumer, which goes
    on at its old offset in the new topic; only the topic's id tells.

    Attributes
    ----------
    latest
        The newest answer; a new object each time.
    silent_since
        Monotonic and wall-clock time of the first look since which no broker answered; None while one does.
    """

    def __init__(self, admin: Any, names: Sequence[str], clock: Clock, every: float = WATCH_EVERY) -> None:
        self.latest: Mapping[str, Topic] = {}
        self.silent_since: tuple[float, int] | None = None
        self._admin = admin
        self._names = names
        self._clock = clock
        self._every = every
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kafka-topic-watch", daemon=True)

    def start(self) -> None:
        """Start looking."""
        self._thread.start()

    def stop(self) -> None:
        """Stop looking, without waiting for a look that is under way."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(self._every):
            try:
                self.latest = describe(self._admin, self._names)
                self.silent_since = None
            except Exception as error:  # whatever an answer looks like, looking goes on
                if self.silent_since is None:
                    self.silent_since = self._clock.monotonic(), self._clock.now()
                logger.debug("topics cannot be described: %s", error)
