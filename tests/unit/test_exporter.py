import gzip
import os
import shutil
import subprocess
from collections import Counter
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from monitor.alerts.view import AlertsView
from monitor.exporter import Exporter, ExportOptions
from monitor.report import Report
from monitor.status import DaemonStatus
from tests.support.reports import (
    HEADLINE,
    HELPS,
    empty_window,
    example,
    multilabel_window,
    report,
    status,
    window_report,
)
from tests.support.shown_alerts import VIEW

NONE = AlertsView()
OPENMETRICS = "application/openmetrics-text; version=1.0.0"
HOSTILE = '<script>alert("1")</script>\\ \n\r\t\u202e# EOF } 1\x00 żółć 🙂'


def exporter(
    shown: Report | None = None,
    state: DaemonStatus | None = None,
    alerts: AlertsView = NONE,
    **options: object,
) -> Exporter:
    made = Exporter(
        lambda: state or status(), HELPS, ExportOptions(**options), headline=HEADLINE, alerts=lambda: alerts
    )
    made.publish(shown)
    return made


def samples(made: Exporter) -> dict[tuple[str, frozenset], float]:
    """Return what a scrape says, by series; fails on a series that is there twice."""
    found = [s for f in parse_openmetrics(made.scrape(OPENMETRICS).body.decode()) for s in f.samples]
    series = {(s.name, frozenset(s.labels.items())): s.value for s in found}
    assert len(series) == len(found)
    return series


def names(made: Exporter) -> set[str]:
    return {name for name, _ in samples(made)}


def series(name: str, **labels: str) -> tuple[str, frozenset]:
    return name, frozenset((key.rstrip("_"), value) for key, value in labels.items())


SCOPE = {"model": "fraud", "version": "2026-11-01", "window": "last_10k", "segment": ""}


def test_a_value_is_exported_with_its_labels_and_intervals():
    found = samples(exporter(example()))
    recall = series("classifier_recall", **SCOPE, class_="fraud")
    assert found[recall] == 169 / 202
    lower = found[series("classifier_recall_lower", **SCOPE, class_="fraud", method="wilson")]
    upper = found[series("classifier_recall_upper", **SCOPE, class_="fraud", method="wilson")]
    assert lower < found[recall] < upper


def test_what_a_version_and_a_window_rest_on_is_exported():
    found = samples(exporter(example()))
    version = {"model": "fraud", "version": "2026-11-01"}
    assert found[series("classifier_last_event_timestamp_seconds", **version)] == 1_764_417_600
    assert found[series("classifier_since_timestamp_seconds", **version)] == 1_764_331_200
    assert found[series("classifier_labeled_events_total", **version)] == 1_000_000
    assert found[series("classifier_window_complete", **SCOPE)] == 1
    assert found[series("classifier_window_complete", **SCOPE | {"version": "2026-12-01"})] == 0
    assert found[series("classifier_window_start_timestamp_seconds", **SCOPE)] == 1_764_414_000
    assert found[series("classifier_window_end_timestamp_seconds", **SCOPE)] == 1_764_417_600


def test_the_confusions_of_all_events_are_a_counter_and_those_of_a_window_a_gauge():
    found = samples(exporter(example()))
    version = {"model": "fraud", "version": "2026-11-01"}
    assert found[series("classifier_confusions_total", **version, true="fraud", predicted="other")] == 20
    assert found[series("classifier_window_confusions", **SCOPE, true="fraud", predicted="other")] == 2


def test_the_confusions_of_a_multilabel_model_are_of_each_class():
    found = samples(exporter(report(replace(multilabel_window(), window="all")), confusions="all"))
    version = {"model": "fraud", "version": "2026-11-01"}
    assert {
        (labels["class"], labels["true"], labels["predicted"]): value
        for name, pairs in found
        if name == "classifier_confusions_total" and version.items() <= (labels := dict(pairs)).items()
        for value in [found[name, pairs]]
    } == {
        ("a", "0", "0"): 2, ("a", "0", "1"): 4, ("a", "1", "0"): 1, ("a", "1", "1"): 3,
        ("b", "0", "0"): 3, ("b", "0", "1"): 4, ("b", "1", "0"): 0, ("b", "1", "1"): 3,
    }  # fmt: skip


def test_an_undefined_value_is_absent():
    found = samples(exporter(report(empty_window())))
    assert not {name for name, _ in found if "recall" in name or "precision" in name or "roc" in name}
    assert not any("window_start" in name for name, _ in found)
    assert b"NaN" not in exporter(report(empty_window())).scrape().body


def test_a_resolution_error_is_a_series_of_its_own():
    window = window_report()
    values = tuple(v._replace(resolution_error=1e-5) for v in window.values if v.name == "classifier_roc_auc")
    found = samples(exporter(report(replace(window, values=values))))
    assert found[series("classifier_roc_auc_resolution_error", **SCOPE, class_="fraud")] == 1e-5


