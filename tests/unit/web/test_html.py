from hypothesis import given
from hypothesis import strategies as st

from monitor.web.html import Html, h, join


def test_text_is_escaped_once_and_html_not_again():
    assert h("p", "a < b", h("b", "&")) == "<p>a &lt; b<b>&amp;</b></p>"
    assert isinstance(join("<", Html("<br>")), Html)
    assert join("<", Html("<br>"), None) == "&lt;<br>"


def test_attributes_are_escaped_and_named():
    assert h("a", class_="x", aria_label='"<', href=None) == '<a class="x" aria-label="&quot;&lt;"></a>'
    assert h("option", value="a\r\nb") == '<option value="a&#13;\nb"></option>'
    assert h("meta", charset="utf-8") == '<meta charset="utf-8">'


@given(st.text(), st.text())
def test_no_text_leaves_its_place(text, attribute):
    inner = h("i", text, title=attribute).removeprefix('<i title="').removesuffix("</i>")
    assert inner.count('"') == inner.count(">") == 1
    assert "<" not in inner
