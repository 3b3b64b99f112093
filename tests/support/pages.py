"""A reader of pages that is strict about nesting."""

from __future__ import annotations

from html.parser import HTMLParser

from monitor.web.layout import Page

Attributes = dict[str, str | None]


class Document(HTMLParser):
    """Collects elements and texts; fails where tags do not nest or ids repeat."""

    void = frozenset({"br", "hr", "img", "input", "link", "meta"})

    def __init__(self, source: str | Page) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, Attributes]] = []
        self.text = ""
        self.feed(source.html if isinstance(source, Page) else source)
        assert self.open == []
        ids = [attributes["id"] for _, attributes in self.elements if "id" in attributes]
        assert len(ids) == len(set(ids))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}

    def all(self, tag: str) -> list[Attributes]:
        return [attributes for name, attributes in self.elements if name == tag]

    def links(self) -> list[str]:
        return [attributes["href"] or "" for attributes in self.all("a")]
