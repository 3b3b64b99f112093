"""A secured cluster of three: who gets in, and what those hear who do not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from kafka.admin import ACLOperation, ResourceType

from monitor.errors import SourceError
from monitor.records import Partition
from tests.support.brokers import USERS, ApacheKafka
from tests.support.certificates import KEY_PASSWORD
from tests.support.commands import Done
from tests.support.fleet import Command, run_all
from tests.support.reading import load, numbered, reading

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.usefixtures("refused_sockets"),
    pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning"),
]

WRONG = "wrong-secret"
PROTOCOLS = {"SCRAM": "SASL_PLAINTEXT", "MTLS": "SSL", "MISNAMED": "SSL"}

Settings = dict[str, object]


def listener(broker: ApacheKafka, name: str, protocol: str | None = None, **settings: object) -> Settings:
    """Settings for a listener, with the right protocol unless another one is given."""
    own: Settings = {
        "bootstrap_servers": broker.servers(name),
        "security_protocol": protocol or PROTOCOLS.get(name, name),
    }
    if str(own["security_protocol"]).endswith("SSL"):
        own["ssl_cafile"] = str(broker.certificates.ca.certificate)
    return {**own, **settings}


def login(user: str = "alice", mechanism: str = "PLAIN", password: str | None = None) -> Settings:
    return {
        "sasl_mechanism": mechanism,
        "sasl_plain_username": user,
        "sasl_plain_password": password or USERS[user],
    }


def client(broker: ApacheKafka, name: str) -> Settings:
    certificate = getattr(broker.certificates, name)
    return {"ssl_certfile": str(certificate.certificate), "ssl_keyfile": str(certificate.key)}


# Who gets in -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def topic(secure_kafka: ApacheKafka) -> str:
    name = secure_kafka.create_topic("everyones", 3)
    secure_kafka.produce(name, numbered(5))
    return name


MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
WELCOME = [
    f"{protocol} {mechanism}" for protocol in ("SASL_PLAINTEXT", "SASL_SSL") for mechanism in MECHANISMS
]


def welcome(broker: ApacheKafka, case: str) -> Settings:
    name, _, how = case.partition(" ")
    if name.startswith("SASL"):
        return listener(broker, name, **login(mechanism=how))
    if name == "SSL":
        return listener(broker, name)
    certificate = client(broker, "locked_client" if how else "client")
    return listener(broker, name, **certificate, **({"ssl_password": KEY_PASSWORD} if how else {}))


@pytest.mark.parametrize("case", [*WELCOME, "SSL", "MTLS", "MTLS with a locked key"])
def test_secured_listeners_are_read(secure_kafka: ApacheKafka, topic: str, case: str) -> None:
    with reading(welcome(secure_kafka, case), topic, re.sub(r"\W", "-", case)) as reader:
        reader.until(lambda: reader.count() == 5)
        assert reader.source.commit({Partition(topic, 0): 5})


# Who does not ----------------------------------------------------------------------------------------


class Refusal(NamedTuple):
    """A configuration, and what is said of it; by `code` 2 without a connection."""

    settings: Settings
    expected: str
    topic: str = "everyones"
    group: str = "anyones"
    code: int = 1


PASSWORD = r"(refuses|closes .* with a wrong) .*password; .*kafka\.sasl_plain_password"
CASES = {
    "wrong password": lambda b: Refusal(listener(b, "SASL_PLAINTEXT", **login(password=WRONG)), PASSWORD),
    "wrong password, SCRAM over TLS": lambda b: Refusal(
        listener(b, "SASL_SSL", **login(mechanism="SCRAM-SHA-512", password=WRONG)), PASSWORD
    ),
    "unknown user": lambda b: Refusal(
        listener(b, "SASL_PLAINTEXT", **login(mechanism="SCRAM-SHA-256") | {"sasl_plain_username": "eve"}),
        PASSWORD,
    ),
    "wrong mechanism": lambda b: Refusal(
        listener(b, "SCRAM", **login()),
        r"does not offer the SASL mechanism PLAIN; set kafka\.sasl_mechanism to one of SCRAM-SHA-256",
    ),
    "wrong CA": lambda b: Refusal(
        listener(b, "SSL", ssl_cafile=str(b.certificates.stranger_ca.certificate)),
        r"not signed by a CA that we trust; set kafka\.ssl_cafile",
    ),
    "another host name": lambda b: Refusal(
        listener(b, "MISNAMED"), r"not for this host name; .*kafka\.ssl_check_hostname"
    ),
    "no client certificate": lambda b: Refusal(
        listener(b, "MTLS"), r"asks for a client certificate .*kafka\.ssl_certfile"
    ),
    "client certificate of a stranger": lambda b: Refusal(
        listener(b, "MTLS", **client(b, "stranger")),
        r"refuses our client certificate; .*kafka\.ssl_certfile",
    ),
    "wrong key password": lambda b: Refusal(
        listener(b, "MTLS", **client(b, "locked_client"), ssl_password=WRONG),
        r"kafka\.ssl_password: does not open the private key in .*locked-client\.key",
        code=2,
    ),
    "key of another certificate": lambda b: Refusal(
        listener(b, "MTLS", **client(b, "client") | {"ssl_keyfile": client(b, "stranger")["ssl_keyfile"]}),
        r"kafka\.ssl_keyfile: .*stranger\.key is not the key of the certificate in kafka\.ssl_certfile",
        code=2,
    ),
    "plaintext to a TLS port": lambda b: Refusal(
        listener(b, "SSL", "PLAINTEXT"), r"the port speaks TLS .*set it to SSL"
    ),
    "SASL without TLS to a TLS port": lambda b: Refusal(
        listener(b, "SASL_SSL", "SASL_PLAINTEXT", **login()), r"the port speaks TLS .*set it to SASL_SSL"
    ),
    "TLS to a plaintext port": lambda b: Refusal(
        listener(b, "PLAINTEXT", "SSL"), r"does not speak TLS .*set it to PLAINTEXT"
    ),
    "SASL to a listener without": lambda b: Refusal(
        listener(b, "PLAINTEXT", "SASL_PLAINTEXT", **login()),
        r"does not take SASL; set kafka\.security_protocol",
    ),
    "no SASL to a listener with": lambda b: Refusal(
        listener(b, "SASL_PLAINTEXT", "PLAINTEXT"), r"expects SASL .*set it to SASL_PLAINTEXT"
    ),
    "missing topic": lambda b: Refusal(
        listener(b, "SASL_PLAINTEXT", **login()),
        r"there is no topic 'predictoins' .*create it .*or correct kafka\.topics",
        topic="predictoins",
    ),
    "forbidden topic": lambda b: Refusal(
        listener(b, "SASL_SSL", **login()),
        r"'alice' may not read the topic 'only-bobs'; .*--operation Read .*or correct kafka\.topics",
        topic="only-bobs",
    ),
    "topic that may only be described": lambda b: Refusal(
        listener(b, "SASL_PLAINTEXT", **login()),
        r"'alice' may not read the topic 'described'; .*--operation Read",
        topic="described",
    ),
    "forbidden group": lambda b: Refusal(
        listener(b, "SASL_PLAINTEXT", **login()),
        r"'alice' may not use the consumer group 'bobs-group'; .*--group bobs-group.*kafka\.group_id",
        group="bobs-group",
    ),
}
COMMANDS = {"run": ["run"], "check": ["check", "--connect"], "doctor": ["doctor"]}


def configuration(folder: Path, name: str, case: Refusal) -> Path:
    kafka = {
        **case.settings,
        "topics": [case.topic],
        "group_id": case.group,
        "give_up_after": "1s",
        "session_timeout_ms": 6000,
    }
    path = folder / f"{name}.yaml"
    path.write_text(
        yaml.safe_dump(
            {
                "kafka": kafka,
                "models": {"fraud": {"task": "binary", "classes": ["legit", "fraud"]}},
                "checkpoint": {"directory": str(folder / f"{name}-state")},
                "server": {"port": 0},
            }
        )
    )
    return path


def topics(broker: ApacheKafka) -> set[str]:
    return {topic for topic in broker.topics() if not topic.startswith("__")}


@pytest.fixture(scope="module")
def outcomes(
    secure_kafka: ApacheKafka, topic: str, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Done]:
    """Run every command on every case, several at once."""
    folder = tmp_path_factory.mktemp("refused")
    for name in ("only-bobs", "described"):
        secure_kafka.create_topic(name)
        secure_kafka.allow("bob", ResourceType.TOPIC, name, ACLOperation.ALL)
    secure_kafka.allow("alice", ResourceType.TOPIC, "described", ACLOperation.DESCRIBE)
    secure_kafka.allow("bob", ResourceType.GROUP, "bobs-group", ACLOperation.ALL)
    before = topics(secure_kafka)
    commands = {
        f"{name}: {command}": Command(
            [*arguments, "-c", str(configuration(folder, name, case(secure_kafka)))]
        )
        for name, case in CASES.items()
        for command, arguments in COMMANDS.items()
    }
    commands |= by_file_and_environment(secure_kafka, folder, topic)
    found = run_all(commands)
    assert topics(secure_kafka) == before  # though the brokers create topics on demand
    return found


def by_file_and_environment(broker: ApacheKafka, folder: Path, topic: str) -> dict[str, Command]:
    """Commands with the right password, given in other ways than in the configuration."""
    password = folder / "password"
    password.write_text(f"{USERS['alice']}\n")
    settings = listener(broker, "SASL_SSL", **login(mechanism="SCRAM-SHA-512"))
    del settings["sasl_plain_password"]
    by_file = Refusal({**settings, "sasl_plain_password_file": str(password)}, "")
    check = ["check", "--connect", "-c"]
    return {
        "by file": Command([*check, str(configuration(folder, "by-file", by_file))]),
        "by environment": Command(
            [*check, str(configuration(folder, "by-environment", Refusal(settings, "")))],
            {"MONITOR__KAFKA__SASL_PLAIN_PASSWORD": USERS["alice"]},
        ),
    }


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("case", CASES)
def test_refusal_is_one_message_with_cause_and_remedy(
    secure_kafka: ApacheKafka, outcomes: Mapping[str, Done], case: str, command: str
) -> None:
    done = outcomes[f"{case}: {command}"]
    refusal = CASES[case](secure_kafka)
    assert done.code == (1 if command == "check" else refusal.code), done
    lines = [line for line in (done.out if command == "check" else done.err).splitlines() if line]
    assert re.search(refusal.expected, lines[-1]), done
    assert "Traceback" not in done.out + done.err
    if command == "doctor":
        assert (done.out, len(lines)) == ("", 1)
    if command == "run":
        assert lines[-1].startswith("monitor: ")
        others = [line for line in lines[:-1] if " ERROR " in line or "WARNING" in line]
        assert len(others) <= (case == "missing topic"), done  # which is waited for


def test_password_from_a_file_and_from_the_environment(outcomes: Mapping[str, Done]) -> None:
    for name in ("by file", "by environment"):
        done = outcomes[name]
        assert (done.code, done.out.splitlines()[-1]) == (0, "Brokers and topics: reached."), done


def test_no_secret_is_printed(outcomes: Mapping[str, Done]) -> None:
    printed = "".join(done.out + done.err for done in outcomes.values())
    assert "alice" in printed
    for secret in (WRONG, KEY_PASSWORD, *USERS.values()):
        assert secret not in printed


# Who no longer does ----------------------------------------------------------------------------------


@pytest.fixture
def watch_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the topics several times a second."""
    monkeypatch.setattr("monitor.sources.topics.WATCH_EVERY", 0.3)


