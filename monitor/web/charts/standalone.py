"""A chart as a document of its own."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import wrap

from monitor.web.charts.paths import px
from monitor.web.html import Html, h
from monitor.wording import printable

_CSS = (Path(__file__).parents[1] / "css" / "charts.css").read_text()
_ROW, _LETTER, _SPACE = 17, 7.4, 8


def standalone(svg: Html, title: str) -> str:
    """Return a chart as a document of its own, with its styles in it and `title` above."""
    size = re.search(r'viewBox="0 0 (\S+) (\S+)"', svg)
    assert size is not None
    width, height = map(float, size.groups())
    lines = wrap(printable(title), int((width - 2 * _SPACE) / _LETTER))
    top = _ROW * len(lines) + _SPACE
    place = f'<svg width="{px(width)}" height="{px(height)}" y="{px(top)}"'
    whole = h(
        "svg",
        h("title", printable(title)),
        h("style", Html(_CSS)),
        h("rect", class_="paper", width="100%", height="100%"),
        *(
            h("text", text, class_="heading", x=str(_SPACE), y=str(_ROW * (number + 1)))
            for number, text in enumerate(lines)
        ),
        Html(svg.replace("<svg", place, 1)),
        xmlns="http://www.w3.org/2000/svg",
        class_="chart",
        width=px(2 * width),
        height=px(2 * (height + top)),
        viewBox=f"0 0 {px(width)} {px(height + top)}",
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{whole}\n'
