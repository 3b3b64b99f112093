"""Tests that share brokers stay on one worker."""

from __future__ import annotations

import pytest


@pytest.mark.xdist_group("groups")
def test_workers_know_the_groups_of_tests(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("loadgroup", False):
        pytest.skip("runs where tests are spread over workers by groups")
    assert request.node.nodeid.endswith("@groups")
