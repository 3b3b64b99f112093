"""Brokers that tests share; each starts once, when a test asks for it."""

import gc
import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.support.brokers import ApacheKafka, EmbeddedBroker
from tests.support.properties import LONG

# How long an example takes says something of the machine, not of the code.
settings.register_profile("monitor", deadline=None)
settings.load_profile("monitor")
settings.register_profile(LONG, settings.get_profile("monitor"))

# Arrays here are small, and tests have one core each: threads of BLAS and torch would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# On a busy machine the clients of tests' own traffic would write into the output of commands under test.
logging.getLogger("kafka.net.selector").setLevel(logging.ERROR)

BROKERS = {"apache_kafka", "secure_kafka"}

HOW_TO_GET_KAFKA = (
    "needs Apache Kafka: install Java 17 (apt-get install -y openjdk-17-jre-headless), unpack a binary "
    "release from https://kafka.apache.org/downloads and set KAFKA_HOME to its folder"
)


@pytest.hookimpl(tryfirst=True)  # before the worker looks at these marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests on Apache Kafka beside each other: they share brokers, and some depend on time."""
    for item in items:
        if item.get_closest_marker("kafka") or BROKERS & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.xdist_group("kafka"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give workers what fixtures of modules are shared by: whole files, and that group."""
    from xdist.scheduler import LoadGroupScheduling

    class Files(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return super()._split_scope(nodeid).partition("::")[0]

    return Files(config, log)


@pytest.fixture(scope="module")
def refused_sockets() -> Iterator[None]:
    """Collect the sockets of refused connections, which kafka-python leaves to the garbage collector.

    Goes with `pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning")` on the module.
    """
    yield
    gc.collect()


@pytest.fixture(scope="session")
def embedded_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """A broker inside the test dependencies; see `EmbeddedBroker` for what it does not do."""
    broker = EmbeddedBroker(tmp_path_factory.mktemp("embedded-broker"))
    yield broker
    broker.stop()


@pytest.fixture(scope="session")
def kafka_home() -> Path:
    """Folder of Apache Kafka; tests that need one are skipped where there is none."""
    home = os.environ.get("KAFKA_HOME")
    if not home:
        pytest.skip(HOW_TO_GET_KAFKA)
    # From here on it was asked for: whatever is missing is a failure.
    jars = sorted(Path(home).glob("libs/kafka_*.jar"))
    if not jars:
        pytest.fail(f"KAFKA_HOME={home} has no libs/kafka_*.jar; {HOW_TO_GET_KAFKA}")
    if shutil.which("java") is None:
        pytest.fail(f"there is no java; {HOW_TO_GET_KAFKA}")
    return Path(home)


@pytest.fixture(scope="session")
def apache_kafka(kafka_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    """One node of Apache Kafka that creates topics on demand."""
    broker = ApacheKafka(kafka_home, tmp_path_factory.mktemp("kafka") / "node")
    yield broker
    broker.stop()


@pytest.fixture(scope="session")
def secure_kafka(kafka_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafka]:
    """Three nodes with SASL and TLS listeners and an authorizer."""
    broker = ApacheKafka(
        kafka_home, tmp_path_factory.mktemp("kafka-secure") / "cluster", nodes=3, secure=True
    )
    yield broker
    broker.kill()  # an orderly end of three takes seconds
