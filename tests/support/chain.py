"""A daemon with one alert and some actions, events that go wrong when a test says so, and who is paged."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.chaos.instance import Instance
from tests.support.brokers import Broker, free_ports
from tests.support.deployment import SECRET
from tests.support.live import Live, live, values
from tests.support.nursery import Nursery
from tests.support.receivers import Receiver

CONFIGURATION = """
kafka:
  bootstrap_servers: ["{address}"]
  topics: [{model}]
  group_id: {model}
  group_instance_id: only
  session_timeout_ms: 6000
  heartbeat_interval_ms: 1500
events: {{allowed_lateness: 200ms}}
models:
  {model}: {{task: binary, classes: [legit, fraud], positive_class: fraud, label_maturity: 0s,
            windows: [{{name: last_200, events: 200}}]}}
evaluation: {{every: 1s}}
alerts:
  every: 1s
  {alerts}
  rules:
    RecallBelowFloor: {{model: {model}, metric: recall, class: fraud, floor: 0.8, false_alarm_every: 1000,
                        severity: page, actions: [{names}]}}
actions:
{actions}
checkpoint: {{directory: "{directory}", every: 1s}}
server: {{port: {port}}}
logging: {{format: json}}
"""


class Pager:
    """What Alertmanager posts to."""

    def __init__(self, receiver: Receiver) -> None:
        self.url = receiver.url
        self._receiver = receiver

    def notices(self, status: str, model: str) -> list[dict[str, Any]]:
        """Return what was told of a model, each episode once."""
        told = [json.loads(request.body) for request in self._receiver.requests if request.path == "/page"]
        found = [
            alert
            for message in told
            for alert in message["alerts"]
            if alert["status"] == status and alert["labels"].get("model") == model
        ]
        return list({alert["startsAt"]: alert for alert in found}.values())


class Monitor(Instance):
    """A daemon of one model, with an alert on its recall."""

    def json(self, path: str) -> Any:
        status, text = self.get(path)
        return json.loads(text) if status == 200 else None

    def alerts(self) -> dict[str, dict[str, Any]]:
        """Return the alerts by version."""
        found = self.json("/api/v1/alerts") or {"alerts": []}
        return {alert["labels"]["version"]: alert for alert in found["alerts"]}

    def state(self, version: str) -> str | None:
        alert = self.alerts().get(version)
        return None if alert is None else alert["state"]

    def decisions(self) -> dict[str, dict[str, Any]]:
        """Return the newest decision of each action."""
        found = self.json("/api/v1/actions") or {"decisions": []}
        return {each["action"]: each for each in reversed(found["decisions"])}

    def watches(self, version: str) -> bool:
        """Whether it has caught up, and would act on an alert of a version."""
        alert = self.alerts().get(version)
        return alert is not None and alert["actionable"]


@contextmanager
def monitor(
    children: Nursery,
    broker: Broker,
    folder: Path,
    model: str,
    actions: Mapping[str, str],
    alerts: str = "deliver: prometheus",
) -> Iterator[Monitor]:
    """Write a configuration in which the model's alert on recall has these actions; start nothing yet."""
    (port,) = free_ports(1)
    (folder / "hook.key").write_text(SECRET)
    (folder / "hook.key").chmod(0o600)
    text = CONFIGURATION.format(
        address=broker.address,
        model=model,
        alerts=alerts,
        names=", ".join(actions),
        actions="".join(f"  {name}: {{{options}}}\n" for name, options in actions.items()).replace(
            "KEY", str(folder / "hook.key")
        ),
        directory=folder / "state",
        port=port,
    )
    found = Monitor(model, folder, text, port, children)
    try:
        yield found
    finally:
        if found.alive:
            found.kill()
    assert not [line for line in found.plain() if "Traceback" in line], found.tail()


def posting(url: str, **options: str) -> str:
    """Return the options of a webhook; KEY stands for the file of the secret."""
    found = {"type": "webhook", "url": f'"{url}"', "secret_file": '"KEY"', **options}
    return ", ".join(f"{name}: {value}" for name, value in found.items())


def past(model: str, *parts: tuple[str, float, int], age: float = 0.0) -> Iterator[tuple[bytes, int | None]]:
    """Yield values and record times of parts (version, recall, events), 200 a second, which end `age` ago."""
    at = time.time() - age - sum(n for _, _, n in parts) / 200
    for version, recall, n in parts:
        times = [at + i / 200 for i in range(n)]
        at = times[-1] + 1 / 200
        for value, timestamp in zip(values(model, version, recall, iter(times)), times, strict=True):
            yield value, int(timestamp * 1000)


@contextmanager
def streaming(broker: Broker, model: str) -> Iterator[Live]:
    """Let version 1 be live for a while, then version 2, which goes on."""
    broker.create_topic(model)
    broker.produce_many(model, past(model, ("1", 1.0, 200), ("2", 1.0, 600)))
    with live(broker, model, model) as found:
        found.version = "2"
        yield found


def wait(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait for something."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.02)
