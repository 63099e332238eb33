"""over, iter_over, top and top_windows, against collections.Counter."""

import collections
import itertools

import numpy
import pandas
import pytest

import tally

SECOND = 10**9


def positions_of_nth(keys, n):
    seen = collections.Counter()
    found = []
    for position, key in enumerate(keys):
        seen[key] += 1
        if seen[key] == n:
            found.append(position)
    return found


@pytest.fixture
def keys(random):
    return (random.zipf(1.3, 5000) % 400).astype(numpy.int64)


# over.


@pytest.mark.parametrize("as_batch", [
    lambda keys: keys,
    lambda keys: keys.tolist(),
    lambda keys: iter(keys.tolist()),
    lambda keys: [f"key é {key}" for key in keys.tolist()],
    lambda keys: numpy.array([f"key {key}" for key in keys.tolist()]),
    lambda keys: pandas.Series(keys, index=numpy.arange(len(keys))[::-1] + 7),
    lambda keys: pandas.Series([f"key {key}" for key in keys.tolist()], dtype="category").astype("string"),
], ids=["array", "list", "iterator", "texts", "U", "Series", "strings"])
def test_over_returns_the_positions_at_which_keys_reach_the_count(keys, as_batch):
    truth = positions_of_nth(keys.tolist(), 7)
    positions = tally.over(as_batch(keys), 7)
    assert positions.dtype == numpy.int64 and positions.tolist() == truth and len(truth) > 20
    positions, counts = tally.over(as_batch(keys), 7, with_counts=True)
    assert positions.tolist() == truth and (counts == 7).all()


def test_over_misses_no_key_with_filters(keys):
    truth = dict(zip(keys[positions_of_nth(keys.tolist(), 7)].tolist(), positions_of_nth(keys.tolist(), 7)))
    positions, counts, result = tally.over(keys, 7, num_keys=400, false_positive_rate=0.05, seed=2, exact=True, with_counts=True)
    assert (counts >= 7).all() and (numpy.diff(positions) > 0).all()
    found = dict(zip(keys[positions].tolist(), positions.tolist()))
    assert len(found) == len(positions) and all(found[key] <= at for key, at in truth.items())
    assert result.num_missed == 0 and result.num_keys_over_threshold == len(truth)
    assert result.num_false_reports == len(found) - len(truth)
    positions, result = tally.over(keys, 7, exact=True)
    assert positions.tolist() == list(truth.values()) and result.num_early_reports == 0


def test_over_adds_up_weights_and_counts_in_windows():
    assert tally.over(list("abab"), 10, weights=[4, 9, 6, 1]).tolist() == [2, 3]
    positions, sums = tally.over(list("abab"), 10, weights=[4, 9, 8, 7], with_counts=True)
    assert positions.tolist() == [2, 3] and sums.tolist() == [12, 16]
    frame = pandas.DataFrame({"key": list("aaaaaa"), "time": pandas.to_datetime([0, 1, 2, 100, 200, 201], unit="s")}, index=list("uvwxyz"))
    positions = tally.over(frame["key"], 2, times=frame["time"], window_seconds=10)
    assert positions.tolist() == [1, 5] and frame.iloc[positions]["time"].dt.second.tolist() == [1, 21]


@pytest.mark.parametrize("options, error, words", [
    (dict(times=[1]), ValueError, "times is given; must be left out"),
    (dict(weights=[1], num_keys=5), ValueError, "num_keys is given"),
    (dict(weights=[1], exact=True), ValueError, "exact is given"),
    (dict(weights=[1], false_positive_rate=0.1), ValueError, "give memory_bytes"),
    (dict(window_seconds=5), ValueError, "times is None"),
    (dict(window_seconds=5, times=[1, 2]), ValueError, "times has 2 times"),
    (dict(weights=[1, 2]), ValueError, "weights has 2 numbers"),
    (dict(exact=1), TypeError, "exact_check"),
    (dict(colour=1), TypeError, "colour"),
])
def test_wrong_arguments_of_over_are_named(options, error, words):
    with pytest.raises(error, match=words):
        tally.over(["a"], 2, **options)
    for keys in ("a", None, 3, [None]):
        with pytest.raises(TypeError, match="keys"):
            tally.over(keys, 2)
    with pytest.raises(ValueError, match="threshold is 0"):
        tally.over(["a"], 0)


# iter_over.


@pytest.mark.parametrize("batch_size", [1, 7, 1024])
def test_iter_over_yields_each_key_once_as_the_object_itself(keys, batch_size):
    objects = [f"key {key}" for key in keys.tolist()]
    found = list(tally.iter_over(iter(objects), 7, batch_size=batch_size))
    assert [id(key) for key in found] == [id(objects[at]) for at in positions_of_nth(objects, 7)]


