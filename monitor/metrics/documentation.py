"""The families in docs/metrics.md, from the catalog.

`python -m monitor.metrics.documentation docs/metrics.md` brings it up to date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from monitor.metrics.catalog import CATALOG
from monitor.metrics.metric import TASKS, Metric

BEGIN, END = "<!-- families: begin -->\n", "<!-- families: end -->\n"


def families() -> str:
    """Return the Markdown: a table of all families, then what each is for."""
    columns = ("family", "labels", "range", "better", "needs", "interval")
    rows = [columns, ("---",) * len(columns), *map(_row, CATALOG)]
    table = "".join("| " + " | ".join(row) + " |\n" for row in rows)
    return table + "".join(f"\n{line}\n" for metric in CATALOG for line in _section(metric))


def _row(metric: Metric) -> tuple[str, ...]:
    better = {True: "higher", False: "lower", None: ""}[metric.greater_is_better]
    return (
        f"[`{metric.name}`](#{metric.name})",
        ", ".join(metric.labels),
        " to ".join(f"{end:g}" for end in metric.range),
        better,
        metric.needs,
        metric.interval or "",
    )


def _section(metric: Metric) -> Iterator[str]:
    yield f"### {metric.name}"
    only = "" if metric.tasks == TASKS else f" Only in {' and '.join(metric.tasks)} tasks."
    yield metric.help + only
    lines = [f"- Use: {metric.use}"]
    if metric.compare:
        lines.append(f"- Compare: {metric.compare}")
    if metric.undefined:
        lines.append(f"- Absent for: {', '.join(f'`{reason}`' for reason in metric.undefined)}")
    yield "\n".join(lines)


def with_families(page: str) -> str:
    """Return the page with the present families between its two markers."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + families() + END + after


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_families(path.read_text("utf-8")), "utf-8")
