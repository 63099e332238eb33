"""verify() agrees with the formulas, and a filter that is full is not good."""

import _thread
import json
import signal
import subprocess
import threading
import time

import pytest

import tally
from conftest import FILTERS


def test_every_filter_has_its_predicted_rate(filter_class):
    own = filter_class(**FILTERS[filter_class])
    found = tally.verify(own.shape, 300, num_trials=30, num_queries=2000, seed=1)
    assert found.is_good and found.num_false_negatives == 0 and found.num_positives_checked > 0
    assert (found.num_trials, found.num_queries, found.num_insertions) == (30, 2000, 300)
    for verdict in found.verdicts:
        assert verdict.low <= verdict.measured <= verdict.high and verdict.is_inside
        assert verdict.measured == verdict.num_passed / verdict.num_queries


def test_a_filter_is_verified_with_its_own_number_of_keys():
    own = tally.BloomFilter(num_keys=100, false_positive_rate=0.01)
    own.insert_batch(range(70))
    assert tally.verify(own, num_trials=20, num_queries=100).num_insertions == 70


def test_it_is_the_verification_of_the_command(command):
    out = subprocess.run([command, "verify", "--kind", "bloom", "-n", "1000", "--num-bits", "9000", "-k", "5", "--trials", "20",
                          "--queries", "1000", "--seed", "7", "--json"], stdout=subprocess.PIPE, check=True).stdout
    theirs = json.loads(out)["filters"][0]["rates"] if "filters" in json.loads(out) else json.loads(out)
    ours = tally.verify(tally.BloomShape(9000, 5), 1000, num_trials=20, num_queries=1000, seed=7)
    assert str(ours.verdicts[0].num_passed) in json.dumps(theirs)


def test_a_full_filter_is_not_good():
    found = tally.verify(tally.DLeftShape(2, 2), 1000, num_trials=2, num_queries=10)
    assert found.was_full and not found.is_good and found.verdicts == []


def test_wrong_arguments_are_named():
    shape = tally.BloomShape(1000, 3)
    for call, error, match in [
        (lambda: tally.verify(shape), TypeError, "num_keys is missing"),
        (lambda: tally.verify(shape, 0), ValueError, "num_keys is 0"),
        (lambda: tally.verify(shape, 10, num_trials=1), ValueError, "num_trials is 1"),
        (lambda: tally.verify(shape, 10, confidence=1), ValueError, "confidence is 1"),
        (lambda: tally.verify(tally.BloomShape(0, 3), 10), ValueError, "num_bits"),
        (lambda: tally.verify("x", 10), TypeError, "shape is of type str"),
    ]:
        with pytest.raises(error, match=match):
            call()


@pytest.mark.parametrize(
    "num_keys, num_trials", [(10_000, 100_000), (50_000_000, 2)], ids=["between trials", "within a trial"]
)
def test_an_interrupt_ends_it(num_keys, num_trials):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a program in the background ignores it
    threading.Timer(0.3, _thread.interrupt_main).start()
    begin = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            tally.verify(tally.BloomShape(10 * num_keys, 3), num_keys, num_trials=num_trials)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begin < 30
