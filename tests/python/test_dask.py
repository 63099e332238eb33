"""What tally.dask builds from partitions is what one process would build, and what it finds is what counting finds."""

import collections
import pickle
import re
import signal

import numpy
import pytest

pytest.importorskip("distributed")
pandas = pytest.importorskip("pandas")

import dask  # noqa: E402
import dask.array  # noqa: E402
import dask.bag  # noqa: E402
import dask.dataframe  # noqa: E402
from dask import delayed  # noqa: E402
from dask.callbacks import Callback  # noqa: E402
from dask.sizeof import sizeof  # noqa: E402

import tally  # noqa: E402
import tally.dask  # noqa: E402


@pytest.fixture(autouse=True, params=["sync", "threads"])
def scheduler(request):
    with dask.config.set(scheduler=request.param):
        yield request.param


def zipf_words(random, num_keys=4000):
    return [f"word {number % 700}" for number in random.zipf(1.3, num_keys)]


def as_bag(words):
    return dask.bag.from_sequence(words, npartitions=19)


def as_series(words):
    return dask.dataframe.from_pandas(pandas.Series(words), npartitions=10)


def as_array(words):
    return dask.array.from_array(numpy.array(words), chunks=333)


def as_delayed(words):
    return [delayed(words[first : first + 500]) for first in range(0, len(words), 500)]


collections_of_words = {"bag": as_bag, "series": as_series, "array": as_array, "delayed": as_delayed}
as_each_collection = pytest.mark.parametrize("collection", collections_of_words.values(), ids=collections_of_words)

merged_kinds = {
    "bloom": (tally.BloomFilter, {"num_keys": 700, "false_positive_rate": 0.01}),
    "blocked": (tally.BlockedBloomFilter, {"num_keys": 700, "false_positive_rate": 0.01}),
    "register-blocked": (tally.RegisterBlockedBloomFilter, {"num_keys": 700, "false_positive_rate": 0.01}),
    "counting": (tally.CountingBloomFilter, {"num_keys": 700, "false_positive_rate": 0.01}),
    "blocked-counting": (tally.BlockedCountingBloomFilter, {"num_keys": 700, "false_positive_rate": 0.01}),
    "count-min": (tally.CountMinSketch, {"epsilon": 0.001, "failure_probability": 0.01}),
}

sharded_kinds = {
    "dleft": (tally.DLeftCountingBloomFilter, {"num_frequent_keys": 700}),
    "compact": (tally.CompactDLeftFilter, {"num_frequent_keys": 700, "keys_repeat": False}),
    "threshold": (tally.ThresholdFilter, {"threshold": 5}),
    "conservative": (tally.ThresholdFilter, {"threshold": 5, "update": "conservative"}),
    "bloom": (tally.BloomFilter, {}),
}


def filled(structure, words):
    add = structure.add_batch if isinstance(structure, tally.CountMinSketch) else structure.insert_batch
    add(words)
    return structure


@pytest.mark.parametrize("kind", merged_kinds)
@as_each_collection
def test_a_merged_structure_equals_one_of_all_keys(kind, collection, random):
    filter_class, requirements = merged_kinds[kind]
    words = zipf_words(random)
    built = tally.dask.build(collection(words), filter_class, seed=5, split_every=3, **requirements)
    assert isinstance(built, dask.delayed("").__class__.__mro__[1])
    assert built.compute() == filled(filter_class(seed=5, **requirements), words)


def test_counters_that_saturate_are_merged_exactly(random):
    shape = tally.CountingBloomShape(num_counters=128, num_hashes=3, counter_bits=4)
    words = zipf_words(random)
    built = tally.dask.build(as_bag(words), shape, compute=True)
    assert built.statistics().num_saturated > 0
    assert built == filled(tally.make(shape), words)


@pytest.mark.parametrize("kind", sharded_kinds)
@as_each_collection
def test_a_sharded_filter_equals_one_of_all_keys_in_order(kind, collection, random):
    filter_class, own = sharded_kinds[kind]
    requirements = {"num_keys": 700, "false_positive_rate": 0.01, **own}
    words = zipf_words(random)
    built = tally.dask.build_sharded(collection(words), filter_class, num_shards=3, seed=5, **requirements).compute()
    alone = filled(tally.ShardedFilter(filter_class, 3, seed=5, **requirements), words)
    assert built == alone and built.share_plan == alone.share_plan


