"""What the tests of the Python package share."""

import numpy
import pytest


@pytest.fixture
def random():
    """Random numbers that are the same in every run."""
    return numpy.random.default_rng(20061121)
