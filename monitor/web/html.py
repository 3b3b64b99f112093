"""HTML that is escaped by construction: text is only ever put in through `h`."""

from __future__ import annotations

from html import escape

_VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def h(tag: str, /, *children: str | None, **attributes: str | None) -> Html:
    """Return an element.

    Parameters
    ----------
    tag
        Its name.
    children
        Escaped, unless they are `Html`; None is left out.
    attributes
        Escaped; None is left out. A trailing underscore is dropped (`class_`), others become dashes.
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_quoted(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    if tag in _VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{join(*children)}</{tag}>")


def _quoted(value: str) -> str:
    return escape(value).replace("\r", "&#13;")  # parsers would make a line feed of it


def join(*parts: str | None) -> Html:
    """Return the parts one after the other, escaped unless they are `Html`."""
    return Html("".join(p if isinstance(p, Html) else escape(p) for p in parts if p is not None))
