"""Brokers to test on: the embedded one, and Apache Kafka from a folder that has libs/*.jar."""

import random
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    ResourcePattern,
    ResourceType,
)

from tests.support.certificates import Certificates

USERS = {"alice": "alice-secret", "bob": "bob-secret"}


class Broker:
    """What tests do to any broker, over its plaintext listener."""

    address: str
    process: subprocess.Popen[Any]

    @property
    def settings(self) -> dict[str, object]:
        """Consumer settings for the plaintext listener."""
        return {"bootstrap_servers": self.address}

    @contextmanager
    def admin(self) -> Iterator[Any]:
        client = KafkaAdminClient(bootstrap_servers=self.address)
        try:
            yield client
        finally:
            client.close()

    def create_topic(self, name: str, partitions: int = 1, **configs: str) -> str:
        options = {"num_partitions": partitions, "replication_factor": 1}
        options["configs"] = {key.replace("_", "."): value for key, value in configs.items()}
        with self.admin() as admin:
            admin.create_topics({name: options}, wait_for_metadata=True)
        return name

    def delete_topic(self, name: str) -> None:
        with self.admin() as admin:
            admin.delete_topics([name])

    def topics(self) -> list[str]:
        with self.admin() as admin:
            return admin.list_topics()

    def add_partitions(self, topic: str, total: int) -> None:
        with self.admin() as admin:
            admin.create_partitions({topic: total})

    def produce(self, topic: str, values: Iterable[bytes | None], partition: int = 0, **options: Any) -> None:
        """Append values; options are those of `KafkaProducer.send`."""
        producer = KafkaProducer(bootstrap_servers=self.address, max_request_size=2**25)
        try:
            futures = [producer.send(topic, value, partition=partition, **options) for value in values]
            for future in futures:
                future.get(10)
        finally:
            producer.close(5)

    def produce_many(
        self, topic: str, values: Iterable[tuple[bytes, int | None]], partition: int = 0
    ) -> None:
        """Append many (value, record time in milliseconds or None), checking at the end that all arrived."""
        producer = KafkaProducer(bootstrap_servers=self.address, linger_ms=20, batch_size=1 << 18)
        failures: list[Exception] = []
        try:
            for value, timestamp in values:
                producer.send(topic, value, partition=partition, timestamp_ms=timestamp).add_errback(
                    failures.append
                )
            producer.flush(60)
        finally:
            producer.close(5)
        assert not failures, failures[0]

    @contextmanager
    def transaction(self, topic: str, values: Iterable[bytes], *, commit: bool) -> Iterator[None]:
        """Append values in a transaction that is ended when the block is left."""
        producer = KafkaProducer(bootstrap_servers=self.address, transactional_id=f"test-{random.random()}")
        try:
            producer.init_transactions()
            producer.begin_transaction()
            for value in values:
                producer.send(topic, value, partition=0)
            producer.flush(10)
            yield
            if commit:
                producer.commit_transaction()
            else:
                producer.abort_transaction()
        finally:
            producer.close(5)

    def allow(self, user: str, kind: ResourceType, name: str, *operations: ACLOperation) -> None:
        """Grant operations on a topic or group; who is not granted any is refused from then on."""
        acls = [
            ACL(
                principal=f"User:{user}",
                host="*",
                operation=operation,
                permission_type=ACLPermissionType.ALLOW,
                resource_pattern=ResourcePattern(kind, name),
            )
            for operation in operations
        ]
        with self.admin() as admin:
            admin.create_acls(acls)

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def freeze(self) -> None:
        """Make the broker hang."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)


class EmbeddedBroker(Broker):
    """noida-db: starts in milliseconds, and does part of what Kafka does.

    No topic ids, no TLS, no groups of two, no expiry of dead members; old records are dropped unless
    the topic has ``retention_ms="-1"``.
    """

    def __init__(self, folder: Path) -> None:
        binary = Path(str(files("noida_db") / "noida-db"))
        binary.chmod(0o755)
        command = [str(binary), "start", "--only", "kafka", "--kafka-port", "0", "--data-dir", str(folder)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"kafka\s+(127\.0\.0\.1:\d+)", line):
                self.address = found[1]
                break
        else:
            raise RuntimeError("the embedded broker ended before it was ready")

    @property
    def settings(self) -> dict[str, object]:
        """Consumer settings: it answers with its whole backlog in one response."""
        return {"bootstrap_servers": self.address, "receive_message_max_bytes": 2**31 - 1}

    def create_topic(self, name: str, partitions: int = 1, **configs: str) -> str:
        return super().create_topic(name, partitions, **{"retention_ms": "-1", **configs})

    def stop(self) -> None:
        super().stop()
        assert self.process.stdout is not None
        self.process.stdout.close()


class ApacheKafka(Broker):
    """One KRaft node; with `secure` also listeners with SASL and TLS, and an authorizer.

    Ports below the ephemeral range, so that no client takes one while its broker is down.
    """

    def __init__(
        self, home: Path, folder: Path, *, secure: bool = False, settings: Mapping[str, object] | None = None
    ) -> None:
        self._home = home
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        names = ["CONTROLLER", "PLAINTEXT"]
        if secure:
            names += ["SASL_PLAINTEXT", "SASL_SSL", "SSL", "MTLS"]
            self.certificates = Certificates(folder / "tls")
        self.ports = dict(zip(names, free_ports(len(names)), strict=True))
        self.address = self.server("PLAINTEXT")
        self._properties = folder / "server.properties"
        lines = self._server_properties(secure) | dict(settings or {})
        self._properties.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
        scram = [
            f"SCRAM-SHA-{bits}=[name={user},password={password}]"
            for bits in (256, 512)
            for user, password in USERS.items()
        ]
        self._format([word for text in scram if secure for word in ("--add-scram", text)])
        self.start()

    def server(self, listener: str) -> str:
        """Return the address of a listener."""
        return f"127.0.0.1:{self.ports[listener]}"

    def start(self) -> None:
        self._log = self._folder / "server.log"
        with self._log.open("ab") as log:
            command = self._java("kafka.Kafka", str(self._properties))
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + 90
        while not answers(self.ports["PLAINTEXT"]):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"Apache Kafka did not come up:\n{self._log.read_text()[-3000:]}")
            time.sleep(0.1)

    def _java(self, *arguments: str) -> list[str]:
        fast = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
        return ["java", *fast, "-cp", f"{self._home / 'libs'}/*", *arguments]

    def _format(self, options: list[str]) -> None:
        cluster = ("-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", str(self._properties))
        command = self._java("kafka.tools.StorageTool", "format", *cluster, *options)
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"Apache Kafka cannot be formatted:\n{done.stdout}{done.stderr}")

    def _server_properties(self, secure: bool) -> dict[str, object]:
        protocols = {"CONTROLLER": "PLAINTEXT", "MTLS": "SSL"}
        mine = [name for name in self.ports if name != "CONTROLLER"]
        lines: dict[str, object] = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@{self.server('CONTROLLER')}",
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
            "listeners": ",".join(f"{name}://{self.server(name)}" for name in self.ports),
            "advertised.listeners": ",".join(f"{name}://{self.server(name)}" for name in mine),
            "listener.security.protocol.map": ",".join(
                f"{name}:{protocols.get(name, name)}" for name in self.ports
            ),
            "log.dirs": self._folder / "data",
            "num.network.threads": 2,
            "num.io.threads": 4,
            "log.cleaner.dedupe.buffer.size": 33554432,
            "group.initial.rebalance.delay.ms": 0,
            "group.min.session.timeout.ms": 1000,
            "auto.create.topics.enable": "true",
        }
        for internal in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic"):
            lines[f"{internal}.replication.factor"] = 1
            lines[f"{internal}.num.partitions"] = 3
            if internal != "offsets.topic":
                lines[f"{internal}.min.isr"] = 1
        return lines | (self._secure_properties() if secure else {})

    def _secure_properties(self) -> dict[str, object]:
        tls = self.certificates
        keystore = self._folder / "tls" / "broker.pem"
        keystore.write_text(tls.broker.key.read_text() + tls.broker.certificate.read_text())
        lines: dict[str, object] = {
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": keystore,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": tls.ca.certificate,
            "listener.name.mtls.ssl.client.auth": "required",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
            "allow.everyone.if.no.acl.found": "true",
        }
        users = " ".join(f'user_{user}="{password}"' for user, password in USERS.items())
        module = "org.apache.kafka.common.security"
        for listener in ("sasl_plaintext", "sasl_ssl"):
            prefix = f"listener.name.{listener}"
            lines[f"{prefix}.plain.sasl.jaas.config"] = f"{module}.plain.PlainLoginModule required {users};"
            for bits in (256, 512):
                lines[f"{prefix}.scram-sha-{bits}.sasl.jaas.config"] = (
                    f"{module}.scram.ScramLoginModule required;"
                )
        return lines


def answers(port: int) -> bool:
    """Whether a broker answers an ApiVersions request; a TCP connect alone succeeds too early."""
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as connection:
            connection.settimeout(2)
            connection.sendall(bytes.fromhex("0000000e 0012 0000 00000001 0004") + b"test")
            return len(connection.recv(8)) == 8
    except OSError:
        return False


def free_ports(count: int) -> list[int]:
    """Return free ports of the loopback address, below the ephemeral range."""
    sockets: list[socket.socket] = []
    while len(sockets) < count:
        candidate = socket.socket()
        try:
            candidate.bind(("127.0.0.1", random.randrange(15000, 32000)))
            sockets.append(candidate)
        except OSError:
            candidate.close()
    ports = [held.getsockname()[1] for held in sockets]
    for held in sockets:
        held.close()
    return ports