def test_iter_over_takes_at_most_a_batch_ahead_from_an_endless_iterator():
    taken = []

    def endless():
        for number in itertools.count():
            taken.append(number)
            yield number % 10

    for batch_size, most in ((1, 20), (16, 32)):
        taken.clear()
        assert next(tally.iter_over(endless(), 2, batch_size=batch_size)) == 0
        assert 11 <= len(taken) <= most
        if batch_size == 1:
            assert len(taken) == 11


def test_iter_over_yields_what_came_before_an_exception():
    def fails():
        yield from ["a", "b", "a"]
        raise RuntimeError("the line broke")

    found = []
    with pytest.raises(RuntimeError, match="the line broke"):
        found.extend(tally.iter_over(fails(), 2))
    found = []
    iterator = tally.iter_over(fails(), 2)
    assert next(iterator) == "a"
    with pytest.raises(RuntimeError):
        next(iterator)


def test_wrong_arguments_of_iter_over_are_refused_at_once():
    for arguments, options, error, words in [
        (("abc", 2), {}, TypeError, "keys is of type str"),
        ((3, 2), {}, TypeError, "iterable"),
        ((["a"], 0), {}, ValueError, "threshold is 0"),
        ((["a"], 2), dict(batch_size=0), ValueError, "batch_size is 0"),
        ((["a"], 2), dict(batch_size=1.5), TypeError, "batch_size is of type float"),
        ((["a"], 2), dict(batch_size=True), TypeError, "batch_size"),
    ]:
        with pytest.raises(error, match=words):
            tally.iter_over(*arguments, **options)
    with pytest.raises(TypeError, match=r"keys\[1\]"):
        list(tally.iter_over(["a", None], 2))


# top.


@pytest.mark.parametrize("convert, dtype", [
    (lambda keys: keys, int), (lambda keys: keys.tolist(), int), (lambda keys: keys.astype("u2"), int),
    (lambda keys: list(map(str, keys.tolist())), str), (lambda keys: keys.astype("U"), str), (lambda keys: keys.astype("S"), bytes),
    (lambda keys: pandas.Series(keys).astype(str), str), (lambda keys: iter(keys.astype("U").tolist()), str),
    (lambda keys: [b"%d" % key for key in keys], bytes),
])
def test_top_returns_keys_as_the_type_they_came_as(keys, convert, dtype):
    truth = collections.Counter(keys.tolist())
    found = tally.top(convert(keys), 5)
    assert [count.count for count in found] == [count for _, count in truth.most_common(5)]
    assert all(type(count.key) is dtype and count.error == 0 for count in found)
    assert {int(count.key) for count in found[:3]} == {key for key, _ in truth.most_common(3)}


def test_top_of_unusual_keys():
    assert tally.top(numpy.array([2**64 - 1, 3], "u8"), 1)[0].key in (2**64 - 1, 3)
    assert {count.key for count in tally.top([2**63, 5])} == {2**63, 5}
    assert {count.key for count in tally.top([-1, 5])} == {-1, 5}
    assert {count.key for count in tally.top(["a", b"\xff"])} == {b"a", b"\xff"}
    assert tally.top([b"\xff\xfe"])[0].key == b"\xff\xfe"
    assert tally.top([]) == [] and tally.top(numpy.array([], int)) == []
    assert tally.top(["a", "b", "b"], weights=[5, 1, 1]) == [tally.KeyCount("a", 5, 0), tally.KeyCount("b", 2, 0)]
    assert len(tally.top(range(50_000), 20_000)) == 20_000
    assert len(tally.top(range(50), 20, capacity=15, method="space-saving")) == 15
    for keys, words in (("abc", "pass"), ([1.5], r"keys\[0\]"), (3, "keys")):
        with pytest.raises(TypeError, match=words):
            tally.top(keys)
    for options in (dict(num_keys=-1), dict(num_keys=1.5), dict(capacity=0), dict(method="x"), dict(weights=[1, 2])):
        with pytest.raises((ValueError, TypeError)):
            tally.top(["a"], **options)


# top_windows.


def window_counts(keys, times, begin, end):
    return collections.Counter(key for key, time in zip(keys, times) if begin <= time < end)