@pytest.mark.parametrize("families, expected", [("default", {"fraud"}), ("all", {"fraud", "legit"})])
def test_a_binary_model_exports_its_positive_class(families, expected):
    found = samples(exporter(example(), families=families))

    def classes(family: str) -> set[str]:
        labels = [dict(pairs) for name, pairs in found if name == family]
        return {of["class"] for of in labels if of["model"] == "fraud"}

    assert classes("classifier_recall") == expected
    assert classes("classifier_class_support") == {"fraud", "legit"}
    iris = {dict(p)["class"] for n, p in found if n == "classifier_recall" and dict(p)["model"] == "iris"}
    assert iris == {"setosa", "versicolor", "virginica"}


def test_named_families_are_exported_alone():
    found = names(exporter(example(), families=("classifier_recall",)))
    assert {name for name in found if name.startswith("classifier_recall")} == {
        "classifier_recall", "classifier_recall_lower", "classifier_recall_upper",
    }  # fmt: skip
    assert "classifier_precision" not in found
    assert {"classifier_window_complete", "classifier_labeled_events_total"} <= found


@pytest.mark.parametrize("segments", ["headline", "all", "none"])
def test_segments_export_headline_families(segments):
    found = samples(exporter(example(), segments=segments))
    of_segment = {name for name, pairs in found if dict(pairs).get("segment") == "region=eu"}
    if segments == "none":
        assert of_segment == set()
    elif segments == "headline":
        bounds = {f"{name}_{end}" for name in HEADLINE[1:] for end in ("lower", "upper")}
        assert of_segment == {*HEADLINE, *bounds}
    else:
        assert {"classifier_roc_auc", "classifier_window_confusions"} < of_segment


def test_named_windows_are_exported_alone_and_the_counter_stays():
    found = samples(exporter(example(), windows=("last_10k",)))
    assert {dict(pairs).get("window", "last_10k") for _, pairs in found} == {"last_10k"}
    assert any(name == "classifier_confusions_total" for name, _ in found)


def test_intervals_can_be_left_out():
    assert not [name for name in names(exporter(example(), intervals=False)) if "_lower" in name]


@pytest.mark.parametrize("confusions, cells", [("nonzero", 5), ("all", 6), ("none", 0)])
def test_confusion_cells(confusions, cells):
    found = samples(exporter(report(window_report(window="all")), confusions=confusions))
    assert len([1 for name, _ in found if name == "classifier_window_confusions"]) == cells
    assert len([1 for name, _ in found if name == "classifier_confusions_total"]) == cells


def test_a_class_called_other_keeps_its_cells():
    window = window_report(classes=("a", "b", "other"), confusion=((1, 2, 3, 4), (5, 6, 7, 8), (9, 1, 2, 3)))
    window = replace(window, window="all", values=(), decisions=("a", "b", "other", "(other)"))
    found = samples(exporter(report(window)))
    version = {"model": "fraud", "version": "2026-11-01", "true": "a"}
    assert found[series("classifier_confusions_total", **version, predicted="other")] == 3
    assert found[series("classifier_confusions_total", **version, predicted="(other)")] == 4


def test_above_max_series_the_versions_with_the_fewest_events_are_left_out(caplog):
    windows = [window_report(version=f"v{n}") for n in range(4)]
    one = sum(name.startswith("classifier_") for name, _ in samples(exporter(report(windows[0]))))
    made = exporter(report(*windows), max_series=3 * one - 1)
    found = samples(made)
    assert {dict(pairs)["version"] for name, pairs in found if name.startswith("classifier_")} == {"v0", "v1"}
    assert found[series("monitor_series_dropped")] == made.series_dropped == 2 * one
    made.publish(report(*windows))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "export.max_series" in caplog.text


def test_no_smaller_version_takes_the_place_of_one_that_was_left_out():
    big = window_report(version="big")
    small = replace(window_report(version="small"), values=())
    made = exporter(report(window_report(version="first"), big, small), max_series=80)
    total = len([1 for name, _ in samples(exporter(report(big))) if name.startswith("classifier_")])
    assert total < 80 < 2 * total
    versions = {dict(pairs).get("version") for name, pairs in samples(made) if name.startswith("classifier")}
    assert versions == {"first"}


@pytest.mark.parametrize("ready, owner", [(False, False), (True, False), (False, True)])
def test_only_a_restored_owner_exports_models(ready, owner):
    made = exporter(example(), status(ready=ready, owner=owner))
    found = samples(made)
    assert all(name.startswith("monitor_") for name, _ in found)
    assert found[series("monitor_ready")] == ready
    assert found[series("monitor_owner")] == owner


