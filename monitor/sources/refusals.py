"""What a broker's refusal means for us, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping

from kafka import errors

from monitor.errors import SourceError
from monitor.sources.diagnosis import servers_text
from monitor.sources.topics import user_text

_PUT_OUT = (errors.CommitFailedError, errors.UnknownMemberIdError, errors.IllegalGenerationError)

# A partition without a leader, which kafka-python calls broker -1, and a broker that is on its way.
_AWAY = (errors.UnknownBrokerIdError, errors.BrokerNotAvailableError)

_CODECS = {"snappy": "python-snappy", "lz4": "lz4", "zstd": "zstandard"}


def is_put_out(error: Exception) -> bool:
    """Whether the group has gone on without this member, which may join again.

    A commit that meets a rebalance comes as a `CommitFailedError` too, when the broker notices first.
    """
    if isinstance(error, errors.CommitFailedError) and error.args:
        return not isinstance(error.args[0], errors.RebalanceInProgressError)
    return isinstance(error, _PUT_OUT)


def is_passing(error: Exception) -> bool:
    """Whether the same call may succeed later: a rebalance, a broker that is away."""
    if isinstance(error, errors.FencedInstanceIdError) or is_put_out(error):
        return False
    passing = (errors.RetriableError, errors.CommitFailedError, errors.RebalanceInProgressError, *_AWAY)
    return isinstance(error, passing)


def error_text(error: Exception) -> str:
    """Write an error with its name; kafka-python gives many a time-out ``None`` for a reason."""
    return str(error).removesuffix(": None")


def explain_passing(error: Exception, settings: Mapping[str, object]) -> str:
    """Say that a `poll` is tried again."""
    return f"Kafka at {servers_text(settings)} does not answer: {error_text(error)}; it is tried again"


def explain_refusal(error: Exception, settings: Mapping[str, object], group_id: str) -> SourceError:
    """Turn an error of `poll` or `commit` that waiting does not cure into one message with its remedy."""
    instance = settings.get("group_instance_id")
    if isinstance(error, errors.FencedInstanceIdError):
        return SourceError(
            f"another process joined the group {group_id!r} as {instance!r}, so this one stops; give "
            "each instance a kafka.group_instance_id of its own"
        )
    if isinstance(error, errors.GroupAuthorizationFailedError):
        return SourceError(
            f"{user_text(settings)} may not use the consumer group {group_id!r}; allow it (kafka-acls.sh "
            f"--add --allow-principal User:NAME --operation Read --group {group_id}) or correct "
            "kafka.group_id"
        )
    if isinstance(error, errors.TopicAuthorizationFailedError):
        topics = (
            ", ".join(sorted(error.args[0]))
            if error.args and isinstance(error.args[0], set)
            else "its topics"
        )
        return SourceError(
            f"{user_text(settings)} may not read {topics}; allow it (kafka-acls.sh --add --allow-principal "
            "User:NAME --operation Read --topic TOPIC) or correct kafka.topics"
        )
    if isinstance(error, errors.InconsistentGroupProtocolError):
        return SourceError(
            f"the group {group_id!r} is used by other consumers that share its partitions out differently; "
            "set kafka.group_id to one that only monitor uses"
        )
    if isinstance(error, errors.InvalidSessionTimeoutError):
        return SourceError(
            "the broker refuses kafka.session_timeout_ms; choose one between its "
            "group.min.session.timeout.ms and group.max.session.timeout.ms"
        )
    if isinstance(error, errors.CorruptRecordError):
        return SourceError(
            f"{error}: a record is damaged; restore the partition from a replica, or delete the records up "
            "to it (kafka-delete-records.sh)"
        )
    if isinstance(error, errors.UnsupportedCodecError):
        package = next((name for codec, name in _CODECS.items() if codec in str(error)), None)
        remedy = f"pip install {package}" if package else "have its producer use another compression"
        return SourceError(f"records cannot be unpacked ({error}); {remedy}")
    if isinstance(error, errors.SaslAuthenticationFailedError):
        return SourceError(f"the broker no longer accepts {user_text(settings)}: {error}")
    return SourceError(f"reading from Kafka failed: {error_text(error)}")
