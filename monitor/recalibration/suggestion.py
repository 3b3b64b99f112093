"""Which map would make probabilities right again, if any is certain to: chosen by cross-validation.

A map is suggested where its gain on events that it was not fitted to is above 0 by 1.64 standard errors: on
calibrated scores every map fitted to a few thousand events makes them worse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from monitor.detection import CalibrationMap
from monitor.recalibration.linear import (
    BETA,
    PLATT,
    SHIFT,
    TEMPERATURE,
    Counts,
    Floats,
    LinearMap,
    expit,
    softplus,
)

EPSILON = 2.0**-24
"""How near to 0 and 1 probabilities come at most, before their log-odds are taken."""

FOLDS = 5
ERRORS = 1.64
"""Standard errors by which a gain must be above 0."""

LEAST = 20
"""Events of either class without which nothing is suggested."""

LEAST_FOR_MORE = 100
"""Positives without which maps of more than two parameters are not tried."""

ISOTONIC = "isotonic"
_LINEAR = {kind.name: kind for kind in (TEMPERATURE, SHIFT, PLATT, BETA)}


@dataclass(frozen=True)
class Suggestion:
    """A map to put behind the model's scores, or the reason why there is none.

    Attributes
    ----------
    map
        "temperature", "shift", "platt", "beta" or "isotonic"; None.
    parameters
        Of the map by name.
    gain, standard_error
        Log loss per event that it saves on events that it was not fitted to, in nats.
    reason
        Why there is none.
    """

    map: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    gain: float = 0.0
    standard_error: float = 0.0
    reason: str | None = None

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        if self.map is None:
            return {"map": None, "reason": self.reason}
        return {
            "map": self.map,
            "parameters": dict(self.parameters),
            "gain": self.gain,
            "standard_error": self.standard_error,
            "formula": self.formula,
        }

    @property
    def formula(self) -> str:
        """The map for people, its numbers rounded."""
        if self.map is None:
            return "p' = p"
        numbers = {name: value for name, value in self.parameters.items() if isinstance(value, float)}
        plain = {name: f"{value:.4g}" for name, value in numbers.items()}
        signed = {f"plus_{name}": _signed(value) for name, value in numbers.items()}
        negated = {f"minus_{name}": _signed(-value) for name, value in numbers.items()}
        return _FORMULAS[self.map].format_map(plain | signed | negated)


def _signed(value: float) -> str:
    """Write a number as the next one of a sum."""
    return f"{'-' if value < 0 else '+'} {abs(value):.4g}"


_FORMULAS = {
    "temperature": "logit(p') = logit(p) / {temperature}",
    "shift": "logit(p') = logit(p) {plus_shift}",
    "platt": "logit(p') = {intercept} {plus_slope} * logit(p)",
    "beta": "logit(p') = {c} {plus_a} * log(p) {minus_b} * log(1 - p)",
    ISOTONIC: "p' = rates at p, linear between scores",
}


def suggest(scores: Floats, positives: Counts, events: Counts, seed: int) -> Suggestion:
    """Return the map of greatest cross-validated gain among those that are certain to gain.

    Parameters
    ----------
    scores : shape (G,)
        Distinct probabilities, each of a group of events.
    positives, events : shape (G,)
        With that score; groups without events do not count.
    seed
        Of the split into folds: the same seed and groups give the same suggestion.
    """
    order = np.argsort(scores, kind="stable")
    order = order[events[order] > 0]
    scores, positives, events = scores[order], positives[order], events[order]
    found = int(positives.sum())
    if min(found, int(events.sum()) - found) < LEAST:
        return Suggestion(reason=f"fewer than {LEAST} events of either class")
    samples = _split(scores, positives, events, seed)
    candidates = [_judged(kind, samples) for kind in (TEMPERATURE, SHIFT, PLATT)]
    if found >= LEAST_FOR_MORE:
        candidates += [_judged(BETA, samples), _isotonic(samples)]
    certain = [s for s in candidates if s is not None and s.gain > ERRORS * s.standard_error]
    if not certain:
        return Suggestion(reason="no map is certain to improve on the scores as they are")
    return max(certain, key=lambda suggestion: suggestion.gain)


def apply(suggestion: Suggestion, p: Floats) -> Floats:
    """Return probabilities (n,) after the map; unchanged where there is none."""
    if suggestion.map is None:
        return p
    parameters = suggestion.parameters
    if suggestion.map == ISOTONIC:
        rates: Floats = np.interp(p, np.array(parameters["scores"]), np.array(parameters["rates"]))
        return rates
    return expit(_LINEAR[suggestion.map].logit(_coefficients(suggestion.map, parameters), logit(p)))


def logit(p: Floats) -> Floats:
    """Return the log-odds of probabilities, clipped so that they are finite."""
    clipped = np.clip(p, EPSILON, 1 - EPSILON)
    z: Floats = np.log(clipped) - np.log1p(-clipped)
    return z


class _Samples(NamedTuple):
    """The events of each fold, (FOLDS, G), and those to fit to: all but a fold's, last all of them."""

    scores: Floats
    z: Floats
    positives: Counts
    events: Counts
    fit_positives: Counts
    fit_events: Counts


