"""docs/actions.md holds what it says."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest

from monitor.actions.book import MAX_DECISIONS
from monitor.actions.decision import Status
from monitor.actions.http import MAX_ANSWER
from monitor.actions.sender import LAST_RETRY
from monitor.actions.webhook import Webhook
from tests.support.desks import Office, alert
from tests.support.receivers import answer, receiving

PAGE = (Path(__file__).parents[3] / "docs" / "actions.md").read_text()


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def first_cells(table: str) -> set[str]:
    cells = re.findall(r"^\| (`[^|]+) \|", table, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([\w-]+)`", cell)}


@pytest.fixture(scope="module")
def accept() -> Any:
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    return names["accept"]


@pytest.fixture
def request_(office: Office):
    office.act(alert())
    with receiving(answer(200)) as receiver:
        Webhook(receiver.url, "the-secret", 5).send(office.sender.sent[0], office.clock.now())
    [request] = receiver.requests
    names = ("Idempotency-Key", "X-Monitor-Timestamp", "X-Monitor-Signature")
    return {name: request.headers[name.lower()] for name in names}, request.body


@pytest.fixture
def office() -> Office:
    return Office()


@pytest.fixture
def now(office: Office) -> datetime:
    return datetime.fromtimestamp(office.clock.now() / 1e6, UTC)


def test_the_receiver_accepts_what_is_sent(accept, request_, office, now) -> None:
    headers, body = request_
    order = accept(headers, body, "the-secret", set(), now)
    assert order == office.sender.sent[0].payload()
    assert accept(headers, body, "the-secret", {headers["Idempotency-Key"]}, now) is None


def test_the_receiver_accepts_nothing_else(accept, request_, now) -> None:
    headers, body = request_
    for secret, content, time, said in [
        ("another", body, now, "signed"),
        ("the-secret", body.replace(b"fraud", b"other"), now, "signed"),
        ("the-secret", body, now + timedelta(minutes=6), "old"),
    ]:
        with pytest.raises(ValueError, match=said):
            accept(headers, content, secret, set(), time)


def test_the_receiver_accepts_nothing_too_late(accept, office, now) -> None:
    office.act(alert())
    late = office.clock.now() + 16 * 60 * 1_000_000
    with receiving(answer(200)) as receiver:
        Webhook(receiver.url, "the-secret", 5).send(office.sender.sent[0], late)
    [request] = receiver.requests
    names = ("X-Monitor-Timestamp", "X-Monitor-Signature")
    headers = {name: request.headers[name.lower()] for name in names}
    with pytest.raises(ValueError, match="too late"):
        accept(headers, request.body, "the-secret", set(), now + timedelta(minutes=16))


def test_every_key_is_explained_and_no_other(office) -> None:
    office.act(alert())
    assert first_cells(section("What is sent")) == set(office.sender.sent[0].payload())


def test_every_header_is_explained(request_) -> None:
    headers = section("Webhook").split("```")[0]
    assert first_cells(headers) == set(request_[0])


def test_every_status_is_explained_and_no_other() -> None:
    assert first_cells(section("What becomes of a decision")) == set(get_args(Status))


def test_limits_are_those_of_the_code() -> None:
    assert f"{MAX_ANSWER // 1024} kB" in section("Webhook")
    assert f"{LAST_RETRY:.0f} s" in section("Webhook")
    assert f"{MAX_DECISIONS:,} decisions" in section("The audit log")
