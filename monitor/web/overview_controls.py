"""What can be asked of the overview, and the controls that ask it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from monitor.web.fleet import DEFAULT_ORDER, ORDERS
from monitor.web.html import Html, h
from monitor.web.links import address
from monitor.wording import printable

_PARAMETERS = ("q", "window", "sort", "order", "page", "refresh")


class Asked(NamedTuple):
    """What the request asks for.

    Attributes
    ----------
    query
        Words to search for.
    window
        Name; None for the first of each model.
    order, descending
        One of `ORDERS`, and which way.
    parameters
        Those of the request that are known.
    """

    query: str
    window: str | None
    order: str
    descending: bool
    parameters: Mapping[str, str]

    def link(self, **changes: str | None) -> str:
        """Return the address of this view with other parameters."""
        return address("./", {**self.parameters, **changes})


def asked_by(parameters: Mapping[str, str]) -> Asked:
    """Read a request's parameters; what makes no sense is left out."""
    given = {name: parameters[name] for name in _PARAMETERS if parameters.get(name)}
    order = given.get("sort", DEFAULT_ORDER)
    order = order if order in ORDERS else DEFAULT_ORDER
    way = given.get("order", "desc" if ORDERS[order].descending else "asc")
    return Asked(given.get("q", ""), given.get("window"), order, way == "desc", given)


def search_form(asked: Asked, windows: Iterable[str]) -> Html:
    """Return the search and the choice of a window; how it is sorted is kept."""
    kept = {name: asked.parameters[name] for name in ("sort", "order", "refresh") if name in asked.parameters}
    options = {"": "first of each model"} | {name: printable(name) for name in windows}
    chosen = asked.window or ""
    choices = (
        h("option", text, value=name, selected="" if name == chosen else None)
        for name, text in options.items()
    )
    return h(
        "form",
        h("label", "Search ", h("input", type="search", name="q", value=asked.query, id="q")),
        h("label", "Window ", h("select", *choices, name="window", id="window")),
        *(h("input", type="hidden", name=name, value=text) for name, text in kept.items()),
        h("button", "Show", type="submit"),
        action="./",
        role="search",
        class_="search",
        id="search",
    )


def heads(asked: Asked) -> Iterator[Html]:
    """Yield the heads of the columns, which sort by them: a second time the other way round."""
    for name, order in ORDERS.items():
        current = name == asked.order
        descending = not asked.descending if current else order.descending
        link = asked.link(sort=name, order="desc" if descending else "asc", page=None)
        way = ("descending" if asked.descending else "ascending") if current else None
        yield h("th", h("a", order.title, href=link), scope="col", aria_sort=way)
        if name == "metric":
            yield h("th", "Trend", scope="col", class_="trend")
