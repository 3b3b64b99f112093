"""What a configuration means, in words: the text of `monitor check`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from monitor.alerts.rule import Rule
from monitor.config import (
    WILDCARD,
    Config,
    ConsumerSettings,
    CostsConfig,
    KafkaConfig,
    ModelConfig,
    ServerConfig,
    WindowConfig,
    format_duration,
)
from monitor.describe_alerts import Reference, describe_alerts
from monitor.start_up import start_up_warnings

__all__ = ["describe", "event_bytes", "format_bytes", "version_bytes"]

HISTOGRAM_BYTES = 420_000
"""Cumulative state of one row of scores: its histogram and sums, at the most."""

_Row = tuple[str, str]


def describe(
    config: Config,
    series: Callable[[ModelConfig], int] | None = None,
    rules: Sequence[Rule] = (),
    load_baseline: Callable[[str], Reference] | None = None,
) -> str:
    """Return what a configuration means, for people; no secret is in it.

    Parameters
    ----------
    config
        A valid configuration.
    series
        How many series a version of a model can export at most; left out of the text if not given.
    rules
        Its alert rules, resolved.
    load_baseline
        Reads a stored baseline, so that its contents are told.
    """
    lines = [*_section("Kafka", _kafka(config)), *_section("Events", _events(config))]
    for name, model in config.models.items():
        title = "Models that are not named" if name == WILDCARD else f"Model {name}"
        rows = [*_reading(model), *_measuring(model, config), *_sizes(model, config)]
        if series is not None:
            rows.append(("series", f"up to {series(model)} a version"))
        lines += _section(title, rows)
    for title, rows in describe_alerts(config, rules, load_baseline):
        lines += _section(title, rows)
    lines += _section("Daemon", _daemon(config))
    lines += [f"Warning: {warning}" for warning in start_up_warnings(config)]
    return "\n".join(lines).rstrip("\n") + "\n"


def event_bytes(model: ModelConfig) -> int:
    """Return the bytes that one held event takes: times and places, codes, scores, segments."""
    classes = len(model.classes)
    codes = classes + classes + 1 if model.task == "multilabel" else 2 + 2
    return 8 + 8 + codes + 4 * model.scored_classes + 2 * len(model.segments)


def version_bytes(model: ModelConfig, config: Config) -> int:
    """Return the bytes that one version of a model takes at the most: held events and cumulative state."""
    # Each segment key has its values and "other"; 1 is for all events together.
    groups = 1 + len(model.segments) * (config.limits.segment_values + 1)
    rows = model.scored_classes + (model.task == "multiclass")  # and the greatest score of each event
    return config.limits.held_events * event_bytes(model) + groups * rows * HISTOGRAM_BYTES


def format_bytes(size: float) -> str:
    """Return a size for people, in decimal units."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


def _section(title: str, rows: Iterator[_Row] | list[_Row]) -> list[str]:
    return [title, *(f"  {key:<20}{words}" for key, words in rows), ""]


def _kafka(config: Config) -> Iterator[_Row]:
    kafka = config.kafka
    yield "brokers", ", ".join(kafka.bootstrap_servers)
    yield "topics", ", ".join(kafka.topics)
    yield "consumer group", kafka.group_id
    yield "rejected events", _rejected(kafka)
    yield (
        "start",
        {
            "windows": f"{format_duration(config.lookback)} back, so that the windows fill",
            "earliest": "at the oldest record",
            "latest": "at the newest record",
        }[kafka.start],
    )
    yield (
        "recreated topic",
        ("stop and say so" if kafka.on_topic_recreated == "refuse" else "read it from its start"),
    )
    yield "broker unreachable", f"give up after {format_duration(kafka.give_up_after)}"
    yield "security", _security(kafka)
    shown_above = {"security_protocol", "sasl_mechanism", "sasl_plain_username", *kafka.secrets()}
    if own := sorted(kafka.model_fields_set & ConsumerSettings.model_fields.keys() - shown_above):
        yield "consumer settings", ", ".join(f"{key} {getattr(kafka, key)}" for key in own)


def _rejected(kafka: KafkaConfig) -> str:
    if kafka.dead_letter_topic is None:
        return "counted, samples in the log (no dead_letter_topic)"
    letters = kafka.dead_letter
    failing = "reading waits" if letters.on_error == "pause" else "what does not fit is only counted"
    return (
        f"counted, and up to {letters.max_per_second} a second sent to {kafka.dead_letter_topic}; while that "
        f"fails, {failing}"
    )


