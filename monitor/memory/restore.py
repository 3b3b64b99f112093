"""A pipeline as a checkpoint remembers it, under the configuration of today."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from monitor.alert_assembly import Champions
from monitor.checkpoint.errors import DamagedCheckpoint, NewerCheckpoint
from monitor.checkpoint.tree import Tree
from monitor.clock import Clock
from monitor.config import Config
from monitor.events.vocabulary import FIXED
from monitor.memory.cut import SCHEMA
from monitor.memory.fitting import Fit
from monitor.memory.numbers import read_counters, read_places, segment_values
from monitor.memory.plans import entry, read_plans
from monitor.memory.topics import Moved
from monitor.memory.tracks import unpack_tracks
from monitor.pipeline import Pipeline
from monitor.state.packing import unpack
from monitor.state.reading import maybe, plain, take
from monitor.state.store import VersionView
from monitor.state.windows import Plan


@dataclass(frozen=True)
class Past:
    """What was remembered.

    Attributes
    ----------
    pipeline
        It goes on as the one of then would have.
    topic_ids
        Id of each configured topic that was known then; None where the broker gave none.
    taken
        When that was, in microseconds since the epoch.
    caught_up
        Whether everything that there was then had been read; the pipeline says no until it reads on.
    outbox
        What the actions remembered; None where there were none.
    changes
        What did not fit the present configuration, as sentences.
    """

    pipeline: Pipeline
    topic_ids: Mapping[str, str | None]
    taken: int
    caught_up: bool
    outbox: Tree | None
    changes: tuple[str, ...]


def restore(tree: Tree, config: Config, clock: Clock, champions: Champions | None = None) -> Past:
    """Make a pipeline of what `monitor.memory.cut` cut.

    Parameters
    ----------
    tree
        What `Cut.tree` returned, maybe by an earlier version of monitor; its arrays belong to the result.
    config
        The configuration of today: what still fits is kept.
    clock
        The clock of the pipeline.
    champions
        As `Pipeline` takes them.

    Raises
    ------
    CheckpointError
        The tree is something else.
    """
    try:
        schema = take(tree, "schema", int)
        if schema > SCHEMA:
            raise NewerCheckpoint(
                f"the checkpoint remembers in a way (schema {schema}) that only a later version of monitor "
                "knows: run that version, or move the file away to go on from an older checkpoint"
            )
        return _restore(tree, config, clock, champions)
    except ValueError as error:
        raise DamagedCheckpoint("the checkpoint", f"what it remembers makes no sense ({error})") from error


def _restore(tree: Tree, config: Config, clock: Clock, champions: Champions | None) -> Past:
    old = read_plans(take(take(tree, "configuration", dict), "models", dict))
    packed = [plain(each, dict, "a pack of versions") for each in take(tree, "versions", list)]
    was_read = [plain(topic, str, "a topic") for topic in take(tree, "topics", list)]
    moved = Moved(packed, was_read, config.kafka.topics)
    pipeline = Pipeline(config, moved.topics, clock, champions=champions)
    state = pipeline.state
    names = segment_values(tree)

    def plan_of(model: str) -> Plan:
        if (name := entry(model, old)) is None:
            raise ValueError(f"nothing says how {model!r} was configured")
        return old[name]

    def codes_of(model: str, key: str) -> int:
        return FIXED + (len(names[model, key][0]) if (model, key) in names else 0)

    versions = [v for each in packed for v in unpack(moved(each), plan_of, codes_of, state.device)]
    places = [(v.model, v.version) for v in versions]
    gone = read_places(tree, pipeline, config.kafka.topics)
    read_counters(tree, pipeline)
    if len(set(places)) < len(places) or (places and state.clocks.watermark is None):
        raise ValueError("a version is there twice, or without a watermark")
    fit = Fit(Counter(v.model for v in versions), old, state.plans)
    state.missing_until = fit.missing_until(state.missing_until, state.clocks.watermark)
    state.resume(_planned(version, state.plans) for version in versions)
    pipeline.decoder.resume(places, names)
    alerts_begin_anew = _resume_alerting(tree, pipeline, moved, fit.dropped)
    tracks = [] if (history := maybe(tree, "history", dict)) is None else unpack_tracks(history)
    dropped = set(fit.dropped)
    pipeline.history.resume(
        t for t in tracks if t.model not in dropped and fit.same_window(t.model, t.window)
    )
    for model in fit.dropped:
        pipeline.forget(model)
    ids = take(tree, "topic_ids", dict)
    return Past(
        pipeline=pipeline,
        topic_ids={topic: maybe(ids, topic, str) for topic in config.kafka.topics if topic in ids},
        taken=take(tree, "taken", int),
        caught_up=take(tree, "caught_up", bool, default=True),
        outbox=(outbox := maybe(tree, "outbox", dict)),
        changes=(
            *fit.changes,
            *map(_no_longer_read, sorted(gone)),
            *alerts_begin_anew,
            *_forgotten_actions(outbox, config),
        ),
    )


def _resume_alerting(
    tree: Tree, pipeline: Pipeline, moved: Moved, changed: Collection[str]
) -> tuple[str, ...]:
    """Have the alerts go on where they were; return why they do not."""
    remembered = maybe(tree, "alerting", dict)
    if pipeline.alerting is None or remembered is None:
        return ()
    if not moved.same:
        return ("the topics changed: alerts begin anew, and forget what fires",)
    pipeline.state.look_back = maybe(tree, "look_back", int)
    pipeline.alerting.resume(remembered, changed)
    return ()


def _forgotten_actions(outbox: Tree | None, config: Config) -> tuple[str, ...]:
    if outbox is None or (config.actions.named and config.alerts.rules):
        return ()
    return ("no action is configured any more, or no rule: what was decided about actions is forgotten",)


def _planned(version: VersionView, plans: Mapping[str, Plan]) -> VersionView:
    """Return a version as it is configured now, if it is."""
    name = entry(version.model, plans)
    if name is None:
        return version
    return replace(version, base=replace(version.base, plan=plans[name]))


def _no_longer_read(topic: str) -> str:
    return (
        f"topic {topic!r} is no longer in kafka.topics: what was read of it stays counted, how far that was "
        "is forgotten"
    )
