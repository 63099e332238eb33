"""Laws of every filter, against a Counter of Python that holds the same multiset."""

import collections
import copy
import inspect
import pickle

import numpy
import pytest

import tally
from conftest import FILTERS, insert_all


def test_no_key_that_was_inserted_is_missed(empty_filter, random):
    keys = random.integers(0, 2**63, 1000)
    insert_all(empty_filter, keys)
    assert empty_filter.may_contain_batch(keys).all()
    assert all(int(key) in empty_filter for key in keys[:50])
    assert empty_filter.may_contain(int(keys[3]))
    assert empty_filter.num_insertions == 1000


def test_few_other_keys_pass_and_the_statistics_say_how_many(empty_filter, random):
    insert_all(empty_filter, random.integers(0, 2**62, 1000))
    if isinstance(empty_filter, tally.CountMinSketch):
        pytest.skip("a sketch is planned for counts")
    absent = random.integers(2**62, 2**63, 100_000)
    rate = empty_filter.may_contain_batch(absent).mean()
    predicted = empty_filter.statistics().estimated_false_positive_rate
    assert predicted <= 0.011
    # Six standard deviations of 100,000 queries, and a tenth for what the queries share.
    assert abs(rate - predicted) <= 6 * (predicted / 100_000) ** 0.5 + 0.1 * predicted


def test_counts_are_never_too_low_after_inserts_and_removals(filter_class, random):
    if not hasattr(filter_class, "remove"):
        pytest.skip("cannot remove")
    own = filter_class(**FILTERS[filter_class])
    oracle = collections.Counter()
    most = 1 if filter_class is tally.CompactDLeftFilter else 3
    for _ in range(3000):
        key = int(random.integers(0, 400))
        if random.random() < 0.4 and oracle[key]:
            assert own.remove(key) != tally.RemoveResult.refused
            oracle[key] -= 1
        elif oracle[key] < most:
            assert own.insert(key) == tally.InsertResult.counted
            oracle[key] += 1
    keys = list(oracle)
    counts = own.count_batch(keys)
    assert counts.dtype == numpy.uint64
    assert all(count >= oracle[key] for key, count in zip(keys, counts))
    assert [own.count(key) for key in keys] == counts.tolist()
    assert sum(int(count) - oracle[key] for key, count in zip(keys, counts)) < 20


def test_single_calls_and_batches_agree(filter_class, random):
    one, many = filter_class(**FILTERS[filter_class]), filter_class(**FILTERS[filter_class])
    keys = [f"key {i}" for i in random.integers(0, 500, 500)] if filter_class is not tally.CompactDLeftFilter else list("abcdef")
    for key in keys:
        one.add(key) if filter_class is tally.CountMinSketch else one.insert(key)
    insert_all(many, keys)
    assert one == many
    assert one.to_bytes() == many.to_bytes()


def test_an_insertion_tells_new_keys_from_seen_ones(filter_class):
    if filter_class is tally.CountMinSketch:
        pytest.skip("a sketch adds")
    own = filter_class(**FILTERS[filter_class])
    assert own.test_and_insert("a") is tally.InsertOutcome.new_key
    assert own.test_and_insert("a") is tally.InsertOutcome.seen
    outcomes = own.test_and_insert_batch(["b", "b", "a"])
    assert outcomes.tolist() == [tally.InsertOutcome.new_key, tally.InsertOutcome.seen, tally.InsertOutcome.seen]


@pytest.mark.parametrize("cls", [tally.DLeftCountingBloomFilter, tally.CompactDLeftFilter])
def test_a_full_filter_returns_full_and_loses_nothing(cls):
    own = cls(num_keys=20, false_positive_rate=0.01, keys_repeat=False)
    inserted = [key for key in range(2000) if own.insert(key) != tally.InsertResult.full]
    assert len(inserted) < 2000
    assert own.may_contain_batch(inserted).all()
    assert own.statistics().num_full == 2000 - len(inserted)
    refused = own.copy().insert_batch(range(10_000, 11_000))
    assert refused > 900


def test_removing_a_key_that_is_certainly_absent_is_refused(filter_class):
    if not hasattr(filter_class, "remove"):
        pytest.skip("cannot remove")
    own = filter_class(**FILTERS[filter_class])
    own.insert("here")
    before = own.to_bytes()[128:]
    assert own.remove("not here") is tally.RemoveResult.refused
    assert own.remove_batch(["not here", "here"]).tolist() == [tally.RemoveResult.refused, tally.RemoveResult.removed]
    assert before != own.to_bytes()[128:]
    assert own.statistics().num_refused_removes == 2


def test_a_saturated_counter_is_a_result_and_shows_in_the_statistics():
    own = tally.CountingBloomFilter(tally.CountingBloomShape(1000, 3, counter_bits=2, max_threshold=3))
    assert own.insert("a") is tally.InsertResult.counted
    own.insert("a")
    assert own.count("a", with_saturated=True) == (2, False)
    assert own.insert("a") is tally.InsertResult.saturated
    assert own.count("a", with_saturated=True) == (3, True)
    values, saturated = own.count_batch(["a", "b"], with_saturated=True)
    assert (values.tolist(), saturated.tolist()) == ([3, 0], [True, False])
    assert own.statistics().num_saturated >= 1
    assert own.remove("a") is tally.RemoveResult.saturated


