"""The champion version of each model: from the configuration, or from an alias of an MLflow registry."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from monitor import action_parts
from monitor.actions.http import HttpError
from monitor.actions.mlflow import MlflowAlias
from monitor.alert_assembly import written_champions
from monitor.config import WILDCARD, ChampionConfig, Config, MlflowConfig
from monitor.errors import ConfigurationError

log = logging.getLogger(__name__)

READ_SECONDS = 60.0
"""How often aliases are read."""


class RegistryChampions:
    """Reads the aliases that name champions. `refresh` is for one thread, `__call__` for any.

    Parameters
    ----------
    config
        The configuration. An alias is read where an action of type mlflow says that the registry is.

    Raises
    ------
    ConfigurationError
        If no action says where the registry is.
    """

    def __init__(self, config: Config) -> None:
        self._written = written_champions(config)
        self._known: Mapping[str, str] = {}
        self._aliases = {
            name: _reader(config, name, model.champion.mlflow_alias)
            for name, model in config.models.items()
            if isinstance(model.champion, ChampionConfig)
        }

    @property
    def reads(self) -> bool:
        """Whether there is an alias to read."""
        return bool(self._aliases)

    def refresh(self) -> None:
        """Read every alias; one that cannot be read keeps its version."""
        known = dict(self._known)
        for model, alias in self._aliases.items():
            try:
                version = alias.current(model)
            except HttpError as error:
                reason = {"model": model, "reason": str(error)}
                log.warning("the champion's alias cannot be read", extra=reason)
                continue
            if known.get(model) != version:
                log.info("champion", extra={"model": model, "version": version})
                known[model] = version
        self._known = known

    def __call__(self, model: str) -> str | None:
        """Return the champion of a model, None where it is not known."""
        return self._known.get(model) or self._written(model)

    def close(self) -> None:
        """Cut off what is being read."""
        for alias in self._aliases.values():
            alias.close()


def _reader(config: Config, model: str, alias: str) -> MlflowAlias:
    if model == WILDCARD:
        raise ConfigurationError(
            'models."*".champion: an alias is of one model; name that model under models'
        )
    for name, action in config.actions.named.items():
        if isinstance(action, MlflowConfig) and action.alias == alias:
            found = action_parts.sender(config, name)
            assert isinstance(found, MlflowAlias)
            return found
    raise ConfigurationError(
        f"models.{model}.champion.mlflow_alias: no action of type mlflow with alias {alias!r} says where the "
        "registry is; write one under actions (dry_run: true if it must not move the alias)"
    )
