from pathlib import Path

import pytest

from monitor.errors import ConfigurationError
from monitor.secret_file import MAX_BYTES, is_public, read_secret_file


@pytest.mark.parametrize("content", [b"abc", b" abc\r\n", b"\n\tabc\n\n"])
def test_white_space_around_it_is_not_part_of_it(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token").write_bytes(content)
    assert read_secret_file(str(tmp_path / "token"), "a.key") == "abc"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty; write the secret into it"),
        (b" \n", "is empty; write the secret into it"),
        (b"two words", "holds no secret"),
        (b"two\nlines", "holds no secret"),
        (b"nul\0l", "holds no secret"),
        ("żółć".encode(), "holds no secret"),
        (b"x" * (MAX_BYTES + 1), "holds no secret"),
    ],
)
def test_what_is_no_secret_is_named_but_not_shown(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=f"a.key: {path} {words}") as refused:
        read_secret_file(str(path), "a.key")
    for word in content.split():
        assert word.decode() not in str(refused.value)


@pytest.mark.parametrize(
    ("path", "reason"), [("no/such", "No such file"), (".", "Is a directory"), ("\0", "it is no path")]
)
def test_a_file_that_cannot_be_read_is_named_with_the_remedy(path: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"a\.key: .*{reason}.*; check the path"):
        read_secret_file(path, "a.key")


def test_who_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.touch()
    for mode, public in ((0o600, False), (0o640, False), (0o644, True), (0o604, True)):
        path.chmod(mode)
        assert is_public(str(path)) is public
    assert not is_public(str(tmp_path / "none"))
