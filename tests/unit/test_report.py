import pytest

from monitor.report import NotInReportError
from tests.support.reports import example, window_report


def test_a_value_is_found_by_exactly_its_labels():
    window = window_report()
    assert window.find("classifier_recall", class_="fraud").numerator == 169
    assert window.find("classifier_recall") is None
    assert window.find("classifier_roc_auc", class_="fraud", max_fpr="0.1") is None


def test_select_takes_all_events_unless_told_otherwise():
    assert {window.segment for window in example().select(model="fraud")} == {""}
    assert {window.segment for window in example().select(model="fraud", segment=None)} == {"", "region=eu"}
    (window,) = example().select("fraud", "2026-11-01", "last_10k", "region=eu")
    assert window.segment == "region=eu"


@pytest.mark.parametrize(
    "names, what, known",
    [
        (("x", None, None), "model", ("fraud", "iris")),
        (("iris", "1", None), "version", ("",)),
        (("iris", "", "1h"), "window", ("last_10k",)),
        (("fraud", "2026-11-01", "all", "region=eu"), "segment", ("",)),
    ],
)
def test_the_first_unknown_name_is_told(names, what, known):
    with pytest.raises(NotInReportError) as refused:
        example().select(*names)
    assert (refused.value.what, refused.value.known) == (what, known)