def test_a_threshold_filter_returns_whether_the_key_has_reached_it():
    own = tally.ThresholdFilter(num_keys=100, false_positive_rate=1e-6, threshold=3)
    assert [own.insert("a") for _ in range(3)] == [0, 0, 1]
    assert own.insert_batch(["b", "b", "b", "a"]).tolist() == [False, False, True, True]
    assert "a" in own and "c" not in own


def test_a_merge_holds_both_streams(filter_class, random):
    both, one, two = (filter_class(**FILTERS[filter_class]) for _ in range(3))
    keys = random.integers(0, 2**63, 600)
    insert_all(one, keys[:300])
    insert_all(two, keys[300:])
    insert_all(both, keys)
    assert one.copy().merge(two) is True
    merged = one | two if hasattr(one, "__or__") else one + two
    assert merged.may_contain_batch(keys).all()
    if filter_class not in (tally.DLeftCountingBloomFilter, tally.CompactDLeftFilter):  # cells may be in another order
        assert merged == both
    same = one
    if hasattr(one, "__or__"):
        one |= two
    else:
        one += two
    assert one is same and one == merged


def test_a_filter_merges_with_itself(empty_filter):
    insert_all(empty_filter, ["a", "b"])
    assert empty_filter.merge(empty_filter) is True
    assert empty_filter.may_contain_batch(["a", "b"]).all()
    assert empty_filter.num_insertions == 4


def test_a_merge_that_does_not_fit_changes_nothing():
    one, two = (tally.DLeftCountingBloomFilter(num_keys=20, false_positive_rate=0.01) for _ in range(2))
    for key in range(2000):
        one.insert(key)
        two.insert(10_000 + key)
    before = one.to_bytes()
    assert one.merge(two) is False
    with pytest.raises(ValueError, match="do not fit"):
        one += two
    assert one.to_bytes() == before


def test_a_merge_of_different_filters_names_what_differs(empty_filter, filter_class):
    other_seed = filter_class(**FILTERS[filter_class], seed=1)
    with pytest.raises(ValueError, match="seed"):
        empty_filter.merge(other_seed)
    with pytest.raises(TypeError, match="other is of type int"):
        empty_filter.merge(3)
    with pytest.raises(TypeError):
        empty_filter + 3 if hasattr(empty_filter, "__add__") else empty_filter | 3


def test_an_intersection_has_the_keys_of_both():
    one, two = (tally.BloomFilter(num_keys=100, false_positive_rate=1e-6) for _ in range(2))
    one.insert_batch(["a", "b"])
    two.insert_batch(["b", "c"])
    assert "b" in one & two and "a" not in one & two
    one &= two
    assert "c" not in one


