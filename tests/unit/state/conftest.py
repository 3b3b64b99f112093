"""Devices that the tests of the state run on."""

import pytest
import torch

from tests.support.streams import DEVICES


@pytest.fixture(params=DEVICES, ids=str)
def device(request: pytest.FixtureRequest) -> torch.device:
    """Every device of this machine."""
    return request.param