def test_keys_that_no_shard_has_room_for_are_never_lost(random):
    words = zipf_words(random)
    options = {"num_shards": 2, "num_keys": 50, "false_positive_rate": 0.01}
    with pytest.raises(ValueError, match=r"\d+ insertions were refused, because shards are full: load .*num_keys"):
        tally.dask.build_sharded(as_bag(words), tally.DLeftCountingBloomFilter, compute=True, **options)
    part = tally.dask.build_sharded(
        as_bag(words), tally.DLeftCountingBloomFilter, compute=True, allow_full=True, **options
    )
    assert part.num_insertions + part.statistics().total.num_full == len(words)


def keys_over(words, n):
    return {word for word, count in collections.Counter(words).items() if count >= n}


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("n", [1, 2, 30])
@as_each_collection
def test_over_finds_each_key_that_occurs_n_times_once(collection, n, exact, random):
    words = zipf_words(random)
    found = list(tally.dask.over(collection(words), n, exact=exact, false_positive_rate=1e-9).compute())
    assert len(found) == len(set(found))
    assert set(found) == keys_over(words, n)


def derived_collections(words):
    """Collections whose graphs have layers of different kinds."""
    frame = pandas.DataFrame({"key": words, "number": range(len(words))})
    from_pandas = dask.dataframe.from_pandas(frame, npartitions=6)
    series = [delayed(frame["key"].iloc[first : first + 700]) for first in range(0, len(words), 700)]
    yield words, dask.dataframe.from_delayed(series, meta=frame["key"].iloc[:0])
    yield words[:1000], from_pandas[from_pandas["number"] < 1000]["key"]
    yield [word + "x" for word in words], from_pandas["key"] + "x"
    yield words, from_pandas["key"].astype("category")
    yield words, from_pandas.repartition(npartitions=2).set_index("key").index
    yield words, from_pandas["key"].persist()
    yield [word + "x" for word in words], as_bag(words).map(str.__add__, "x").filter(str.isprintable)
    pages = ["\n".join(words[i::3]) for i in range(3)]
    yield words, dask.bag.from_sequence(pages, npartitions=2).map(str.split, "\n").flatten()
    yield words, as_bag(words).to_delayed()
    yield words, as_bag(words).persist()
    yield words[::2], as_array(words)[::2].persist()
    yield words[::-1], as_array(words)[::-1]


def test_over_takes_what_other_functions_of_dask_made(random):
    for words, keys in derived_collections(zipf_words(random)):
        for exact in (False, True):
            found = list(tally.dask.over(keys, 15, exact=exact, false_positive_rate=1e-9).compute())
            assert set(found) == keys_over(words, 15) and len(found) == len(set(found)), keys
        built = tally.dask.build(keys, tally.CountingBloomFilter, compute=True, **size)
        assert built == filled(tally.CountingBloomFilter(**size), words), keys


def test_over_returns_a_collection_of_the_same_type(random):
    words = zipf_words(random)
    bag, series, array = (tally.dask.over(collection(words), 9) for collection in (as_bag, as_series, as_array))
    assert isinstance(bag, dask.bag.Bag) and bag.npartitions == 19
    assert isinstance(series, dask.dataframe.Series) and series.npartitions == 10
    assert isinstance(array, dask.array.Array) and array.dtype == numpy.array(words).dtype
    assert isinstance(tally.dask.over(as_delayed(words), 9), dask.bag.Bag)
    num_found = len(keys_over(words, 9))
    assert bag.count().compute() == len(series) == len(array.compute()) == num_found


def test_over_returns_a_key_where_it_occurs_for_the_nth_time():
    words = list("abcabcaxyzab")
    found = tally.dask.over(dask.dataframe.from_pandas(pandas.Series(words), npartitions=3), 3).compute()
    assert found.to_dict() == {6: "a", 11: "b"}


