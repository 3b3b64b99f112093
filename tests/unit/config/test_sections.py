from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from tests.unit.config.conftest import Load, Problems


def test_defaults(load: Load) -> None:
    config = load()
    assert config.events.allowed_lateness == config.events.max_skew == timedelta(minutes=1)
    assert config.events.min_timestamp == datetime(2000, 1, 1, tzinfo=UTC)
    assert config.events.fields.mapped == {}
    assert config.events.fields.label == "label"
    assert config.evaluation.every == timedelta(seconds=10)
    assert config.limits.event_bytes == 1_000_000
    assert (config.server.host, config.server.port, config.server.on_loopback) == ("127.0.0.1", 9464, True)
    assert (config.export.families, config.export.windows) == ("default", "all")


def test_a_section_without_content_is_all_defaults(load: Load) -> None:
    assert load("events:\nserver:\n  # port: 1\n") == load()


def test_a_configuration_is_immutable(load: Load) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        load().server.port = 1  # type: ignore[misc]


def test_fields_are_paths_or_a_path_a_class_or_key(load: Load) -> None:
    fields = load(
        "events: {fields: {label: a.b, scores: {x: p.x, 1: p1}, segments: {region: geo.region}}}"
    ).events.fields
    assert fields.mapped == {
        "label": "a.b",
        "scores": {"x": "p.x", "1": "p1"},
        "segments": {"region": "geo.region"},
    }
    assert load("events: {fields: {scores: p}}").events.fields.scores == "p"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_loopback(load: Load, host: str) -> None:
    assert load(f"server: {{host: '{host}'}}").server.on_loopback


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org"])
def test_not_loopback(load: Load, host: str) -> None:
    assert not load(f"server: {{host: '{host}'}}").server.on_loopback


def test_export_takes_lists(load: Load) -> None:
    export = load("export: {families: [classifier_recall], windows: [1h, all]}").export
    assert (export.families, export.windows) == (("classifier_recall",), ("1h", "all"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("events: {fields: {weight: w}}", "events.fields.weight: event weights are not supported"),
        ("events: {fields: {lable: x}}", "events.fields.lable: unknown key; did you mean `label`?"),
        ("events: {fields: {label: a..b}}", "events.fields.label: 'a..b' has an empty part"),
        ("events: {fields: {label: {a: b}}}", "events.fields.label: a mapping is no text"),
        ("events: {fields: {scores: {a: .b}}}", "events.fields.scores.a: '.b' has an empty part"),
        ("events: {fields: {scores: [a]}}", "events.fields.scores: is of the wrong kind"),
        ("events: {timezone: Mars/Olympus}", "events.timezone: 'Mars/Olympus' is no time zone"),
        ("events: {timezone: ../etc}", "events.timezone: '../etc' is no time zone"),
        ("events: {min_timestamp: yesterday}", "events.min_timestamp: 'yesterday' is no point in time"),
        ("events: {min_timestamp: 5}", "events.min_timestamp: 5 is no point in time"),
        ("events: {max_skew: 0s}", "events.max_skew: is no time at all"),
        (
            "events: {default_model: froud}",
            "events.default_model: 'froud' is no model; did you mean 'fraud'?",
        ),
        (
            "evaluation: {confidence_level: 1}",
            "evaluation.confidence_level: 1 is not below 1; write a number above 0",
        ),
        ("evaluation: {device: tpu}", "evaluation.device: 'tpu' is none of 'auto', 'cpu' or 'cuda'"),
        ("evaluation: {bootstrap: {replicates: 10}}", "evaluation.bootstrap.replicates: 10 is below 100"),
        ("evaluation: {bootstrap: {metrics: [auc]}}", "evaluation.bootstrap.metrics[0]: 'auc' is none of"),
        ("evaluation: {bootstrap: {every: 0s}}", "evaluation.bootstrap.every: is no time at all"),
        ("server: {port: 70000}", "server.port: 70000 is above 65535; write a number from 0 to 65535"),
        ("server: {tls: {key_file: k}}", "server.tls.cert_file: is missing"),
        ("server: {tls: {cert_file: c}}", "server.tls.key_file: is missing"),
        ("export: {families: all_of_them}", "export.families: 'all_of_them' is none of 'default' or 'all'"),
        ("export: {windows: {a: b}}", "export.windows: is of the wrong kind; write all, or a list of names"),
        ("export: {windows: [1d]}", "export.windows[0]: '1d' is no window; write one of all, last_10k, 1h"),
        ("export: {intervals: 1}", "export.intervals: is neither true nor false"),
        ("export: {max_series: 0}", "export.max_series: 0 is below 1; write a number of at least 1"),
        ("export: {segments: no}", "export.segments: false is none of 'headline', 'all' or 'none'"),
        ("limits: {held_events: 010}", "limits.held_events: is no whole number"),
        ("limits: {event_bytes: 1XB}", "limits.event_bytes: '1XB' is no size"),
        ("logging: {level: loud}", "logging.level: 'loud' is none of"),
        ("checkpoint: {every: 0s}", "checkpoint.every: is no time at all"),
        ("checkpoint: {keep: 0}", "checkpoint.keep: 0 is below 1; write a number from 1 to 100"),
        ("severs: {}", "severs: unknown key; did you mean `server`?"),
        ("server: [1]", "server: is no section"),
    ],
)
def test_a_key_is_refused_with_its_reason(problems: Problems, text: str, line: str) -> None:
    (found,) = problems(text)
    assert found.startswith(line)


def test_models_are_limited(problems: Problems) -> None:
    text = "limits: {models: 1}\nmodels: {a: &m {task: binary, classes: [x, y]}, b: *m}"
    assert problems(text) == ["models: names more than limits.models (1); raise that limit"]


def test_any_default_model_will_do_where_every_name_is_accepted(load: Load) -> None:
    load('events: {default_model: x}\nmodels: {"*": {task: binary, classes: [a, b]}}')
