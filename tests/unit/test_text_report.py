import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import classification_report as sklearn_report

from monitor.report import NotInReportError
from monitor.text_report import classification_report, render_report
from tests.support.reports import (
    empty_window,
    example,
    multilabel_window,
    number,
    report,
    window_curves,
    window_report,
)


def rows(text: str) -> dict[str, list[str]]:
    """Return the numbers of each line outside brackets, by the words before them."""
    found = {}
    for line in re.sub(r"\[.*?\]", "", text).splitlines():
        match = re.match(r"\s*(\S.*?)\s{2,}(.*)", line)
        if match:
            found[match[1]] = match[2].split()
    return found


def test_the_numbers_are_scikit_learns():
    confusion = ((9660, 138, 0), (31, 171, 0))
    pairs = [(t, p) for t, row in enumerate(confusion) for p, count in enumerate(row) for _ in range(count)]
    true, predicted = zip(*pairs, strict=True)
    theirs = rows(sklearn_report(true, predicted, target_names=["legit", "fraud"], digits=4))
    ours = rows(classification_report(window_report(confusion=confusion)))
    for name in ("legit", "fraud", "accuracy", "macro avg", "weighted avg"):
        assert ours[name] == theirs[name]


def test_the_numbers_of_a_multilabel_window_are_scikit_learns():
    rng = np.random.default_rng(3)
    true, predicted = ((rng.random((200, 3)) < share).astype(int) for share in (0.3, 0.4))
    theirs = rows(
        sklearn_report(true, predicted, target_names=["a", "b", "c"], digits=4, zero_division=np.nan)
    )
    text = classification_report(multilabel_window(true, predicted))
    ours = rows(text)
    for name in ("a", "b", "c", "micro avg", "macro avg", "weighted avg", "samples avg"):
        assert ours[name] == theirs[name]
    assert re.search(rf"^Accuracy +{(true == predicted).all(1).mean():.4f}$", text, re.M)


def test_a_model_that_always_decides_for_a_class_shows_itself():
    found = rows(classification_report(window_report(confusion=((0, 990, 0), (0, 10, 0)))))
    recall, predicted_rate, lift, prevalence, ratio, *zone = found["class fraud"]
    assert (recall, predicted_rate, lift, prevalence, ratio) == (
        "1.0000", "1.0000", "1.0000", "0.0100", "0.0101",
    )  # fmt: skip
    assert zone[0] == "yellow:"


def test_a_model_that_never_decides_for_a_class_shows_itself():
    text = classification_report(window_report(confusion=((995, 0, 0), (5, 0, 0))))
    assert rows(text)["class fraud"][:4] == ["0.0000", "0.0000", "-", "0.0050"]
    assert re.search("^class fraud .* red: less than 1 to 100$", text, re.M)


def test_a_best_threshold_says_what_it_would_have_brought():
    best = [
        number("classifier_best_threshold", 0.4, 100, class_="fraud", criterion=criterion)
        for criterion in ("cost", "f1", "min_fpr_at_recall")
    ]
    window = replace(window_report(), values=tuple(best))
    assert re.findall("^Best threshold.*", classification_report(window), re.M) == [
        "Best threshold by cost (fraud)               0.400000",
        "Best threshold by f1 (fraud)                 0.400000",
        "Best threshold by min_fpr_at_recall (fraud)  0.400000",
    ]
    drawn = classification_report(replace(window, curves=window_curves()))
    assert (
        "0.400000: F1 0.6670 on this window; chosen on its older half, 0.6000 on the newer, where the "
        "model's own has 0.5000\n"
    ) in drawn


def test_values_of_low_support_are_named():
    text = classification_report(window_report(confusion=((90, 5, 0), (2, 3, 0))))
    assert "- low support, to be read with care: Precision (fraud), Recall (fraud)\n" in text
    assert "low support" not in classification_report(window_report(confusion=((900, 50, 0), (20, 300, 0))))


