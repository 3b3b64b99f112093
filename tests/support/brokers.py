"""Brokers to test on: the embedded one, and Apache Kafka from a folder that has libs/*.jar."""

import random
import re
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
from tests.support.kafka_nodes import (
    SECURE_LISTENERS,
    USERS,
    Node,
    format_all,
    free_ports,
    properties,
    secure_properties,
)

__all__ = ["USERS", "ApacheKafka", "Broker", "EmbeddedBroker", "free_ports"]


class Broker:
    """What tests do to any broker, over its plaintext listener."""

    address: str

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
        options: dict[str, Any] = {"num_partitions": partitions}  # as many replicas as there are brokers
        options["configs"] = {key.replace("_", "."): value for key, value in configs.items()}
        with self.admin() as admin:
            admin.create_topics({name: options}, wait_for_metadata=True)
        return name

    def delete_topic(self, name: str) -> None:
        with self.admin() as admin:
            admin.delete_topics([name])

    def recreate_topic(self, name: str, partitions: int = 1) -> None:
        """Delete a topic, and create it again at once."""
        self.delete_topic(name)
        deadline = time.monotonic() + 10
        while name in self.topics() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.create_topic(name, partitions)

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
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


class ApacheKafka(Broker):
    """KRaft nodes; with `secure` also listeners with SASL and TLS, and an authorizer.

    Attributes
    ----------
    address
        The first node, over its plaintext listener.
    """

    def __init__(
        self,
        home: Path,
        folder: Path,
        *,
        nodes: int = 1,
        secure: bool = False,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        listeners = ["CONTROLLER", "PLAINTEXT", *(SECURE_LISTENERS if secure else ())]
        self.nodes = [
            Node(number + 1, home, folder / f"node-{number + 1}", listeners) for number in range(nodes)
        ]
        self.address = self.server("PLAINTEXT")
        more: dict[str, object] = {}
        if secure:
            self.certificates = Certificates(folder / "tls")
            more = secure_properties(self.certificates)
        for node in self.nodes:
            node.configure({**properties(node, self.nodes), **more, **(settings or {})})
        format_all(self.nodes, scram=secure)
        self.start()

    def server(self, listener: str) -> str:
        """Return the address of a listener of the first node."""
        return self.nodes[0].server(listener)

    def servers(self, listener: str) -> list[str]:
        """Return the addresses of a listener."""
        return [node.server(listener) for node in self.nodes]

    def start(self) -> None:
        for node in self.nodes:
            node.start()
        try:
            for node in self.nodes:
                node.wait()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        for node in self.nodes:
            node.process.terminate()  # a node waits for the others while it stops
        for node in self.nodes:
            node.stop()

    def kill(self) -> None:
        for node in self.nodes:
            node.kill()

    def freeze(self) -> None:
        for node in self.nodes:
            node.freeze()

    def thaw(self) -> None:
        for node in self.nodes:
            node.thaw()
