from types import SimpleNamespace

from monitor.records import Partition
from monitor.sources.letter import TRUNCATED_TO, letter


def rejected(key=b"k", value=b"v", headers=(), detail="why"):
    record = SimpleNamespace(key=key, value=value, headers=headers, offset=7, timestamp=0)
    return SimpleNamespace(partition=Partition("t", 2), record=record, reason="not_json", detail=detail)


def test_a_letter_is_the_record_with_its_reason():
    sent = letter(rejected(headers=[("trace", b"\xff")]))
    assert (sent.key, sent.value) == (b"k", b"v")
    assert sent.headers == [
        ("trace", b"\xff"),
        ("monitor-id", b"t/2/7"),
        ("monitor-reason", b"not_json"),
        ("monitor-detail", b"why"),
    ]


def test_the_id_holds_the_topics_id_where_there_is_one():
    assert ("monitor-id", b"0f1e/2/7") in letter(rejected(), "0f1e").headers


def test_null_headers_survive_by_name():
    headers = letter(rejected(headers=[("a", None), ("b", b"")])).headers
    assert headers[:3] == [("a", b""), ("b", b""), ("monitor-null-header", b"a")]


def test_a_tombstone_without_a_key_can_be_sent():
    assert letter(rejected(key=None, value=None)).value == b""
    assert letter(rejected(value=None)).value is None


def test_truncated_once():
    sent = letter(rejected(value=b"x" * (TRUNCATED_TO + 1)))
    shorter = sent.truncated()
    assert shorter.value == b"x" * TRUNCATED_TO
    assert shorter.headers[-1] == ("truncated", str(TRUNCATED_TO + 1).encode())
    assert shorter.truncated() is None


def test_long_details_are_cut():
    assert len(dict(letter(rejected(detail="ä" * 5000)).headers)["monitor-detail"]) == 2000


def test_a_detail_that_no_encoding_has_can_be_sent():
    assert dict(letter(rejected(detail="\ud800")).headers)["monitor-detail"] == b"?"
