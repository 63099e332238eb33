"""What the tests of the Python package share."""

import os
import pathlib

import numpy
import pytest

import tally

#: Every class of filters, and how to make one for 1000 keys.
FILTERS = {
    tally.BloomFilter: dict(num_keys=1000, false_positive_rate=0.01),
    tally.BlockedBloomFilter: dict(num_keys=1000, false_positive_rate=0.01),
    tally.RegisterBlockedBloomFilter: dict(num_keys=1000, false_positive_rate=0.01),
    tally.CountingBloomFilter: dict(num_keys=1000, false_positive_rate=0.01, counter_bits=8),
    tally.BlockedCountingBloomFilter: dict(num_keys=1000, false_positive_rate=0.01, counter_bits=8),
    tally.DLeftCountingBloomFilter: dict(num_keys=1000, false_positive_rate=0.01),
    tally.CompactDLeftFilter: dict(num_keys=1000, false_positive_rate=0.01, keys_repeat=False),
    tally.ThresholdFilter: dict(num_keys=1000, false_positive_rate=0.01, threshold=1),
    tally.CountMinSketch: dict(epsilon=0.001, failure_probability=0.01),
}


@pytest.fixture
def random():
    """Random numbers that are the same in every run."""
    return numpy.random.default_rng(20061121)


@pytest.fixture(params=FILTERS, ids=lambda cls: cls.__name__)
def filter_class(request):
    return request.param


@pytest.fixture
def empty_filter(filter_class):
    return filter_class(**FILTERS[filter_class])


def insert_all(structure, keys):
    """Inserts a batch into a filter of any class; nothing may be refused."""
    if isinstance(structure, tally.CountMinSketch):
        assert structure.add_batch(keys) == 0
    elif isinstance(structure, (tally.DLeftCountingBloomFilter, tally.CompactDLeftFilter)):
        assert structure.insert_batch(keys) == 0
    else:
        structure.insert_batch(keys)


@pytest.fixture
def command():
    """The path of the command; tests that need it are skipped without it."""
    path = os.environ.get("TALLY_COMMAND")
    if not path:
        pytest.skip("TALLY_COMMAND is not set")
    return pathlib.Path(path)
