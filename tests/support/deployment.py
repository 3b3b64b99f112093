"""A deployment system's side of rollbacks, with the code that docs/actions.md has for it."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.support.examples import blocks
from tests.support.receivers import Received, hang, receiving, response

PAGE = Path(__file__).parents[2] / "docs" / "actions.md"
SECRET = "a-word-of-the-test"


def documented_accept() -> Callable[..., dict[str, Any] | None]:
    """Return the function that docs/actions.md tells receivers to use."""
    [code] = [text for language, text in blocks(PAGE.read_text()) if language == "python"]
    names: dict[str, Any] = {}
    exec(code, names)
    found: Callable[..., dict[str, Any] | None] = names["accept"]
    return found


class Deployment:
    """Does what it is asked, once a key.

    Attributes
    ----------
    orders
        What was carried out.
    at
        When, in epoch seconds.
    asked
        Keys of all requests that were signed well.
    refused
        Why others were not accepted.
    answers
        What is answered; None: nothing at all until the other side gives up, although it is done.
    """

    def __init__(self) -> None:
        self.orders: list[Mapping[str, Any]] = []
        self.at: list[float] = []
        self.asked: list[str] = []
        self.refused: list[str] = []
        self.answers: int | None = 200
        self.url = ""
        self._accept = documented_accept()

    def reply(self, client: socket.socket, request: Received) -> None:
        headers = {name: request.headers.get(name.lower(), "") for name in HEADERS}
        done = {order["idempotency_key"] for order in self.orders}
        try:
            order = self._accept(headers, request.body, SECRET, done, datetime.now(UTC))
        except ValueError as error:
            self.refused.append(str(error))
            client.sendall(response(401, b""))
            return
        self.asked.append(headers["Idempotency-Key"])
        if order is not None and self.answers in (None, 200):
            self.orders.append(order)
            self.at.append(time.time())
        if self.answers is None:
            hang(client, request)
        else:
            client.sendall(response(self.answers, b""))


HEADERS = ("Idempotency-Key", "X-Monitor-Timestamp", "X-Monitor-Signature")


@contextmanager
def deployment(answers: int | None = 200, port: int = 0) -> Iterator[Deployment]:
    """Run one, on any port by default."""
    found = Deployment()
    found.answers = answers
    with receiving(found.reply, port=port) as receiver:
        found.url = f"{receiver.url}/rollback"
        yield found
