"""The table of families in docs/metrics.md, from the catalog.

`python -m monitor.metrics.documentation docs/metrics.md` brings it up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path

from monitor.metrics.catalog import CATALOG, Metric

BEGIN, END = "<!-- families: begin -->\n", "<!-- families: end -->\n"


def families_table() -> str:
    """Return the Markdown table, one row a family."""
    columns = ("family", "labels", "meaning", "range", "better", "needs", "interval", "undefined for")
    rows = [columns, ("---",) * len(columns), *map(_row, CATALOG)]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def _row(metric: Metric) -> tuple[str, ...]:
    better = {True: "higher", False: "lower", None: ""}[metric.greater_is_better]
    only = "" if len(metric.tasks) > 1 else f" ({metric.tasks[0]} only)"
    return (
        f"`{metric.name}`{only}",
        ", ".join(metric.labels),
        metric.help,
        " to ".join(f"{end:g}" for end in metric.range),
        better,
        metric.needs,
        metric.interval or "",
        ", ".join(f"`{reason}`" for reason in metric.undefined),
    )


def with_table(page: str) -> str:
    """Return the page with the present table between its two markers."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + families_table() + END + after


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_table(path.read_text("utf-8")), "utf-8")