def _split(scores: Floats, positives: Counts, events: Counts, seed: int) -> _Samples:
    """Put every event into a fold by chance."""
    random = np.random.default_rng(seed)
    held, others = (
        random.multinomial(side, [1 / FOLDS] * FOLDS).T for side in (positives, events - positives)
    )
    out_of = np.concatenate((held, np.zeros((1, len(scores)), np.int64)))
    all_out = out_of + np.concatenate((others, np.zeros((1, len(scores)), np.int64)))
    return _Samples(scores, logit(scores), held, held + others, positives - out_of, events - all_out)


def _judged(kind: LinearMap, samples: _Samples) -> Suggestion | None:
    """Return a linear map with its gain, None where it would turn scores round."""
    beta = kind.fit(samples.z, samples.fit_positives, samples.fit_events)
    if not kind.keeps_order(beta[-1]):
        return None
    parameters = _parameters(kind.name, beta[-1])
    return Suggestion(kind.name, parameters, *_gain(samples, kind.logit(beta[:-1], samples.z)))


def _isotonic(samples: _Samples) -> Suggestion:
    maps = [
        CalibrationMap.fit(samples.scores, positives, events, least=0)
        for positives, events in zip(samples.fit_positives, samples.fit_events, strict=True)
    ]
    found = maps[-1]
    parameters = {"scores": found.scores.tolist(), "rates": found.rates.tolist()}
    return Suggestion(
        ISOTONIC, parameters, *_gain(samples, np.stack([of.logit(samples.scores) for of in maps[:-1]]))
    )


def _gain(samples: _Samples, after: Floats) -> tuple[float, float]:
    """Return the mean gain in log loss of log-odds (FOLDS, G) on the folds, and its standard error."""
    negatives = samples.events - samples.positives
    of_positive = softplus(-samples.z) - softplus(-after)
    of_negative = softplus(samples.z) - softplus(after)
    n = samples.events.sum()
    mean = (samples.positives * of_positive + negatives * of_negative).sum() / n
    square = (samples.positives * (of_positive - mean) ** 2 + negatives * (of_negative - mean) ** 2).sum() / n
    return float(mean), float(np.sqrt(square / n))


def _parameters(name: str, beta: Floats) -> dict[str, float]:
    values = beta.tolist()
    if name == "temperature":
        return {"temperature": 1 / values[0]}
    names = {"shift": ("shift",), "platt": ("intercept", "slope"), "beta": ("c", "a", "b")}[name]
    return dict(zip(names, values, strict=True))


def _coefficients(name: str, parameters: Mapping[str, float]) -> Floats:
    """Return what `_parameters` made parameters of."""
    if name == "temperature":
        return np.array([1 / parameters["temperature"]])
    return np.array(list(parameters.values()))
