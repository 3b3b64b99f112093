from dataclasses import replace

from monitor.web.charts import draw, standalone
from tests.support.reports import window_curves, window_report
from tests.support.svg import parsed, texts
from tests.support.web import HOSTILE

SVG = "{http://www.w3.org/2000/svg}"


def document(title: str) -> str:
    svg = draw("roc", replace(window_report(), curves=window_curves()), "fraud")
    return standalone(svg, title)


def test_a_document_has_all_it_needs():
    text = document("ROC curve: fraud")
    root = parsed(text.removeprefix('<?xml version="1.0" encoding="UTF-8"?>\n'))
    assert root.tag == f"{SVG}svg"
    css = root.find(f"{SVG}style").text
    assert "prefers-color-scheme: dark" in css
    assert "var(" not in css  # not every viewer knows variables
    assert "url(" not in css and "@import" not in css
    inner = root.find(f"{SVG}svg")
    assert [inner.get(name) for name in ("width", "viewBox")] == ["400", f"0 0 400 {inner.get('height')}"]
    assert root.get("viewBox") == f"0 0 400 {float(inner.get('height')) + float(inner.get('y')):g}"


def test_a_long_title_takes_more_lines():
    root = parsed(document("ROC curve: " + "a-very-long-name " * 8).split("\n", 1)[1])
    heads = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "heading"]
    assert len(heads) > 2 and max(map(len, heads)) < 60


def test_titles_cannot_break_out():
    text = document(HOSTILE)
    assert "<script" not in text and "\x1b" not in text
    assert texts(parsed(text.split("\n", 1)[1])) == []  # none without the namespace
