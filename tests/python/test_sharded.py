"""A filter divided over shards answers as its shards do, and loses nothing."""

import copy
import dataclasses
import json
import pickle
import threading

import numpy
import pytest

import tally

kinds = {
    "bloom": (tally.BloomFilter, {}),
    "blocked": (tally.BlockedBloomFilter, {}),
    "register-blocked": (tally.RegisterBlockedBloomFilter, {}),
    "counting": (tally.CountingBloomFilter, {}),
    "blocked-counting": (tally.BlockedCountingBloomFilter, {}),
    "dleft": (tally.DLeftCountingBloomFilter, {}),
    "compact": (tally.CompactDLeftFilter, {"keys_repeat": False}),
    "threshold": (tally.ThresholdFilter, {"threshold": 3}),
}


def new_sharded(kind, num_shards=5, num_keys=2000, **more):
    filter_class, own = kinds[kind]
    return tally.ShardedFilter(filter_class, num_shards, num_keys=num_keys, false_positive_rate=0.01, **own, **more)


def shards_by_hand(sharded, keys):
    """The shards' filters, filled without ShardedFilter."""
    places = tally.shards(keys, sharded.num_shards, seed=sharded.seed)
    filters = [tally.make(sharded.shape, seed=sharded.seed) for _ in range(sharded.num_shards)]
    for shard, own in enumerate(filters):
        own.insert_batch(keys[places == shard])
    return filters


@pytest.mark.parametrize("kind", kinds)
def test_each_key_is_in_its_shard_and_in_no_other(kind, random):
    keys = random.integers(0, 2**63, 2000)
    sharded = new_sharded(kind, seed=7)
    sharded.insert_batch(keys)
    assert list(sharded.filters) == shards_by_hand(sharded, keys)
    assert sharded.num_insertions == len(keys)
    one_by_one = new_sharded(kind, seed=7)
    for key in keys.tolist():
        one_by_one.insert(key)
    assert one_by_one == sharded


@pytest.mark.parametrize("kind", kinds)
def test_answers_are_in_the_order_of_the_keys(kind, random):
    keys = random.integers(0, 2**63, 1000)
    sharded = new_sharded(kind)
    sharded.insert_batch(keys[:500])
    found = sharded.may_contain_batch(keys)
    assert found.dtype == bool
    assert found.tolist() == [sharded.may_contain(key) for key in keys.tolist()]
    assert found.tolist() == [key in sharded for key in keys.tolist()]
    if kind != "threshold":
        assert found[:500].all() and found[500:].sum() < 30


def test_a_threshold_filter_returns_whether_each_key_has_reached_it():
    sharded = new_sharded("threshold")
    keys = ["a", "b", "a", "c", "a", "b", "b"]
    assert sharded.insert_batch(keys).tolist() == [False, False, False, False, True, False, True]
    assert sharded.insert("a") is tally.ThresholdState.at_least
    assert sharded.may_contain_batch(["a", "b", "c"]).tolist() == [True, True, False]
    assert sharded.at_least("a", 3) and sharded.at_least_batch(["c", "b"], 3).tolist() == [False, True]


@pytest.mark.parametrize("kind", ["counting", "blocked-counting", "dleft"])
def test_counts_and_removals_are_those_of_the_shards(kind):
    sharded = new_sharded(kind)
    keys = [f"key {i % 100}" for i in range(150)]
    assert sharded.insert_batch(keys) == 0
    assert sharded.count_batch(["key 0", "key 99", "key 10"]).tolist() == [2, 1, 2]
    counts, saturated = sharded.count_batch(keys, with_saturated=True)
    assert counts.dtype == numpy.uint64 and saturated.dtype == bool and len(counts) == len(saturated) == 150
    assert sharded.count("key 0") == 2 and sharded.count("key 0", with_saturated=True) == (2, False)
    removed = sharded.remove_batch(["key 0", "absent", "key 99"])
    assert removed.tolist() == [tally.RemoveResult.removed, tally.RemoveResult.refused, tally.RemoveResult.removed]
    assert sharded.remove("absent") is tally.RemoveResult.refused
    assert sharded.count_batch(["key 0", "key 99"]).tolist() == [1, 0]


