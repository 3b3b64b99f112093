from collections.abc import Callable
from pathlib import Path

import pytest

from monitor.alert_rules import rules
from monitor.config import Config, load_config
from monitor.describe import describe, event_bytes, format_bytes, version_bytes
from monitor.errors import ConfigurationError
from tests.support.alerts import NINE_RULES

KAFKA = "kafka: {bootstrap_servers: [broker:9092], topics: [a, b]}"
FRAUD = "models: {fraud: {task: binary, classes: [legit, fraud]}}"
Make = Callable[..., Config]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def make(models: str = FRAUD, kafka: str = KAFKA, rest: str = "") -> Config:
        (tmp_path / "monitor.yaml").write_text(f"{kafka}\n{models}\n{rest}\n")
        return load_config(tmp_path / "monitor.yaml", {})

    return make


def rows(text: str, key: str) -> list[str]:
    """Return the words beside a key, those of the lines below it that repeat it included."""
    found: list[str] = []
    current = ""
    for line in text.splitlines():
        if line.startswith("  "):
            current = line[2:22].strip() or current
            if current == key:
                found.append(line[22:])
    return found


def model(text: str, task: str = "binary", classes: str = "[legit, fraud]") -> str:
    return f"models: {{m: {{task: {task}, classes: {classes}, {text}}}}}"


def test_kafka_in_words(make: Make) -> None:
    text = describe(make())
    assert rows(text, "brokers") == ["broker:9092"]
    assert rows(text, "topics") == ["a, b"]
    assert rows(text, "consumer group") == ["monitor"]
    assert rows(text, "start") == ["61m back, so that the windows fill"]
    assert rows(text, "rejected events") == ["counted, samples in the log (no dead_letter_topic)"]
    assert rows(text, "security") == ["PLAINTEXT"]
    assert rows(text, "consumer settings") == []
    text = describe(
        make(kafka=KAFKA.replace("]}", "], dead_letter_topic: d, fetch_min_bytes: 5, start: earliest}"))
    )
    assert rows(text, "rejected events") == [
        "counted, and up to 1000 a second sent to d; while that fails, reading waits"
    ]
    assert rows(text, "consumer settings") == ["fetch_min_bytes 5"]
    assert rows(text, "start") == ["at the oldest record"]


def test_dead_letters_that_may_be_lost_in_words(make: Make) -> None:
    letters = "dead_letter_topic: d, dead_letter: {on_error: drop, max_per_second: 5}"
    assert rows(describe(make(kafka=KAFKA.replace("]}", f"], {letters}}}"))), "rejected events") == [
        "counted, and up to 5 a second sent to d; while that fails, what does not fit is only counted"
    ]


def test_secrets_are_not_shown(make: Make) -> None:
    text = describe(
        make(
            kafka="kafka: {bootstrap_servers: [a], topics: [t], security_protocol: SASL_SSL,"
            " sasl_mechanism: PLAIN, sasl_plain_username: u, sasl_plain_password: hunter2, proxy_url: 'http://u:hunter2@p'}"
        )
    )
    assert rows(text, "security") == ["SASL_SSL, PLAIN as u (proxy_url, sasl_plain_password set, not shown)"]
    assert "hunter2" not in text


def test_events_in_words(make: Make) -> None:
    text = describe(
        make(rest="events: {fields: {label: outcome.label, scores: {x: p.x, y: p.y}}, timezone: UTC}")
    )
    assert rows(text, "label") == ["from outcome.label"]
    assert rows(text, "scores") == ["x from p.x, y from p.y"]
    assert rows(text, "score") == []
    assert rows(text, "text without zone") == ["a timestamp in UTC"]
    assert rows(text, "no model named") == ["belongs to fraud, the only one"]


