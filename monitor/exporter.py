"""Renders the newest report, and what the daemon says of itself, as Prometheus series."""

from __future__ import annotations

import gzip
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from prometheus_client.exposition import choose_encoder, gzip_accepted
from prometheus_client.metrics_core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample
from prometheus_client.utils import floatToGoString

from monitor import daemon_series
from monitor.alerts.view import AlertsView
from monitor.report import Report
from monitor.series import HELPS, ExportOptions, Series, select_series
from monitor.status import DURATION_BOUNDS, DaemonStatus, Durations

__all__ = ["ExportOptions", "Exporter", "Scrape"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Scrape:
    """An answer to GET /metrics."""

    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Published:
    """The series of one report, and their text in either format without an end marker."""

    series: Sequence[Series] = ()
    dropped: int = 0
    text: bytes = b""
    openmetrics: bytes = b""


@dataclass(frozen=True, slots=True)
class _Families(Collector):
    """What the client's encoders take: something that collects."""

    families: Iterable[Metric]

    def collect(self) -> Iterable[Metric]:
        return self.families


class Exporter(Collector):
    """A Collector that renders value objects.

    `publish` may be called from one thread while others scrape: it encodes the report and swaps one
    reference. A scrape then only encodes the daemon's own few series, so that it is quick even while
    other threads keep the interpreter busy.

    Parameters
    ----------
    status
        Called at each scrape for the daemon's own series; must not block.
    helps
        Help text by family, from the catalog of metrics.
    options
        What is exported of a report.
    headline
        Families that segments export by default, from the catalog too.
    alerts
        Called at each scrape for the alerts; must not block.
    """

    def __init__(
        self,
        status: Callable[[], DaemonStatus],
        helps: Mapping[str, str],
        options: ExportOptions | None = None,
        *,
        headline: Collection[str],
        alerts: Callable[[], AlertsView] = AlertsView,
    ) -> None:
        self._status = status
        self._alerts = alerts
        self._helps = {**helps, **HELPS}
        self._headline = frozenset(headline)
        self._options = options or ExportOptions()
        self._published = _Published()
        self._warned = False

    def publish(self, report: Report | None) -> None:
        """Make `report` what the next scrape shows; None: nothing but the daemon's own series."""
        if report is None:
            self._published = _Published()
            return
        series, dropped = select_series(report, self._headline, self._options)
        self._published = _Published(series, dropped, *_encode(series, self._helps))
        if dropped and not self._warned:
            self._warned = True
            logger.warning(
                "%d series are not exported: export.max_series is %d. The model versions with the fewest "
                "labeled events are left out; the page and the API still have them. Raise "
                "export.max_series, or export fewer families, windows or segments.",
                dropped,
                self._options.max_series,
            )

    @property
    def series_dropped(self) -> int:
        """How many series `max_series` leaves out of the newest report."""
        return self._published.dropped

    def describe(self) -> Iterable[Metric]:
        """Return nothing: which families there are depends on the report."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the newest report's families, where this instance speaks for them, then the daemon's."""
        published, status = self._published, self._status()
        if status.role == "owner":
            yield from _families(published.series, self._helps)
            yield from _families(daemon_series.alert_series(self._alerts()), daemon_series.HELPS)
        yield from _daemon(status, published.dropped)

    def scrape(self, accept: str = "", accept_encoding: str = "") -> Scrape:
        """Answer a scrape with these request headers."""
        published, status = self._published, self._status()
        encoder, content_type = _choose_encoder(accept)
        body = encoder(_Families(_daemon(status, published.dropped)))
        if status.role == "owner":
            is_openmetrics = content_type.startswith("application/openmetrics-text")
            newest = published.openmetrics if is_openmetrics else published.text
            alerts = _encode(daemon_series.alert_series(self._alerts()), daemon_series.HELPS)
            body = newest + alerts[is_openmetrics] + body
        headers = {"Content-Type": content_type, "Vary": "Accept, Accept-Encoding"}
        if gzip_accepted(accept_encoding):
            # Level 9, the client's own choice, takes 20 times as long and saves little.
            body = gzip.compress(body, compresslevel=1, mtime=0)
            headers["Content-Encoding"] = "gzip"
        return Scrape(body, headers)


def _choose_encoder(accept: str) -> tuple[Callable[[Collector], bytes], str]:
    try:
        return choose_encoder(accept)
    except TypeError:  # the client compares version=x with a number
        return choose_encoder("")


def _families(series: Iterable[Series], helps: Mapping[str, str]) -> Iterable[Metric]:
    """Group series by family, in order of first appearance: the formats want a family in one piece."""
    families: dict[str, Metric] = {}
    for name, labels, value in series:
        family = families.get(name)
        if family is None:
            kind, suffix = _kind(name)
            family = families[name] = Metric(name.removesuffix(suffix), _help(name, helps), kind)
        family.samples.append(Sample(name, dict(labels), value))
    return families.values()


def _encode(series: Iterable[Series], helps: Mapping[str, str]) -> tuple[bytes, bytes]:
    """Return what the client's encoders make of `_families(series)` as text and as OpenMetrics.

    They take .3 and .6 s for 20,000 series, mostly for checks of names that are known to be plain; the
    lines of both formats are the same, only the heads of families differ.
    """
    lines: defaultdict[str, list[str]] = defaultdict(list)
    pairs: dict[tuple[str, str], str] = {}
    for name, labels, value in series:
        texts = []
        for pair in sorted(labels.items()):
            text = pairs.get(pair)
            if text is None:
                text = pairs[pair] = f'{pair[0]}="{_escape(pair[1])}"'
            texts.append(text)
        lines[name].append(f"{name}{{{','.join(texts)}}} {_number(value)}\n")
    plain, openmetrics = [], []
    for name, of_family in lines.items():
        kind, suffix = _kind(name)
        base, text = name.removesuffix(suffix), _help(name, helps).replace("\\", r"\\").replace("\n", r"\n")
        block = "".join(of_family)
        plain.append(f"# HELP {name} {text}\n# TYPE {name} {kind}\n{block}")
        quoted = text.replace('"', r"\"")
        openmetrics.append(f"# HELP {base} {quoted}\n# TYPE {base} {kind}\n{block}")
    return "".join(plain).encode(), "".join(openmetrics).encode()


def _number(value: float) -> str:
    return str(floatToGoString(value))  # type: ignore[no-untyped-call]


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _kind(name: str) -> tuple[str, str]:
    """Return the type that a series' name tells, and the suffix that its family's name lacks."""
    if name.endswith("_total"):
        return "counter", "_total"
    if name.endswith("_info"):
        return "info", "_info"
    return "gauge", ""


def _help(name: str, helps: Mapping[str, str]) -> str:
    for suffix, prefix in (
        ("_lower", "Lower bound of the confidence interval of"),
        ("_upper", "Upper bound of the confidence interval of"),
        ("_resolution_error", "Bound on the error from binned scores of"),
    ):
        base = name.removesuffix(suffix)
        if base != name and base in helps:
            return f"{prefix} {base}."
    return helps.get(name, "")


def _daemon(status: DaemonStatus, series_dropped: int) -> Iterator[Metric]:
    yield from _families(daemon_series.daemon_series(status, series_dropped), daemon_series.HELPS)
    yield _histogram("monitor_evaluation_duration_seconds", status.evaluation_durations)


def _histogram(name: str, durations: Durations) -> Metric:
    bounds = (*map(str, DURATION_BOUNDS), "+Inf")
    buckets = list(zip(bounds, accumulate(durations.counts), strict=True))
    return HistogramMetricFamily(name, daemon_series.HELPS[name], buckets=buckets, sum_value=durations.total)