def test_insertions_test_in_the_order_of_the_keys():
    sharded = new_sharded("bloom")
    outcomes = sharded.test_and_insert_batch(["a", "b", "a", "c", "b"])
    new, seen = tally.InsertOutcome.new_key, tally.InsertOutcome.seen
    assert outcomes.tolist() == [new, new, seen, new, seen]
    assert sharded.test_and_insert("c") is seen and sharded.test_and_insert("d") is new


def test_keys_that_a_full_shard_refuses_are_returned(random):
    keys = random.integers(0, 2**63, 20000)
    sharded = tally.ShardedFilter(tally.DLeftCountingBloomFilter, 4, num_keys=1000, false_positive_rate=0.01)
    outcomes = sharded.test_and_insert_batch(keys)
    num_full = int((outcomes == tally.InsertOutcome.full).sum())
    assert num_full > 0
    assert sharded.num_insertions + num_full == len(keys)
    assert sharded.statistics().total.num_full == num_full
    refused = keys[outcomes == tally.InsertOutcome.full]
    again = sharded.insert_batch(refused)
    assert again == sharded.statistics().total.num_full - num_full
    assert sharded.insert(int(refused[0])) in (tally.InsertResult.full, tally.InsertResult.counted)


def test_a_sharded_sketch_adds_weights(random):
    keys = random.integers(0, 300, 3000)
    weights = random.integers(0, 10, 3000)
    sketch = tally.ShardedFilter(tally.CountMinSketch, 3, epsilon=0.0001, failure_probability=0.001)
    assert sketch.add_batch(keys, weights) == 0
    truth = numpy.bincount(keys, weights, 300).astype(int)
    assert (sketch.count_batch(numpy.arange(300)) >= truth).all()
    assert sketch.num_insertions == weights.sum()
    found = sketch.estimate_batch(numpy.arange(300))
    assert (found["upper"] >= truth).all() and found.dtype == tally.count_estimate_dtype
    sketch.add("new", 5)
    sketch.add_batch(["new", "new"])
    assert sketch.count("new") >= 7 and sketch.estimate("new").upper >= 7


@pytest.mark.parametrize(
    "weights, error", [([1, -1], ValueError), ([1], ValueError), ([0.5, 1], TypeError), ([1, 2**64], TypeError)]
)
def test_wrong_weights_change_no_shard(weights, error):
    sketch = tally.ShardedFilter(tally.CountMinSketch, 3, epsilon=0.01, failure_probability=0.01)
    with pytest.raises(error, match="weights"):
        sketch.add_batch(["a", "b"], weights)
    assert sketch.num_insertions == 0


def test_wrong_keys_change_no_shard():
    sharded = new_sharded("bloom")
    with pytest.raises(TypeError, match=r"keys\[2\]"):
        sharded.insert_batch(["a", "b", None])
    assert sharded.num_insertions == 0


def test_no_shard_gets_more_keys_than_it_is_planned_for(random):
    for num_shards in (1, 2, 7, 64, 1000):
        sharded = new_sharded("bloom", num_shards, num_keys=100_000)
        plan = sharded.share_plan
        most = numpy.bincount(tally.shards(random.integers(0, 2**63, 100_000), num_shards)).max()
        assert most <= plan.keys_per_share
        assert plan.num_shares == num_shards
        assert plan.bytes_per_share * num_shards == sharded.memory_bytes
        assert plan.failure_probability == (1e-6 if num_shards > 1 else 0)
    assert new_sharded("bloom", 1, num_keys=100_000).share_plan.keys_per_share == 100_000


