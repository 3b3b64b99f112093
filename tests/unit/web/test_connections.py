"""Which connections go when there are too many, and which have had their time."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.web.connections import ANSWER_SECONDS, PIECE, REQUEST_SECONDS, Connection, Connections


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Accepted:
    """An accepted socket that nobody is behind."""

    def __init__(self) -> None:
        self.closed = False

    def fileno(self) -> int:
        return -1 if self.closed else 7

    def shutdown(self, _: int) -> None:
        self.closed = True


@pytest.fixture
def clock() -> Clock:
    return Clock()


def add(connections: Connections) -> Connection:
    return connections.add(Accepted())  # type: ignore[arg-type]


def test_the_one_that_waits_longest_goes_for_a_new_one(clock):
    connections = Connections(3, clock=clock)
    made = []
    for _ in range(5):
        made.append(add(connections))
        clock.now += 1
    assert [c.open for c in made] == [False, False, True, True, True]


def test_one_that_is_answered_stays_as_long_as_there_are_others(clock):
    connections = Connections(2, clock=clock)
    answered, waiting = add(connections), add(connections)
    answered.begin({}, clock.now)
    clock.now += 1
    third = add(connections)
    assert (answered.open, waiting.open, third.open) == (True, False, True)
    third.begin({}, clock.now)
    fourth = add(connections)
    assert (answered.open, third.open, fourth.open) == (False, True, True)


def test_who_asks_again_waits_anew(clock):
    connections = Connections(2, clock=clock)
    first, second = add(connections), add(connections)
    clock.now += 1
    first.begin({}, clock.now)
    first.begin(None, clock.now)
    add(connections)
    assert (first.open, second.open) == (True, False)


def test_each_has_its_time(clock):
    connections = Connections(clock=clock)
    waiting, answered = add(connections), add(connections)
    answered.begin({}, clock.now)
    clock.now += REQUEST_SECONDS
    connections.reap()
    assert (waiting.open, answered.open) == (True, True)
    clock.now += 0.1
    connections.reap()
    assert (waiting.open, answered.open) == (False, True)
    clock.now += ANSWER_SECONDS - REQUEST_SECONDS
    connections.reap()
    assert list(connections) == []


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["add", "begin", "end", "close"]))))
def test_there_are_never_more_than_allowed(steps: list[tuple[int, str]]) -> None:
    clock = Clock()
    connections = Connections(4, clock=clock)
    made: list[tuple[Connection, Accepted]] = []
    for place, step in steps:
        clock.now += 1
        if step == "add" or not made:
            accepted = Accepted()
            made.append((connections.add(accepted), accepted))  # type: ignore[arg-type]
            assert made[-1][0].open
        else:
            connection, accepted = made[place % len(made)]
            if step == "close":
                accepted.closed = True
            else:
                connection.begin({} if step == "begin" else None, clock.now)
        assert len(list(connections)) <= 4
        assert len(list(connections)) == sum(connection.open for connection, _ in made)


@pytest.fixture
def pair() -> Iterator[Any]:
    """Make connected sockets, the server's end first."""
    with ExitStack() as stack:

        def make() -> tuple[socket.socket, socket.socket]:
            mine, theirs = socket.socketpair()
            return stack.enter_context(mine), stack.enter_context(theirs)

        yield make


def test_abort_before_a_handshake_ends_the_socket(pair):
    mine, theirs = pair()
    connection = Connections().add(mine)
    connection.abort()
    assert theirs.recv(1) == b""
    theirs.close()
    mine.close()
    connection.abort()  # again, and after the end


class Answering:
    """One request on a connection of its own, whose client takes pieces when told to."""

    def __init__(self, connections: Connections, *bodies: bytes) -> None:
        self.connection = add(connections)
        self.sent: list[dict[str, Any]] = []
        self.take = asyncio.Event()
        self._bodies = bodies
        scope = {"type": "http", "state": {"connection": self.connection}}
        self.task = asyncio.create_task(connections.answer(self._app, scope, self._receive, self._send))

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for place, body in enumerate(self._bodies, 1):
            await send({"type": "http.response.body", "body": body, "more_body": place < len(self._bodies)})

    async def _receive(self) -> Any:
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.body":
            await self.take.wait()
        self.sent.append(message)


def test_an_answer_goes_out_in_pieces():
    bodies = [bytes(range(256)) * 1000, b"end"]

    async def check() -> None:
        answering = Answering(Connections(), *bodies)
        answering.take.set()
        await answering.task
        pieces = [bytes(message["body"]) for message in answering.sent[1:]]
        assert b"".join(pieces) == b"".join(bodies)
        assert max(map(len, pieces)) == PIECE
        assert [message["more_body"] for message in answering.sent[1:]] == [True] * 4 + [False]
        assert answering.connection.unsent == 0
        assert answering.connection.request is None

    asyncio.run(check())


def test_who_has_waited_longest_with_an_answer_goes_when_they_are_too_many(clock):
    async def check() -> None:
        connections = Connections(unsent_bytes=10 * PIECE, clock=clock)
        answers = []
        for pieces in (4, 5, 5, 11):
            answers.append(Answering(connections, bytes(pieces * PIECE)))
            await asyncio.sleep(0)
            clock.now += 1
        assert [a.connection.open for a in answers] == [False, False, False, True]
        for answer in answers:
            answer.task.cancel()
        await asyncio.gather(*(a.task for a in answers), return_exceptions=True)

    asyncio.run(check())


def test_a_pipelined_request_is_not_taken_for_the_end_of_it(clock):
    async def check() -> None:
        connections = Connections(clock=clock)
        first = Answering(connections, b"one")
        await asyncio.sleep(0)
        second = {"type": "http"}
        first.connection.begin(second, clock.now)
        first.take.set()
        await first.task
        assert first.connection.request is second

    asyncio.run(check())