class CountsTooHigh:
    """A threshold stream that reports some keys too early, as filters do."""

    def __init__(self, threshold):
        self.counts = collections.Counter()
        self.threshold = threshold

    def add_batch(self, digests):
        positions = []
        for i, digest in enumerate(digests):
            step = self.threshold if int(digest["low"]) % 3 == 0 else 1
            before = self.counts[digest.tobytes()]
            self.counts[digest.tobytes()] += step
            if before < self.threshold <= before + step:
                positions.append(i)
        return numpy.array(positions, numpy.uint64), numpy.full(len(positions), self.threshold, numpy.uint64)


@as_each_collection
def test_exact_drops_keys_that_were_reported_falsely(collection, random, monkeypatch):
    monkeypatch.setattr("tally.dask._new_counter", lambda n, *arguments: CountsTooHigh(n))
    words = zipf_words(random)
    truth = keys_over(words, 20)
    found = set(tally.dask.over(collection(words), 20).compute())
    assert found > truth
    exact = list(tally.dask.over(collection(words), 20, exact=True).compute())
    assert set(exact) == truth and len(exact) == len(truth)


def test_candidates_that_agree_in_half_of_their_digests_are_told_apart():
    candidates = numpy.array([(1, 5), (1, 6), (1, 9), (4, 0)], tally.digest_dtype)
    asked = numpy.array([(1, 6), (1, 7), (4, 0), (4, 1), (0, 0), (1, 9), (1, 5), (9, 9)], tally.digest_dtype)
    assert tally.dask._places(candidates, asked).tolist() == [1, -1, 3, -1, -1, 2, 0, -1]
    assert tally.dask._places(candidates[:0], asked[:2]).tolist() == [-1, -1]


def test_partitions_may_be_empty_or_missing():
    parts = [delayed([]), delayed(["a", "b"]), delayed(numpy.empty(0, numpy.int64)), delayed(["a"]), delayed([])]
    options = {"num_keys": 10, "false_positive_rate": 0.01}
    assert tally.dask.build(parts, tally.BloomFilter, compute=True, **options) == filled(
        tally.BloomFilter(**options), ["a", "b", "a"]
    )
    dleft = tally.DLeftCountingBloomFilter
    assert tally.dask.build_sharded(parts, dleft, num_shards=2, compute=True, **options).count("a") == 2
    for exact in (False, True):
        assert tally.dask.over(parts, 2, exact=exact).compute() == ["a"]
        assert tally.dask.over(parts, 3, exact=exact).compute() == []
        assert tally.dask.over([], 3, exact=exact).compute() == []
    assert tally.dask.build([], tally.BloomFilter, compute=True, **options).num_insertions == 0
    assert tally.dask.build_sharded([], dleft, num_shards=2, compute=True, **options).num_insertions == 0
    empty = dask.dataframe.from_pandas(pandas.Series(["a", "b", "a"]), npartitions=1)
    assert len(tally.dask.over(empty[empty == "c"], 1).compute()) == 0


def test_partitions_may_have_keys_of_different_types():
    parts = [
        delayed(["a", b"b", 7]),
        delayed(numpy.array([7, 8], numpy.int16)),
        delayed(numpy.array([b"a", b"c"])),
        delayed(pandas.Series(["c", "b"])),
        delayed(pandas.Series([8, 9], dtype="Int64")),
        delayed(pandas.Series(["a"], dtype="string")),
        delayed(pandas.Series(["c"], dtype="category")),
        delayed(iter)(["b"]),
        delayed(tally.digests(["b"])),
    ]
    found = tally.dask.over(parts, 2, num_shards=2).compute()
    assert sorted(tally.digests([key])[0].tobytes() for key in found) == sorted(
        digest.tobytes() for digest in tally.digests(["a", "b", "c", 7, 8])
    )
    sketch = tally.dask.build(parts, tally.CountMinSketch, epsilon=0.001, failure_probability=0.001, compute=True)
    assert sketch.count_batch(["a", "b", "c", 7, 8, 9]).tolist() == [3, 4, 3, 2, 2, 1]


missing = {
    "None": (["a", None, "b"], None),
    "NaN": (["a", float("nan"), "b"], None),
    "NA": ([1, None, 3], "Int64"),
    "string": (["a", None, "b"], "string"),
    "category": (["a", None, "b"], "category"),
}


