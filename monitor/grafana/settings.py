"""What the dashboards need to know of a configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from monitor.alerts.rule import RUNBOOKS, Rule
from monitor.config import Config, ServerConfig
from monitor.presets import DEFAULT, PRESETS, Preset
from monitor.report import CUMULATIVE

_ANY = ("0.0.0.0", "::", "127.0.0.1", "::1")  # noqa: S104 - addresses to be replaced, nothing is bound


@dataclass(frozen=True, slots=True)
class Settings:
    """What the dashboards depend on.

    Attributes
    ----------
    job
        Under which Prometheus scrapes the monitor; a variable's first value.
    page, runbooks
        Addresses of the daemon's page and of the runbooks; variables, too.
    headlines
        Presets that occur, by the title of their row.
    windows
        First window of each model, the most frequent first: what is shown at first.
    rules
        Alerts, whose limits are drawn.
    """

    job: str = "monitor"
    page: str = "http://localhost:9464"
    runbooks: str = RUNBOOKS
    headlines: Mapping[str, Preset] = field(default_factory=lambda: {"Headline": DEFAULT})
    windows: tuple[str, ...] = (CUMULATIVE,)
    rules: tuple[Rule, ...] = ()


def configured(
    config: Config,
    rules: Sequence[Rule],
    job: str = "monitor",
    page: str | None = None,
    runbooks: str | None = None,
) -> Settings:
    """Return what a configuration says of them.

    `page` None: where its server listens; `runbooks` None: at `alerts.runbooks`, else the file.
    """
    first = Counter(model.windows[0].name for model in config.models.values() if model.windows)
    return Settings(
        job=job,
        page=(page or _address(config.server)).rstrip("/"),
        runbooks=runbooks or config.alerts.runbooks or RUNBOOKS,
        headlines=_headlines({name: model.preset for name, model in config.models.items()}),
        windows=tuple(name for name, _ in first.most_common()) or (CUMULATIVE,),
        rules=tuple(rules),
    )


def _headlines(named: Mapping[str, str | None]) -> dict[str, Preset]:
    """Return the presets that occur, with titles that say whose they are."""
    used = {preset for preset in named.values()}
    found = {}
    for preset in (None, *PRESETS):
        if preset in used:
            models = ", ".join(name for name, its in named.items() if its == preset and name != "*")
            of = ("" if preset is None else f": {preset}") + (
                f" ({models})" if len(used) > 1 and models else ""
            )
            found[f"Headline{of}"] = DEFAULT if preset is None else PRESETS[preset]
    return found


def _address(server: ServerConfig) -> str:
    scheme = "http" if server.tls is None else "https"
    host = "localhost" if server.host in _ANY else server.host
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{server.port}"
