"""The daemon on a broker, asked as its users ask it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from kafka import KafkaConsumer, TopicPartition

from tests.support.brokers import Broker
from tests.support.daemons import configuration, event, running
from tests.support.recipes import recipe, tied_recipe
from tests.unit.events.test_reasons import CASES

MODELS_OF_CASES = """models:
  tags: {task: multilabel, classes: [a, b, c]}
  margin: {task: binary, classes: [legit, fraud], scores: logit}
  softmax: {task: multiclass, classes: [a, b, c], scores: logit}
  margins: {task: multilabel, classes: [a, b, c], scores: logit}
"""


def letters(broker: Broker, topic: str) -> list:
    consumer = KafkaConsumer(bootstrap_servers=broker.address, enable_auto_commit=False)
    try:
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        consumer.seek_to_beginning(partition)
        end, found = consumer.end_offsets([partition])[partition], []
        deadline = time.monotonic() + 20
        while len(found) < end and time.monotonic() < deadline:
            for records in consumer.poll(500).values():
                found += records
        return found
    finally:
        consumer.close()


def test_bad_input_of_every_kind_is_passed_on_and_the_good_is_counted(
    embedded_broker: Broker, tmp_path: Path
) -> None:
    topic = embedded_broker.create_topic("mixed")
    dead = embedded_broker.create_topic("mixed.dead")
    own = {"too_large": b" " * 200_001, "future_timestamp": event(0, timestamp=time.time() + 3600)}
    bad = [(reason, own.get(reason, value)) for reason, _, value, _ in CASES]
    values = []
    for i, (_, value) in enumerate(bad):
        values += [event(2 * i), value, event(2 * i + 1)]
    # A record without key and value is not to be told from none on this broker: it gets a key.
    embedded_broker.produce(topic, values, key=b"k")
    text = configuration(embedded_broker, topic, dead_letter_topic=dead).replace("models:\n", MODELS_OF_CASES)
    with running(text, tmp_path) as daemon:
        daemon.wait_for_records(len(values))
        daemon.wait_until(lambda: daemon.daemon.status().dead_letters.get("sent") == len(bad), 30)
        assert daemon.json("/api/v1/models")["models"][0]["versions"][0]["labeled_events"] == 2 * len(bad)
        status = daemon.daemon.status()
        assert sum(status.events_rejected.values()) == len(bad)
        metrics = daemon.get("/metrics").decode()
        assert f'monitor_dead_letters_total{{result="sent"}} {len(bad)}.0' in metrics
    found = letters(embedded_broker, dead)
    assert [(dict(r.headers)["monitor-reason"].decode(), r.value) for r in found] == [
        (reason, value) for reason, value in bad
    ]
    assert dict(found[0].headers)["monitor-id"].decode() == f"{topic}/0/1"


def test_catch_up_is_aligned_and_comes_to_an_end(embedded_broker: Broker, tmp_path: Path) -> None:
    """Partitions wait for each other by event time; none is left waiting at the end."""
    topic = embedded_broker.create_topic("aligned", partitions=3)
    for partition in range(3):
        values = (event(i * (partition + 1)) for i in range(5000))
        embedded_broker.produce_many(topic, ((value, None) for value in values), partition)
    with running(configuration(embedded_broker, topic), tmp_path) as daemon:
        daemon.wait_for_records(15_000, 60)
        status = daemon.daemon.status()
        assert not any(status.consumer_lag.values())
        report = daemon.json("/api/v1/report?window=all")["reports"][0]
        assert (report["events"], report["complete"]) == (15_000, True)


def test_probes_page_and_series_of_a_new_instance(embedded_broker: Broker, tmp_path: Path) -> None:
    topic = embedded_broker.create_topic("quiet")
    with running(configuration(embedded_broker, topic), tmp_path) as daemon:
        daemon.wait_until(lambda: daemon.daemon.status().owner)
        daemon.wait_until(lambda: daemon.daemon.report() is not None)
        assert b"owner" in daemon.get("/readyz")
        daemon.get("/livez")
        daemon.get("/healthz")
        assert b"<html" in daemon.get("/")
        text = daemon.get("/metrics").decode()
        assert "monitor_ready 1.0" in text
        assert "classifier_" not in text  # an empty topic is no number


def test_versions_windows_and_segments_are_told_apart(embedded_broker: Broker, tmp_path: Path) -> None:
    topic = embedded_broker.create_topic("versions")
    values = [event(i, version="1" if i < 100 else "2") for i in range(160)]
    values += [
        event(160, version="2", label=None),
        event(161, model="iris", label="a", scores=[0.5, 0.25, 0.25]),
    ]
    embedded_broker.produce(topic, values)
    with running(configuration(embedded_broker, topic), tmp_path) as daemon:
        daemon.wait_for_records(len(values))
        fraud = daemon.json("/api/v1/report?model=fraud&window=last_50")["reports"]
        assert [(r["version"], r["events"], r["labeled"]) for r in fraud] == [("1", 50, 50), ("2", 50, 49)]
        eu = daemon.json("/api/v1/report?model=fraud&version=1&window=all&segment=region%3Deu")["reports"][0]
        assert eu["events"] == 50
        assert daemon.json("/api/v1/report?model=iris&window=last_10k")["reports"][0]["complete"] is False
        text = daemon.get("/metrics").decode()
        assert 'monitor_events_unlabeled_total{model="fraud"} 1.0' in text
        (coverage,) = (m for m in fraud[1]["metrics"] if m["name"] == "classifier_label_coverage")
        assert (coverage["numerator"], coverage["denominator"]) == (49, 50)


@pytest.mark.kafka
def test_a_standby_takes_over_from_an_owner_that_stops(apache_kafka: Broker, tmp_path: Path) -> None:
    topic = apache_kafka.create_topic("takeover", partitions=3)
    for partition in range(3):
        apache_kafka.produce(topic, [event(i) for i in range(100)], partition)
    text = configuration(apache_kafka, topic)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with running(text, tmp_path / "b") as standby:
        with running(text, tmp_path / "a") as owner:
            for daemon in (standby, owner):
                daemon.wait_until(lambda d=daemon: d.daemon.status().ready)
            both = (standby, owner)
            standby.wait_until(lambda: sum(d.daemon.status().owner for d in both) == 1)
            first = next(d for d in both if d.daemon.status().owner)
            second = next(d for d in both if d is not first)
            first.wait_for_records(300)
            assert b"standby" in second.get("/readyz")
            assert b"classifier_" not in second.get("/metrics")
            expected = first.json("/api/v1/report?window=all")["reports"]
            first.daemon.stop()
            second.wait_until(lambda: second.daemon.status().owner, 30)
            second.wait_for_records(300)
            assert second.json("/api/v1/report?window=all")["reports"] == expected


@pytest.mark.kafka
def test_aborted_transactions_count_for_nothing(apache_kafka: Broker, tmp_path: Path) -> None:
    topic = apache_kafka.create_topic("transactions")
    with apache_kafka.transaction(topic, [event(i) for i in range(10)], commit=True):
        pass
    with apache_kafka.transaction(topic, [event(i) for i in range(10, 40)], commit=False):
        pass
    with running(configuration(apache_kafka, topic), tmp_path) as daemon:
        daemon.wait_for_records(10)
        assert daemon.json("/api/v1/report?window=all")["reports"][0]["events"] == 10


@pytest.mark.kafka
def test_a_password_comes_from_a_file_and_a_wrong_one_ends_in_one_message(
    secure_kafka, tmp_path: Path
) -> None:
    topic = secure_kafka.create_topic("secret")
    secure_kafka.produce(topic, [event(i) for i in range(20)])
    password = tmp_path / "password"
    text = configuration(
        secure_kafka,
        topic,
        security_protocol="SASL_SSL",
        sasl_mechanism="SCRAM-SHA-512",
        sasl_plain_username="alice",
        sasl_plain_password_file=str(password),
        ssl_cafile=str(secure_kafka.certificates.ca.certificate),
    ).replace(secure_kafka.address, secure_kafka.server("SASL_SSL"))
    password.write_text("alice-secret\n")
    with running(text, tmp_path) as daemon:
        daemon.wait_for_records(20)
    password.write_text("wrong-secret\n")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from monitor.cli import main; main()",
            "run",
            "-c",
            tmp_path / "monitor.yaml",
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "wrong-secret" not in done.stderr
    errors = [line for line in done.stderr.splitlines() if line.startswith("monitor: ")]
    assert len(errors) == 1
    assert "sasl_plain_password" in errors[0]


REFERENCES = {
    "r1": {
        ("recall", "fraud"): 49 / 79,
        ("precision", "fraud"): 49 / 59,
        ("specificity", "fraud"): 0.917355371901,
        ("npv", "fraud"): 0.787234042553,
        ("f1", "fraud"): 0.710144927536,
        ("roc_auc", "fraud"): 0.895177319803,
        ("average_precision", "fraud"): 0.862802186559,
        ("partial_roc_auc", "0.05"): 0.420859922586,
        ("partial_roc_auc", "0.1"): 0.522648812637,
        ("partial_roc_auc_mcclish", "0.1"): 0.748762532967,
        ("recall_at_fpr", "0.1"): 0.708860759494,
        ("brier_score", "all"): 0.132679424739,
        ("brier_score", "positive"): 0.239354813214,
        ("brier_score", "negative"): 0.0630318570576,
        ("log_loss", "fraud"): 0.40800982576,
    },
    "r2": {
        ("recall", "fraud"): 54 / 79,
        ("precision", "fraud"): 54 / 65,
        ("roc_auc", "fraud"): 0.891934302751,
        ("average_precision", "fraud"): 0.835424479125,
        ("partial_roc_auc", "0.05"): 0.400155176622,
        ("partial_roc_auc", "0.1"): 0.513007636782,
        ("partial_roc_auc_mcclish", "0.05"): 0.692387270063,
        ("recall_at_fpr", "0.1"): 0.683544303797,
        ("brier_score", "all"): 0.1333,
        ("brier_score", "positive"): 0.239367088608,
        ("log_loss", "fraud"): 0.47058144946,
    },
}


@pytest.mark.parametrize("name", REFERENCES)
def test_reference_sets_give_their_digits(name: str, embedded_broker: Broker, tmp_path: Path) -> None:
    labels, scores = {"r1": recipe, "r2": tied_recipe}[name]()
    topic = embedded_broker.create_topic(name)
    classes = ("legit", "fraud")
    embedded_broker.produce(
        topic,
        [
            event(i, label=classes[y], score=p)
            for i, (y, p) in enumerate(zip(labels.tolist(), scores.tolist(), strict=True))
        ],
    )
    with running(configuration(embedded_broker, topic), tmp_path) as daemon:
        daemon.wait_for_records(200)
        found = {}
        for metric in daemon.json("/api/v1/report?model=fraud&window=all")["reports"][0]["metrics"]:
            for label in ("class", "max_fpr", "subset"):
                if metric["labels"].get("class") == "fraud" and label in metric["labels"]:
                    found[metric["name"].removeprefix("classifier_"), metric["labels"][label]] = metric
    for key, value in REFERENCES[name].items():
        # Reference numbers are of float64 scores; a score is the float32 nearest to its input.
        tolerance = 1e-7 if key[0] in ("brier_score", "log_loss") else 1e-11
        assert found[key]["value"] == pytest.approx(value, abs=tolerance), key
    (recall,) = found["recall", "fraud"]["intervals"]
    if name == "r1":
        assert (recall["lower"], recall["upper"]) == pytest.approx((0.5100187124379018, 0.7193350467845725))
