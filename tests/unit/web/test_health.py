import pytest

from monitor.web.health import problems, stuck
from tests.support.reports import status


def found(**changes: object) -> list[str]:
    return [problem.name for problem in problems(status(**changes))]


def test_a_healthy_daemon_has_no_problem():
    assert found() == []


@pytest.mark.parametrize(
    "changes, name",
    [
        ({"dead_threads": ("poll",)}, "thread"),
        ({"poll_age": 60.1}, "poll"),
        ({"broker_error": "x"}, "broker"),
        ({"evaluation_error": "x"}, "evaluation"),
        ({"evaluation_age": 30.1}, "evaluation"),
        ({"evaluation_age": 30.1, "evaluation_every": 1.0}, "evaluation"),
        ({"lagging": 300.1}, "lag"),
        ({"dead_letter_error": "x"}, "dead_letters"),
        ({"rejection_error": "x"}, "events"),
        ({"alerts_refused": 3}, "alerts"),
        ({"action_error": "x"}, "actions"),
        ({"notification_error": "x"}, "notifications"),
        ({"checkpoint_error": "x"}, "checkpoint"),
        ({"checkpoint_error": "x", "checkpoint_age": 1e6}, "checkpoint"),
        ({"checkpoint_age": 90.1}, "checkpoint"),
        ({"checkpoint_age": 30.1, "checkpoint_every": 1.0}, "checkpoint"),
    ],
)
def test_each_problem_has_a_name(changes, name):
    assert found(**changes) == [name]


@pytest.mark.parametrize(
    "changes",
    [
        {"poll_age": 60.0},
        {"poll_age": None},
        {"evaluation_age": 30.0},
        {"evaluation_age": 30.0, "evaluation_every": 1.0},
        {"evaluation_age": None},
        {"lagging": 300.0},
        {"checkpoint_age": 90.0},
        {"checkpoint_age": 30.0, "checkpoint_every": 1.0},
    ],
)
def test_limits_are_not_problems(changes):
    assert found(**changes) == []


def test_a_standby_does_not_evaluate():
    assert found(owner=False, evaluation_age=1e6) == []


def test_only_threads_and_the_loop_need_a_restart():
    ill = status(
        broker_error="x", evaluation_age=1e6, lagging=1e6, dead_letter_error="x", checkpoint_error="x"
    )
    assert list(stuck(ill)) == []
