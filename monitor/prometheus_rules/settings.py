"""What the rules need to know beside the alerts."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.alerts.rule import RUNBOOKS
from monitor.config import Config


@dataclass(frozen=True, slots=True)
class Settings:
    """What the rules depend on; times in seconds.

    Attributes
    ----------
    job
        Under which Prometheus scrapes the monitor.
    runbooks
        Address of the page that annotations link to.
    quality
        Whether Prometheus tells people about models; not where the daemon does so itself.
    keep_firing_for
        How long an alert about a model outlives missed scrapes and a restart of the daemon. It resolves so
        much later, too.
    no_data_after, max_lag
        As in section `alerts`.
    evaluation_every, checkpoint_every
        As in sections `evaluation` and `checkpoint`.
    max_models, per
        More models than this that begin to alarm in so long are rarely to blame: `actions.breaker`.
    """

    job: str = "monitor"
    runbooks: str = RUNBOOKS
    quality: bool = True
    keep_firing_for: int = 300
    no_data_after: float = 1800.0
    max_lag: float = 300.0
    evaluation_every: float = 10.0
    checkpoint_every: float = 30.0
    max_models: int = 2
    per: float = 3600.0

    @property
    def stale_after(self) -> float:
        """Age of an evaluation that is no delay any more: longer than a resampling may take."""
        return max(120.0, 6 * self.evaluation_every)

    @property
    def checkpoint_old_after(self) -> float:
        """Age of a checkpoint that is no delay any more."""
        return max(600.0, 10 * self.checkpoint_every)


def configured(config: Config, job: str = "monitor", runbooks: str | None = None) -> Settings:
    """Return what a configuration says of them; `runbooks` None: at `alerts.runbooks`, else the file."""
    alerts, breaker = config.alerts, config.actions.breaker
    return Settings(
        job=job,
        runbooks=runbooks or alerts.runbooks or RUNBOOKS,
        quality=alerts.deliver == "prometheus",
        no_data_after=alerts.no_data_after.total_seconds(),
        max_lag=alerts.max_lag.total_seconds(),
        evaluation_every=config.evaluation.every.total_seconds(),
        checkpoint_every=config.checkpoint.every.total_seconds(),
        max_models=breaker.max_models,
        per=breaker.per.total_seconds(),
    )