@pytest.mark.parametrize(
    ("models", "rest", "words"),
    [
        ("models: {a: &m {task: binary, classes: [x, y]}, b: *m}", "", "rejected"),
        (
            "models: {a: &m {task: binary, classes: [x, y]}, b: *m}",
            "events: {default_model: b}",
            "belongs to b",
        ),
        ('models: {a: &m {task: binary, classes: [x, y]}, "*": *m}', "", "belongs to a, the only one"),
    ],
)
def test_events_without_a_model_in_words(make: Make, models: str, rest: str, words: str) -> None:
    (found,) = rows(describe(make(models, rest=rest)), "no model named")
    assert found.startswith(words)


@pytest.mark.parametrize(
    ("models", "words"),
    [
        (FRAUD, "the integer 0 means class legit, 1 means class fraud (index)"),
        (
            model("", "multiclass", "[0, 1, 3]"),
            "the integer 0 means class 0, 1 means class 1, 3 means class 3 (name)",
        ),
        (model("labels: indices", classes="[1, 2]"), "the integer 0 means class 1, 1 means class 2 (index)"),
    ],
)
def test_how_integers_are_read_in_words(make: Make, models: str, words: str) -> None:
    assert rows(describe(make(models)), "integer labels") == [words]


def test_many_classes_are_not_all_shown(make: Make) -> None:
    (words,) = rows(
        describe(make(model("", "multiclass", str([f"c{i}" for i in range(50)])))), "integer labels"
    )
    assert words.endswith("9 means class c9, … (index)")


def test_a_binary_model_in_words(make: Make) -> None:
    text = describe(
        make(
            model(
                "aliases: {POS: fraud}, threshold: 0.7, segments: [region], label_maturity: 2h,"
                " max_fpr: [0.05], versions: {v2: {classes: [fraud, legit]}},"
                " costs: {false_negative: 2000, false_positive: 50},"
                " windows: [{name: e, events: 5}, {name: d, duration: 90s}, {name: p, positives: 7}]"
            )
        )
    )
    assert rows(text, "task") == ["binary"]
    assert rows(text, "classes") == [
        "legit, fraud (score vectors have this order)",
        "fraud, legit in version v2",
    ]
    assert rows(text, "positive class") == ["fraud (the last of the two; positive_class sets it)"]
    assert rows(text, "text labels") == ["are class names, POS means fraud"]
    assert rows(text, "decision") == [
        "the event's prediction; without one, fraud where its probability is 0.7 or more"
    ]
    assert rows(text, "windows") == [
        "e: the newest 5 events",
        "d: events of the last 90s",
        "p: as many of the newest events as hold 7 of class fraud",
        "all: every event since the cumulative state began",
    ]
    assert rows(text, "label maturity") == ["events count 2h after they happened"]
    assert rows(text, "segments") == ["region; up to 100 values of each, the rest as other"]
    assert rows(text, "partial ROC AUC") == [
        "up to 5% false positives, over 0.05: random scores have 0.025 (0.5 on McClish's scale), "
        "perfect ones 1"
    ]
    assert rows(text, "costs") == [
        "a false negative 2000, a false positive 50: F-beta with beta = sqrt(2000 / 50)"
    ]


def test_a_positive_class_that_is_written_needs_no_explanation(make: Make) -> None:
    assert rows(describe(make(model("positive_class: legit"))), "positive class") == ["legit"]


def test_a_multiclass_model_in_words(make: Make) -> None:
    text = describe(make(model("", "multiclass", "[a, b, c]")))
    assert rows(text, "positive class") == []
    assert rows(text, "decision") == [
        "the event's prediction; without one, the class with the greatest probability"
    ]


