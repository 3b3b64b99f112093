"""The command line: parses, calls, prints. No logic of its own."""

from __future__ import annotations

import io
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from monitor import __version__
from monitor.client import ReportFormat, fetch_report
from monitor.config import Config, load_config
from monitor.errors import ConfigurationError, MonitorError

log = logging.getLogger(__name__)

SHUTDOWN_SECONDS = 25.0
"""A stop that takes longer than this is cut short."""

app = typer.Typer(
    help=(
        "Watches production classifiers: labeled prediction events from Kafka in, exact windows and "
        "honest numbers out. Start with `monitor check`, then `monitor doctor`, then `monitor run`."
    ),
    epilog=(
        "Exit status: 0 good; 1 what was asked does not hold or cannot be done; 2 the command line or the "
        "configuration is wrong."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

ConfigOption = Annotated[
    Path, typer.Option("--config", "-c", help="Path of the configuration.", envvar="MONITOR_CONFIG")
]
ModelOption = Annotated[str | None, typer.Option("--model", help="Only this model.")]
VersionOption = Annotated[str | None, typer.Option("--version", help="Only this version.")]
WindowOption = Annotated[
    str | None, typer.Option("--window", help="Only this window; 'all' has every event.")
]
JobOption = Annotated[str, typer.Option("--job", help="The job under which Prometheus scrapes.")]
DEFAULT_CONFIG = Path("monitor.yaml")


def _moment(text: str) -> datetime:
    """Parse a time; one without a zone is UTC."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"{text!r} is no time; write one such as 2026-11-01, '2026-11-01 08:00:00' or "
            "2026-11-01T08:00:00+01:00"
        ) from None


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        typer.echo(f"monitor {__version__}")
        raise typer.Exit


@app.command()
def run(config: ConfigOption = DEFAULT_CONFIG) -> None:
    """Run the daemon until SIGTERM or SIGINT: reads Kafka, serves metrics, API and page."""
    from monitor.daemon import Daemon
    from monitor.start_up import start_up_warnings

    loaded = _load(config)
    for warning in start_up_warnings(loaded):
        log.warning("%s", warning)
    daemon = Daemon(loaded)

    def stop(signum: int, _frame: object) -> None:
        deadline = threading.Timer(SHUTDOWN_SECONDS, _cut_short)
        deadline.daemon = True
        deadline.start()  # first: what stops the daemon takes a lock
        daemon.stop()

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
    connect: Annotated[
        bool, typer.Option("--connect", help="Check that brokers and topics can be reached, too.")
    ] = False,
    files: Annotated[
        bool,
        typer.Option(
            "--files/--no-files",
            help="Check the files that it names, too; not for a configuration of another machine.",
        ),
    ] = True,
) -> None:
    """Check the configuration and say in words what it means; changes nothing."""
    from monitor.alert_rules import rules
    from monitor.assembly import decoder
    from monitor.baseline import load_baseline
    from monitor.clock import SystemClock
    from monitor.describe import describe
    from monitor.exports import most_series
    from monitor.file_check import unusable_files
    from monitor.prometheus_rules import configured, rules_file

    loaded = _load(config)
    decoder(loaded, loaded.kafka.topics, SystemClock())  # refuses a mapping that contradicts itself
    found = rules(loaded)
    rules_file(found, configured(loaded))  # refuses names of alerts about the monitor itself
    typer.echo(describe(loaded, lambda model: most_series(model, loaded), found, load_baseline), nl=False)
    problems = unusable_files(loaded) if files else []
    if connect:
        from monitor.sources.probe import probe

        kafka = loaded.kafka
        settings = {**kafka.consumer_settings(), "group_id": kafka.group_id}
        unreached = probe(settings, kafka.topics, kafka.dead_letter_topic)
        problems += unreached
        if not unreached:
            typer.echo("\nBrokers and topics: reached.")
    if problems:
        typer.echo("\n" + "\n".join(f"Problem: {problem}" for problem in dict.fromkeys(problems)))
        raise typer.Exit(1)


@app.command()
def doctor(
    config: ConfigOption = DEFAULT_CONFIG,
    messages: Annotated[
        int, typer.Option(min=1, max=10_000, help="How many of the newest messages to look at.")
    ] = 20,
) -> None:
    """Show what the mapping makes of the newest messages, what is wrong, and what would fit."""
    from monitor.doctor import examine

    typer.echo(examine(_load(config), messages), nl=False)


@app.command()
def replay(
    files: Annotated[list[Path], typer.Argument(help="JSON Lines, CSV (both also .gz) or Parquet files.")],
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")] = False,
    change_at: Annotated[
        datetime | None,
        typer.Option(
            parser=_moment,
            metavar="TIME",
            help="Event time of a known change, UTC where it names no zone: prints how long after it each "
            "alert fired.",
        ),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Then serve the page with the result, until Ctrl-C.")
    ] = False,
) -> None:
    """Run files through the daemon's pipeline; print the metrics at their end and what alerts did.

    Needs no broker, nor the section kafka. Nothing is sent: actions are only said. Without a single labeled,
    valid event it ends with status 1.
    """
    from monitor.replay import Replay, nothing_to_report, replay_object, summary

    change = None if change_at is None else round(change_at.timestamp() * 1_000_000)
    loaded = _load(config, needs_kafka=False)
    logging.getLogger("monitor.actions").setLevel(logging.WARNING)  # what they would do is in the summary
    if serve:
        from monitor.web.server import check_port

        check_port(loaded.server.host, loaded.server.port)  # at once, not when all is read
    pass_over = Replay(loaded, files, change_at=change, record=serve)
    with _progress() as progress:
        evaluation = pass_over.run(progress)
    if as_json:
        typer.echo(json.dumps(replay_object(pass_over, evaluation), allow_nan=False))
    else:
        typer.echo(summary(pass_over, evaluation).rstrip("\n"))
    if problem := nothing_to_report(pass_over, evaluation):
        raise MonitorError(problem)
    if serve:
        from monitor.replay_page import replay_server, serving

        server = replay_server(loaded, pass_over, evaluation)
        with serving(server) as stop:
            _say(f"the page with this result is at {server.address}; Ctrl-C ends it")
            stop.wait()


@app.command()
def baseline(
    files: Annotated[list[Path], typer.Argument(help="JSON Lines, CSV (both also .gz) or Parquet files.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.", dir_okay=False)],
    config: ConfigOption = DEFAULT_CONFIG,
    model: ModelOption = None,
    version: VersionOption = None,
) -> None:
    """Make a stored reference of files, which alerts can hold a model against; needs no broker."""
    from monitor.baseline import store_baseline
    from monitor.make_baseline import describe_baseline, make_baseline, replaced_baseline

    loaded = _load(config, needs_kafka=False)
    before = replaced_baseline(output)
    with _progress() as progress:
        made = make_baseline(loaded, files, model, version, progress)
    typer.echo(describe_baseline(made, output, store_baseline(made, output), before), nl=False)


@app.command()
def report(
    config: ConfigOption = DEFAULT_CONFIG,
    model: ModelOption = None,
    version: VersionOption = None,
    window: WindowOption = None,
    format: Annotated[
        ReportFormat, typer.Option("--format", help="Of the report; csv has one row a value.")
    ] = ReportFormat.TEXT,
) -> None:
    """Print the newest report of the running daemon, else of its newest checkpoint.

    A version that retired has a kept report: ask for it with --version.
    """
    loaded = _read(config)
    try:
        text = fetch_report(loaded.server, model, version, window, format, loaded.models)
    except MonitorError as refusal:
        from monitor.offline import Query, report_elsewhere

        text = report_elsewhere(loaded, refusal, Query(model, version, window), format, _say)
    typer.echo(text, nl=False)


@app.command()
def reset(
    model: Annotated[str, typer.Option("--model", help="Whose state is forgotten.")],
    config: ConfigOption = DEFAULT_CONFIG,
) -> None:
    """Forget the state of a model, as after a batch of wrong labels; the daemon must be stopped.

    Reading goes on where it was: what was read is not read again, and the model's windows are incomplete
    until they have filled again. Kept reports of retired versions stay. A daemon of the same kafka.group_id
    that runs elsewhere on the same checkpoint.directory loses its state to this command and ends by itself;
    start it again.
    """
    from monitor import offline

    typer.echo(offline.reset(_read(config), model, _say), nl=False)


@app.command("rules")
def write_rules(
    config: ConfigOption = DEFAULT_CONFIG,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the rules here, not to standard output.")
    ] = None,
    tests: Annotated[
        Path | None, typer.Option("--tests", help="Write tests of them here, too, for promtool; needs -o.")
    ] = None,
    job: JobOption = "monitor",
    runbooks: Annotated[
        str | None,
        typer.Option(
            "--runbooks", help="Address of the page that annotations link to (alerts.runbooks by default)."
        ),
    ] = None,
) -> None:
    """Write alert and recording rules for Prometheus, for models and for the monitor itself."""
    from monitor.alert_rules import rules
    from monitor.prometheus_rules import configured, write_files

    loaded = _load(config)
    text = write_files(rules(loaded), configured(loaded, job, runbooks), output, tests)
    typer.echo(text, nl=False)


@app.command("dashboard")
def write_dashboard(
    config: ConfigOption = DEFAULT_CONFIG,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", file_okay=False, help="Write the files here, not one object to standard output."
        ),
    ] = None,
    job: JobOption = "monitor",
    page: Annotated[
        str | None, typer.Option("--page", help="Address of the daemon's page, for links from Grafana.")
    ] = None,
    runbooks: Annotated[
        str | None,
        typer.Option(
            "--runbooks", help="Address of the page of runbooks, for links (alerts.runbooks by default)."
        ),
    ] = None,
) -> None:
    """Write Grafana dashboards: all models, one model, alerts and actions, the monitor itself."""
    from monitor.alert_rules import rules
    from monitor.grafana import configured, dashboards, write_dashboards

    loaded = _load(config)
    made = dashboards(configured(loaded, rules(loaded), job, page, runbooks))
    typer.echo(write_dashboards(made, output), nl=False)


@app.command()
def demo(
    seconds: Annotated[
        float | None, typer.Option(min=10, help="End by itself after so many seconds.")
    ] = None,
) -> None:
    """Show everything at once on this machine, with a model that goes wrong after a while."""
    from monitor.demo import run_demo

    raise typer.Exit(run_demo(seconds))


@contextmanager
def _progress() -> Iterator[Callable[[float], None]]:
    """Show a bar on a terminal; what it gives takes the share that is done."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("reading", total=1.0)
        yield lambda done: bar.update(task, completed=done)


def _say(line: str) -> None:
    typer.echo(f"monitor: {line}", err=True)


def _read(path: Path, *, needs_kafka: bool = True) -> Config:
    if not path.exists():
        raise ConfigurationError(
            f"{path}: no such file; write one (README.md has an example), or name yours: -c PATH"
        )
    return load_config(path, os.environ, needs_kafka=needs_kafka)


def _load(path: Path, *, needs_kafka: bool = True) -> Config:
    """Return a configuration whose names all exist, with the log set up as it says."""
    config = _read(path, needs_kafka=needs_kafka)
    from monitor.alert_rules import rules
    from monitor.exports import check_families
    from monitor.logs import configure

    check_families(config)
    rules(config)  # refuses what does not fit to the metrics
    configure(config.logging.format, config.logging.level)
    return config


def main() -> None:
    """Run the command line; an error that a user can cause ends in one message."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names come from messages, terminals vary
    try:
        app()
    except MonitorError as error:
        print(f"monitor: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
