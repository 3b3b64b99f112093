"""A short look for inputs that break something; `make fuzz` looks longer."""

from itertools import islice

import pytest

from tests.fuzz.targets import TARGETS, smallest

EXAMPLES = {
    "decoder": 1500,
    "configuration": 300,
    "checkpoint": 600,
    "http": 1000,
    "past": 120,
    "report": 30,
}
"""How many take some four seconds."""


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_breaks(name: str) -> None:
    target = TARGETS[name]
    for data in islice(target.inputs(0), EXAMPLES[name]):
        try:
            target.run(data)
        except Exception as error:
            error.add_note(f"{name}: {smallest(target.run, data)!r}")
            raise
