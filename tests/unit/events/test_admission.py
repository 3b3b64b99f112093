"""Places and vocabularies that are given back."""

from __future__ import annotations

from collections import Counter

from monitor.events.admission import Admission
from monitor.events.vocabulary import MISSING, OTHER_VALUE, Vocabulary


def admission(**limits: int) -> tuple[Admission, Counter[str]]:
    reached: Counter[str] = Counter()
    usual = {"max_models": 2, "max_versions": 2, "segment_values": 2}
    return Admission(["named"], **usual | limits, limits_reached=reached), reached


def test_codes_are_the_same_once_vocabularies_are_given_back() -> None:
    first, _ = admission()
    values = ["eu", None, "us", 3, "eu", "cn", "other"]
    codes = first.segment_codes(["named"] * len(values), "region", values).tolist()
    assert codes == [2, MISSING, 3, OTHER_VALUE, 2, OTHER_VALUE, OTHER_VALUE]
    assert first.vocabularies() == {("named", "region"): (["eu", "us"], 2)}
    second, reached = admission()
    second.resume([("named", "1")], first.vocabularies())
    assert second.segment_codes(["named"] * len(values), "region", values).tolist() == codes
    assert second.vocabularies() == {("named", "region"): (["eu", "us"], 4)}
    assert reached == {"segment_values": 2}


def test_places_are_given_back_whatever_the_limits() -> None:
    admitted, _ = admission(max_models=2, max_versions=1, segment_values=1)
    places = [("named", "1"), ("named", "2"), ("b", "1"), ("c", "1")]
    admitted.resume(places, {("named", "region"): (["eu", "us"], 0)})
    assert all(admitted.admit(*place) is None for place in places)
    assert admitted.admit("named", "3") is not None
    assert admitted.admit("d", "1") is not None
    assert admitted.segment_codes(["named"] * 3, "region", ["us", "eu", "cn"]).tolist() == [3, 2, OTHER_VALUE]
    for place in places[2:]:
        admitted.forget(*place)
    assert admitted.admit("d", "1") is None


def test_a_vocabulary_with_names_goes_on_counting() -> None:
    vocabulary = Vocabulary.of(3, ["x", "y"], 7)
    assert [vocabulary.code(value) for value in ("y", "x", None, "other", "z", "more")] == [3, 2, 0, 1, 4, 1]
    assert vocabulary.overflowed == 8
    assert vocabulary.names == ["x", "y", "z"]
    assert [vocabulary.name(code) for code in range(len(vocabulary))] == [None, "other", "x", "y", "z"]
