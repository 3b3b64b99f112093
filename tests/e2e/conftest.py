"""A demo that tests share: whoever needs it is in one group, hence on one worker."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from monitor.demo.parts import running_parts
from tests.support.brokers import free_ports
from tests.support.demo import Demo


@pytest.hookimpl(tryfirst=True)  # before the worker looks at these marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of the demo beside each other."""
    for item in items:
        if "demo" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("demo"))


@pytest.fixture(scope="package")  # not longer: it keeps half a core busy
def demo() -> Iterator[Demo]:
    stop = threading.Event()
    (port,) = free_ports(1)  # not the usual one, which other tests' demos take
    with running_parts(stop, port) as parts:
        yield Demo(parts, stop)
