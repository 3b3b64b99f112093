"""The command line: parses, calls, prints. No logic of its own."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from monitor import __version__
from monitor.config import Config, load_config
from monitor.errors import MonitorError

log = logging.getLogger(__name__)

SHUTDOWN_SECONDS = 25.0
"""A stop that takes longer than this is cut short."""

app = typer.Typer(
    help="Watches production classifiers: labeled prediction events from Kafka in, honest numbers out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

ConfigOption = Annotated[
    Path, typer.Option("--config", "-c", help="The configuration.", envvar="MONITOR_CONFIG")
]
ModelOption = Annotated[str | None, typer.Option("--model", help="Only this model.")]
VersionOption = Annotated[str | None, typer.Option("--version", help="Only this version.")]
WindowOption = Annotated[str | None, typer.Option("--window", help="Only this window; all: every event.")]
DEFAULT_CONFIG = Path("monitor.yaml")


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"monitor {__version__}")
        raise typer.Exit


@app.command()
def run(config: ConfigOption = DEFAULT_CONFIG) -> None:
    """Run the daemon until SIGTERM or SIGINT."""
    from monitor.daemon import Daemon

    daemon = Daemon(_load(config))

    def stop(signum: int, _frame: object) -> None:
        daemon.stop()
        deadline = threading.Timer(SHUTDOWN_SECONDS, _cut_short)
        deadline.daemon = True
        deadline.start()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    signal.signal(
        signal.SIGHUP,
        lambda *_: log.warning("SIGHUP refused: a changed configuration needs a restart"),
    )
    daemon.run()


def _cut_short() -> None:
    log.error("did not stop within %.0f s", SHUTDOWN_SECONDS)
    os._exit(1)


@app.command()
def check(
    config: ConfigOption = DEFAULT_CONFIG,
    connect: Annotated[bool, typer.Option("--connect", help="Reach for brokers and topics too.")] = False,
) -> None:
    """Validate the configuration and say in words what it means."""
    from monitor.describe import describe

    loaded = load_config(config, os.environ)
    typer.echo(describe(loaded))
    if connect:
        from monitor.sources.probe import probe

        kafka = loaded.kafka
        settings = {**kafka.consumer_settings(), "group_id": kafka.group_id}
        problems = probe(settings, kafka.topics, kafka.dead_letter_topic)
        for line in problems or ["Brokers and topics: reached."]:
            typer.echo(line)
        if problems:
            raise typer.Exit(1)


@app.command()
def doctor(
    config: ConfigOption = DEFAULT_CONFIG,
    messages: Annotated[int, typer.Option(min=1, max=10_000, help="How many messages to look at.")] = 20,
) -> None:
    """Sample the topic and show what the mapping makes of each message, and what is wrong."""
    from monitor.doctor import examine

    typer.echo(examine(_load(config), messages))


@app.command()
def replay(
    files: Annotated[list[Path], typer.Argument(help="JSON Lines (.gz), CSV or Parquet files.")],
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for machines.")] = False,
) -> None:
    """Run files through the same pipeline and print what the metrics say at their end."""
    from monitor.replay import Replay, replay_object, summary

    pass_over = Replay(_load(config), files)
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=1.0)
        evaluation = pass_over.run(lambda done: bar.update(task, completed=done))
    if as_json:
        typer.echo(json.dumps(replay_object(pass_over, evaluation), allow_nan=False))
    else:
        typer.echo(summary(pass_over, evaluation))


@app.command()
def report(
    config: ConfigOption = DEFAULT_CONFIG,
    model: ModelOption = None,
    version: VersionOption = None,
    window: WindowOption = None,
) -> None:
    """Print the newest report of the running daemon."""
    from monitor.client import fetch_report

    typer.echo(fetch_report(load_config(config, os.environ).server, model, version, window))


@app.command()
def demo(
    seconds: Annotated[float | None, typer.Option(min=10, help="End by itself after so long.")] = None,
) -> None:
    """Show everything at once on this machine, with a model that goes wrong after a while."""
    from monitor.demo import run_demo

    raise typer.Exit(run_demo(seconds))


def _load(path: Path) -> Config:
    from monitor.logs import configure

    config = load_config(path, os.environ)
    configure(config.logging.format, config.logging.level)
    return config


def main() -> None:
    """Run the command line; an error that a user can cause ends in one message."""
    try:
        app()
    except MonitorError as error:
        print(f"monitor: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