def test_a_sharded_filter_meets_its_false_positive_rate(random):
    sharded = new_sharded("bloom", 16, num_keys=50_000)
    sharded.insert_batch(numpy.arange(50_000))
    rate = sharded.may_contain_batch(numpy.arange(10**6, 10**6 + 200_000)).mean()
    assert rate < 0.0105
    assert sharded.statistics().total.estimated_false_positive_rate == pytest.approx(rate, rel=0.1)


def test_memory_is_of_all_shards_together():
    sharded = tally.ShardedFilter(tally.BloomFilter, 8, memory_bytes=1 << 16, false_positive_rate=0.01)
    assert (1 << 15) < sharded.memory_bytes <= 1 << 16
    assert sharded.share_plan is None


def test_statistics_are_sums_and_those_of_the_fullest_shard():
    sharded = new_sharded("dleft", 3)
    keys = numpy.arange(1500)
    sharded.insert_batch(keys)
    found = sharded.statistics()
    own = [shard.statistics() for shard in sharded.filters]
    assert found.total.num_insertions == 1500 == sum(one.num_insertions for one in own)
    assert found.total.estimated_num_keys == pytest.approx(1500, rel=0.05)
    assert found.fullest == max(own, key=lambda one: one.load) == own[found.fullest_shard]
    assert found.total.load == pytest.approx(sum(one.load for one in own) / 3)
    assert sum(one.num_counters for one in found.total.histogram) == found.total.num_cells
    assert sum(found.total.counts) == found.total.num_cells
    assert all(sum(loads) == 3 * sum(own[0].loads[i]) for i, loads in enumerate(found.total.loads))
    assert type(found.total) is tally.DLeftStatistics


@pytest.mark.parametrize("kind", kinds)
def test_a_directory_has_the_whole_filter(kind, tmp_path):
    sharded = new_sharded(kind, seed=3)
    sharded.insert_batch(numpy.arange(1000))
    sharded.save(tmp_path / "filter")
    opened = tally.ShardedFilter.open(tmp_path / "filter")
    assert opened == sharded and opened.share_plan == sharded.share_plan and opened.seed == 3
    mapped = tally.ShardedFilter.open(tmp_path / "filter", mmap=True)
    assert mapped == sharded and mapped.filters[0].is_mapped
    assert mapped.may_contain_batch(numpy.arange(10)).tolist() == sharded.may_contain_batch(numpy.arange(10)).tolist()


def test_a_saved_filter_is_replaced_only_on_request(tmp_path):
    old, new = new_sharded("bloom", 5), new_sharded("bloom", 3)
    new.insert("a")
    old.save(tmp_path)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        new.save(tmp_path)
    assert tally.ShardedFilter.open(tmp_path) == old
    new.save(tmp_path, overwrite=True)
    assert tally.ShardedFilter.open(tmp_path) == new
    assert len(list(tmp_path.glob("*.tally"))) == 3


def test_an_interrupted_save_leaves_the_old_filter(tmp_path, monkeypatch):
    old, new = new_sharded("bloom"), new_sharded("bloom")
    new.insert("a")
    old.save(tmp_path)

    def fail(*arguments):
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="no space left"):
        new.save(tmp_path, overwrite=True)
    assert tally.ShardedFilter.open(tmp_path) == old


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda m: "{", "not JSON"),
        (lambda m: "[]", "not the list of files"),
        (lambda m: json.dumps({**m, "version": 2}), "version 2"),
        (lambda m: json.dumps({**m, "files": ["../x.tally"], "num_shards": 1}), "not the name of a shard's file"),
        (lambda m: json.dumps({**m, "files": [], "num_shards": 0}), "0 filters"),
        (lambda m: json.dumps({**m, "files": m["files"][:4]}), "num_shards is 5, and there are 4 different files"),
        (lambda m: json.dumps({**m, "files": m["files"][:1] * 5}), "there are 1 different files"),
        (lambda m: json.dumps({**m, "share_plan": {"keys": 1}}), "share_plan|unexpected"),
        (lambda m: json.dumps({**m, "generation": "1"}), "generation"),
    ],
)
def test_a_damaged_list_of_files_is_refused(change, message, tmp_path):
    new_sharded("bloom").save(tmp_path)
    path = tmp_path / "filter.json"
    path.write_text(change(json.loads(path.read_text())))
    with pytest.raises(tally.FormatError, match=message) as caught:
        tally.ShardedFilter.open(tmp_path)
    assert caught.value.path == str(path)


