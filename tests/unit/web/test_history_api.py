"""Timelines and reports of retired versions over HTTP."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from starlette.applications import Starlette

from monitor.errors import MonitorError
from monitor.history import Metric, Track
from monitor.web.history_api import history_routes
from monitor.web.openapi_pages import PATHS
from monitor.web.site import NothingRetired, Retired
from monitor.web.turns import Turns
from tests.support.shown import shown
from tests.support.web import HOSTILE, Client

RECALL = Metric("classifier_recall", (("class", "fraud"),))


def track(model: str, version: str, window: str) -> Track:
    return Track(
        model,
        version,
        window,
        (RECALL,),
        np.array([1_000_000, 2_500_000]),
        np.array([3_000_000, 4_000_000]),
        np.array([10, 20]),
        np.array([[[0.5, 0.25, 0.75]], [[np.nan] * 3]]),
    )


TRACKS = {t.key: t for t in (track("fraud", "1", "all"), track("fraud", "2", "all"), track(HOSTILE, "", "w"))}


class Kept(NothingRetired):
    """One report."""

    def names(self) -> list[tuple[str, str]]:
        return [("fraud", "0")]

    def entries(self) -> list[dict[str, Any]]:
        return [{"model": "fraud", "version": "0", "retired": None}]

    def text(self, model: str, version: str) -> bytes | None:
        return b'{"model": "fraud", "version": "0", "reports": []}' if version == "0" else None


class Broken(NothingRetired):
    """A disk that is gone."""

    def entries(self) -> list[dict[str, Any]]:
        raise MonitorError("cannot read /state: gone")


def client(retired: Retired | None = None, **changes: Any) -> Client:
    now = shown(**{"tracks": TRACKS, "retired": retired or Kept()} | changes)
    return Client(Starlette(routes=history_routes(lambda: now, Turns())))


def test_a_track_is_columns_of_one_length() -> None:
    answer = client().get("/api/v1/history?model=fraud&version=1&window=all")
    assert answer.json() == {
        "model": "fraud",
        "version": "1",
        "window": "all",
        "timestamps": [1.0, 2.5],
        "evaluated": [3.0, 4.0],
        "labeled": [10, 20],
        "metrics": [
            {
                "name": "classifier_recall",
                "labels": {"class": "fraud"},
                "value": [0.5, None],
                "lower": [0.25, None],
                "upper": [0.75, None],
            }
        ],
    }


def test_what_leaves_no_choice_need_not_be_given() -> None:
    answer = client().get("/api/v1/history", params={"model": HOSTILE})
    assert (answer.status_code, answer.json()["window"]) == (200, "w")


@pytest.mark.parametrize(
    ("query", "status", "known"),
    [
        ({}, 400, sorted(["fraud", HOSTILE])),
        ({"model": "x"}, 404, sorted(["fraud", HOSTILE])),
        ({"model": "fraud"}, 400, ["1", "2"]),
        ({"model": "fraud", "version": "3"}, 404, ["1", "2"]),
        ({"model": "fraud", "version": "1", "window": "w"}, 404, ["all"]),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(
    query: dict[str, str], status: int, known: list[str]
) -> None:
    answer = client().get("/api/v1/history", params=query)
    assert (answer.status_code, answer.json()["known"]) == (status, known)


def test_without_a_track_nothing_is_known() -> None:
    assert client(tracks={}).get("/api/v1/history?model=fraud").status_code == 404


def test_only_the_owner_has_a_past() -> None:
    answer = client(report=None).get("/api/v1/history?model=fraud")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")


def test_retired_versions_are_listed_and_found() -> None:
    get = client().get
    entry = {"model": "fraud", "version": "0", "retired": None}
    assert get("/api/v1/retired").json() == get("/api/v1/retired?model=fraud").json() == {"retired": [entry]}
    assert get("/api/v1/retired?model=other").json() == {"retired": []}
    found = get("/api/v1/retired?model=fraud&version=0")
    assert found.json() == {"model": "fraud", "version": "0", "reports": []}


def test_a_version_that_did_not_retire_is_refused_with_those_that_did() -> None:
    answer = client().get("/api/v1/retired?model=fraud&version=1")
    assert (answer.status_code, answer.json()["known"]) == (404, ["0"])


def test_a_disk_that_cannot_be_read_is_said() -> None:
    answer = client(Broken()).get("/api/v1/retired")
    assert (answer.status_code, answer.json()["error"]) == (503, "cannot read /state: gone")


def test_every_path_is_described() -> None:
    routes = history_routes(lambda: shown(), Turns())
    assert {route.path for route in routes} < set(PATHS)