@pytest.mark.parametrize("sizes", [[4000], [1, 999, 3000], [100] * 40])
def test_each_window_has_its_most_frequent_keys(random, sizes):
    keys = random.integers(0, 30, 4000)
    times = numpy.sort(random.integers(0, 100 * SECOND, 4000))
    ends = numpy.cumsum(sizes).tolist()
    batches = [(keys[a:b], times[a:b]) for a, b in zip([0, *ends], ends)]
    found = list(tally.top_windows(iter(batches), 5, window_seconds=20, every_seconds=10, num_slots=2))
    assert [time for time, _ in found] == [*(10 * SECOND * i for i in range(1, 10)), int(times[-1])]
    for end, counts in found[:-1]:
        least = window_counts(keys, times, end - 20 * SECOND, end)
        most = window_counts(keys, times, end - 30 * SECOND, end)
        assert len(counts) == 5
        assert all(type(count.key) is int and least[count.key] <= count.count <= most[count.key] for count in counts)
        assert counts[-1].count >= sorted(least.values())[-5]


def test_windows_have_times_of_the_type_that_was_given():
    for times, first, last in [
        (numpy.array(["2026-01-01T00:00:59", "2026-01-01T00:03:00"], "M8[s]"), numpy.datetime64("2026-01-01T00:01"), numpy.datetime64("2026-01-01T00:03")),
        (pandas.Series(pandas.to_datetime(["2026-01-01T00:00:59", "2026-01-01T00:03"])), numpy.datetime64("2026-01-01T00:01"), numpy.datetime64("2026-01-01T00:03")),
        ([59.5, 180.25], 60.0, 180.25),
        ([59 * SECOND, 180 * SECOND], 60 * SECOND, 180 * SECOND),
        ([-61 * SECOND, 0], -60 * SECOND, 0),
    ]:
        found = list(tally.top_windows([(["a", "b"], times, [3, 4])], window_seconds=60))
        assert found == [(first, [tally.KeyCount("a", 3, 0)]), (last, [tally.KeyCount("b", 4, 0)])]
        assert type(found[0][0]) is type(first)


def test_windows_are_yielded_as_soon_as_time_passes_a_step():
    given = []

    def endless():
        for second in itertools.count():
            given.append(second)
            yield ["a", f"k{second}"], [float(second)] * 2

    windows = tally.top_windows(endless(), 1, window_seconds=5)
    assert next(windows) == (5.0, [tally.KeyCount("a", 5, 0)]) and given[-1] == 5
    assert next(windows)[0] == 10.0 and given[-1] == 10


def test_late_records_and_empty_batches_open_no_window():
    batches = [([], []), (["a"], [0.0]), (["b"], [7.0]), (["a", "a"], [1.0, 2.0]), ([], []), (["a"], [8.0])]
    found = list(tally.top_windows(batches, window_seconds=5, every_seconds=5, num_slots=1))
    assert [time for time, _ in found] == [5.0, 8.0]
    assert found[-1][1] == [tally.KeyCount("a", 2, 0), tally.KeyCount("b", 1, 0)]  # one of them is left out
    assert list(tally.top_windows([], window_seconds=5)) == []
    assert list(tally.top_windows([([], [])], window_seconds=5)) == []


def test_keys_of_several_types_come_back_as_bytes():
    found = list(tally.top_windows([(["a"], [0]), ([7], [1])], window_seconds=5))
    assert {count.key for count in found[-1][1]} == {b"a", (7).to_bytes(8, "little")}


def test_wrong_arguments_of_top_windows_are_refused():
    for options, error, words in [
        (dict(window_seconds=0), ValueError, "window_seconds is 0"),
        (dict(window_seconds=None), TypeError, "window_seconds is None"),
        (dict(window_seconds=1, every_seconds=0), ValueError, "every_seconds is 0"),
        (dict(window_seconds=1, every_seconds="x"), TypeError, "every_seconds"),
        (dict(window_seconds=1, num_slots=0), ValueError, "num_slots is 0"),
        (dict(window_seconds=1, num_keys=-1), ValueError, "num_keys is -1"),
    ]:
        with pytest.raises(error, match=words):
            tally.top_windows([], **options)
    for batch, error, words in [
        (["a"], TypeError, "batches gave"),
        ("ab", TypeError, "batches gave"),
        ((["a"], [1, 2]), ValueError, "1 keys, 2 times"),
        ((["a"], [1], [1, 2]), ValueError, "2 weights"),
        ((["a"], [1], [1.5]), TypeError, "weights"),
        ((["a"], [float("nan")]), ValueError, r"times\[0\] is NaN"),
        (([None], [1]), TypeError, r"keys\[0\]"),
        (("a", [1]), TypeError, "keys"),
        ((3, [1]), TypeError, "keys"),
    ]:
        with pytest.raises(error, match=words):
            list(tally.top_windows([batch], window_seconds=1))
