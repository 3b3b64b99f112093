"""A short look for inputs that break something; `make fuzz` looks longer."""

from itertools import islice

import pytest

from tests.fuzz.targets import TARGETS, smallest

EXAMPLES = {
    "decoder": 800,
    "configuration": 150,
    "checkpoint": 300,
    "http": 500,
    "past": 60,
    "report": 15,
}
"""How many take some two seconds."""


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_breaks(name: str) -> None:
    target = TARGETS[name]
    for data in islice(target.inputs(0), EXAMPLES[name]):
        try:
            target.run(data)
        except Exception as error:
            error.add_note(f"{name}: {smallest(target.run, data)!r}")
            raise
