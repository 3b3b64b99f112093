"""Delivery to Alertmanagers that answer, refuse, hang or are not there."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from monitor.alerts.alert import Alert
from monitor.clock import SystemClock
from monitor.notify import alertmanager
from monitor.notify.alertmanager import Notifier
from tests.support.desks import alert

BEGAN = 1_764_400_000_000_000


class Receiver(ThreadingHTTPServer):
    """Keeps what is posted and answers with `status`; with `gate` set to a lock, not before it opens."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.posts: list[tuple[str, list[dict[str, Any]]]] = []
        self.status = 200
        self.gate = threading.Event()
        self.gate.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.posts.append((self.path, body))
        self.server.gate.wait(20)
        self.send_response(self.server.status)
        self.send_header("Location", self.server.url + "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[Receiver]:
    receiver = Receiver()
    thread = threading.Thread(target=receiver.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield receiver
    finally:
        receiver.gate.set()
        receiver.shutdown()
        thread.join()
        receiver.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with serving() as found:
        yield found


@contextmanager
def notifying(
    urls: Sequence[str], alerts: Callable[[], Sequence[Alert] | None], every: float = 60
) -> Iterator[Notifier]:
    notifier = Notifier(urls, alerts, SystemClock(), every=every)
    notifier.start()
    try:
        yield notifier
    finally:
        notifier.close()
        assert not notifier.alive


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def firing() -> Alert:
    return alert(since=BEGAN)


def test_what_fires_is_posted_and_repeated(receiver: Receiver) -> None:
    with notifying([receiver.url + "/prefix/"], lambda: [firing()], every=0.05) as notifier:
        wait_for(lambda: notifier.results[receiver.url, "sent"] >= 2)
        path, [found] = receiver.posts[0]
        assert path == "/prefix/api/v2/alerts"
        assert found["labels"]["alertname"] == "RecallBelowFloor"
        assert {post["startsAt"] for _, [post] in receiver.posts} == {"2025-11-29T07:06:40.000000Z"}
        assert notifier.problem is None


def test_beginning_and_end_are_posted_when_they_are_noticed(receiver: Receiver) -> None:
    alerts: list[Alert] = []
    with notifying([receiver.url], lambda: list(alerts)) as notifier:
        notifier.notice()
        alerts.append(firing())
        notifier.notice()
        wait_for(lambda: len(receiver.posts) == 1)
        notifier.notice()  # nothing new
        alerts.clear()
        notifier.notice()
        wait_for(lambda: len(receiver.posts) == 2)
    [began], [ended] = (post for _, post in receiver.posts)
    assert began["labels"] == ended["labels"]
    assert ended["endsAt"] < began["endsAt"]


def test_the_end_of_the_process_resolves_nothing(receiver: Receiver) -> None:
    with notifying([receiver.url], lambda: [firing()]):
        wait_for(lambda: receiver.posts)
    assert len(receiver.posts) == 1


def test_a_standby_says_nothing_and_neither_does_the_next_owner_of_the_end(receiver: Receiver) -> None:
    answers: list[list[Alert] | None] = [[firing()], None, []]
    asked: list[list[Alert] | None] = []

    def alerts() -> list[Alert] | None:
        asked.append(answers[min(len(asked), 2)])
        return asked[-1]

    with notifying([receiver.url], alerts) as notifier:
        for turn in range(1, 5):
            wait_for(lambda: len(asked) >= turn)  # noqa: B023 - called at once
            notifier.notice()
    assert asked[:3] == answers
    assert len(receiver.posts) == 1


def test_one_that_hangs_delays_no_other(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alertmanager, "TIMEOUT", 0.3)
    with serving() as hanging:
        hanging.gate.clear()
        with notifying([hanging.url, receiver.url], lambda: [firing()], every=0.05) as notifier:
            wait_for(lambda: notifier.results[hanging.url, "failed"])
            assert notifier.results[receiver.url, "sent"] >= 2
            assert notifier.problem is not None and hanging.url in notifier.problem
            assert receiver.url not in notifier.problem
            hanging.gate.set()


@pytest.mark.parametrize("status", [500, 400, 302, 307])
def test_one_that_refuses_or_redirects_is_tried_again(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(alertmanager, "RETRY", 0.05)
    receiver.status = status
    with notifying([receiver.url], lambda: [firing()]) as notifier:
        wait_for(lambda: notifier.results[receiver.url, "failed"] >= 2)
        assert notifier.problem is not None and f"answered {status}" in notifier.problem
        receiver.status = 200
        wait_for(lambda: notifier.results[receiver.url, "sent"])
        assert notifier.problem is None
    assert {path for path, _ in receiver.posts} == {"/api/v2/alerts"}, "no redirect is followed"


def test_a_name_that_does_not_resolve_shows_no_path() -> None:
    with notifying(["http://alertmanager.invalid/secret-path"], lambda: [firing()]) as notifier:
        wait_for(lambda: notifier.problem)
        assert notifier.problem is not None and "secret" not in notifier.problem
        assert notifier.results["http://alertmanager.invalid", "failed"] == 1


def test_an_error_in_the_alerts_ends_no_thread(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alertmanager, "RETRY", 0.05)
    broken = [True]

    def alerts() -> list[Alert]:
        if broken[0]:
            raise KeyError("x")
        return [firing()]

    with notifying([receiver.url], alerts) as notifier:
        wait_for(lambda: notifier.problem)
        broken[0] = False
        wait_for(lambda: receiver.posts)
        wait_for(lambda: notifier.problem is None)
