"""The whole chain: events in Kafka, the daemon, Prometheus, Alertmanager, a page, a rollback, recovery."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.brokers import ApacheKafka, free_ports
from tests.support.chain import Pager, monitor, past, posting, streaming, wait
from tests.support.deployment import Deployment, deployment
from tests.support.live import live
from tests.support.nursery import Nursery, nursery
from tests.support.prometheus import Alertmanager, alertmanager, prometheus
from tests.support.receivers import Receiver, answer, hang, receiving
from tests.support.registry import real_model

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.usefixtures("refused_sockets"),
    pytest.mark.filterwarnings("ignore:unclosed <s:ResourceWarning"),
]


@pytest.fixture(scope="module")
def pager() -> Iterator[Pager]:
    with receiving(answer(200, b"", "Connection: close")) as receiver:
        yield Pager(receiver)


@pytest.fixture(scope="module")
def alerts_at(pager: Pager, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alertmanager]:
    with alertmanager(tmp_path_factory.mktemp("alertmanager"), pager.url) as found:
        yield found


@pytest.fixture(scope="module")
def children() -> Iterator[Nursery]:
    with nursery() as found:
        yield found


@pytest.fixture
def target() -> Iterator[Deployment]:
    with deployment() as found:
        yield found


def test_from_a_drop_to_the_recovery(
    children: Nursery,
    apache_kafka: ApacheKafka,
    alerts_at: Alertmanager,
    pager: Pager,
    target: Deployment,
    tmp_path: Path,
) -> None:
    model = "whole"
    with ExitStack() as parts:
        actions = {"rollback": posting(target.url)}
        daemon = parts.enter_context(monitor(children, apache_kafka, tmp_path, model, actions))
        write_rules(children, tmp_path, model)
        rules = parts.enter_context(prometheus(tmp_path, daemon.port, alerts_at.url))
        stream = parts.enter_context(streaming(apache_kafka, model))
        daemon.start()
        daemon.until(lambda: daemon.watches("2"), 60)
        rules.wait_for("up == 1")
        rules.wait_for(f'monitor_alert_state{{model="{model}"}}')

        dropped = time.time()
        stream.recall = 0.3
        wait(lambda: daemon.state("2") == "firing")
        print(f"seconds from drop to alert: {time.time() - dropped:.1f}")
        wait(lambda: target.orders)
        print(f"seconds from drop to rollback: {target.at[0] - dropped:.1f}")
        wait(lambda: pager.notices("firing", model))
        print(f"seconds from drop to page: {time.time() - dropped:.1f}")

        (page,) = pager.notices("firing", model)
        assert page["labels"]["version"] == "2"
        assert page["labels"]["severity"] == "page"
        assert "below 0.8" in page["annotations"]["summary"]
        assert "Recall is now" in page["annotations"]["description"]
        assert "(last_200)" in page["annotations"]["description"]

        recovered = time.time()
        stream.recall = 1.0
        wait(lambda: pager.notices("resolved", model))
        print(f"seconds from recovery to notice: {time.time() - recovered:.1f}")
        assert daemon.state("2") == "inactive"

        (order,) = target.orders
        assert len(target.asked) == 1
        assert not target.refused
        assert (order["model"], order["bad_version"], order["target_version"]) == (model, "2", "1")
        assert order["evidence"]["value"] < order["evidence"]["limit"] == 0.8
        assert daemon.decisions()["rollback"]["status"] == "done"
        assert len(pager.notices("firing", model)) == 1
        assert daemon.stop() == 0


def write_rules(children: Nursery, folder: Path, model: str) -> None:
    """Generate the rules of a daemon's configuration; alerts resolve without the delay that they have."""
    (folder / "rules").mkdir()
    path = folder / "rules" / "monitor.yml"
    command = ["rules", "-c", str(folder / f"{model}.yaml"), "-o", str(path)]
    assert children.start(command, folder / "rules.log").wait() == 0
    text = path.read_text()
    assert "keep_firing_for: 5m" in text
    path.write_text(text.replace("keep_firing_for: 5m", "keep_firing_for: 1s"))


def posted(receiver: Receiver) -> list[dict[str, Any]]:
    """Return every alert in every post to an Alertmanager."""
    return [alert for request in receiver.requests for alert in json.loads(request.body)]


