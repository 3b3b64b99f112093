"""Which page of a long list is asked for, and links to its neighbours. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from monitor.web.html import Html, h

PER_PAGE = 50
"""Most entries on one page of a list."""

Entry = TypeVar("Entry")


def paged(
    entries: Sequence[Entry], parameters: Mapping[str, str], link: Callable[[str], str], what: str
) -> tuple[Sequence[Entry], Html | None]:
    """Return the entries of one page, and links to its neighbours: None where there is only one page.

    Parameters
    ----------
    entries
        All of them.
    parameters
        Of the request: `page` counts from 1; what makes no sense is the first page, or the last.
    link
        Returns the address of the same view at another page.
    what
        The entries, for screen readers.
    """
    pages = max(1, -(-len(entries) // PER_PAGE))
    asked = parameters.get("page", "")
    page = min(max(1, int(asked)), pages) if asked.isdecimal() and len(asked) < 10 else 1
    here = entries[PER_PAGE * (page - 1) : PER_PAGE * page]
    return here, _links(page, pages, link, what) if pages > 1 else None


def _links(page: int, pages: int, link: Callable[[str], str], what: str) -> Html:
    def neighbour(to: int, text: str, rel: str) -> Html | None:
        return h("a", text, href=link(f"{to}"), rel=rel) if 1 <= to <= pages else None

    return h(
        "nav",
        neighbour(page - 1, "← Previous", "prev"),
        h("span", f"Page {page:,} of {pages:,}"),
        neighbour(page + 1, "Next →", "next"),
        class_="tabs",
        aria_label=f"Pages of {what}",
    )
