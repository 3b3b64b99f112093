"""Becoming the owner: claim an epoch, restore the past, see whether the topics are still the same."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from monitor.actions.desk import Desk
from monitor.alert_assembly import Champions
from monitor.checkpoint.errors import CheckpointError
from monitor.checkpoint.folder import Folder
from monitor.clock import Clock
from monitor.config import Config
from monitor.memory.restore import Past, restore
from monitor.pipeline import Pipeline
from monitor.sources.dead_letters import DeadLetters
from monitor.sources.topics import recreated_topics
from monitor.tenure import Tenure

log = logging.getLogger(__name__)


def take_over(
    config: Config,
    clock: Clock,
    topic_ids: Mapping[str, str | None],
    letters: DeadLetters | None = None,
    desk: Desk | None = None,
    champions: Champions | None = None,
) -> Tenure:
    """Become the owner of a group's state.

    Parameters
    ----------
    config, clock
        The configuration; time.
    topic_ids
        Id of each topic at present; None where the broker gives none.
    letters
        Where rejected records go.
    desk
        What decides about actions; it goes on with what was remembered.
    champions
        As `Pipeline` takes them.

    Raises
    ------
    CheckpointError
        There are checkpoints, and none can be read.
    SourceError
        A topic was recreated since the checkpoint, and `kafka.on_topic_recreated` is ``refuse``.
    """
    folder = Folder(config.checkpoint.directory, config.kafka.group_id, config.checkpoint.keep)
    epoch, problem = None, None
    try:
        epoch = folder.claim()
    except CheckpointError as error:  # a full or read-only disk: events are more important
        problem = str(error)
    began = clock.monotonic()
    past, name = _restored(folder, config, clock, champions)
    restart = config.kafka.on_topic_recreated == "restart"
    anew = set() if past is None else recreated_topics(past.topic_ids, topic_ids, restart=restart)
    if past is None or anew:
        pipeline = Pipeline(config, config.kafka.topics, clock, champions=champions)
    else:
        pipeline = past.pipeline
    if desk is not None and past is not None and past.outbox is not None:
        try:
            desk.resume(past.outbox)
        except ValueError as error:
            log.error("what was remembered of actions makes no sense, and is forgotten: %s", error)
            desk.forget()
    log.info(
        "taking over",
        extra={"epoch": epoch, "checkpoint": name, "seconds": round(clock.monotonic() - began, 3)},
    )
    return Tenure(
        config,
        clock,
        folder,
        pipeline,
        epoch,
        topic_ids=topic_ids,
        anew=anew,
        letters=letters,
        desk=desk,
        problem=problem,
    )


def _restored(
    folder: Folder, config: Config, clock: Clock, champions: Champions | None
) -> tuple[Past | None, str | None]:
    """Return the newest checkpoint that can be read, and its name."""
    found = folder.newest(lambda tree: restore(tree, config, clock, champions))
    if found is None:
        return None, None
    for problem in found.problems:
        log.error("a checkpoint is passed over: %s", problem)
    if found.content is None or found.path is None:
        raise CheckpointError(str(found.refusal))
    for change in found.content.changes:
        log.warning("the configuration changed: %s", change)
    return found.content, found.path.name