def test_what_is_not_there_is_not_opened(tmp_path):
    with pytest.raises(FileNotFoundError):
        tally.ShardedFilter.open(tmp_path)
    new_sharded("bloom").save(tmp_path)
    next(tmp_path.glob("*.tally")).unlink()
    with pytest.raises(FileNotFoundError):
        tally.ShardedFilter.open(tmp_path)


@pytest.mark.parametrize("kind", kinds)
def test_pickles_and_copies_are_equal_and_independent(kind):
    sharded = new_sharded(kind)
    sharded.insert_batch(numpy.arange(1000))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(sharded, protocol)) == sharded
    buffers = []
    small = pickle.dumps(sharded, 5, buffer_callback=buffers.append)
    assert len(small) < 2000 and len(buffers) == 5
    unpickled = pickle.loads(small, buffers=buffers)
    assert unpickled == sharded and unpickled.share_plan == sharded.share_plan
    for other in (sharded.copy(), copy.copy(sharded), copy.deepcopy(sharded), unpickled):
        other.insert("one more")
        assert other != sharded


def test_shards_that_were_filled_apart_make_a_filter():
    keys = numpy.arange(1000)
    whole = new_sharded("bloom", 4)
    whole.insert_batch(keys)
    joined = tally.ShardedFilter.from_filters(shards_by_hand(whole, keys))
    assert joined == whole and joined.share_plan is None
    assert joined.may_contain_batch(keys).all()


def test_shards_may_have_grown_differently():
    sharded = tally.ShardedFilter(
        tally.DLeftCountingBloomFilter, 2, num_keys=1000, false_positive_rate=0.001, max_doublings=2
    )
    sharded.filters[0].try_grow()
    assert tally.ShardedFilter.from_filters(sharded.filters) == sharded
    assert pickle.loads(pickle.dumps(sharded)) == sharded


def bloom(**more):
    return tally.BloomFilter(**{"num_keys": 100, "false_positive_rate": 0.01, **more})


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: [], ValueError, "0 filters"),
        (lambda: [bloom(), "x"], TypeError, r"filters\[1\] is of type str"),
        (lambda: [bloom(), bloom(seed=1)], ValueError, "seed"),
        (lambda: [bloom(), bloom(num_keys=200)], ValueError, "one shape"),
        (
            lambda: [bloom(), tally.BlockedBloomFilter(num_keys=100, false_positive_rate=0.01)],
            ValueError,
            "one class",
        ),
        (lambda: [bloom()] * 2, ValueError, "twice"),
        (lambda: [bloom(key=bytes(32))], ValueError, "secret as key"),
    ],
)
def test_filters_that_do_not_match_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        tally.ShardedFilter.from_filters(make())


