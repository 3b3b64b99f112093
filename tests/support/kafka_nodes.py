"""Nodes of Apache Kafka (KRaft, every node broker and controller), from a folder that has libs/*.jar."""

import random
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.certificates import Certificates

USERS = {"alice": "alice-secret", "bob": "bob-secret"}
SECURE_LISTENERS = ("SASL_PLAINTEXT", "SASL_SSL", "SCRAM", "SSL", "MTLS", "MISNAMED")
"""SCRAM takes SCRAM-SHA-256 alone, MTLS asks for a client certificate, MISNAMED has one of another host."""

_PROTOCOLS = {"CONTROLLER": "PLAINTEXT", "SCRAM": "SASL_PLAINTEXT", "MTLS": "SSL", "MISNAMED": "SSL"}
_CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"


class Node:
    """One process.

    Ports below the ephemeral range, so that no client takes one while its broker is down.
    """

    def __init__(self, number: int, home: Path, folder: Path, listeners: Sequence[str]) -> None:
        self.number = number
        self.folder = folder
        folder.mkdir(parents=True)
        self._home = home
        self._properties = folder / "server.properties"
        self.ports = dict(zip(listeners, free_ports(len(listeners)), strict=True))

    def server(self, listener: str) -> str:
        """Return the address of a listener."""
        return f"127.0.0.1:{self.ports[listener]}"

    def configure(self, properties: Mapping[str, object]) -> None:
        self._properties.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))

    def format(self, options: Sequence[str]) -> subprocess.Popen[str]:
        """Start making the node's storage."""
        cluster = ("-t", _CLUSTER_ID, "-c", str(self._properties))
        command = self._java("kafka.tools.StorageTool", "format", *cluster, *options)
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def start(self) -> None:
        """Start the process; `wait` waits until it answers."""
        with (self.folder / "server.log").open("ab") as log:
            command = self._java("kafka.Kafka", str(self._properties))
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def wait(self) -> None:
        deadline = time.monotonic() + 90
        while not answers(self.ports["PLAINTEXT"]):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                log = (self.folder / "server.log").read_text()
                raise RuntimeError(f"Apache Kafka did not come up:\n{log[-3000:]}")
            time.sleep(0.1)

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def _java(self, *arguments: str) -> list[str]:
        fast = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
        return ["java", *fast, "-cp", f"{self._home / 'libs'}/*", *arguments]


def format_all(nodes: Sequence[Node], *, scram: bool) -> None:
    """Make the storage of all nodes, with users for SCRAM."""
    users = [
        f"SCRAM-SHA-{bits}=[name={user},password={password}]"
        for bits in (256, 512)
        for user, password in USERS.items()
    ]
    options = [word for text in users if scram for word in ("--add-scram", text)]
    for process in [node.format(options) for node in nodes]:
        said, _ = process.communicate()
        if process.returncode:
            raise RuntimeError(f"Apache Kafka cannot be formatted:\n{said}")


def properties(node: Node, nodes: Sequence[Node]) -> dict[str, object]:
    """Return settings of a node that make small brokers start fast."""
    mine = [name for name in node.ports if name != "CONTROLLER"]
    lines: dict[str, object] = {
        "process.roles": "broker,controller",
        "node.id": node.number,
        "controller.quorum.voters": ",".join(f"{n.number}@{n.server('CONTROLLER')}" for n in nodes),
        "controller.listener.names": "CONTROLLER",
        "inter.broker.listener.name": "PLAINTEXT",
        "listeners": ",".join(f"{name}://{node.server(name)}" for name in node.ports),
        "advertised.listeners": ",".join(f"{name}://{node.server(name)}" for name in mine),
        "listener.security.protocol.map": ",".join(
            f"{name}:{_PROTOCOLS.get(name, name)}" for name in node.ports
        ),
        "log.dirs": node.folder / "data",
        "num.network.threads": 2,
        "num.io.threads": 4,
        "log.cleaner.dedupe.buffer.size": 33554432,
        "group.initial.rebalance.delay.ms": 0,
        "group.min.session.timeout.ms": 1000,
        "auto.create.topics.enable": "true",
        "default.replication.factor": len(nodes),
        "broker.session.timeout.ms": 3000,  # a killed one is soon missed
        "broker.heartbeat.interval.ms": 500,
    }
    for internal in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic"):
        lines[f"{internal}.replication.factor"] = len(nodes)
        lines[f"{internal}.num.partitions"] = 3
        if internal != "offsets.topic":
            lines[f"{internal}.min.isr"] = 1
    return lines


def secure_properties(tls: Certificates) -> dict[str, object]:
    """Return settings of the secured listeners, and of an authorizer that asks only where there are ACLs."""
    lines: dict[str, object] = {
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": tls.broker.as_one_file(),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": tls.ca.certificate,
        "listener.name.mtls.ssl.client.auth": "required",
        "listener.name.misnamed.ssl.keystore.location": tls.misnamed.as_one_file(),
        "listener.name.misnamed.ssl.keystore.type": "PEM",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "allow.everyone.if.no.acl.found": "true",
    }
    users = " ".join(f'user_{user}="{password}"' for user, password in USERS.items())
    module = "org.apache.kafka.common.security"
    lines["listener.name.scram.sasl.enabled.mechanisms"] = "SCRAM-SHA-256"
    lines["listener.name.scram.scram-sha-256.sasl.jaas.config"] = f"{module}.scram.ScramLoginModule required;"
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