def test_right_to_a_topic_that_is_taken_away(secure_kafka: ApacheKafka, watch_often: None) -> None:
    name = secure_kafka.create_topic("taken-away")
    with reading(welcome(secure_kafka, "SASL_SSL PLAIN"), name, "taken-away") as reader:
        reader.until(lambda: reader.source.joined and bool(reader.source.assigned()))
        secure_kafka.allow("bob", ResourceType.TOPIC, name, ACLOperation.ALL)
        with pytest.raises(
            SourceError, match=r"'alice' may not read (the topic 'taken-away'|taken-away); allow"
        ):
            reader.until(lambda: False)


def test_right_to_a_group_that_is_taken_away(secure_kafka: ApacheKafka, topic: str) -> None:
    with reading(welcome(secure_kafka, "SASL_PLAINTEXT PLAIN"), topic, "lost-group") as reader:
        reader.until(lambda: reader.count() == 5)
        secure_kafka.allow("bob", ResourceType.GROUP, "lost-group", ACLOperation.ALL)
        expected = r"'alice' may not use the consumer group 'lost-group'; allow it .*kafka\.group_id"
        with pytest.raises(SourceError, match=expected):
            reader.until(lambda: not reader.source.commit({Partition(topic, 0): 5}))


# One of three is killed ------------------------------------------------------------------------------


