"""Print how long a scrape of 20,000 series takes while another thread computes.

Run as `python -m tests.benchmarks.scrape [SERIES]`.
"""

from __future__ import annotations

import statistics
import sys
import threading
import time

from monitor.exporter import Exporter
from monitor.series import ExportOptions, select_series
from tests.support.reports import HELPS, report, status, window_report


def main(wanted: int) -> None:
    """Publish and scrape a few times and print the median times."""
    options = ExportOptions(max_series=10**9)
    one, _ = select_series(report(window_report()), (), options)
    versions = max(1, round(wanted / len(one)))
    example = report(*(window_report(version=f"2026-11-01-{n}") for n in range(versions)))
    exporter = Exporter(status, HELPS, options, headline=())
    exporter.publish(example)
    stop = threading.Event()
    busy = threading.Thread(target=_spin, args=(stop,), daemon=True)
    busy.start()
    accept = "application/openmetrics-text;version=1.0.0"
    exporter.scrape(accept)
    lines = exporter.scrape(accept).body.count(b"\n")
    print(f"{versions} model versions, {lines} lines, one busy thread")
    print(f"publish                 {_median(lambda: exporter.publish(example)):7.1f} ms")
    print(f"scrape                  {_median(lambda: exporter.scrape(accept)):7.1f} ms")
    print(f"scrape, gzip            {_median(lambda: exporter.scrape(accept, 'gzip')):7.1f} ms")
    print(f"size                    {len(exporter.scrape(accept).body) / 1e6:7.1f} MB")
    print(f"size, gzip              {len(exporter.scrape(accept, 'gzip').body) / 1e6:7.1f} MB")
    stop.set()
    busy.join()
    print(f"publish, nothing busy   {_median(lambda: exporter.publish(example)):7.1f} ms")


def _spin(stop: threading.Event) -> None:
    while not stop.is_set():
        sum(range(10_000))


def _median(action, times: int = 5) -> float:
    """Return the median duration in milliseconds."""
    durations = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        durations.append(time.perf_counter() - start)
    return 1e3 * statistics.median(durations)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