def test_a_multilabel_model_of_logits_in_words(make: Make) -> None:
    text = describe(
        make(
            model(
                "scores: logit, temperature: 1.5, threshold: {b: 0.9}, at_k: [100, 0.01], min_recall: 0.9,"
                " reference_prevalence: {a: 0.1, b: 0.2, c: 0.3}",
                "multilabel",
                "[a, b, c]",
            ),
            rest="evaluation: {bootstrap: {}}",
        )
    )
    assert rows(text, "scores") == [
        "logits, divided by 1.5; probabilities and thresholds are those after sigmoid or softmax"
    ]
    assert rows(text, "decision") == [
        "the event's prediction; without one, each class whose probability is at least its own: "
        "a 0.5, b 0.9, c 0.5"
    ]
    assert rows(text, "precision at k") == [
        "of the 100 highest-scored events of a window",
        "of the 1% of events with the highest scores of a window",
    ]
    assert rows(text, "best threshold") == ["also the one with the fewest false positives at a recall of 0.9"]
    assert rows(text, "at prevalence") == [
        "0.1, 0.2, 0.3: precision and average precision are shown at it, too"
    ]
    assert rows(text, "bootstrap") == ["of partial_roc_auc, brier_score, recall every 1m, 1000 replicates"]


def test_memory_of_events_and_versions(make: Make) -> None:
    limits = "limits: {held_events: 1000, segment_values: 10, versions_per_model: 3}"
    config = make(FRAUD.replace("]}", "], windows: []}"), rest=limits)
    fraud = config.models["fraud"]
    assert event_bytes(fraud) == 24
    assert version_bytes(fraud, config) == 24_000 + 420_000
    text = describe(config)
    assert rows(text, "memory") == [
        "up to 444 kB a version (1000 held events of 24 bytes, and the cumulative state), "
        "1.33 MB with 3 versions"
    ]
    assert rows(text, "all limits reached") == ["1.33 MB of memory in 3 versions of models"]

    config = make(
        model("windows: [], segments: [region, kind]", "multiclass", "[a, b, c]"),
        rest=limits,
    )
    assert event_bytes(config.models["m"]) == 20 + 4 * 3 + 2 * 2
    assert version_bytes(config.models["m"], config) == 36_000 + (1 + 2 * 11) * (3 + 1) * 420_000


def test_the_wildcard_counts_for_all_models_that_are_not_named(make: Make) -> None:
    config = make(
        'models: {a: &m {task: binary, classes: [x, y]}, "*": *m}',
        rest="limits: {models: 10, versions_per_model: 2}",
    )
    text = describe(config)
    assert "Models that are not named\n" in text
    (words,) = rows(text, "all limits reached")
    assert words.endswith("in 20 versions of models")


def test_series_are_told_by_whoever_knows_them(make: Make) -> None:
    assert rows(describe(make()), "series") == []
    assert rows(describe(make(), lambda model: 100 * len(model.classes)), "series") == ["up to 200 a version"]


def test_warnings_stand_at_the_end(make: Make) -> None:
    assert "Warning" not in describe(make())
    text = describe(make(rest="server: {host: 0.0.0.0}"))
    assert text.splitlines()[-1].startswith("Warning: server.host 0.0.0.0 can be reached from other machines")


@pytest.mark.parametrize(
    ("server", "address", "readers"),
    [
        ("", "http://127.0.0.1:9464", "whoever reaches the server"),
        ("host: '::1', port: 80", "http://[::1]:80", "whoever reaches the server"),
        (
            "read_token_file: /run/token",
            "http://127.0.0.1:9464",
            "who sends the token in /run/token (probes need none)",
        ),
        (
            "tls: {cert_file: c, key_file: k, key_password: hunter2, client_ca_file: ca.pem}",
            "https://127.0.0.1:9464",
            "whoever reaches the server, with a certificate by ca.pem",
        ),
    ],
)
def test_the_server_in_words(make: Make, server: str, address: str, readers: str) -> None:
    text = describe(make(rest=f"server: {{{server}}}"))
    assert rows(text, "server") == [address]
    assert rows(text, "readers") == [readers]
    assert "hunter2" not in text


