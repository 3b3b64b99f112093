"""However a stream is divided and whoever shares a call: the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.detection import (
    Statistic,
    calibration,
    difference_ceiling,
    mean_ceiling,
    mean_floor,
    proportion_floor,
    run,
)
from monitor.detection.running import BLOCK


def hits(rng, n):
    return (rng.random(n) < np.repeat(rng.choice([0.5, 0.97], n // 50 + 1), 50)[:n]).astype(float)


def outcomes(rng, n):
    z = rng.normal(0, 2, n)
    truth = z + np.repeat(rng.choice([-1.5, 0, 1.5], n // 100 + 1), 100)[:n]
    return np.stack([z, rng.random(n) * (1 + np.exp(-truth)) < 1], axis=1)


KINDS = [
    (proportion_floor(0.8, 30), hits),
    (mean_floor(0.6, 50), lambda rng, n: rng.random(n)),
    (mean_ceiling(0.4, 1e4), lambda rng, n: rng.random(n)),
    (difference_ceiling(0.02, 40), lambda rng, n: rng.uniform(-1, 1, n)),
    (calibration(0.1, 1.1, 100), outcomes),
]


def plain(detector, observations):
    """Run the recursion as it is written down: the oracle."""
    crossings, firing, direction = [], False, ""
    evalues, start = detector.raising, 0
    wealth = [0.0] * len(evalues.names)
    for i in range(len(observations)):
        wealth = [
            f * (1 + m) for f, m in zip(evalues.of(observations[i : i + 1])[0].tolist(), wealth, strict=True)
        ]
        value = 0.0
        for w, m in zip(evalues.weights.tolist(), wealth, strict=True):
            value += w * m
        if value >= detector.threshold:
            if not firing:
                parts = {}
                for name, w, m in zip(evalues.names, evalues.weights.tolist(), wealth, strict=True):
                    parts[name] = parts.get(name, 0.0) + w * m
                direction = max(parts, key=parts.get)
            firing = not firing
            crossings.append((i, firing, value, direction, i + 1 - start))
            evalues, start = detector.running(firing, direction), i + 1
            wealth = [0.0] * len(evalues.names)
    return wealth, firing, len(observations) - start, crossings


def flat(statistic, crossings, offset=0):
    return (
        statistic.wealth.tolist(),
        statistic.firing,
        statistic.observations,
        [(c.index + offset, c.firing, c.statistic, c.direction, c.observations) for c in crossings],
    )


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    streams=st.lists(
        st.tuples(st.integers(0, len(KINDS) - 1), st.integers(0, 3 * BLOCK)), min_size=1, max_size=6
    ),
    cuts=st.lists(st.integers(0, 3 * BLOCK), max_size=5),
)
def test_no_division_and_no_company_changes_a_bit(seed, streams, cuts):
    rng = np.random.default_rng(seed)
    detectors = [KINDS[kind][0] for kind, _ in streams]
    observations = [KINDS[kind][1](rng, n) for kind, n in streams]
    expected = [plain(*pair) for pair in zip(detectors, observations, strict=True)]

    together = run(detectors, [Statistic.fresh(detector) for detector in detectors], observations)
    assert [flat(*one) for one in zip(*together, strict=True)] == expected

    statistics = [Statistic.fresh(detector) for detector in detectors]
    crossings = [[] for _ in detectors]
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), 3 * BLOCK], strict=True):
        statistics, found = run(detectors, statistics, [x[start:stop] for x in observations])
        for known, new in zip(crossings, found, strict=True):
            known += [(c.index + start, c.firing, c.statistic, c.direction, c.observations) for c in new]
    for statistic, known, (wealth, firing, since, all_of_them) in zip(
        statistics, crossings, expected, strict=True
    ):
        assert (statistic.wealth.tolist(), statistic.firing, statistic.observations) == (
            wealth,
            firing,
            since,
        )
        assert known == all_of_them


def test_streams_cross_often_enough_for_that_test():
    rng = np.random.default_rng(1)
    for detector, draw in KINDS[:1] + KINDS[3:]:
        assert len(plain(detector, draw(rng, 3 * BLOCK))[3]) >= 2


def test_many_detectors_are_as_each_alone():
    rng = np.random.default_rng(3)
    detector = proportion_floor(0.75, 1e4)
    streams = [hits(rng, int(n)) for n in rng.integers(0, 600, 2 * BLOCK + 5)]
    fresh = Statistic.fresh(detector)
    together = run([detector] * len(streams), [fresh] * len(streams), streams)
    for i in (0, 7, BLOCK, len(streams) - 1):
        (statistic,), (crossings,) = run([detector], [fresh], streams[i : i + 1])
        assert flat(statistic, crossings) == flat(together[0][i], together[1][i])


def test_layout_of_observations_changes_nothing():
    rng = np.random.default_rng(5)
    detector = calibration(0.1, 1.1, 100)
    x = outcomes(rng, 1000)
    turned, strided = np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2]
    fresh = [Statistic.fresh(detector)]
    expected = flat(*(one[0] for one in run([detector], fresh, [x])))
    for other in (turned, strided):
        assert flat(*(one[0] for one in run([detector], fresh, [other]))) == expected


def test_statistics_stay_below_the_threshold_whatever_comes():
    detector = mean_floor(0.999, 1e5)
    (statistic,), (crossings,) = run([detector], [Statistic.fresh(detector)], [np.zeros(200_000)])
    assert statistic.firing
    assert len(crossings) == 1
    assert statistic.value(detector) < 1e5
    assert np.isfinite(statistic.wealth).all()


def test_what_is_no_observation_is_refused():
    detector = proportion_floor(0.8, 100)
    for bad in (np.nan, 30.0):
        with pytest.raises(ValueError, match="no number, or outside the range"):
            run([detector], [Statistic.fresh(detector)], [np.array([1.0, bad])])
