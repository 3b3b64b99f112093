"""Few at a time, the others wait, and not for ever."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from monitor.web.turns import Turns


def request(*, gone: bool = False) -> Request:
    async def receive() -> dict[str, object]:
        if gone:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": b"", "more_body": False}

    return Request({"type": "http", "headers": []}, receive)


class Work:
    """Takes as long as it is told to; knows how many ran at once."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.runs = 0
        self.at_once = 0
        self.most = 0
        self._lock = threading.Lock()

    def __call__(self, _: Request) -> Response:
        with self._lock:
            self.runs += 1
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        assert self.go_on.wait(20)
        with self._lock:
            self.at_once -= 1
        return PlainTextResponse("done")


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


def test_so_many_run_at_once_and_the_others_after_them():
    work = Work()

    async def check() -> None:
        endpoint = Turns(at_once=2)(work)
        tasks = [asyncio.ensure_future(endpoint(request())) for _ in range(8)]
        await until(lambda: work.runs == 2)
        await asyncio.sleep(0.05)
        assert work.runs == 2
        work.go_on.set()
        answers = await asyncio.gather(*tasks)
        assert [answer.status_code for answer in answers] == [200] * 8
        assert work.most == 2

    asyncio.run(check())


def test_who_waits_too_long_or_is_one_too_many_is_to_come_back():
    work = Work()

    async def check() -> None:
        endpoint = Turns(at_once=1, waiting=2, wait_seconds=0.05)(work)
        running = asyncio.ensure_future(endpoint(request()))
        await until(lambda: work.runs == 1)
        waiting = [asyncio.ensure_future(endpoint(request())) for _ in range(2)]
        await asyncio.sleep(0)
        refused = await endpoint(request())  # at once
        assert not any(task.done() for task in waiting)
        for answer in (refused, *await asyncio.gather(*waiting)):
            assert answer.status_code == 503
            assert int(answer.headers["retry-after"]) > 0
            assert answer.media_type == "application/json"
        work.go_on.set()
        assert (await running).status_code == 200
        assert (await endpoint(request())).status_code == 200

    asyncio.run(check())


def test_nothing_is_done_for_who_is_gone():
    work = Work()
    work.go_on.set()

    async def check() -> None:
        endpoint = Turns(at_once=1)(work)
        await endpoint(request(gone=True))
        assert work.runs == 0
        await endpoint(request())
        assert work.runs == 1

    asyncio.run(check())


def test_a_failure_gives_the_turn_back():
    def fail(_: Request) -> Response:
        raise ValueError

    async def check() -> None:
        endpoint = Turns(at_once=1, wait_seconds=0.1)(fail)
        for _ in range(3):
            (error,) = await asyncio.gather(endpoint(request()), return_exceptions=True)
            assert isinstance(error, ValueError)

    asyncio.run(check())