@pytest.mark.parametrize("values, dtype", missing.values(), ids=missing)
def test_missing_values_are_refused(values, dtype):
    series = dask.dataframe.from_pandas(pandas.Series(values, dtype=dtype), npartitions=1)
    message = r"keys has 1 missing values in a partition, the first at position 1; leave them out by dropna\(\)"
    with pytest.raises(ValueError, match=message):
        tally.dask.build(series, tally.BloomFilter, num_keys=10, false_positive_rate=0.01, compute=True)
    with pytest.raises(ValueError, match=message):
        tally.dask.over(series, 2).compute()
    assert len(tally.dask.over(series.dropna(), 1).compute()) == 2


class TopOfAll:
    """Has the interface of tally.TopKeys."""

    def __init__(self, *, seed=None, num_counters):
        self.counts = collections.Counter()
        self.num_counters = num_counters

    def add_batch(self, keys):
        self.counts.update(keys)

    def merge(self, other):
        self.counts.update(other.counts)

    def __copy__(self):
        return pickle.loads(pickle.dumps(self))


def test_sketches_of_frequent_keys_are_merged(random, monkeypatch):
    monkeypatch.setattr("tally._tally.TopKeys", TopOfAll, raising=False)
    words = zipf_words(random)
    top = tally.dask.build(as_bag(words), TopOfAll, num_counters=10, compute=True)
    assert top.counts == collections.Counter(words) and top.num_counters == 10


size = {"num_keys": 100, "false_positive_rate": 0.01}


@pytest.mark.parametrize(
    "what, options, error, message",
    [
        (tally.DLeftCountingBloomFilter, size, ValueError, "build_sharded"),
        (tally.CompactDLeftFilter, size, ValueError, "build_sharded"),
        (tally.ThresholdFilter, {**size, "threshold": 3}, ValueError, "tally.dask.over .*build_sharded"),
        (tally.ThresholdShape(num_counters=100, num_hashes=3, threshold=3), {}, ValueError, "tally.dask.over"),
        (tally.DLeftShape(buckets_per_subtable=10), {}, ValueError, "build_sharded"),
        (
            tally.CountMinSketch,
            {"epsilon": 0.1, "failure_probability": 0.1, "update": "conservative"},
            ValueError,
            "conservative update .*build_sharded",
        ),
        (tally.BloomFilter, {**size, "key": bytes(32)}, ValueError, "secret"),
        (tally.BloomFilter, {**size, "seed": -1}, ValueError, "seed"),
        (tally.BloomFilter, {**size, "split_every": 1}, ValueError, "split_every is 1"),
        (tally.BloomFilter, {**size, "split_every": 2.0}, TypeError, "split_every"),
        (tally.BloomFilter, {"num_keys": 3}, ValueError, "."),
        (tally.BloomShape(num_bits=64, num_hashes=2), {"num_keys": 3}, TypeError, "num_keys is given beside a shape"),
        (int, {}, TypeError, "filter_class_or_shape"),
        ("bloom", {}, TypeError, "filter_class_or_shape"),
        (tally.Filter, {}, TypeError, "."),
    ],
)
def test_what_is_not_merged_exactly_is_refused_at_once(what, options, error, message):
    with pytest.raises(error, match=message):
        tally.dask.build(as_bag(["a"]), what, **options)


frame = dask.dataframe.from_pandas(pandas.DataFrame({"a": [1], "b": [0.5]}), npartitions=1)


@pytest.mark.parametrize(
    "keys, error, message",
    [
        (frame, TypeError, r"frame\['name'\]"),
        (frame["b"], TypeError, r"dtype float64.*dropna|dtype float64.*astype"),
        (dask.array.zeros((2, 2), dtype="int64"), ValueError, "2 dimensions"),
        (dask.array.zeros(2), TypeError, "dtype float64"),
        (["a", "b"], TypeError, "list"),
        ("a", TypeError, "str"),
        (pandas.Series(["a"]), TypeError, "Series"),
        (delayed(["a"]), TypeError, "Delayed"),
    ],
)
def test_what_is_no_collection_of_keys_is_refused_at_once(keys, error, message):
    with pytest.raises(error, match=message):
        tally.dask.over(keys, 2)
    with pytest.raises(error, match=message):
        tally.dask.build(keys, tally.BloomFilter, **size)


