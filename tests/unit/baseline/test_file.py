"""Stored references on disk: whole, checked, and refused in one message."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.baseline import Baseline, load_baseline, store_baseline
from monitor.errors import ConfigurationError
from tests.support.baselines import example


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "fraud.baseline"


def equal(one: Baseline, other: Baseline) -> bool:
    """Compare all but the arrays by ==, and those by bytes."""
    small = ("model", "version", "meaning", "events", "labeled", "first_event", "last_event", "values")
    return all(getattr(one, name) == getattr(other, name) for name in small) and all(
        (a == b) if isinstance(a, bool) else (a.dtype == b.dtype and a.tobytes() == b.tobytes())
        for name in one.scored
        for a, b in zip(one.scored[name], other.scored[name], strict=True)
    )


def test_what_is_stored_is_loaded(path: Path) -> None:
    size = store_baseline(example(), path)
    assert path.stat().st_size == size
    assert equal(load_baseline(path), example())
    assert load_baseline(str(path)).value("classifier_roc_auc", "fraud", {}) == 0.875


def test_another_takes_the_place_of_one_and_nothing_else_is_left(path: Path) -> None:
    path.write_text("something else")
    store_baseline(example(), path)
    assert load_baseline(path).model == "fraud"
    assert list(path.parent.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "missing" / "b", tmp_path):
        with pytest.raises(ConfigurationError, match=r"cannot be written: .*; name another file: -o FILE"):
            store_baseline(example(), path)
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_not_there_says_how_it_is_made(path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_baseline(path, "reference")
    assert str(caught.value) == (
        f"baselines.reference: {path}: no such file; make it with `monitor baseline -c monitor.yaml FILE… "
        f"-o {path}`"
    )
    with pytest.raises(ConfigurationError, match="cannot be read: "):
        load_baseline(path.parent)


def edited(path: Path, edit: Callable[[dict[str, Any]], object]) -> Path:
    store_baseline(example(), path)
    tree = json.loads(path.read_text())
    edit(tree)
    path.write_text(json.dumps(tree))
    return path


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda t: t.update(format=2), "has format 2, this version reads 1; make it with"),
        (lambda t: t.update(kind="checkpoint"), "is no stored reference; make it with"),
        (lambda t: t.pop("values"), "is damaged: values is no list"),
        (lambda t: t.update(events=-1), "is damaged: events is negative"),
        (lambda t: t["scores"]["fraud"]["score"].pop(), "are not equally many"),
        (lambda t: t["scores"]["fraud"].update(score=[0.5, 0.1, 1]), "are no ascending probabilities"),
        (lambda t: t["scores"]["fraud"].update(score=[0.1, 0.5, 1.5]), "are no ascending probabilities"),
        (lambda t: t["scores"]["fraud"]["positives"].__setitem__(0, 9999), "more positives than events"),
        (lambda t: t["values"][0].update(value=float("nan")), "value is not finite"),
        (lambda t: t["values"][0].update(denominator=10.0), "classifier_recall is no share of events"),
        (lambda t: t["values"][0].update(numerator=None, denominator=None), "is no share of events"),
    ],
)
def test_damage_is_named(path: Path, edit: Callable[[dict[str, Any]], object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        load_baseline(edited(path, edit))


def test_what_a_later_version_adds_is_passed_over(path: Path) -> None:
    assert equal(load_baseline(edited(path, lambda tree: tree.update(more=[1]))), example())


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{", b"[]", b"[" * 100_000, b"null", b"1e999"])
def test_other_files_are_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match="is no stored reference"):
        load_baseline(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what a file holds."""
    path = tmp_path_factory.mktemp("stored") / "b"
    store_baseline(example(), path)
    return path.read_text()


@given(data=st.data(), value=JSON)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_whatever_stands_in_a_place_there_is_one_message(
    path: Path, text: str, data: st.DataObject, value: Any
) -> None:
    def edit(tree: Any) -> None:
        while True:
            keys = list(tree) if isinstance(tree, dict) else range(len(tree))
            key = data.draw(st.sampled_from(list(keys)))
            if not isinstance(tree[key], dict | list) or not tree[key] or data.draw(st.booleans()):
                tree[key] = value
                return
            tree = tree[key]

    tree = json.loads(text)
    edit(tree)
    path.write_text(json.dumps(tree))
    try:
        found = load_baseline(path, "x")
    except ConfigurationError as error:
        assert "\n" not in str(error)
    else:
        for name in found.scored:
            assert (found.scored[name].positives <= found.scored[name].events).all()
        found.proportion("classifier_recall", "fraud")
        found.bound("classifier_recall", "fraud", {}, "floor")
