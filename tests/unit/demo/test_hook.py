"""The receiver against the daemon's own sender, which shares no code with it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import replace

import pytest

from monitor.actions.decision import Decision
from monitor.actions.webhook import Webhook
from monitor.alerts.alert import Key
from monitor.clock import SystemClock
from monitor.demo.hook import Hook

SECRET = "s" * 32
MINUTE = 60_000_000


@pytest.fixture
def switched():
    return []


@pytest.fixture
def hook(switched):
    def switch(*order):
        if order[2] is None:
            raise ValueError("nowhere to go")
        switched.append(order)

    with Hook(SECRET, switch) as running:
        yield running


def decision():
    now = SystemClock().now()
    return Decision(
        action="rollback",
        kind="webhook",
        alert=Key("Low", "m", "v2", "", "", ""),
        episode="episode",
        model="m",
        bad_version="v2",
        target_version="v1",
        status="pending",
        reason=None,
        decided_at=now,
        expires_at=now + MINUTE,
        changed_at=now,
    )


def send(hook, order, secret=SECRET, age=0):
    return Webhook(hook.url, secret, timeout=5).send(order, SystemClock().now() - age)


def test_a_signed_rollback_is_carried_out_once(hook, switched):
    assert send(hook, decision()).result == "done"
    assert send(hook, decision()).result == "done"  # its answer was lost, say
    assert switched == [("m", "v2", "v1")]
    assert (hook.done.alert, hook.done.bad_version, hook.done.target_version) == ("Low", "v2", "v1")
    assert hook.refusal is None


@pytest.mark.parametrize(
    ("changes", "how", "why"),
    [
        ({}, {"secret": "t" * 32}, "not signed with our secret"),
        ({}, {"age": 10 * MINUTE}, "an old request"),
        ({"expires_at": 1}, {}, "too late"),
        ({"target_version": None}, {}, "nowhere to go"),
    ],
)
def test_what_must_not_be_done_is_refused(hook, switched, changes, how, why):
    assert send(hook, replace(decision(), **changes), **how).result == "failed"
    assert why in hook.refusal
    assert (switched, hook.done) == ([], None)


@pytest.mark.parametrize(("path", "status"), [("", 400), ("/elsewhere", 404)])
def test_unsigned_requests_and_other_paths_do_nothing(hook, switched, path, status):
    request = urllib.request.Request(hook.url + path, json.dumps({"model": "m"}).encode())
    with pytest.raises(urllib.error.HTTPError) as failed:
        urllib.request.urlopen(request, timeout=5)
    failed.value.close()
    assert (failed.value.code, switched) == (status, [])