def test_without_prometheus_over_a_crash_and_a_stop(
    children: Nursery,
    apache_kafka: ApacheKafka,
    alerts_at: Alertmanager,
    pager: Pager,
    target: Deployment,
    tmp_path: Path,
) -> None:
    model = "direct"
    with ExitStack() as parts:
        second = parts.enter_context(receiving(answer(200, b"{}")))  # what is posted, as it is posted
        alerts = f'deliver: alertmanager\n  alertmanager_urls: ["{alerts_at.url}", "{second.url}"]'
        actions = {"rollback": posting(target.url)}
        daemon = parts.enter_context(monitor(children, apache_kafka, tmp_path, model, actions, alerts))
        stream = parts.enter_context(streaming(apache_kafka, model))
        daemon.start()
        daemon.until(lambda: daemon.watches("2"), 60)

        dropped = time.time()
        stream.recall = 0.3
        wait(lambda: pager.notices("firing", model))
        print(f"seconds from drop to page: {time.time() - dropped:.1f}")
        (page,) = pager.notices("firing", model)
        assert page["labels"]["alertname"] == "RecallBelowFloor"
        assert "floor 0.8" in page["annotations"]["description"]
        assert "misses beyond it" in page["annotations"]["description"]
        wait(lambda: target.orders)

        now = time.time()
        for end in (daemon.kill, daemon.stop):
            end()
            before = len(second.requests)
            time.sleep(1.0)  # whatever it had to say at its end would have been said
            assert len(second.requests) == before
            assert not pager.notices("resolved", model)
            daemon.start()
            daemon.until(lambda before=before: len(second.requests) > before, 60)  # type: ignore[misc]
        assert daemon.exits == [-9, 0]
        (started,) = {alert["startsAt"] for alert in posted(second)}
        assert datetime.fromisoformat(started) == datetime.fromisoformat(page["startsAt"])
        assert len(alerts_at.alerts(model=model)) == 1
        assert all(datetime.fromisoformat(alert["endsAt"]).timestamp() > now for alert in posted(second))

        stream.recall = 1.0
        wait(lambda: pager.notices("resolved", model))
        (end,) = pager.notices("resolved", model)
        assert end["startsAt"] == page["startsAt"]
        assert len(pager.notices("firing", model)) == 1
        wait(lambda: not alerts_at.alerts(model=model))
        assert len(target.orders) == len(set(target.asked)) == 1
        assert daemon.stop() == 0


def test_killed_between_decision_and_delivery(
    children: Nursery, apache_kafka: ApacheKafka, target: Deployment, tmp_path: Path
) -> None:
    model = "killed"
    state, away = tmp_path / "state", tmp_path / "away"
    with ExitStack() as parts:
        actions = {"rollback": posting(target.url)}
        daemon = parts.enter_context(monitor(children, apache_kafka, tmp_path, model, actions))
        stream = parts.enter_context(streaming(apache_kafka, model))
        daemon.start()
        daemon.until(lambda: daemon.watches("2"), 60)
        daemon.until(lambda: daemon.series().get("monitor_checkpoint_size_bytes", 0) > 0, 10)

        # Decided, and in no checkpoint: there is no disk.
        state.rename(away)
        state.touch()
        stream.recall = 0.3
        wait(lambda: "rollback" in daemon.decisions())
        assert daemon.decisions()["rollback"]["reason"] == "it is in no checkpoint yet"
        daemon.kill()
        assert not target.asked
        state.unlink()
        away.rename(state)

        # Decided again from the log, and carried out, but the answer never comes.
        target.answers = None
        daemon.start()
        daemon.until(lambda: len(target.asked) == 1, 60)
        daemon.kill()

        # Remembered by the checkpoint, and sent again.
        target.answers = 200
        daemon.start()
        daemon.until(lambda: daemon.decisions().get("rollback", {}).get("status") == "done", 60)
        assert len(target.asked) >= 2
        assert len(set(target.asked)) == 1
        (order,) = target.orders
        assert (order["bad_version"], order["target_version"]) == ("2", "1")
        assert not target.refused
        assert daemon.stop() == 0


def test_a_backlog_with_drops_and_recoveries(
    children: Nursery,
    apache_kafka: ApacheKafka,
    alerts_at: Alertmanager,
    pager: Pager,
    target: Deployment,
    tmp_path: Path,
) -> None:
    model = "backlog"
    apache_kafka.create_topic(model)
    drop_and_recovery = ("2", 1.0, 3000), ("2", 0.3, 2000), ("2", 1.0, 5000)
    old = past(model, ("1", 1.0, 2000), *drop_and_recovery, age=3600.0)
    young = ((value, None) for value, _ in past(model, *drop_and_recovery))  # written at once, just now
    apache_kafka.produce_many(model, [*old, *young])
    alerts = f'deliver: alertmanager\n  alertmanager_urls: ["{alerts_at.url}"]'
    actions = {"rollback": posting(target.url)}
    with monitor(children, apache_kafka, tmp_path, model, actions, alerts) as daemon:
        daemon.start()
        daemon.until(lambda: daemon.caught_up() and daemon.consumed() == 22_000, 60)
        with live(apache_kafka, model, model) as stream:
            stream.version = "2"
            daemon.until(lambda: daemon.watches("2"), 60)
            time.sleep(1.5)  # whatever it had to say then would have been said
        transitions = daemon.json("/api/v1/alerts")["transitions"]
        changes = [each for each in transitions if each["change"] in ("firing", "resolved")]
        assert [each["change"] for each in changes] == ["resolved", "firing", "resolved", "firing"]
        assert all(change["historic"] for change in changes)
        assert daemon.state("2") == "inactive"
        assert daemon.decisions() == {}
        assert not target.asked
        assert not alerts_at.alerts(model=model)
        assert not pager.notices("firing", model)
        assert not pager.notices("resolved", model)
        assert daemon.stop() == 0


