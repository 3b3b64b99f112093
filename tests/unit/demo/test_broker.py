from __future__ import annotations

import sys
import threading

import pytest

from monitor.demo.broker import embedded_broker
from monitor.errors import MonitorError


def test_without_the_package_the_remedy_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "noida_db", None)
    with (
        pytest.raises(MonitorError, match=r"pip install 'monitor\[demo\]'"),
        embedded_broker(tmp_path, {}, threading.Event()),
    ):
        pass
