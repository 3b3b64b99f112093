from hypothesis import given
from hypothesis import strategies as st

from monitor.metrics.outcome import REASONS as CODES
from monitor.report import Value
from monitor.wording import REASONS, explain, iso, number, printable, title, utc


def test_every_reason_has_words():
    assert set(REASONS) == set(CODES) - {""}
    assert explain("not_for_multilabel") == "not for multilabel"


def test_titles_tell_values_of_a_family_apart():
    def titled(name: str, **labels: str) -> str:
        return title(Value(name, {k.rstrip("_"): v for k, v in labels.items()}, 1.0, None, 1))

    assert titled("classifier_accuracy") == "Accuracy"
    assert titled("classifier_recall_at_fpr", class_="a", max_fpr="0.05") == "Recall at FPR 0.05 (a)"
    assert titled("classifier_partial_roc_auc", max_fpr="0.05") == "Partial ROC AUC up to FPR 0.05"
    assert titled("classifier_brier_score", class_="a", subset="all") == "Brier score (a)"
    assert titled("classifier_brier_score", class_="", subset="positive") == "Brier score (positive)"
    assert titled("classifier_some_thing", k="5") == "some thing (5)"


def test_numbers():
    assert [number(x) for x in (0.0, 1.0, 0.12345, -0.5, 0.00012)] == [
        "0.0000", "1.0000", "0.1235", "-0.5000", "1.2e-04",
    ]  # fmt: skip


def test_times():
    assert utc(1_764_417_600_000_001) == "2025-11-29 12:00:00 UTC"
    assert iso(1_764_417_600_000_001) == "2025-11-29T12:00:00.000001Z"
    assert (utc(None), iso(None)) == ("-", None)


@given(st.text())
def test_printable_text_stays_and_all_else_is_escaped(text):
    assert printable(text).isprintable()
    assert printable(text) == text or not text.isprintable()
