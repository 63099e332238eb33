"""HashSet, RecentKeys and AgingBloomFilter against sets of Python."""

import copy
import pickle

import numpy
import pytest

import tally

new, seen, full = tally.InsertOutcome


def test_a_set_is_exact_and_has_a_length(random):
    keys = random.integers(0, 5000, 20_000)
    own, truth = tally.HashSet(), set()
    outcomes = own.insert_batch(keys)
    for key, outcome in zip(keys.tolist(), outcomes.tolist()):
        assert outcome == (seen if key in truth else new)
        truth.add(key)
    assert len(own) == len(truth) and repr(len(truth)) in repr(own)
    asked = numpy.arange(6000)
    assert own.contains_batch(asked).tolist() == [key in truth for key in asked.tolist()]
    assert (own.insert("a"), own.insert("a"), "a" in own, "b" in own) == (new, seen, True, False)


def test_a_set_with_a_limit_returns_full_and_keeps_what_it_has():
    own = tally.HashSet(10_000)
    outcomes = own.insert_batch(range(5000))
    kept = numpy.flatnonzero(outcomes == new)
    assert (outcomes == full).any() and own.memory_bytes <= 10_000
    assert own.contains_batch(kept).all() and len(own) == len(kept)


def test_sets_are_copied_and_pickled(random):
    own = tally.HashSet(2**22, seed=5)
    own.insert_batch(random.integers(0, 2**63, 3000))
    for same in (own.copy(), copy.copy(own), copy.deepcopy(own), pickle.loads(pickle.dumps(own))):
        assert len(same) == 3000
        same.insert("a")
        assert "a" in same and "a" not in own
    with pytest.raises(ValueError, match="secret"):
        pickle.dumps(tally.HashSet(key=bytes(32)))
    own.clear()
    assert len(own) == 0


def test_recent_keys_are_remembered():
    own = tally.RecentKeys(64 * 1000)
    assert own.insert_batch(range(1000)).all()
    again = own.insert_batch(range(1000))
    assert again.sum() <= own.num_forgotten
    assert own.insert("x") is True and own.insert("x") is False
    own.clear()
    assert own.insert("x") is True


def test_an_aging_filter_remembers_one_generation_and_forgets_the_third():
    shape = tally.plan_shape("bloom", num_keys=100, false_positive_rate=1e-6)
    own = tally.AgingBloomFilter(100, shape)
    own.insert_batch(range(250))
    assert own.may_contain_batch(range(150, 250)).all() and 249 in own
    assert own.num_advances == 2 and not own.may_contain(0)
    assert own.test_and_refresh("a") is False and own.test_and_refresh("a") is True
    own.advance()
    assert "a" in own
    own.clear()
    assert "a" not in own and own.keys_per_generation == 100
    with pytest.raises(ValueError, match="BloomShape"):
        tally.AgingBloomFilter(100, tally.CountMinShape(10, 2))
    with pytest.raises(ValueError, match="keys_per_generation"):
        tally.AgingBloomFilter(0, shape)


def test_sets_without_files_are_copied():
    keyed, recent = tally.HashSet(key=bytes(32)), tally.RecentKeys(4096)
    aging = tally.AgingBloomFilter(5, tally.BloomShape(640, 2))
    for own in (keyed, recent, aging):
        own.insert("a")
        for same in (own.copy(), copy.copy(own), copy.deepcopy([own])[0]):
            same.clear()
            same.insert("b")
    assert "a" in keyed and "b" not in keyed and "a" in aging
    assert recent.insert("a") is False
