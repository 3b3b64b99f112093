import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.web.body import MAX_NAME, MAX_TEXT, BodyError, by, json_object, text, texts, until
from tests.support.reports import NOON

SECOND = 1_000_000


@pytest.mark.parametrize(
    "body",
    [
        *(b"{", b"[]", b"null", b'"a"', b"\xff", b'{"by": "\\ud800"}', b"{" * 10_000),
        *(b"[" * 10_000, b'{"a": 1}', b'{"by": 1, "By": 2}'),
    ],
)
def test_what_is_no_object_of_known_keys_is_refused(body):
    with pytest.raises(BodyError):
        json_object(body, "by")


def test_any_keys_where_none_is_named_and_none_in_an_empty_body():
    assert json_object(b'{"a": [1]}') == {"a": [1]}
    assert json_object(b"", "by") == {}


@given(st.binary(max_size=80))
def test_any_bytes_are_an_object_or_refused(body):
    try:
        assert isinstance(json_object(body), dict)
    except BodyError:
        pass


@pytest.mark.parametrize("value", [None, 1, "", "  ", ["a"], "a" * (MAX_TEXT + 1)])
def test_what_is_no_text_is_refused(value):
    with pytest.raises(BodyError, match="comment"):
        text({"comment": value}, "comment")
    assert text({"comment": "a" * MAX_TEXT}, "comment")


@pytest.mark.parametrize("value", [None, {}, [], "a", {"model": 1}, {"model": None}])
def test_what_is_no_object_of_texts_is_refused(value):
    with pytest.raises(BodyError, match="matchers"):
        texts({"matchers": value}, "matchers")
    assert texts({"matchers": {"model": ""}}, "matchers") == {"model": ""}


def test_who_asks_is_never_more_than_who_has_the_token():
    assert by({}) == "token"
    assert by({"by": "alice"}) == "token (alice)"
    for wrong in (1, "", "a" * (MAX_NAME + 1)):
        with pytest.raises(BodyError, match="by"):
            by({"by": wrong})


@pytest.mark.parametrize(
    "written, expected",
    [
        ("90s", NOON + 90 * SECOND),
        ("2h", NOON + 7200 * SECOND),
        ("1d", NOON + 86_400 * SECOND),
        ("2025-11-29T12:00:01Z", NOON + SECOND),
        ("2025-11-29t12:00:01z", NOON + SECOND),
        ("2025-11-29T13:00:01.5+01:00", NOON + 1_500_000),
    ],
)
def test_until_is_a_duration_or_a_time(written, expected):
    assert until({"until": written}, NOON) == expected


@pytest.mark.parametrize(
    "written",
    [
        *("1w", "-1h", "1.5h", "1234567s", "١s", "2025-11-29T12:00:01", "2025-11-29", "tomorrow", "1h\n"),
        *("9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00", 5, None),
    ],
)
def test_until_is_refused_with_what_to_write(written):
    with pytest.raises(BodyError, match="until"):
        until({"until": written}, NOON)


@given(st.text(max_size=30))
def test_any_until_is_a_time_that_can_be_written_or_refused(written):
    try:
        assert isinstance(until(json.loads(json.dumps({"until": written})), NOON), int)
    except BodyError:
        pass