def test_copies_and_pickles_are_equal_and_independent(empty_filter):
    insert_all(empty_filter, ["a", "b"])
    copies = [empty_filter.copy(), copy.copy(empty_filter), copy.deepcopy(empty_filter)]
    copies += [pickle.loads(pickle.dumps(empty_filter, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    buffers = []
    data = pickle.dumps(empty_filter, 5, buffer_callback=buffers.append)
    assert len(data) < 200 and len(buffers) == 1
    copies.append(pickle.loads(data, buffers=buffers))
    for own in copies:
        assert own == empty_filter and type(own) is type(empty_filter)
        own.clear()
        assert own != empty_filter and "a" in empty_filter


def test_a_repr_tells_shape_load_and_error(empty_filter, filter_class):
    insert_all(empty_filter, range(1000))
    text = repr(empty_filter)
    assert text.startswith(f"<tally.{filter_class.__name__}: ") and repr(empty_filter.shape) in text
    assert "1,000" in text and "load" in text
    if filter_class is not tally.CountMinSketch:
        rate = float(text.split("false positive rate now ")[1].rstrip(">"))
        assert rate == pytest.approx(empty_filter.statistics().estimated_false_positive_rate, rel=0.01)


def test_the_shape_makes_the_same_filter_again(empty_filter, filter_class):
    assert filter_class(empty_filter.shape) == empty_filter == tally.make(empty_filter.shape)
    assert empty_filter.shape.num_bytes == empty_filter.memory_bytes == len(empty_filter.to_bytes()) - 128


def test_every_method_has_a_signature_and_a_docstring():
    for cls in [*FILTERS, tally.TopKeys, tally.SpaceSaving, tally.CountMinWindow, tally.HashSet, tally.RecentKeys, tally.AgingBloomFilter]:
        assert len(cls.__doc__) > 60 and not cls.__doc__.startswith("<")
        assert inspect.signature(cls).parameters
        for name, own in inspect.getmembers(cls, callable):
            if not name.startswith("_"):
                assert "self" in inspect.signature(own).parameters, (cls, name)
                assert len(own.__doc__) > 5 and "PyCapsule" not in own.__doc__


def test_a_filter_is_not_hashable_and_has_no_length(empty_filter):
    with pytest.raises(TypeError):
        hash(empty_filter)
    with pytest.raises(TypeError):
        len(empty_filter)


def test_the_constructor_names_what_is_wrong():
    with pytest.raises(TypeError, match="num_keyz"):
        tally.BloomFilter(num_keyz=1)
    with pytest.raises(TypeError, match="a shape and requirements"):
        tally.BloomFilter(tally.BloomShape(64, 1), num_keys=3)
    with pytest.raises(ValueError, match="false_positive_rate"):
        tally.BloomFilter(num_keys=10, false_positive_rate=2)
    with pytest.raises(ValueError, match="num_keys is -1"):
        tally.BloomFilter(num_keys=-1, false_positive_rate=0.1)
    with pytest.raises(TypeError, match="num_keys is of type float"):
        tally.BloomFilter(num_keys=1.5, false_positive_rate=0.1)
    with pytest.raises(ValueError, match="shape of a CountMinSketch"):
        tally.BloomFilter(tally.CountMinShape(10, 2))
    with pytest.raises(ValueError, match="scheme"):
        tally.BloomFilter(num_keys=10, false_positive_rate=0.1, scheme="no such")
    with pytest.raises(ValueError, match="num_hashes"):
        tally.BloomFilter(tally.BloomShape(64, 0))
    with pytest.raises(TypeError, match="shape is of type str"):
        tally.BloomFilter("shape")
    with pytest.raises(ValueError, match="key has 3 bytes"):
        tally.BloomFilter(num_keys=10, false_positive_rate=0.1, key=b"abc")
    with pytest.raises(ValueError, match="seed and key"):
        tally.BloomFilter(num_keys=10, false_positive_rate=0.1, key=bytes(32), seed=1)


def test_a_filter_larger_than_the_memory_is_a_memory_error():
    with pytest.raises(MemoryError):
        tally.BloomFilter(tally.BloomShape(2**56, 1))


def test_a_keyed_hash_is_not_pickled_and_needs_its_key(tmp_path):
    key = tally.random_hash_key()
    own = tally.BloomFilter(num_keys=10, false_positive_rate=0.01, key=key)
    own.insert("a")
    assert own.seed is None
    with pytest.raises(ValueError, match="secret"):
        pickle.dumps(own)
    own.save(tmp_path / "f.tally")
    with pytest.raises(ValueError, match="key"):
        tally.open(tmp_path / "f.tally")
    assert "a" in tally.open(tmp_path / "f.tally", key=key)


def test_a_d_left_filter_grows():
    own = tally.DLeftCountingBloomFilter(num_keys=100, false_positive_rate=0.001, max_doublings=2)
    own.insert_batch(range(100))
    before = own.memory_bytes
    assert own.try_grow() is True
    assert own.memory_bytes > before and own.shape.num_doublings == 1
    assert own.may_contain_batch(range(100)).all()


def test_similar_filters_are_measured():
    a, b = (tally.BloomFilter(num_keys=20_000, false_positive_rate=0.01) for _ in range(2))
    a.insert_batch(range(0, 10_000))
    b.insert_batch(range(5000, 15_000))
    found = tally.similarity(a, b)
    for estimate, truth in [(found.jaccard, 1 / 3), (found.union_size, 15_000), (found.containment_a, 0.5)]:
        assert estimate.low <= truth <= estimate.high < 1.2 * truth
    assert tally.similarity(a, a).jaccard.value == pytest.approx(1)


def test_sketch_estimates_have_bounds(random):
    own = tally.CountMinSketch(epsilon=0.01, failure_probability=0.01)
    keys = random.integers(0, 3000, 20_000)
    weights = random.integers(0, 5, 20_000)
    own.add_batch(keys, weights)
    truth = collections.Counter()
    for key, weight in zip(keys.tolist(), weights.tolist()):
        truth[key] += weight
    found = own.estimate_batch(list(truth))
    true_counts = numpy.array(list(truth.values()))
    assert (found["upper"] >= true_counts).all() and (found["lower"] <= true_counts).mean() > 0.99
    one = own.estimate(7)
    assert (one.value, one.lower, one.upper) == tuple(own.estimate_batch([7])[["value", "lower", "upper"]][0])
    assert own.total_count == weights.sum() and own.bound.epsilon <= 0.01
    assert own.inner_product(own).value >= (true_counts.astype(float) ** 2).sum()
    own.halve()
    assert own.count(7) >= (truth[7] + 1) // 2


def test_weights_are_checked_before_anything_is_added():
    own = tally.CountMinSketch(epsilon=0.01, failure_probability=0.01)
    for wrong in ([1], [1, -1], [1.5, 2], ["a", "b"], [[1, 2]]):
        with pytest.raises((ValueError, TypeError), match="weights"):
            own.add_batch(["a", "b"], wrong)
    with pytest.raises(ValueError, match="weight is -1"):
        own.add("a", -1)
    assert own.total_count == 0
