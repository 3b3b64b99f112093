"""Rules of nine kinds, as the documentation has them, with what they need beside the models."""

NINE_RULES = """
baselines: {reference: fraud-2026-10.baseline}
alerts:
  rules:
    RecallBelowFloor: {model: fraud, metric: recall, class: fraud, floor: 0.80, condition: sequential,
      false_alarm_every: 10000, severity: page, actions: [rollback]}
    CalibrationDrift: {model: fraud, detector: calibration, baseline: reference, tolerance: {shift: 0.1,
      slope: 1.1}, false_alarm_every: 100000, actions: [rollback]}
    PartialAucLow: {model: "*", metric: partial_roc_auc, max_fpr: 0.1, floor: 0.5, condition: interval,
      window: last_10k, for: 3, actions: [rollback]}
    PositivesMiscalibrated: {model: fraud, metric: brier_score, subset: positive, ceiling: 0.30, warn: 0.25,
      condition: value, window: 1d, for: 3d, severity: ticket, actions: [recalibrate]}
    RecallAtFprBelowBaseline: {model: fraud, metric: recall_at_fpr, max_fpr: 0.05, baseline: reference,
      margin: 0.02, window: last_10k, severity: review}
    FalsePositiveRateHigh: {model: fraud, metric: specificity, floor: 0.9, severity: ticket}
    PrecisionAtKLow: {model: fraud, metric: precision_at_k, k: 100, floor: 0.1, condition: value, window:
      last_10k, severity: ticket}
    NoDiscrimination: {model: "*", metric: roc_auc, floor: 0.5, condition: interval, window: last_10k,
      severity: ticket}
    WorseThanChampion: {model: fraud, metric: recall, compare_to: champion, margin: 0.02}
actions:
  rollback: {type: webhook, url: "https://hooks.example.com/rollback", secret_file: hook.key}
  recalibrate: {type: kafka, topic: models.control}
"""