def test_receivers_that_misbehave(children: Nursery, apache_kafka: ApacheKafka, tmp_path: Path) -> None:
    model = "sturdy"
    (port,) = free_ports(1)
    with ExitStack() as parts:
        hangs, fails, late = (parts.enter_context(deployment(status)) for status in (None, 500, 503))
        redirects = parts.enter_context(receiving(answer(302, b"", f"Location: {hangs.url}")))
        silent, broken = (parts.enter_context(receiving(reply)) for reply in (hang, answer(500)))
        urls = {
            "fails": fails.url,
            "refuses": f"http://127.0.0.1:{port}/",
            "redirects": redirects.url,
            "nowhere": "http://nowhere.invalid/",
        }
        actions = {name: posting(url) for name, url in urls.items()}
        actions["hangs"] = posting(hangs.url, timeout="1s")
        actions["late"] = posting(late.url, timeout="2s", expires="3s")
        alerts = f'deliver: alertmanager\n  alertmanager_urls: ["{silent.url}", "{broken.url}"]'
        daemon = parts.enter_context(monitor(children, apache_kafka, tmp_path, model, actions, alerts))
        stream = parts.enter_context(streaming(apache_kafka, model))
        daemon.start()
        daemon.until(lambda: daemon.watches("2"), 60)

        stream.recall = 0.3
        tried = ("hangs", "fails", "refuses", "nowhere")
        wait(lambda: all(daemon.decisions().get(name, {}).get("attempts", 0) >= 2 for name in tried))
        wait(lambda: daemon.decisions()["late"]["status"] == "expired")
        failed = f'monitor_notifications_total{{result="failed",target="{silent.url}"}}'
        wait(lambda: daemon.series()[failed])
        evaluated = "monitor_last_evaluation_timestamp_seconds"
        consumed = f'monitor_events_consumed_total{{topic="{model}"}}'
        before = daemon.series()
        wait(lambda: daemon.series()[evaluated] >= before[evaluated] + 2)
        wait(lambda: daemon.series()[consumed] >= before[consumed] + 400)
        after = daemon.series()

        found = daemon.decisions()
        assert {name: each["status"] for name, each in found.items()} == {
            **dict.fromkeys(tried, "pending"),
            "redirects": "failed",
            "late": "expired",
        }
        said = {
            "hangs": "no whole answer within 1 s",
            "fails": "answered 500",
            "refuses": "refused",
            "redirects": "redirects are not followed",
            "nowhere": "does not resolve|no whole answer",  # resolvers differ in how long they try
            "late": "answered 503",
        }
        for name, words in said.items():
            assert re.search(words, found[name]["last_error"]), name
            result = "failed" if name == "redirects" else "retry"
            assert after[f'monitor_action_attempts_total{{action="{name}",result="{result}"}}'] >= 1
            assert after[f'monitor_outbox_pending{{action="{name}"}}'] == (name in tried)
        status, health = daemon.get("/healthz")
        assert status == 503
        assert silent.url in health
        assert broken.url in health
        for name in tried:
            assert f"{name} of {model}" in health

        late_before = len(late.asked)
        hangs.answers = fails.answers = late.answers = 200
        silent.reply = broken.reply = answer(200, b"{}")
        refuses = parts.enter_context(deployment(port=port))
        mended = ("hangs", "fails", "refuses")
        wait(lambda: all(daemon.decisions()[name]["status"] == "done" for name in mended))
        for target in (hangs, fails, refuses):
            assert len(target.orders) == 1
        wait(lambda: posted(silent) and broken.requests)
        assert {alert["labels"]["model"] for alert in posted(silent)} == {model}
        assert daemon.decisions()["late"]["status"] == "expired"
        assert len(late.asked) == late_before
        assert not late.orders
        assert daemon.stop() == 0


@pytest.mark.slow
def test_the_alias_of_a_real_registry(children: Nursery, apache_kafka: ApacheKafka, tmp_path: Path) -> None:
    model = "registered"
    with ExitStack() as parts:
        url, name, ask = parts.enter_context(real_model())  # its champion is version 2
        actions = {"rollback": f'type: mlflow, url: "{url}", registered_model: {name}'}
        daemon = parts.enter_context(monitor(children, apache_kafka, tmp_path, model, actions))
        stream = parts.enter_context(streaming(apache_kafka, model))
        daemon.start()
        daemon.until(lambda: daemon.watches("2"), 60)
        stream.recall = 0.3
        wait(lambda: daemon.decisions().get("rollback", {}).get("status") == "done")
        assert daemon.decisions()["rollback"]["reason"] == f"champion of {name} moved from version 2 to 1"
        found = ask("GET", f"registered-models/alias?name={name}&alias=champion", {})
        assert found["model_version"]["version"] == "1"
        assert daemon.stop() == 0