def test_the_head_says_what_the_numbers_are_of():
    first, second = classification_report(window_report(segment="region=eu")).splitlines()[:2]
    assert first == "model fraud, version 2026-11-01, window last_10k, segment region=eu"
    assert second == (
        "10250 events, 10000 labeled, 2025-11-29 11:00:00 UTC to 2025-11-29 12:00:00 UTC, complete"
    )
    assert "NOT COMPLETE" in classification_report(window_report(complete=False))


def test_proportions_and_ranking_metrics_have_intervals():
    text = classification_report(window_report(), 0.9)
    assert "0.8366 [0.7795, 0.8812]" in text
    assert re.search(r"^ROC AUC \(fraud\) +0.9612 \[0.9492, 0.9732\]$", text, re.M)
    assert re.search(r"^Recall at FPR 0.1 \(fraud\) +0.8400 \[", text, re.M)
    assert "90% confidence interval (effective_n, wilson), for independent events" in text


def test_an_undefined_value_is_a_dash_with_its_reason():
    text = classification_report(window_report(confusion=((5, 0, 0), (0, 0, 0)), ranks=None))
    assert rows(text)["fraud"] == ["-", "-", "-", "0"]
    assert rows(text)["ROC AUC (fraud)"] == ["-"]
    assert re.search(
        r"^- no labeled event of this class in the window: Recall \(fraud\), ROC AUC", text, re.M
    )
    assert "- no decision for this class in the window: Precision (fraud)" in text
    assert "nan" not in text.lower()


def test_an_empty_window_is_one_line():
    text = classification_report(empty_window())
    assert text == "model fraud, version 2026-11-01, window last_10k, all events: no event\n"


def test_a_value_that_is_not_there_leaves_no_line():
    window = window_report()
    values = tuple(v for v in window.values if v.name in ("classifier_recall", "classifier_precision"))
    text = classification_report(replace(window, values=values))
    assert "ROC AUC" not in text
    assert rows(text)["fraud"] == ["0.5505", "0.8366", "202"]


def test_an_analytic_interval_goes_before_a_bootstrap_one():
    window = window_report()
    recall = window.find("classifier_recall", class_="fraud")
    bootstrap = recall.intervals[0]._replace(method="bootstrap", lower=0.1)
    both = recall._replace(intervals=(bootstrap, *recall.intervals))
    values = tuple(both if v is recall else v for v in window.values)
    assert "0.8366 [0.7795, 0.8812]" in classification_report(replace(window, values=values))


def test_names_cannot_move_the_cursor_or_break_lines():
    text = classification_report(window_report(model="a\x1b[2J\nb", version="\u202ex", classes=("\r", "c\n")))
    assert text.startswith(r"model a\x1b[2J\nb, version \u202ex, window")
    assert all(character.isprintable() for character in text.replace("\n", ""))
    assert not re.search("^b", text, re.M)


@pytest.mark.parametrize("classes", [("a", "b"), ("a rather long class name", "b", "c")])
def test_columns_are_aligned(classes):
    count = len(classes)
    confusion = tuple((*(7 * (t == p) + (t + p) % 2 for p in range(count)), 0) for t in range(count))
    lines = classification_report(window_report(classes=classes, confusion=confusion)).splitlines()
    table = lines[3 : 3 + 4 + count + 2]
    assert {len(line) for line in table if line} == {len(lines[3])}


def test_reports_are_chosen_by_name():
    text = render_report(example(), model="fraud", window="last_10k")
    assert re.findall("^model .*", text, re.M) == [
        "model fraud, version 2026-11-01, window last_10k, all events",
        "model fraud, version 2026-12-01, window last_10k, all events",
    ]
    assert len(re.findall("^model ", render_report(example()), re.M)) == 5


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(NotInReportError, match="no version '7' in the newest report; known: '2026-11-01'"):
        render_report(example(), model="fraud", version="7")
    with pytest.raises(NotInReportError, match="known: none yet"):
        render_report(report(), model="fraud")
