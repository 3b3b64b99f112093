"""Who may import whom: the rooms of monitor/ and the third parties that only one of them knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.events import batch
from monitor.metrics import counts, cox, decay
from monitor.recalibration import suggestion
from monitor.state import keys
from monitor.web.charts import confidence_decay

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "monitor"

SHARED = {"errors", "clock", "records"}
MAY_KNOW = {
    "errors": set(),
    "clock": set(),
    "records": set(),
    "actions": {"alerts", "checkpoint", "clock", "errors"},
    "action_parts": {"actions", "checkpoint", "clock", "config", "errors", "secret_file", "sources"},
    "checkpoint": {"clock", "errors"},
    "config": {"errors"},
    "notify": {"actions", "alerts", "clock", "wording"},
    "prometheus_rules": {"alert_rules", "alerts", "config", "errors"},
    "grafana": {"alerts", "config", "errors", "metrics", "presets", "prometheus_rules", "report"},
    "describe": {"alerts", "config", "describe_alerts", "errors", "start_up"},
    "start_up": {"config", "secret_file"},
    "file_check": {
        "action_parts",
        "baseline",
        "champions",
        "checkpoint",
        "config",
        "pipeline",
        "secret_file",
        "sources",
        "tls",
    }
    | SHARED,
    "events": SHARED,
    "sources": {"logs", "wording"} | SHARED,
    "state": {"events"} | SHARED,
    "detection": set(),
    "watch": {"alerts", "detection", "events", "state"},
    "metrics": set(),
    "report": {"errors"},
    "report_parse": {"report"},
    "status": set(),
    "wording": {"report"},
    "recalibration": {"detection", "report"},
    "text_report": {"recalibration", "report", "wording"},
    "report_curves": {"report"},
    "report_csv": {"report", "wording"},
    "report_json": {"recalibration", "report", "report_curves", "text_report", "wording"},
    "evaluation": {"events", "metrics", "report", "state"},
    "history": {"report", "wording"},
    "history_json": {"history"},
    "presets": {"report"},
    "suggested_alerts": {"presets", "report", "wording"},
    "series": {"report"},
    "alerts_json": {"actions", "alerts", "wording"},
    "daemon_series": {"alerts", "series", "status"},
    "exporter": {"alerts", "daemon_series", "report", "series", "status"},
    "web": {
        "actions",
        "alerts",
        "alerts_json",
        "clock",
        "errors",
        "exporter",
        "history",
        "history_json",
        "presets",
        "report",
        "report_csv",
        "report_curves",
        "report_json",
        "report_parse",
        "recalibration",
        "status",
        "suggested_alerts",
        "text_report",
        "tls",
        "wording",
    },
    "secret_file": {"errors"},
    "tls": {"config", "errors"},
    "client": {"config", "errors", "secret_file", "tls"},
    "logs": set(),
    "schedule": {"clock"},
    "assembly": {"config", "evaluation", "events", "metrics", "presets", "state"} | SHARED,
    "alerting": {"alerts", "evaluation", "events", "recalibration", "report", "state", "watch"} | SHARED,
    "alert_assembly": {
        "alert_rules",
        "alerting",
        "alerts",
        "assembly",
        "baseline",
        "config",
        "events",
        "metrics",
        "watch",
    },
    "champions": {"action_parts", "actions", "alert_assembly", "config", "errors"},
    "pipeline": {
        "alert_assembly",
        "assembly",
        "config",
        "evaluation",
        "events",
        "history",
        "metrics",
        "presets",
        "report",
        "state",
    }
    | SHARED,
    "deciding": {"alerting", "alerts", "evaluation", "pipeline", "report"},
    "catching_up": {"alerting", "clock", "records"},
    "responding": {
        "actions",
        "alerts",
        "catching_up",
        "clock",
        "deciding",
        "pipeline",
        "records",
        "report",
        "wording",
    },
    "rehearsal": {
        "action_parts",
        "actions",
        "alerting",
        "alerts",
        "clock",
        "config",
        "deciding",
        "pipeline",
        "timeline",
        "wording",
    },
    "memory": {"alert_assembly", "checkpoint", "config", "events", "history", "pipeline", "report", "state"}
    | SHARED,
    "rejections": {"clock", "events"},
    "parts": {
        "action_parts",
        "actions",
        "alerts",
        "archive",
        "assembly",
        "checkpoint",
        "config",
        "exporter",
        "metrics",
        "notify",
        "pipeline",
        "report",
        "secret_file",
        "series",
        "sources",
        "status",
        "tls",
        "web",
    }
    | SHARED,
    "recording": {"evaluation", "pipeline", "presets", "records"},
    "replay_page": {"alerts", "config", "evaluation", "parts", "replay", "status", "web"},
    "tenure": {"actions", "archive", "checkpoint", "config", "logs", "memory", "pipeline", "sources"}
    | SHARED,
    "takeover": {
        "actions",
        "alert_assembly",
        "checkpoint",
        "config",
        "memory",
        "pipeline",
        "sources",
        "tenure",
    }
    | SHARED,
    "evaluator": {"clock", "evaluation", "history", "pipeline", "report", "state", "status"},
    "archive": {
        "checkpoint",
        "evaluation",
        "memory",
        "pipeline",
        "report",
        "report_json",
        "state",
        "wording",
    },
    "offline": {
        "archive",
        "assembly",
        "checkpoint",
        "client",
        "clock",
        "config",
        "errors",
        "memory",
        "report",
        "report_csv",
        "report_json",
        "report_parse",
        "wording",
    },
    "baseline": {"checkpoint", "detection", "errors", "events", "state"},
    "make_baseline": {
        "assembly",
        "baseline",
        "clock",
        "config",
        "detection",
        "errors",
        "evaluation",
        "replay",
        "report",
        "state",
        "wording",
    },
    "timeline": {"alerts", "wording"},
    "exports": {"assembly", "config", "errors", "metrics", "report", "series"},
    "alerts": {"errors", "report", "wording"},
    "alert_rules": {"alerts", "assembly", "config", "errors", "exports", "metrics"},
    "describe_alerts": {"alerts", "config", "errors"},
    "proposal": set(),
    "replay": {
        "actions",
        "alerts",
        "assembly",
        "deciding",
        "recording",
        "rehearsal",
        "rejections",
        "suggested_alerts",
        "timeline",
        "config",
        "evaluation",
        "events",
        "pipeline",
        "proposal",
        "report",
        "report_json",
        "series",
        "sources",
        "text_report",
        "wording",
    }
    | SHARED,
    "doctor": {"assembly", "config", "events", "proposal", "sources", "wording"} | SHARED,
}
FREE = {"daemon", "cli", "demo", "__init__", "__main__"}
"""These know everything: the one that builds all parts, and those that start it."""

ONLY_IN = {
    "kafka": {"sources", "demo"},
    "prometheus_client": {"exporter"},
    "apscheduler": {"schedule"},
    "torch": {"assembly", "state", "metrics", "evaluation", "pipeline"},
    "sklearn": {"demo"},
    "msgspec": {"archive", "events", "sources", "web"},
    "pydantic": {"config", "events"},
    "starlette": {"web"},
    "uvicorn": {"web"},
    "typer": {"cli"},
    "noida_db": {"demo"},
    "pyarrow": {"sources"},
}


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""
            if node.module == "monitor":
                yield from (f"monitor.{alias.name}" for alias in node.names)


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_room_knows_only_what_it_may(path: Path) -> None:
    mine = room(path)
    assert mine in MAY_KNOW or mine in FREE, f"{mine} is a new room: say what it may know"
    for name in imports(path):
        top, _, rest = name.partition(".")
        if top == "monitor" and rest and mine not in FREE:
            other = rest.partition(".")[0]
            assert other in MAY_KNOW[mine] | {mine, "__version__"}, f"{mine} may not know {other}"
        if top in ONLY_IN:
            assert mine in ONLY_IN[top], f"{top} is imported in {mine}"


def test_rooms_have_no_cycle() -> None:
    edges = {
        mine: {
            rest.partition(".")[0]
            for path in FILES
            if room(path) == mine
            for top, _, rest in (name.partition(".") for name in imports(path))
            if top == "monitor" and rest
        }
        - {mine}
        for mine in {room(path) for path in FILES}
    }
    done: set[str] = set()
    while ready := {
        mine for mine, others in edges.items() if mine not in done and others <= done | {"__version__"}
    }:
        done |= ready
    assert done == set(edges), f"rooms in a cycle: {sorted(set(edges) - done)}"


def test_rooms_that_are_gone_have_no_rule() -> None:
    assert set(MAY_KNOW) <= {room(path) for path in FILES}


def test_what_rooms_that_may_not_know_each_other_both_say_is_equal() -> None:
    assert counts.CELLS == keys.CELLS
    assert counts.SCORE_UNIT == batch.PROBABILITY_UNIT
    assert counts.LOSS_UNIT == batch.LOSS_UNIT
    assert decay.EARLY == confidence_decay.EARLY
    assert cox.EPSILON == batch.PROBABILITY_FLOOR == suggestion.EPSILON
