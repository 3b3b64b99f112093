import logging

import pytest

from monitor.clock import ManualClock
from monitor.errors import SourceError
from monitor.sources.patience import LONGEST_PAUSE, Patience


def test_pauses_double_up_to_a_limit():
    clock = ManualClock()
    patience = Patience(600, clock)
    assert patience.remaining() == 0
    pauses = []
    for _ in range(8):
        patience.failed("no broker")
        pauses.append(round(patience.remaining(), 3))
        clock.advance(patience.remaining())
    assert pauses == [1, 2, 4, 8, 16, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]


def test_each_problem_is_logged_once(caplog):
    clock = ManualClock()
    patience = Patience(600, clock)
    with caplog.at_level(logging.INFO):
        for problem in ["no broker", "no broker", "no topic", "no topic"]:
            patience.failed(problem)
            clock.advance(1)
        patience.succeeded()
        patience.succeeded()
    assert [record.message.split(";")[0] for record in caplog.records] == [
        "no broker",
        "no topic",
        "no longer: no topic",
    ]


def test_gives_up_with_the_problem():
    clock = ManualClock()
    patience = Patience(10, clock)
    patience.failed("no broker")
    clock.advance(9.9)
    patience.failed("no broker")
    clock.advance(0.2)
    with pytest.raises(SourceError, match=r"no broker.*kafka\.give_up_after"):
        patience.failed("no broker")


def test_without_patience_the_first_failure_ends_it():
    with pytest.raises(SourceError, match=r"^no broker$"):
        Patience(0, ManualClock()).failed("no broker")


def test_success_starts_anew():
    clock = ManualClock()
    patience = Patience(10, clock)
    patience.failed("no broker")
    clock.advance(9)
    patience.succeeded()
    clock.advance(9)
    patience.failed("no broker")
    assert patience.problem == "no broker"
    assert patience.remaining() == 1
