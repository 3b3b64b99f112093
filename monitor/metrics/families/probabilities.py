"""Metrics of probabilities."""

from __future__ import annotations

from math import inf

from monitor.metrics import brier, calibration, losses
from monitor.metrics.metric import NO_SCORES, Metric

_NOT_ACROSS_SIZES = "Not across windows of different size: the fewer the events, the more of it is noise."
_WITH_PREVALENCE = "Not across prevalences, as between segments or over time: compare the skill score."

FAMILIES: tuple[Metric, ...] = (
    Metric(
        name="classifier_brier_score",
        help=(
            "Mean squared error of the probability of the class; the whole is the sum over the classes "
            "(multilabel: the mean; binary: of the positive class)."
        ),
        use=(
            "How good the probabilities are in all, ranking and calibration together; with rare classes the "
            "subset of the positives shows what the negatives hide."
        ),
        compare=(
            "Not across prevalences: it falls with rarer positives while the model is the same; compare the "
            "skill score, or each subset."
        ),
        compute=losses.brier_score,
        labels=("class", "subset"),
        needs="probabilities",
        greater_is_better=False,
        range=(0, 2),
        interval="logit_t",
        undefined=(*NO_SCORES, "no_positives", "no_negatives"),
    ),
    Metric(
        name="classifier_brier_skill_score",
        help=(
            "1 - Brier score / Brier score of the prevalence as everyone's probability; 0 is no better than "
            "the prevalence."
        ),
        use="How good the probabilities are, on a scale that does not fall with the prevalence.",
        compare="With few positives it varies widely: see the support.",
        compute=brier.brier_skill_score,
        labels=("class",),
        needs="probabilities",
        greater_is_better=True,
        range=(-inf, 1),
        undefined=(*NO_SCORES, "no_positives", "no_negatives", "one_class"),
    ),
    Metric(
        name="classifier_brier_reliability",
        help=(
            "Part of the Brier score that is miscalibration: mean squared difference of mean probability and "
            "rate, over 10 equal bins."
        ),
        use="Whether to recalibrate: it is what recalibrating each bin would take off the score.",
        compare=_NOT_ACROSS_SIZES,
        compute=brier.brier_reliability,
        labels=("class",),
        needs="probabilities",
        greater_is_better=False,
        range=(0, 2),
        undefined=NO_SCORES,
    ),
    Metric(
        name="classifier_brier_resolution",
        help=(
            "Part of the Brier score that is discrimination, taken off it: how far the rates at different "
            "probabilities are apart; Brier score = reliability - resolution + uncertainty."
        ),
        use="Whether a worse Brier score is a loss of discrimination, which no recalibration repairs.",
        compare=_WITH_PREVALENCE,
        compute=brier.brier_resolution,
        labels=("class",),
        needs="probabilities",
        greater_is_better=True,
        range=(-1, 1),
        undefined=NO_SCORES,
    ),
    Metric(
        name="classifier_brier_uncertainty",
        help="Part of the Brier score that is the data's: prevalence (1 - prevalence).",
        use="Whether the Brier score changed because the prevalence did; it says nothing about the model.",
        compute=brier.brier_uncertainty,
        labels=("class",),
        needs="probabilities",
        undefined=NO_SCORES,
    ),
    Metric(
        name="classifier_log_loss",
        help=(
            "Mean of -log(probability of the true class), in nats, the probability at least 2**-24; of a "
            "class: one-vs-rest (multilabel: the whole is the mean over the classes)."
        ),
        use=(
            "Where probabilities near 0 and 1 matter: a single event that was wrongly called certain adds up "
            "to 16.6 / events."
        ),
        compare=_WITH_PREVALENCE,
        compute=losses.log_loss,
        labels=("class",),
        needs="probabilities",
        greater_is_better=False,
        range=(0, inf),
        interval="wald_t",
        undefined=NO_SCORES,
    ),
    Metric(
        name="classifier_calibration_error",
        help=(
            "Mean absolute difference of mean probability and rate over 15 equal bins, weighted by events "
            "(ECE, L1); the whole of a multiclass task: of the top label's probability."
        ),
        use=(
            "How far probabilities are off, in probability; it is above 0 for a perfectly calibrated model "
            "too: only what exceeds classifier_calibration_error_expected is miscalibration."
        ),
        compare=_NOT_ACROSS_SIZES + " Nor with calibration_error_debiased, which is a root mean square.",
        compute=calibration.calibration_error,
        labels=("class",),
        needs="probabilities",
        greater_is_better=False,
        undefined=NO_SCORES,
    ),
    Metric(
        name="classifier_calibration_error_debiased",
        help=(
            "Root mean squared difference of mean probability and rate over 15 equal bins, the part that is "
            "noise taken off (L2); 0 where it is all noise."
        ),
        use="How far probabilities are off beyond noise; about 0 for a calibrated model whatever the events.",
        compare="Not with calibration_error, which is a mean of absolute values (L1).",
        compute=calibration.calibration_error_debiased,
        labels=("class",),
        needs="probabilities",
        greater_is_better=False,
        undefined=(*NO_SCORES, "too_few_events"),
    ),
    Metric(
        name="classifier_calibration_error_expected",
        help=(
            "About the calibration_error that a perfectly calibrated model with the same probabilities would "
            "show on average with as many events."
        ),
        use="What part of classifier_calibration_error is noise; it falls with the number of events.",
        compare="With classifier_calibration_error of the same window alone.",
        compute=calibration.calibration_error_expected,
        labels=("class",),
        needs="probabilities",
        undefined=NO_SCORES,
    ),
    Metric(
        name="classifier_calibration_slope",
        help=(
            "Slope of the logistic fit of the outcomes on their log-odds: 1 if calibrated, below 1 "
            "overconfident, above 1 underconfident."
        ),
        use="Whether probabilities are too extreme or too timid; a single number for temperature scaling.",
        compare="With few events of the rarer outcome it varies widely: see the support.",
        compute=calibration.calibration_slope,
        labels=("class",),
        needs="probabilities",
        range=(-inf, inf),
        undefined=(*NO_SCORES, "no_positives", "no_negatives", "equal_scores", "separated"),
    ),
    Metric(
        name="classifier_calibration_intercept",
        help=(
            "Intercept of the same fit with slope 1: by how much the log-odds are too low on the whole; 0 if "
            "calibrated, above 0 where events are more frequent than their probabilities say."
        ),
        use="Whether the prevalence moved away from what the model learned, and by how much to shift it.",
        compute=calibration.calibration_intercept,
        labels=("class",),
        needs="probabilities",
        range=(-inf, inf),
        undefined=(*NO_SCORES, "no_positives", "no_negatives"),
    ),
    Metric(
        name="classifier_calibration_p_value",
        help=(
            "Chance of a deviation at least as large if the probabilities are right: Cox's score test of "
            "intercept 0 and slope 1 (2 degrees of freedom)."
        ),
        use=(
            "One look at whether a deviation can be chance; not for alerts: it falls below any limit "
            "if looked at often enough, and with many events the least deviation is significant."
        ),
        compare="Not across windows: it says how sure a deviation is, not how large.",
        compute=calibration.calibration_p_value,
        labels=("class",),
        needs="probabilities",
        undefined=(*NO_SCORES, "equal_scores"),
    ),
)