def test_leaders_and_coordinator_move_when_one_broker_is_killed(secure_kafka: ApacheKafka) -> None:
    name = secure_kafka.create_topic("moving", 3, min_insync_replicas="2")
    settings = listener(secure_kafka, "PLAINTEXT", session_timeout_ms=30_000)
    with secure_kafka.admin() as admin:
        (found,) = admin.describe_topics([name])
        leader = next(p["leader_id"] for p in found["partitions"] if p["partition_index"] == 0)
    for partition in (1, 2):
        secure_kafka.produce(name, numbered(20), partition)
    with reading(settings, name, name, give_up_after=60) as reader:
        with load(secure_kafka.servers("PLAINTEXT"), name) as written:
            reader.until(lambda: reader.count() > 60)
            killed = secure_kafka.nodes[leader - 1]
            killed.kill()
            try:
                at_least = written.count + 200
                reader.until(lambda: len(reader.records[Partition(name, 0)]) > at_least, seconds=60)
                reader.until(lambda: reader.source.commit(reader.source.positions()), seconds=60)
            finally:
                killed.start()
                killed.wait()
        reader.until(lambda: reader.count() >= written.count + 40, seconds=60)
        assert reader.values() == {
            Partition(name, 0): numbered(written.count),
            Partition(name, 1): numbered(20),
            Partition(name, 2): numbered(20),
        }
        assert reader.revoked == []
        assert reader.source.log_truncations == 0
        reader.until(lambda: reader.source.problem is None)