@pytest.mark.parametrize(
    "n, options, error, message",
    [
        (0, {}, ValueError, "n is 0; must be a whole number from 1 to 4294967295"),
        (2**32, {}, ValueError, "n is"),
        (2.5, {}, TypeError, "n is of type float"),
        (True, {}, TypeError, "n is of type bool"),
        (2, {"num_shards": 0}, ValueError, "num_shards"),
        (2, {"num_keys": 0}, ValueError, "num_keys"),
    ],
)
def test_wrong_arguments_of_over_are_refused_at_once(n, options, error, message):
    with pytest.raises(error, match=message):
        tally.dask.over(as_bag(["a"]), n, **options)


def test_wrong_arguments_of_build_sharded_are_refused_at_once():
    bag = as_bag(["a"])
    for options, error, message in [
        ({"num_shards": 0}, ValueError, "num_shards"),
        ({"num_shards": 2, "key": bytes(32)}, ValueError, "secret"),
        ({"num_shards": 2, "share_failure_probability": 1}, ValueError, "share_failure_probability"),
        ({"num_shards": 2, "colour": 1}, TypeError, "colour"),
    ]:
        with pytest.raises(error, match=message):
            tally.dask.build_sharded(bag, tally.BloomFilter, **size, **options)
    with pytest.raises(TypeError, match="filter_class"):
        tally.dask.build_sharded(bag, int, num_shards=2, **size)


def test_the_same_arguments_give_the_same_graph():
    bag = as_bag(["a", "b"])

    def names(**more):
        return [
            tally.dask.build(bag, tally.BloomFilter, **size, **more).key,
            tally.dask.build_sharded(bag, tally.BloomFilter, num_shards=2, **size, **more).key,
            tally.dask.over(bag, 2, **more).name,
        ]

    assert names() == names()
    assert not set(names(seed=1)) & set(names())


def test_tasks_change_nothing_that_they_take():
    new = tally.BloomFilter(**size)
    before, pieces = filled(new.copy(), ["a"]), [tally.digests(["b"])]
    after, _ = tally.dask._inserted(None, before, *pieces)
    assert before == filled(new.copy(), ["a"]) and after == filled(new.copy(), ["a", "b"])
    merged = tally.dask._merged(before, after)
    assert before == filled(new.copy(), ["a"]) and merged is not before

    counter = tally.dask._new_counter(2, None, None, None)
    new_counter = (lambda: counter)
    first, _ = tally.dask._counted(new_counter, False, None, tally.digests(["a"]))
    for _ in range(2):
        _, (positions, _) = tally.dask._counted(new_counter, False, first, tally.digests(["b", "a"]))
        assert positions[0].tolist() == [1]


class LargestNumbers(Callback):
    """The most results of each kind of task that were in memory at once."""

    def __init__(self):
        self.most = collections.Counter()

    def _posttask(self, key, value, dsk, state, worker_id):
        names = (key if isinstance(key, str) else key[0] for key in state["cache"] if not callable(state["cache"][key]))
        kinds = collections.Counter(re.sub("-?[0-9a-f]{32}", "", name) for name in names)
        for kind, number in kinds.items():
            self.most[kind] = max(self.most[kind], number)


def part(seed):
    return numpy.random.default_rng(seed).integers(0, 1000, 100)


def assert_few_partitions_are_in_memory(largest, num_threads):
    sources = {kind: number for kind, number in largest.items() if "part" in kind or "bag-from" in kind}
    assert sources and max(sources.values()) <= num_threads + 1
    # Digests of the partitions that a shard takes in one task, and of those in work.
    pieces = sum(number for kind, number in largest.items() if kind.endswith("-piece"))
    assert pieces <= 4 * (tally.dask._partitions_per_task + 2 * num_threads)
    assert sum(number for kind, number in largest.items() if kind.endswith("-state")) <= 4 + num_threads


