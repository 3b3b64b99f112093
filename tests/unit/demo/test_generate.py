from __future__ import annotations

import pytest

from monitor.demo.configuration import BAD_VERSION, GOOD_VERSION
from monitor.demo.generate import Cycle, main


@pytest.mark.parametrize(
    ("elapsed", "version", "rest"),
    [
        (0, GOOD_VERSION, 20),
        (19, GOOD_VERSION, 1),
        (20, BAD_VERSION, 10),
        (29, BAD_VERSION, 1),
        (30, GOOD_VERSION, 20),
        (3055, BAD_VERSION, 5),
    ],
)
def test_versions_take_turns(elapsed, version, rest):
    assert Cycle(good=20, bad=10).at(elapsed) == (version, rest)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "soon"])
def test_times_that_are_none_are_refused(text, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--bootstrap", "localhost:9092", "--seconds", text])
    assert ended.value.code == 2
    assert "--seconds" in capsys.readouterr().err