@pytest.mark.parametrize(
    "arguments, options, error, message",
    [
        ((tally.BloomFilter, 0), {}, ValueError, "num_shards is 0; must be a whole number from 1 to 16384"),
        ((tally.BloomFilter, 16385), {}, ValueError, "num_shards"),
        ((tally.BloomFilter, True), {}, TypeError, "num_shards"),
        ((tally.BloomFilter, 2.0), {}, TypeError, "num_shards"),
        ((int, 2), {}, TypeError, "filter_class"),
        ((tally.Filter, 2), {}, TypeError, "filter_class"),
        (("bloom", 2), {}, TypeError, "filter_class"),
        ((tally.BloomFilter, 2), {"num_keys": 0}, ValueError, "num_keys"),
        ((tally.BloomFilter, 2), {"num_keys": 1.5}, TypeError, "num_keys"),
        ((tally.BloomFilter, 2), {"num_keys": 10, "counts": [1]}, ValueError, "counts"),
        ((tally.BloomFilter, 2), {"num_keys": 10, "colour": 1}, TypeError, "colour"),
        ((tally.BloomFilter, 2), {"share_failure_probability": 0}, ValueError, "share_failure_probability"),
        ((tally.BloomFilter, 2), {"share_failure_probability": "1"}, TypeError, "share_failure_probability"),
        ((tally.BloomFilter, 2), {"num_keys": 10, "seed": -1}, ValueError, "seed"),
    ],
)
def test_wrong_arguments_are_refused(arguments, options, error, message):
    with pytest.raises(error, match=message):
        tally.ShardedFilter(*arguments, **{"false_positive_rate": 0.01, **options})


def test_a_kind_has_only_its_own_methods():
    with pytest.raises(AttributeError, match="ShardedFilter of BloomFilter has no remove_batch"):
        new_sharded("bloom").remove_batch(["a"])
    with pytest.raises(AttributeError, match="no insert_batch"):
        tally.ShardedFilter(tally.CountMinSketch, 2, epsilon=0.1, failure_probability=0.1).insert_batch(["a"])


def test_an_empty_batch_has_empty_results():
    sharded = new_sharded("counting")
    assert sharded.insert_batch([]) == 0
    assert sharded.may_contain_batch([]).dtype == bool and len(sharded.may_contain_batch([])) == 0
    assert sharded.count_batch([]).dtype == numpy.uint64
    assert [len(part) for part in sharded.count_batch([], with_saturated=True)] == [0, 0]


def test_an_exact_shape_and_a_keyed_hash(tmp_path):
    secret = bytes(range(32))
    shape = tally.BloomShape(num_bits=4096, num_hashes=5)
    sharded = tally.ShardedFilter(tally.BloomFilter, 3, shape=shape, key=secret)
    sharded.insert_batch(["a", "b"])
    assert sharded.shape == shape and sharded.seed is None and "a" in sharded and "c" not in sharded
    sharded.save(tmp_path)
    assert tally.ShardedFilter.open(tmp_path, key=secret) == sharded
    assert "b" in tally.ShardedFilter.from_filters(sharded.filters, key=secret)
    with pytest.raises(ValueError, match="key"):
        tally.ShardedFilter.open(tmp_path)
    with pytest.raises(ValueError, match="secret"):
        pickle.dumps(sharded)


def test_threads_insert_at_once(random):
    parts = [random.integers(0, 2**63, 5000) for _ in range(4)]
    sharded = new_sharded("counting", 3, num_keys=20_000)
    threads = [threading.Thread(target=sharded.insert_batch, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = new_sharded("counting", 3, num_keys=20_000)
    for part in parts:
        alone.insert_batch(part)
    assert sharded == alone


def test_repr_and_dataclasses_are_readable():
    sharded = new_sharded("bloom", 4)
    assert repr(sharded).startswith("<tally.ShardedFilter: 4 shards of BloomFilter, BloomShape(")
    assert dataclasses.is_dataclass(sharded.statistics())
    assert sharded.__hash__ is None and (sharded == "x") is False


def test_a_closed_shard_is_found_before_any_shard_is_changed():
    own = tally.ShardedFilter(tally.BloomFilter, 4, num_keys=1000, false_positive_rate=0.01)
    own.filters[3].close()
    with pytest.raises(ValueError, match="a shard is closed"):
        own.insert_batch(range(100))
    assert [part.num_insertions for part in own.filters[:3]] == [0, 0, 0]


def test_a_key_that_changes_is_one_key():
    class Changes:
        value = 0

        def __index__(self):
            self.value += 1
            return self.value

    own = tally.ShardedFilter(tally.BloomFilter, 64, num_keys=1000, false_positive_rate=1e-6)
    own.insert(Changes())
    assert 1 in own