def _security(kafka: KafkaConfig) -> str:
    mechanism = f", {kafka.sasl_mechanism}" if kafka.sasl_mechanism else ""
    user = f" as {kafka.sasl_plain_username}" if kafka.sasl_plain_username else ""
    secrets = ", ".join(key for key in kafka.secrets() if getattr(kafka, key) is not None)
    return kafka.security_protocol + mechanism + user + (f" ({secrets} set, not shown)" if secrets else "")


def _events(config: Config) -> Iterator[_Row]:
    events = config.events
    for field, path in events.fields.mapped.items():
        if isinstance(path, str):
            yield field, f"from {path}"
        else:
            yield field, ", ".join(f"{name} from {place}" for name, place in path.items())
    named = [name for name in config.models if name != WILDCARD]
    if events.default_model is not None:
        yield "no model named", f"belongs to {events.default_model}"
    elif len(named) == 1:
        yield "no model named", f"belongs to {named[0]}, the only one"
    else:
        yield "no model named", "rejected (set events.default_model to change that)"
    yield (
        "text without zone",
        (
            f"a timestamp in {events.timezone}"
            if events.timezone
            else "rejected as a timestamp (set events.timezone)"
        ),
    )
    yield (
        "out of order",
        (f"up to {format_duration(events.allowed_lateness)} behind the newest; what is older counts as late"),
    )
    yield (
        "timestamps",
        (
            f"from {events.min_timestamp.isoformat()} to "
            f"{format_duration(events.max_future)} after the record's time"
        ),
    )
    yield "message size", f"up to {format_bytes(config.limits.event_bytes)}; a larger message is rejected"
    yield "catching up", f"partitions are kept within {format_duration(events.max_skew)} of each other"


def _reading(model: ModelConfig) -> Iterator[_Row]:
    yield "task", model.task
    yield "classes", f"{', '.join(model.classes)} (score vectors have this order)"
    for version, own in model.versions.items():
        yield "", f"{', '.join(own.classes)} in version {version}"
    if model.positive_class is not None:
        default = (
            ""
            if "positive_class" in model.model_fields_set
            else " (the last of the two; positive_class sets it)"
        )
        yield "positive class", f"{model.positive_class}{default}"
    yield (
        "text labels",
        "are class names" + "".join(f", {a} means {name}" for a, name in model.aliases.items()),
    )
    yield "integer labels", _integers(model)
    if model.scores == "logit":
        by = f", divided by {model.temperature:g}" if model.temperature != 1 else ""
        yield "scores", f"logits{by}; probabilities and thresholds are those after sigmoid or softmax"
    yield "decision", f"the event's prediction; without one, {_decision(model)}"


def _decision(model: ModelConfig) -> str:
    if model.task == "binary":
        return f"{model.positive_class} where its probability is {model.thresholds[0]:g} or more"
    if model.task == "multiclass":
        return "the class with the greatest probability"
    if len(set(model.thresholds)) == 1:
        return f"each class whose probability is {model.thresholds[0]:g} or more"
    each = ", ".join(f"{name} {t:g}" for name, t in zip(model.classes, model.thresholds, strict=True))
    return f"each class whose probability is at least its own: {each}"


def _integers(model: ModelConfig) -> str:
    kind = "name" if model.integers == "names" else "index"
    codes = model.classes if model.integers == "names" else [str(i) for i in range(len(model.classes))]
    shown = [f"{code} means class {name}" for code, name in zip(codes, model.classes, strict=True)][:10]
    more = ", …" if len(codes) > len(shown) else ""
    return f"the integer {', '.join(shown)}{more} ({kind})"


def _measuring(model: ModelConfig, config: Config) -> Iterator[_Row]:
    for i, window in enumerate(model.windows):
        yield "windows" if i == 0 else "", f"{window.name}: {_extent(window, model)}"
    yield "" if model.windows else "windows", "all: every event since the cumulative state began"
    if model.label_maturity:
        yield "label maturity", f"events count {format_duration(model.label_maturity)} after they happened"
    else:
        yield "label maturity", "events count at once"
    if model.segments:
        limit = config.limits.segment_values
        yield "segments", f"{', '.join(model.segments)}; up to {limit} values of each, the rest as other"
    for i, rate in enumerate(model.max_fpr):
        yield (
            "partial ROC AUC" if i == 0 else "",
            f"up to {100 * rate:g}% false positives, over {rate:g}: random scores have {rate / 2:g} "
            "(0.5 on McClish's scale), perfect ones 1",
        )
    if model.top_k:
        yield "top-k accuracy", f"k = {', '.join(map(str, model.top_k))} classes"
    for i, k in enumerate(model.at_k):
        which = (
            f"{k} highest-scored events"
            if isinstance(k, int)
            else f"{100 * k:g}% of events with the highest scores"
        )
        yield "precision at k" if i == 0 else "", f"of the {which} of a window"
    yield from _costs(model)


