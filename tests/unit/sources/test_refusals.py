import pytest
from kafka import errors

from monitor.sources.refusals import error_text, explain_passing, explain_refusal, is_passing, is_put_out

SETTINGS = {"sasl_plain_username": "alice", "sasl_plain_password": "hunter2"}


@pytest.mark.parametrize(
    "error",
    [
        errors.CommitFailedError(),
        errors.CommitFailedError(errors.IllegalGenerationError()),
        errors.UnknownMemberIdError(),
        errors.IllegalGenerationError(),
    ],
)
def test_put_out(error):
    assert is_put_out(error)
    assert not is_passing(error)


def test_whose_name_is_taken_is_not_to_join_again():
    error = errors.FencedInstanceIdError()
    assert not is_put_out(error)
    assert not is_passing(error)


@pytest.mark.parametrize(
    "error",
    [
        errors.RebalanceInProgressError(),
        errors.CommitFailedError(errors.RebalanceInProgressError()),
        errors.KafkaConnectionError(),
        errors.KafkaTimeoutError(),
        errors.NotCoordinatorError(),
        errors.UnknownBrokerIdError(-1),  # a partition without a leader
    ],
)
def test_passing(error):
    assert is_passing(error)
    assert not is_put_out(error)


@pytest.mark.parametrize(
    ("error", "cause", "remedy"),
    [
        (errors.FencedInstanceIdError(), "another process joined", "kafka.group_instance_id"),
        (
            errors.GroupAuthorizationFailedError("g"),
            "'alice' may not use the consumer group 'g'",
            "--group g",
        ),
        (errors.TopicAuthorizationFailedError({"t"}), "'alice' may not read t", "--operation Read"),
        (errors.CorruptRecordError("t/0 at 5"), "t/0 at 5", "kafka-delete-records.sh"),
        (errors.UnsupportedCodecError("Libraries for zstd not found"), "zstd", "pip install zstandard"),
        (errors.UnsupportedCodecError("Unrecognized compression type: 7"), "type: 7", "its producer"),
        (errors.InconsistentGroupProtocolError(), "other consumers", "kafka.group_id"),
        (errors.InvalidSessionTimeoutError(), "kafka.session_timeout_ms", "group.max.session.timeout.ms"),
        (errors.CorruptRecordError("partition x at 3"), "partition x at 3", "restore"),
        (errors.UnsupportedVersionError("x"), "UnsupportedVersionError", ""),
    ],
)
def test_messages_name_cause_and_remedy(error, cause, remedy):
    message = str(explain_refusal(error, SETTINGS, "g"))
    assert cause in message
    assert remedy in message
    assert "hunter2" not in message


def test_a_time_out_without_a_reason_does_not_say_none():
    settings = {"bootstrap_servers": ["a:1", "b:2"]}
    said = explain_passing(errors.KafkaTimeoutError(None), settings)
    assert said == "Kafka at a:1,b:2 does not answer: KafkaTimeoutError; it is tried again"
    assert error_text(errors.KafkaTimeoutError("30 s")) == "KafkaTimeoutError: 30 s"


def test_a_static_name_used_twice_is_said():
    message = str(explain_refusal(errors.FencedInstanceIdError(), {"group_instance_id": "one"}, "g"))
    assert "'one'" in message
    assert "kafka.group_instance_id" in message