def test_partitions_are_not_kept_in_memory(scheduler):
    parts = [delayed(part, pure=True)(seed) for seed in range(40)]
    num_threads = {"sync": 1, "threads": 2}[scheduler]
    # While the system holds one of two threads, the other goes on to later partitions: dask sets no limit to that.
    num_attempts = {"sync": 1, "threads": 10}[scheduler]
    for work in (
        tally.dask.over(parts, 5, num_shards=4),
        tally.dask.over(parts, 5, num_shards=4, exact=True),
        tally.dask.build_sharded(parts, tally.CountingBloomFilter, num_shards=4, **size),
        tally.dask.build(parts, tally.BloomFilter, split_every=4, **size),
    ):
        for attempt in range(1, num_attempts + 1):
            with LargestNumbers() as numbers:
                work.compute(num_workers=num_threads)
            try:
                assert_few_partitions_are_in_memory(numbers.most, num_threads)
                break
            except AssertionError:
                if attempt == num_attempts:
                    raise


def test_dask_knows_the_size_of_structures():
    one = tally.BloomFilter(num_keys=10**6, false_positive_rate=0.01)
    assert one.memory_bytes < sizeof(one) < one.memory_bytes + 2000
    sharded = tally.ShardedFilter(tally.BloomFilter, 4, num_keys=10**6, false_positive_rate=0.01)
    assert sharded.memory_bytes < sizeof(sharded) < sharded.memory_bytes + 8000
    one.close()
    assert sizeof(one) < 2000


@pytest.fixture
def time_limit():
    """Ends a test whose processes do not answer."""

    def end(*arguments):
        raise TimeoutError("no answer within 120 seconds")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    ) as cluster, Client(cluster) as client:
        yield client


def check_all(words, **compute):
    """The three functions, with another scheduler."""
    bag = as_bag(words)
    options = {"num_keys": 700, "false_positive_rate": 0.01}
    built = tally.dask.build(bag, tally.CountingBloomFilter, split_every=3, **options).compute(**compute)
    assert built == filled(tally.CountingBloomFilter(**options), words)
    dleft = tally.DLeftCountingBloomFilter
    sharded = tally.dask.build_sharded(bag, dleft, num_shards=3, num_frequent_keys=700, **options).compute(**compute)
    assert sharded == filled(tally.ShardedFilter(dleft, 3, num_frequent_keys=700, **options), words)
    for exact in (False, True):
        found = tally.dask.over(as_series(words), 20, exact=exact, false_positive_rate=1e-9).compute(**compute)
        assert set(found) == keys_over(words, 20) and len(found) == len(keys_over(words, 20))


def test_processes_give_the_same_answers(time_limit, scheduler, random):
    if scheduler == "sync":  # once is enough
        check_all(zipf_words(random), scheduler="processes", num_workers=2)


def test_a_cluster_gives_the_same_answers(client, time_limit, scheduler, random):
    if scheduler == "threads":
        return
    check_all(zipf_words(random), scheduler=client)
    before = tally.dask.bytes_moved(client)
    parts = [delayed(part, pure=True)(seed) for seed in range(40)]
    expected = keys_over(numpy.concatenate([part(seed) for seed in range(40)]).tolist(), 5)
    assert set(tally.dask.over(parts, 5).compute(scheduler=client)) == expected
    assert 0 < tally.dask.bytes_moved(client) - before < 4 * 10**6  # more where the workers are slow


def test_a_cluster_takes_what_other_functions_of_dask_made(client, time_limit, scheduler, random):
    if scheduler == "sync":
        with dask.config.set(scheduler=client):
            for words, keys in derived_collections(zipf_words(random, 1500)):
                found = list(tally.dask.over(keys, 15, exact=True).compute())
                assert set(found) == keys_over(words, 15) and len(found) == len(set(found)), keys


def test_an_error_of_a_task_comes_from_the_cluster(client, time_limit, scheduler):
    if scheduler == "sync":
        with pytest.raises(TypeError, match=r"keys\[1\]"):
            tally.dask.over(dask.bag.from_sequence(["a", 0.5], npartitions=1), 2).compute(scheduler=client)
