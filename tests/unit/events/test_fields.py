from __future__ import annotations

import pytest

from monitor.errors import ConfigurationError
from monitor.events.fields import FIELDS, resolve_fields


def test_without_a_mapping_fields_stand_under_their_names() -> None:
    paths = resolve_fields({}, ["region"])
    assert paths.fields == {name: (name,) for name in FIELDS}
    assert paths.segments == {"region": ("segments", "region")}


def test_a_key_that_holds_mapped_fields_is_no_field() -> None:
    paths = resolve_fields({"score": "model.probability"}, [])
    assert paths.fields["score"] == ("model", "probability")
    assert "model" not in paths.fields


def test_a_key_that_was_given_away_is_not_read_under_its_own_name() -> None:
    paths = resolve_fields({"label": "prediction", "id": "version"}, [])
    assert paths.fields["label"] == ("prediction",)
    assert "prediction" not in paths.fields
    assert "version" not in paths.fields


def test_canonical_names_written_out_are_no_mapping() -> None:
    written = {name: name for name in (*FIELDS, "id", "segments")} | {"score": "model.probability"}
    assert resolve_fields(written, ["region"]) == resolve_fields({"score": "model.probability"}, ["region"])


def test_segments_stand_in_one_object_or_each_at_its_path() -> None:
    assert resolve_fields({"segments": "meta.tags"}, ["a"]).segments == {"a": ("meta", "tags", "a")}
    paths = resolve_fields({"segments": {"a": "user.country", "b": "label"}}, ["a", "b", "c"])
    assert paths.segments == {"a": ("user", "country"), "b": ("label",), "c": ("segments", "c")}
    assert paths.fields["label"] == ("label",)


def test_scores_may_be_mapped_class_by_class() -> None:
    paths = resolve_fields({"scores": {"a": "p.a", "b": "p.b"}}, [])
    assert paths.scores == {"a": ("p", "a"), "b": ("p", "b")}
    assert "scores" not in paths.fields


def test_a_field_inside_another_is_refused() -> None:
    with pytest.raises(
        ConfigurationError, match=r"events\.fields\.timestamp: outcome\.time lies inside outcome"
    ):
        resolve_fields({"label": "outcome", "timestamp": "outcome.time"}, [])