def test_checkpoints_in_words(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert rows(describe(make()), "checkpoints") == [f"in {tmp_path}/state, every 30s, the newest 2 are kept"]
    rest = "checkpoint: {directory: /var/lib/monitor, every: 5m, keep: 7}"
    assert rows(describe(make(rest=rest)), "checkpoints") == [
        "in /var/lib/monitor, every 5m, the newest 7 are kept"
    ]


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (28, "28 B"),
        (999, "999 B"),
        (999.9, "1 kB"),
        (420_000, "420 kB"),
        (7.34e6, "7.34 MB"),
        (3.1e12, "3.1 TB"),
    ],
)
def test_sizes_in_words(size: float, text: str) -> None:
    assert format_bytes(size) == text


ALERTING = """models:
  fraud:
    task: binary
    classes: [legit, fraud]
    segments: [region]
    windows: [{name: last_10k, events: 10000}, {name: 1d, duration: 1d}]
    at_k: [100]
    label_maturity: 0s
    champion: v1
"""


def alerts(config: Config, name: str) -> str:
    """Return what is said of one alert or action."""
    text = describe(config, rules=rules(config))
    return text.partition(f"\n{name}\n")[2].partition("\n\n")[0]


def alert(make: Make, text: str, rest: str = "") -> str:
    lines = f"{rest}\nalerts: {{max_matches: 100, rules: {{Low: {{model: fraud, {text}}}}}}}"
    return alerts(make(ALERTING, rest=lines), "Alert Low")


def test_a_sequential_rule_in_words(make: Make) -> None:
    text = alerts(make(ALERTING, rest=NINE_RULES), "Alert RecallBelowFloor")
    assert rows(text, "watches") == ["classifier_recall, class fraud, of model fraud"]
    assert rows(text, "fires") == ["when events, one after another, are enough evidence that it is below 0.8"]
    assert rows(text, "false alarms") == [
        "on average at most one in 10,000 labeled events of class fraud while the value is at its limit, "
        "fewer while it is better; `monitor replay` prints that in events and days"
    ]
    assert rows(text, "undefined") == []
    assert (rows(text, "severity"), rows(text, "then")) == (["page"], ["rollback"])


def test_the_threshold_of_wildcards_in_words(make: Make) -> None:
    text = alert(make, "metric: recall, floor: 0.8, segment: 'region=*'")
    assert rows(text, "watches") == ["classifier_recall, class fraud, of model fraud, each region"]
    assert rows(text, "false alarms")[1:] == [
        "of all matches together: with max_matches 100 the threshold of each is 1,000,000"
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("metric: precision, floor: 0.5", "labeled decisions for class fraud"),
        ("metric: specificity, floor: 0.5", "labeled events that are not of class fraud"),
        ("metric: npv, class: '*', floor: 0.5", "labeled decisions against the class"),
        ("metric: accuracy, floor: 0.5", "labeled events"),
        ("metric: brier_score, subset: negative, ceiling: 0.5", "labeled events that are not of class fraud"),
        ("metric: roc_auc, floor: 0.5, observation: 50", "means over 50 labeled events of class fraud each"),
        ("detector: calibration", "labeled events with scores"),
    ],
)
def test_what_false_alarms_are_counted_in(make: Make, text: str, what: str) -> None:
    assert f" in 10,000 {what} while " in rows(alert(make, text), "false alarms")[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "metric: recall, floor: 0.8, for: 3",
            "when the whole 95% interval over window last_10k is below 0.8, 3 steps in a row",
        ),
        (
            "metric: recall, ceiling: 0.9, condition: value, for: 10m",
            "when its value over window last_10k is above 0.9, for 10m",
        ),
        (
            "metric: recall, floor: random, margin: 0.1",
            "no better than the share of decisions for the class - 0.1",
        ),
        ("metric: recall, floor: best", "is below its best lower bound so far"),
        ("metric: recall, compare_to: {version: v}", "is below that of version v"),
        ("metric: recall, compare_to: {window: 1d}", "is below that over window 1d"),
        ("metric: recall, compare_to: champion, margin: 0.02", "below that of the champion version - 0.02"),
        ("metric: brier_score, baseline: r, margin: 0.02", "above what baseline r proves + 0.02"),
        ("detector: calibration", "off by more than 0.1 in log-odds or a factor of 1.1; scores as they come"),
        ("detector: calibration, baseline: r", "a factor of 1.1; scores recalibrated by baseline r"),
    ],
)
def test_when_a_rule_fires_in_words(make: Make, text: str, words: str) -> None:
    condition = ", condition: interval" if ", for: 3" in text else ""
    assert words in rows(alert(make, text + condition, rest="baselines: {r: f}"), "fires")[0]


