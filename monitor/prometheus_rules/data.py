"""Rules for a monitor that gets no events, no labels, or gets them late."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from monitor.alerts.rule import Rule
from monitor.prometheus_rules.rule import AlertRule, Look, RecordingRule, Scene, promtime, series
from monitor.prometheus_rules.settings import Settings
from monitor.prometheus_rules.text import Firing, Label, Value

REJECTED_SHARE = 0.05
"""Share of rejected records beyond which it is not single messages."""


def data_rules(rules: Sequence[Rule], settings: Settings) -> Iterator[AlertRule]:
    """Yield the rules."""
    yield _lag(settings)
    yield _rejected(settings)
    yield _lost(settings)
    yield _silent(settings)
    yield _labels_missing(rules, settings)


def data_records(settings: Settings) -> Iterator[RecordingRule]:
    """Yield what is worth a series of its own."""
    own = partial(series, job=settings.job)
    yield RecordingRule(
        "job:monitor_events_rejected:ratio_rate15m",
        _rejected_share(settings),
        {own("monitor_events_rejected_total", instance="a", model="m", reason="not_json"): "0+6x20"}
        | {own("monitor_events_consumed_total", instance="a", topic="t"): "0+60x20"},
        20,
        {series("job:monitor_events_rejected:ratio_rate15m", job=settings.job): 0.1},
    )
    yield RecordingRule(
        "job:monitor_consumer_lag:sum",
        _behind(settings),
        {
            own("monitor_consumer_lag", instance=instance, topic="t", partition=partition): "4x5"
            for instance in "ab"
            for partition in "01"
        },
        5,
        {series("job:monitor_consumer_lag:sum", job=settings.job): 8.0},
    )


def _behind(settings: Settings) -> str:
    """Return the records that are still to be read; no partition counts twice."""
    lag = series("monitor_consumer_lag", job=settings.job)
    return f"sum by (job) (max by (job, topic, partition) ({lag}))"


def _rejected_share(settings: Settings) -> str:
    own = partial(series, job=settings.job)
    return (
        f"sum by (job) (rate({own('monitor_events_rejected_total')}[15m]))"
        f" / sum by (job) (rate({own('monitor_events_consumed_total')}[15m]))"
    )


def _lag(settings: Settings) -> AlertRule:
    own = partial(series, job=settings.job)
    lag = own("monitor_consumer_lag", instance="a", topic="t", partition="0")
    frontier = own("monitor_frontier_timestamp_seconds", instance="a")
    begin = f"{61 - settings.max_lag:.12g}"  # a minute later it is not yet behind, two minutes later it is
    firing = (Firing({"job": settings.job}, settings.max_lag + 359),)
    return AlertRule(
        "MonitorLag",
        f"time() - max by (job) ({own('monitor_frontier_timestamp_seconds')}) > {settings.max_lag:.12g}"
        f" and on (job) {_behind(settings)} > 0",
        "ticket",
        (Label("job"), " is ", Value("seconds"), " behind, with records still to be read"),
        (
            f"Windows and alerts are as old as that; beyond {promtime(settings.max_lag)} (alerts.max_lag) no "
            "action is taken.",
        ),
        (
            Scene({frontier: f"{begin}x9", lag: "9x9"}, (Look(6), Look(7, firing))),
            Scene({frontier: f"{begin}x9", lag: "0x9"}, (Look(9),)),  # all is read, and no events since
            Scene({frontier: f"{begin}+60x9", lag: "9x9"}, (Look(9),)),
        ),
        wait=300,
    )


def _rejected(settings: Settings) -> AlertRule:
    own = partial(series, job=settings.job)
    rejected = own("monitor_events_rejected_total", instance="a", model="m", reason="not_json")
    consumed = own("monitor_events_consumed_total", instance="a", topic="t")
    return AlertRule(
        "MonitorRejectedEvents",
        f"{_rejected_share(settings)} > {REJECTED_SHARE:g}",
        "ticket",
        (Label("job"), " rejects ", Value("ratio"), " of the records"),
        (
            "monitor_events_rejected_total has the reasons, the dead-letter topic the records; "
            "`monitor doctor` shows what is wrong with the newest ones.",
        ),
        (
            Scene(
                {rejected: "0+6x30", consumed: "0+60x30"},
                (Look(10), Look(11, (Firing({"job": settings.job}, 0.1),))),
            ),
            Scene({rejected: "0+3x30", consumed: "0+60x30"}, (Look(30),)),
        ),
        wait=600,
    )


def _lost(settings: Settings) -> AlertRule:
    own = partial(series, "monitor_offsets_lost_total", job=settings.job)
    firing = (Firing({"job": settings.job}),)
    return AlertRule(
        "MonitorOffsetsLost",
        f"sum by (job) (increase({own()}[1h])) > 0",
        "ticket",
        ("Kafka deleted records before ", Label("job"), " read them"),
        ("Some of the last hour. Windows lack them, and are incomplete until they have passed.",),
        (
            Scene(
                {own(instance="a"): "0 0 5x90", own(instance="b"): "0x90"},
                (Look(1), Look(2, firing), Look(61, firing), Look(63)),
            ),
            Scene({own(instance="a"): "5x70"}, (Look(70),)),
        ),
    )


def _silent(settings: Settings) -> AlertRule:
    own = partial(series, job=settings.job)
    ago = f"time() - max by (job, model) ({own('classifier_last_event_timestamp_seconds')})"
    alerts = f"min by (job, model) ({own('monitor_alert_state')}) == 3"
    begin = 121 - settings.no_data_after  # two minutes later it is not yet silent, three minutes later it is
    stands, goes_on = f"{begin:.12g}x9", f"{begin:.12g}+60x9"
    young = f"{-settings.no_data_after / 2:.12g}+60x9"
    last = partial(own, "classifier_last_event_timestamp_seconds", instance="a")
    state = partial(own, "monitor_alert_state", instance="a", alert="A")
    quiet, other = "one that falls silent", "one that does not"
    silent = {"job": settings.job, "model": quiet}
    return AlertRule(
        "ModelSilent",
        f"{ago} > {settings.no_data_after:.12g} or ({ago} and on (job, model) {alerts})",
        "ticket",
        ("No events of model ", Label("model")),
        (
            "The newest labeled event is ",
            Value("seconds"),
            " old; or each alert of the model is without data. Nothing is known of how the model does.",
        ),
        (
            # A version that is replaced falls silent; the model does not.
            Scene(
                {last(model=quiet, version="1"): stands, last(model=quiet, version="2"): stands}
                | {last(model=other, version="1"): stands, last(model=other, version="2"): goes_on},
                (Look(2), Look(3, (Firing(silent, settings.no_data_after + 59),))),
            ),
            Scene(
                {last(model=quiet, version="1"): young, last(model=other, version="1"): young}
                | {state(model=quiet, version="1"): "3x9", state(model=other, version="1"): "3x9"}
                | {state(model=other, version="2"): "0x9"},
                (Look(9, (Firing(silent, settings.no_data_after / 2),)),),
            ),
        ),
    )


def _labels_missing(rules: Sequence[Rule], settings: Settings) -> AlertRule:
    own = partial(series, job=settings.job)
    span = promtime(max(3600.0, settings.no_data_after))
    unlabeled, labeled = (
        f"sum by (job, model) (increase({own(family)}[{span}])) > 0"
        for family in ("monitor_events_unlabeled_total", "classifier_labeled_events_total")
    )
    events = partial(own, instance="a", model="one without labels")
    unlabeled_events = {events("monitor_events_unlabeled_total"): "0+5x20"}
    labels = events("classifier_labeled_events_total", version="1")
    firing = (Firing({"job": settings.job, "model": "one without labels"}, 0.0),)
    arms = [f"(0 * ({unlabeled}) unless on (job, model) ({labeled}))"]
    scenes = [
        Scene({**unlabeled_events, labels: "50x20"}, (Look(10), Look(11, firing))),
        Scene({**unlabeled_events, labels: "0+5x5 25x20"}, (Look(20),)),
        Scene({labels: "50x20"}, (Look(20),)),
    ]
    for (model, window), least in _coverages(rules).items():
        of_model = {} if model == "*" else {"model": model}
        coverage = partial(own, "classifier_label_coverage", window=window, segment="")
        arms.append(f"min by (job, model) ({coverage(**of_model)}) < {least:.12g}")
        low = {"job": settings.job, "model": of_model.get("model", "m")}
        scenes.append(
            Scene(
                {coverage(instance="a", model=low["model"], version="1"): f"{least / 2}x20"}
                | {coverage(instance="a", model="well covered", version="1"): "1x20"},
                (Look(9), Look(10, (Firing(low, least / 2),))),
            )
        )
    return AlertRule(
        "MonitorLabelsMissing",
        " or ".join(arms),
        "ticket",
        ("Only ", Value("ratio"), " of the events of model ", Label("model"), " have labels"),
        ("Without labels its alerts cannot be decided. Look at what joins labels to predictions.",),
        tuple(scenes),
        wait=600,
    )


def _coverages(rules: Sequence[Rule]) -> dict[tuple[str, str], float]:
    """Return the label coverage that rules ask for, by model and window."""
    found: dict[tuple[str, str], float] = {}
    for rule in rules:
        if rule.min_label_coverage is not None:
            where = rule.model, rule.window
            found[where] = max(found.get(where, 0.0), rule.min_label_coverage)
    return found
