"""Short forms of the scripts in this folder; the long ones are slow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.benchmarks import soak
from tests.chaos import kill, outage, standbys
from tests.support.brokers import ApacheKafka
from tests.support.nursery import Nursery, nursery

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.usefixtures("refused_sockets"),
    pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning"),
]

LONG = pytest.mark.slow, pytest.mark.timeout(1800)


@pytest.fixture(scope="module")
def forked() -> Iterator[Nursery]:
    with nursery() as found:
        yield found


@pytest.fixture
def children(request: pytest.FixtureRequest, forked: Nursery) -> Nursery | None:
    """What instances of short forms are forked from; those of the long ones start anew."""
    return None if request.node.get_closest_marker("slow") else forked


@pytest.mark.parametrize("times", [4, pytest.param(50, marks=LONG)])
def test_killed_again_and_again(
    apache_kafka: ApacheKafka, tmp_path: Path, children: Nursery | None, times: int
) -> None:
    topic = f"kill-{times}"
    kill.run(apache_kafka, tmp_path, topic, times=times, seed=1, rate=2000, children=children)


@pytest.mark.parametrize("seconds", [20, pytest.param(300, marks=LONG)])
def test_instances_that_come_go_die_and_sleep(
    apache_kafka: ApacheKafka, tmp_path: Path, children: Nursery | None, seconds: float
) -> None:
    topic = f"standbys-{seconds}"
    standbys.run(apache_kafka, tmp_path, topic, seconds=seconds, seed=1, rate=1000, children=children)


@pytest.mark.parametrize(
    ("kinds", "seconds"),
    [
        (("stopped",), 5),
        pytest.param(("stopped", "killed", "paused"), 30, marks=LONG),
    ],
)
def test_broker_outages(
    apache_kafka: ApacheKafka,
    tmp_path: Path,
    children: Nursery | None,
    kinds: tuple[str, ...],
    seconds: float,
) -> None:
    topic, options = f"outage-{seconds}", {"kinds": kinds, "seconds": seconds, "children": children}
    outage.run(apache_kafka, tmp_path, topic, **options, seed=1, rate=2000)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="looks at /proc, which is Linux's")
def test_files_are_closed_and_memory_is_given_back(apache_kafka: ApacheKafka, tmp_path: Path) -> None:
    samples = soak.run(apache_kafka, tmp_path, "soak", seconds=20, every=2)
    later = samples[len(samples) // 2 :]
    assert later[-1].consumed > samples[0].consumed
    assert later[-1].written >= 3
    assert max(s.files for s in later) <= max(s.files for s in samples[:3]) + 3
    # Windows are full by then; what still grows is the resolution of score histograms.
    assert later[-1].rss <= 1.5 * later[0].rss