def _costs(model: ModelConfig) -> Iterator[_Row]:
    if isinstance(model.costs, CostsConfig):
        missed, alarm = model.costs.false_negative, model.costs.false_positive
        yield (
            "costs",
            f"a false negative {missed:g}, a false positive {alarm:g}: F-beta with beta = "
            f"sqrt({missed:g} / {alarm:g})",
        )
    elif model.costs is not None:
        yield "costs", "a matrix; a decision for none of the classes costs the greatest of its row"
    if model.min_recall is not None:
        yield (
            "best threshold",
            f"also the one with the fewest false positives at a recall of {model.min_recall:g}",
        )
    if model.reference_prevalences is not None:
        shown = ", ".join(f"{p:g}" for p in model.reference_prevalences)
        yield "at prevalence", f"{shown}: precision and average precision are shown at it, too"


def _extent(window: WindowConfig, model: ModelConfig) -> str:
    if window.duration is not None:
        return f"events of the last {format_duration(window.duration)}"
    if window.events is not None:
        return f"the newest {window.events} events"
    return f"as many of the newest events as hold {window.positives} of class {model.positive_class}"


def _sizes(model: ModelConfig, config: Config) -> Iterator[_Row]:
    limits = config.limits
    one = version_bytes(model, config)
    held = f"{limits.held_events} held events of {event_bytes(model)} bytes, and the cumulative state"
    all_versions = (
        f"{format_bytes(one * limits.versions_per_model)} with {limits.versions_per_model} versions"
    )
    yield "memory", f"up to {format_bytes(one)} a version ({held}), {all_versions}"


def _daemon(config: Config) -> Iterator[_Row]:
    limits, evaluation = config.limits, config.evaluation
    versions = {
        name: limits.versions_per_model * (limits.models - len(config.models) + 1 if name == WILDCARD else 1)
        for name in config.models
    }
    total = sum(n * version_bytes(config.models[name], config) for name, n in versions.items())
    yield (
        "evaluation",
        (
            f"every {format_duration(evaluation.every)}, {100 * evaluation.confidence_level:g}% intervals, "
            f"device {evaluation.device}"
        ),
    )
    if (boot := evaluation.bootstrap) is not None:
        yield (
            "bootstrap",
            f"of {', '.join(boot.metrics)} every {format_duration(boot.every)}, {boot.replicates} replicates",
        )
    checkpoint = config.checkpoint
    yield (
        "checkpoints",
        (
            f"in {Path(checkpoint.directory).absolute()}, every {format_duration(checkpoint.every)}, "
            f"the newest {checkpoint.keep} are kept"
        ),
    )
    yield "server", _address(config.server)
    yield "readers", _readers(config.server)
    yield (
        "export",
        f"families {_listed(config.export.families)}, windows {_listed(config.export.windows)}, "
        + (f"segments {config.export.segments}, at most {config.export.max_series} series"),
    )
    yield (
        "all limits reached",
        f"{format_bytes(total)} of memory in {sum(versions.values())} versions of models",
    )
    yield "retirement", f"a version without events for {format_duration(limits.retire_after)} is forgotten"


def _address(server: ServerConfig) -> str:
    host = f"[{server.host}]" if ":" in server.host else server.host
    return f"{'http' if server.tls is None else 'https'}://{host}:{server.port}"


def _readers(server: ServerConfig) -> str:
    token = (
        "whoever reaches the server"
        if server.read_token_file is None
        else f"who sends the token in {server.read_token_file} (probes need none)"
    )
    if server.tls is not None and server.tls.client_ca_file is not None:
        return f"{token}, with a certificate by {server.tls.client_ca_file}"
    return token


def _listed(choice: str | tuple[str, ...]) -> str:
    return choice if isinstance(choice, str) else ", ".join(choice)