def test_a_condition_on_a_window_bounds_nothing(make: Make) -> None:
    text = alert(
        make,
        "metric: recall, floor: 0.8, condition: value, hysteresis: 0.05, cooldown: 1h,"
        " min_label_coverage: 0.5",
    )
    assert rows(text, "false alarms")[0].startswith("no bound: every step is another look")
    assert rows(text, "resolves") == ["when it is back beyond the limit by more than 0.05"]
    assert rows(text, "support") == ["at least 20, 50% of events labeled"]
    assert rows(text, "cooldown") == ["does not fire again for 1h after it resolved"]


def test_actions_in_words(make: Make) -> None:
    secret = "https://hooks.example.com/services/hunter2"
    rest = NINE_RULES.replace("https://hooks.example.com/rollback", secret)
    config = make(ALERTING, rest=rest + "  back: {type: mlflow, url: 'http://[::1]:5000', dry_run: true}\n")
    assert "hunter2" not in describe(config, rules=rules(config))
    text = alerts(config, "Action rollback")
    signed = "signed with the key in hook.key, which is not there yet"
    assert rows(text, "does") == [f"POST to https://hooks.example.com, {signed}"]
    assert rows(text, "expires") == ["15m after it was decided"]
    assert rows(text, "at most") == ["once in 1h and 3 a day, for each model"]
    assert rows(text, "approval") == ["not needed"]
    assert rows(alerts(config, "Action recalibrate"), "does") == [
        "send a message to topic models.control of broker:9092"
    ]
    text = alerts(config, "Action back")
    assert rows(text, "does") == [
        "move alias champion of the registered model of the same name to the version before, in MLflow at "
        "http://[::1]:5000"
    ]
    assert rows(text, "dry run") == ["nothing is done, it is only written down"]
    assert rows(alerts(config, "Actions"), "breaker") == ["beyond 2 models in 1h, more wait for approval"]


def test_who_is_told_in_words(make: Make) -> None:
    rule = "rules: {Low: {model: fraud, metric: recall, floor: 0.8}}"
    assert rows(alerts(make(rest=f"alerts: {{{rule}}}"), "Alerts"), "told") == [
        "by Prometheus, with the rules that `monitor rules` writes"
    ]
    rest = f"alerts: {{deliver: alertmanager, alertmanager_urls: ['http://localhost:9093/x'], {rule}}}"
    assert rows(alerts(make(rest=rest), "Alerts"), "told") == ["to Alertmanager at http://localhost:9093"]


def test_baselines_in_words(make: Make, tmp_path: Path) -> None:
    path = tmp_path / "r.baseline"
    config = make(rest=f"baselines: {{r: {path}}}")
    assert rows(describe(config), "r") == [f"{path}, which is not there yet: make it with `monitor baseline`"]
    path.touch()
    assert rows(describe(config), "r") == [str(path)]

    class Reference:
        model, labeled = "fraud", 30_000

    assert rows(describe(config, load_baseline=lambda path: Reference()), "r") == [
        f"{path}: 30000 labeled events of model fraud"
    ]

    def broken(path: str) -> Reference:
        raise ConfigurationError(f"{path} is no baseline; make it anew")

    assert rows(describe(config, load_baseline=broken), "r") == [f"{path} is no baseline; make it anew"]
