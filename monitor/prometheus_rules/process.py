"""Rules for a monitor that does not run, or does not do its work."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from monitor.prometheus_rules.rule import AlertRule, Look, Scene, promtime, series
from monitor.prometheus_rules.settings import Settings
from monitor.prometheus_rules.text import Firing, Label, Value


def work_rules(settings: Settings) -> Iterator[AlertRule]:
    """Yield the rules about Kafka, evaluations and checkpoints."""
    yield _kafka(settings)
    yield from _evaluation(settings)
    yield from _checkpoints(settings)


def instance_rules(settings: Settings) -> Iterator[AlertRule]:
    """Yield the rules about instances, of which one at a time is the owner."""
    own = partial(series, job=settings.job)
    job = {"job": settings.job}
    yield AlertRule(
        "MonitorAbsent",
        f"absent({own('up')})",
        "page",
        ("Prometheus scrapes no monitor as job ", Label("job")),
        ("No model is watched, or the job has another name than the rules were made for.",),
        (
            Scene({own("other"): "1x10"}, (Look(4), Look(5, (Firing(job),)))),
            Scene({own("up"): "0x10"}, (Look(10),)),
        ),
        wait=300,
    )
    yield AlertRule(
        "MonitorNoOwner",
        f"(max by (job) ({own('monitor_owner')}) or 0 * max by (job) ({own('up')})) == 0",
        "page",
        ("No instance of ", Label("job"), " holds the partitions"),
        ("Events are not read, alerts not decided, and actions not carried out.",),
        (
            Scene(
                {own("up", instance="a"): "0x10", own("up", instance="b"): "1x10"}
                | {own("monitor_owner", instance="b"): "0x10"},
                (Look(4), Look(5, (Firing(job),))),
            ),
            Scene({own("up", instance="a"): "0x10"}, (Look(5, (Firing(job),)),)),
            Scene(
                {own("monitor_owner", instance="a"): "0x10", own("monitor_owner", instance="b"): "1x10"},
                (Look(10),),
            ),
        ),
        wait=300,
    )
    down = {**job, "instance": "a"}
    yield AlertRule(
        "MonitorDown",
        f"{own('up')} == 0",
        "ticket",
        (Label("instance"), " of ", Label("job"), " cannot be scraped"),
        ("It does not run, cannot be reached, or refuses Prometheus. Another one goes on, if any.",),
        (
            Scene(
                {own("up", instance="a"): "1 0x10", own("up", instance="b"): "1x10"},
                (Look(2), Look(3, (Firing(down),))),
            ),
        ),
        wait=120,
    )
    yield AlertRule(
        "MonitorNotReady",
        f"{own('monitor_ready')} == 0",
        "ticket",
        (Label("instance"), " of ", Label("job"), " does not become ready"),
        ("It restores its state, or has not joined its consumer group, for 10 minutes.",),
        (
            Scene(
                {own("monitor_ready", instance="a"): "0x20", own("monitor_ready", instance="b"): "1x20"},
                (Look(9), Look(10, (Firing(down),))),
            ),
        ),
        wait=600,
    )


def _kafka(settings: Settings) -> AlertRule:
    own = partial(series, "monitor_kafka_up", job=settings.job)
    firing = (Firing({"job": settings.job}),)
    return AlertRule(
        "MonitorKafkaDown",
        f"max by (job) ({own()}) == 0",
        "page",
        ("Kafka cannot be read by any instance of ", Label("job")),
        (
            "No broker answers, or a topic is missing. What is exported stays as it was, alerts are not "
            "decided, and actions not carried out.",
        ),
        (
            Scene(
                # The process gives up and is started again: that is no sign that Kafka is back.
                {own(instance="a"): "0x7 stale 0x4 1x10"},
                (Look(4), Look(5, firing), Look(8, firing), Look(12, firing), Look(20)),
            ),
            Scene({own(instance="a"): "0x10", own(instance="b"): "1x10"}, (Look(10),)),
        ),
        wait=300,
        keep=settings.keep_firing_for,
    )


def _evaluation(settings: Settings) -> Iterator[AlertRule]:
    own = partial(series, job=settings.job)
    yield _old(
        settings,
        "MonitorEvaluationStale",
        "monitor_last_evaluation_timestamp_seconds",
        settings.stale_after,
        "page",
        "metrics were last evaluated ",
        f"They are to be evaluated every {promtime(settings.evaluation_every)}. What is exported, and alerts "
        "on windows, are as old as that.",
    )
    yield AlertRule(
        "MonitorEvaluationErrors",
        f"sum by (job) (increase({own('monitor_evaluation_errors_total')}[15m])) > 0",
        "ticket",
        (Label("job"), ": evaluations fail"),
        ("In the last 15 minutes an evaluation, or some metrics of one, failed. The log has the reason.",),
        _counted(settings, "monitor_evaluation_errors_total"),
    )


def _checkpoints(settings: Settings) -> Iterator[AlertRule]:
    own = partial(series, job=settings.job)
    yield _old(
        settings,
        "MonitorCheckpointOld",
        "monitor_checkpoint_timestamp_seconds",
        settings.checkpoint_old_after,
        "ticket",
        "the last checkpoint was written ",
        "After a restart what came since is read again, if Kafka still has it. Decided actions wait for a "
        "checkpoint, too.",
    )
    yield AlertRule(
        "MonitorCheckpointErrors",
        f"sum by (job) (increase({own('monitor_checkpoint_errors_total')}[15m])) > 0",
        "ticket",
        (Label("job"), ": checkpoints cannot be written"),
        ("In the last 15 minutes one could not be written. Look at the disk.",),
        _counted(settings, "monitor_checkpoint_errors_total"),
    )


def _old(
    settings: Settings, name: str, family: str, limit: float, severity: str, what: str, then: str
) -> AlertRule:
    """Return a rule about a time that was too long ago; of several instances the latest counts."""
    own = partial(series, family, job=settings.job)
    begin = 121 - limit  # two minutes later it is not yet old, three minutes later it is
    stands, goes_on = f"{begin:.12g}x5", f"{begin:.12g}+60x5"
    return AlertRule(
        name,
        f"time() - max by (job) ({own()}) > {limit:.12g}",
        severity,
        (Label("job"), f": {what}", Value("seconds"), " ago"),
        (then,),
        (
            Scene(
                {own(instance="a"): stands, own(instance="b"): stands},
                (Look(2), Look(3, (Firing({"job": settings.job}, limit + 59),))),
            ),
            Scene({own(instance="a"): stands, own(instance="b"): goes_on}, (Look(5),)),
        ),
    )


def _counted(settings: Settings, family: str) -> tuple[Scene, Scene]:
    """Return scenes in which a counter of the owner grows once, and not at all."""
    own = partial(series, family, job=settings.job)
    firing = (Firing({"job": settings.job}),)
    return (
        Scene(
            {own(instance="a"): "0 0 1x20", own(instance="b"): "0x20"},
            (Look(1), Look(2, firing), Look(16, firing), Look(18)),
        ),
        Scene({own(instance="a"): "7x20"}, (Look(20),)),
    )
