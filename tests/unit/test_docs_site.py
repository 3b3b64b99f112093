"""docs/ as a site: it builds strictly, is complete, and asks no other host for anything."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


class Loaded(HTMLParser):
    """Collects what a browser would load with a page: scripts, styles, pictures, frames."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.addresses.append(given.get("href") or "")
        if tag in ("script", "img", "iframe", "source"):
            self.addresses.append(given.get("src") or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; strict, it fails on broken links and anchors, and on pages that no menu has."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert built.returncode == 0, built.stderr
    return folder


def test_every_page_is_built(site: Path) -> None:
    pages = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    built = {path.relative_to(site) for path in site.rglob("*.html")}
    readmes = {page for page in pages if page.stem == "README"}
    assert pages - readmes | {page.with_name("index.html") for page in readmes} <= built
    assert not list(site.rglob("*.py"))


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    loaded = Loaded()
    for path in site.rglob("*.html"):
        loaded.feed(path.read_text("utf-8"))
    assert len(loaded.addresses) > 100
    assert {address for address in loaded.addresses if re.match(r"(https?:)?//", address)} == set()
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)\"']+", styles) == []


def test_every_decision_is_listed() -> None:
    listed = re.findall(r"\]\((0[^)]+)\)", (DOCS / "adr" / "README.md").read_text("utf-8"))
    assert listed == sorted(path.name for path in (DOCS / "adr").glob("0*.md"))


def test_pictures_are_those_of_the_present_code() -> None:
    drawing = runpy.run_path(str(DOCS / "pictures" / "draw.py"))
    for name in drawing["PICTURES"]:
        drawn = drawing["drawn"](name)
        assert (DOCS / "pictures" / f"{name}.svg").read_text("utf-8") == drawn, "run: docs/pictures/draw.py"