def test_the_daemons_series():
    found = samples(exporter(None, status(frontier=None)))
    topic = {"topic": "predictions.labeled"}
    assert found[series("monitor_build_info", version="0.1.0")] == 1
    assert found[series("monitor_events_consumed_total", **topic)] == 1_204_331
    assert found[series("monitor_events_rejected_total", model="fraud", reason="not_finite")] == 3
    assert found[series("monitor_consumer_lag", **topic, partition="1")] == 7
    assert found[series("monitor_last_evaluation_timestamp_seconds")] == 1_764_417_605
    assert found[series("monitor_evaluation_duration_seconds_count")] == 3
    assert found[series("monitor_evaluation_duration_seconds_bucket", le="0.05")] == 2
    assert found[series("monitor_evaluation_duration_seconds_bucket", le="30.0")] == 2
    assert found[series("monitor_evaluation_duration_seconds_bucket", le="+Inf")] == 3
    assert series("monitor_frontier_timestamp_seconds") not in found
    assert samples(exporter(None))[series("monitor_frontier_timestamp_seconds")] == 1_764_417_540


def test_alerts_are_exported_with_their_state_and_historic_ones_tell_nobody():
    found = samples(exporter(alerts=VIEW))
    states = {labels: value for (name, labels), value in found.items() if name == "monitor_alert_state"}
    assert [states[frozenset(alert.key.labels.items())] for alert in VIEW.alerts] == [0, 0, 3, 1, 2]
    assert len(states) == len(VIEW.alerts)


@pytest.mark.parametrize("changes", [{"owner": False}, {"ready": False}])
def test_only_the_owner_exports_alerts(changes):
    assert "monitor_alert_state" not in names(exporter(state=status(**changes), alerts=VIEW))


def test_what_is_done_about_alerts_is_counted():
    state = status(
        outbox_pending={"rollback": 2},
        action_attempts={("rollback", "retry"): 3},
        notifications={("http://alertmanager:9093", "sent"): 4},
    )
    found = samples(exporter(state=state))
    assert found[series("monitor_outbox_pending", action="rollback")] == 2
    assert found[series("monitor_action_attempts_total", action="rollback", result="retry")] == 3
    target = "http://alertmanager:9093"
    assert found[series("monitor_notifications_total", target=target, result="sent")] == 4


def test_publishing_nothing_takes_the_series_away():
    made = exporter(example())
    made.publish(None)
    assert all(name.startswith("monitor_") for name in names(made))


def test_the_quick_encoding_is_the_clients():
    window = window_report(model=HOSTILE, version="1e-9", segment=HOSTILE)
    window = replace(
        window, values=(*window.values, window.values[0]._replace(name="classifier_x", value=1e22))
    )
    made = Exporter(status, {"classifier_recall": HOSTILE}, headline=HEADLINE, alerts=lambda: VIEW)
    made.publish(report(*example().windows, window_report(model=HOSTILE), window))
    assert made.scrape("text/plain").body == generate_latest(made)
    assert made.scrape(OPENMETRICS).body == generate_openmetrics(made)


def test_families_are_in_one_piece_and_do_not_clash():
    made = exporter(report(*example().windows, window_report(model=HOSTILE)), alerts=VIEW)
    families = list(parse_openmetrics(made.scrape(OPENMETRICS).body.decode()))
    assert [name for name, times in Counter(f.name for f in families).items() if times > 1] == []
    bare = {f.name for f in families}
    assert not {f"{name}_total" for name in bare} & bare
    assert [f.name for f in families if not f.documentation] == []
    text = [s for f in parse_text(made.scrape().body.decode()) for s in f.samples]
    assert {(s.name, frozenset(s.labels.items())): s.value for s in text} == samples(made)


def test_hostile_names_survive():
    found = samples(exporter(report(window_report(model=HOSTILE, segment=""))))
    assert {dict(pairs).get("model", HOSTILE) for name, pairs in found if name.startswith("classifier_")} == {
        HOSTILE
    }


def test_a_registry_takes_it():
    registry = CollectorRegistry()
    registry.register(exporter(example()))
    assert registry.get_sample_value("monitor_ready") == 1


def test_formats_and_compression_are_negotiated():
    made = exporter(example())
    plain = made.scrape()
    assert plain.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert not plain.body.endswith(b"# EOF\n")
    prometheus = f"{OPENMETRICS};q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
    openmetrics = made.scrape(prometheus, "gzip")
    assert openmetrics.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    assert openmetrics.headers["Content-Encoding"] == "gzip"
    body = gzip.decompress(openmetrics.body)
    assert body == made.scrape(OPENMETRICS).body
    assert body.endswith(b"# EOF\n") and body.count(b"# EOF") == 1


@pytest.mark.parametrize("version", ["abc", "1..0", "", "é", "9" * 30])
def test_an_odd_accept_header_is_answered(version):
    body = exporter(example()).scrape(f"application/openmetrics-text; version={version}").body
    assert b"classifier_recall{" in body


def test_promtool_accepts_the_text():
    promtool = shutil.which("promtool")
    if promtool is None:
        install = "no promtool: apt-get install -y --no-install-recommends prometheus"
        assert os.environ.get("CI") != "true", install
        pytest.skip(install)
    text = exporter(example(), alerts=VIEW).scrape("text/plain").body
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, timeout=30)
    assert done.returncode == 0, done.stdout + done.stderr
    broken = subprocess.run([promtool, "check", "metrics"], input=b"a{\n", capture_output=True, timeout=30)
    assert broken.returncode != 0
