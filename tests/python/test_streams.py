"""ThresholdStream, SumStream and TopStream against exact counts."""

import os
import collections
import gc
import inspect
import itertools
import subprocess
import sys
import threading
import weakref

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tally
from test_any_arguments import ALLOWED, ANY, MANY, QUICK, call

#: Exact counting; exact counting that gives way to several filters; a filter planned for all keys; bounded memory.
WAYS = {
    "exact": {},
    "generations": dict(exact_keys=20),
    "planned": dict(num_keys=3000),
    "bounded": dict(memory_bytes=40_000),
    "conservative": dict(num_keys=3000, update="conservative"),
}
SECOND = 10**9


@pytest.fixture(params=WAYS)
def way(request):
    return WAYS[request.param]


def skewed(random, size=20_000, distinct=3000):
    return numpy.minimum(random.zipf(1.3, size), distinct).astype(numpy.int64)


def positions_of_nth(keys, n):
    """Where each key occurs for the n-th time."""
    seen = collections.Counter()
    found = {}
    for position, key in enumerate(keys):
        seen[key] += 1
        if seen[key] == n:
            found[key] = position
    return found


def in_batches(stream, keys, sizes, *rest):
    """The reports of a stream that is fed in batches of these sizes, as positions in the whole stream."""
    reports = []
    begin = 0
    for size in sizes:
        part = slice(begin, begin + size)
        positions, counts = stream.add_batch(keys[part], *(one[part] for one in rest))
        reports += [(begin + at, count) for at, count in zip(positions.tolist(), counts.tolist())]
        begin += size
    return reports


def test_no_key_is_missed_and_each_is_reported_once(way, random):
    keys = skewed(random)
    stream = tally.ThresholdStream(10, seed=7, **way)
    positions, counts = stream.add_batch(keys)
    assert positions.dtype == numpy.int64 and counts.dtype == numpy.uint64
    assert (numpy.diff(positions) > 0).all() and (counts >= 10).all()
    reported = dict(zip(keys[positions].tolist(), positions.tolist()))
    assert len(reported) == len(positions)
    truth = positions_of_nth(keys.tolist(), 10)
    assert set(truth) <= set(reported)
    assert all(reported[key] <= position for key, position in truth.items())
    assert len(set(reported) - set(truth)) < 0.03 * 3000
    now = stream.statistics()
    assert now.num_keys == 20_000 and now.num_reported == len(positions) and now.num_possible_repeats == 0
    assert now.seed == stream.seed == 7 and stream.threshold == 10


def test_exact_counting_reports_where_the_count_reaches_the_threshold(random):
    keys = skewed(random)
    stream = tally.ThresholdStream(10)
    positions, counts = stream.add_batch(keys)
    assert positions.tolist() == sorted(positions_of_nth(keys.tolist(), 10).values())
    assert (counts == 10).all() and stream.statistics().counts_exactly
    assert stream.statistics().num_distinct_keys == len(numpy.unique(keys))
    assert "counted exactly" in repr(stream)


def test_reports_do_not_depend_on_batches_or_on_the_type_of_keys(way, random):
    keys = skewed(random, 6000, 900)
    whole = in_batches(tally.ThresholdStream(5, seed=7, **way), keys, [len(keys)])
    assert whole == in_batches(tally.ThresholdStream(5, seed=7, **way), keys, [1, 999, 1024, 1025, 2951])
    digests = tally.digests(keys, seed=7)
    for batch in (keys.tolist(), keys.astype(object), keys.astype(numpy.int32), digests, iter(keys.tolist())):
        positions, counts = tally.ThresholdStream(5, seed=7, **way).add_batch(batch)
        assert list(zip(positions.tolist(), counts.tolist())) == whole
    one = tally.ThresholdStream(5, seed=7, **way)
    single = [(at, count) for at, key in enumerate(keys[:2000].tolist()) if (count := one.add(key)) is not None]
    assert single == [report for report in whole if report[0] < 2000]


def test_an_exact_check_compares_the_reports_with_the_truth(random):
    keys = [f"k{key}" for key in random.integers(0, 3000, 8000).tolist()]
    stream = tally.ThresholdStream(3, num_keys=3000, false_positive_rate=0.2, exact_check=True, seed=8)
    for begin in range(0, len(keys), 3000):
        positions, _ = stream.add_batch(keys[begin : begin + 3000])
        assert positions.tolist() == stream.reached[0].tolist()
    stream.add("k-1")
    truth = collections.Counter(keys)
    result = stream.check_result()
    assert result.num_distinct_keys == len(truth) + 1
    assert result.num_keys_over_threshold == sum(count >= 3 for count in truth.values())
    assert result.num_missed == 0 and result.num_false_reports > 10
    measured = result.num_early_reports + result.num_false_reports
    predicted = result.predicted_early_reports + result.predicted_false_reports
    assert abs(measured - predicted) < 6 * result.predicted_standard_deviation
    assert tally.ThresholdStream(65, exact_check=True).check_result().predicted_early_reports is None
    with pytest.raises(ValueError, match="exact_check=True"):
        tally.ThresholdStream(3).check_result()
    for call in (stream.to_bytes, lambda: stream.save("/nowhere/x")):
        with pytest.raises(ValueError, match="exact_check"):
            call()


def test_the_default_seed_is_random_and_shown(random):
    for make in (lambda **o: tally.ThresholdStream(3, **o), lambda **o: tally.SumStream(3, **o), tally.TopStream):
        first, second = make(), make()
        assert first.seed != second.seed
        assert first.statistics().seed == first.seed and str(first.seed) in repr(first)
        assert make(seed=5).seed == 5
        keyed = make(key=bytes(range(32)))
        assert keyed.seed is None and keyed.statistics().seed is None and "keyed hash" in repr(keyed)


def test_statistics_and_repr_have_counts_and_the_error():
    stream = tally.ThresholdStream(2, num_keys=500, seed=1)
    stream.add_batch(numpy.arange(4000) % 2000)
    now = stream.statistics()
    assert now.num_generations > 1 and not now.counts_exactly and now.memory_bytes > 0
    assert 0 < now.false_positive_rate < 0.05 and now.planned_false_positive_rate == 0.01
    assert now.num_expected_false_reports >= 0
    assert repr(stream).startswith("<tally.ThresholdStream(2): 4,000 keys, about ") and "at most 0.0" in repr(stream)


# Sums and windows.


def test_a_sum_is_reported_where_it_reaches_the_threshold(random):
    keys = skewed(random, 5000, 500)
    weights = random.integers(0, 9, 5000)
    sums = collections.Counter()
    truth = []
    for position, (key, weight) in enumerate(zip(keys.tolist(), weights.tolist())):
        sums[key] += weight
        if sums[key] >= 100 > sums[key] - weight:
            truth.append((position, sums[key]))
    assert len(truth) > 20
    stream = tally.SumStream(100, seed=3)
    assert in_batches(stream, keys, [300, 1, 4699], weights) == truth
    assert stream.statistics().total == weights.sum() and stream.statistics().num_reported == len(truth)
    one = tally.SumStream(100, seed=3)
    assert [one.add(key, weight) for key, weight in zip(keys.tolist(), weights.tolist())][truth[0][0]] == truth[0][1]
    assert "reported" in repr(stream) and stream.statistics().bound.epsilon < 0.01


def ones(keys):
    """Weights of 1, which are the same as no weights."""
    return numpy.ones(len(keys), numpy.uint8)


def window_truth(keys, times, n, length):
    """Keys, with the positions where they reach n within this time."""
    reached = collections.defaultdict(list)
    recent = collections.defaultdict(collections.deque)
    for position, (key, time) in enumerate(zip(keys, times)):
        recent[key].append(time)
        while recent[key][0] <= time - length:
            recent[key].popleft()
        if len(recent[key]) >= n:
            reached[key].append(position)
    return reached


@pytest.mark.parametrize("num_slots", [1, 4])
def test_every_key_that_reaches_the_threshold_in_a_window_is_reported_then(num_slots, random):
    keys = random.integers(0, 200, 4000)
    times = numpy.sort(random.integers(0, 100 * SECOND, 4000))
    stream = tally.SumStream(6, window_seconds=10, num_slots=num_slots)
    positions = [at for at, _ in in_batches(stream, keys, [1000, 37, 2963], ones(keys), times)]
    must = window_truth(keys.tolist(), times.tolist(), 6, 10 * SECOND)
    may = window_truth(keys.tolist(), times.tolist(), 6, 10 * SECOND + 10 * SECOND // num_slots)
    assert len(positions) > 20
    reports = collections.defaultdict(list)
    for position in positions:
        assert position in may[keys[position]]
        reports[keys[position]].append(times[position])
    for key, found in must.items():
        for position in found:
            now = times[position]
            assert any(now - 10 * SECOND - 10 * SECOND // num_slots <= time <= now for time in reports[key])
    for found in reports.values():
        assert all(numpy.diff(found) > 10 * SECOND)


def test_late_records_are_counted():
    for stream in (tally.SumStream(100, window_seconds=10), tally.TopStream(10, window_seconds=10)):
        stream.add_batch(["a", "b", "c", "d"], None, [20.0, 15.0, 9.0, 21.0])
        now = stream.statistics()
        assert (now.num_records, now.num_late, now.num_left_out, now.total) == (3, 2, 1, 3)
        stream.add("e", time=numpy.datetime64("1970-01-01T00:00:01"))
        assert stream.statistics().num_left_out == 2


# Rankings.


@pytest.mark.parametrize("method", ["sketch", "space-saving"])
def test_the_bounds_of_the_most_frequent_keys_hold(method, random):
    keys = skewed(random)
    truth = collections.Counter(keys.tolist())
    stream = tally.TopStream(100, method=method, seed=4)
    stream.add_batch(keys[:7000])
    stream.add_batch(keys[7000:])
    found = stream.top(20, as_type=int)
    assert len(found) == 20 and [c.count for c in found] == sorted((c.count for c in found), reverse=True)
    assert all(count.least <= truth[count.key] <= count.count for count in found)
    ranking = stream.ranking(20, as_type=int)
    assert ranking.keys == found and ranking.total == 20_000 == stream.statistics().total
    assert ranking.floor <= 200 and ranking.floor == stream.statistics().floor
    listed = {count.key for count in found}
    assert max(count for key, count in truth.items() if key not in listed) <= ranking.bound_of_others
    above = stream.ranking(share=0.02, as_type=int)
    assert {key for key, count in truth.items() if count > 400} <= {count.key for count in above.keys}
    assert all(count.count > 400 for count in above.keys)
    assert stream.capacity == stream.statistics().num_candidates == 100 and "of" not in repr(stream)[:17]


def test_a_ranking_of_a_window_forgets_old_records(random):
    stream = tally.TopStream(100, window_seconds=10, num_slots=5)
    stream.add_batch(["old"] * 50 + ["new"] * 3, times=[0.0] * 50 + [9.0] * 3)
    assert stream.top(as_type=str)[0] == tally.KeyCount("old", 50, 0)
    stream.add("new", 4, 18.5)
    assert stream.top(as_type=str) == [tally.KeyCount("new", 7, 0)]
    assert stream.statistics().total == 7
    with pytest.raises(ValueError, match="window"):
        stream.sketch()


def test_keys_come_back_as_the_type_that_is_asked_for():
    stream = tally.TopStream()
    stream.add_batch(["é", b"\xff\xff", -7], [3, 2, 1])
    assert [count.key for count in stream.top()] == ["é".encode(), b"\xff\xff", (-7).to_bytes(8, "little", signed=True)]
    assert stream.top(1, as_type=str)[0].key == "é"
    with pytest.raises(UnicodeDecodeError):
        stream.top(as_type=str)
    with pytest.raises(ValueError, match="8 of an integer"):
        stream.top(as_type=int)


def test_sketches_of_streams_merge(random):
    keys = skewed(random)
    shape = tally.CountMinShape(5000, 4, update="conservative")
    streams = [tally.TopStream(100, sketch=shape, seed=9) for _ in range(2)]
    streams[0].add_batch(keys[:9000])
    streams[1].add_batch(keys[9000:])
    both = streams[0].sketch() + streams[1].sketch()
    assert isinstance(both, tally.TopKeys) and both.total_count == 20_000
    truth = collections.Counter(keys.tolist())
    assert all(count.least <= truth[count.key] <= count.count for count in both.top(20, as_type=int))
    keyed = tally.TopStream(10, method="space-saving", key=bytes(32))
    keyed.add("a")
    assert isinstance(keyed.sketch(), tally.SpaceSaving) and keyed.sketch().top()[0].key == b"a"


# Events.


def test_events_are_delivered_with_their_fields():
    events = []
    stream = tally.ThresholdStream(2, exact_keys=100, on_event=lambda name, **fields: events.append((name, fields)))
    stream.add_batch(numpy.arange(3000))
    assert [name for name, _ in events] == ["ended_exact_counting", "opened_generation", "opened_generation"]
    assert events[0][1] == {"num_keys": 100}
    assert [fields["number"] for _, fields in events[1:]] == [1, 2]
    assert isinstance(events[1][1]["shape"], tally.ThresholdShape) and events[1][1]["num_keys"] == 1600
    assert 0 < events[1][1]["false_positive_rate"] < events[2][1]["false_positive_rate"] < 0.01

    events.clear()
    bounded = tally.ThresholdStream(1, memory_bytes=4096, on_event=lambda name, **fields: events.append((name, fields)))
    bounded.add_batch(numpy.arange(1000))
    assert [name for name, _ in events] == ["filled_reported_keys"] and events[0][1]["num_keys"] > 100
    assert bounded.statistics().num_possible_repeats > 0

    events.clear()
    small = tally.ThresholdStream(9, memory_bytes=4096, on_event=lambda name, **fields: events.append((name, fields)))
    small.add_batch(numpy.arange(20_000))
    assert [name for name, _ in events[:2]] == ["opened_generation", "exceeded_plan"]
    assert set(events[1][1]) == {"planned_keys", "num_keys", "false_positive_rate"}

    events.clear()
    sums = tally.SumStream(1, memory_bytes=4096, on_event=lambda name, **fields: events.append(name))
    sums.add_batch(numpy.arange(1000))
    assert events == ["filled_reported_keys"]


def test_reports_are_kept_if_on_event_raises():
    names = []

    def on_event(name, **fields):
        names.append(name)
        if name == "ended_exact_counting":
            raise KeyError(name)

    quiet = tally.ThresholdStream(2, exact_keys=100, seed=5)
    loud = tally.ThresholdStream(2, exact_keys=100, seed=5, on_event=on_event)
    keys = numpy.arange(5000) % 2500
    with pytest.raises(KeyError):
        loud.add_batch(keys)
    positions, counts = quiet.add_batch(keys)
    assert loud.reached[0].tolist() == positions.tolist() and loud.reached[1].tolist() == counts.tolist()
    assert len(positions) >= 2500 and names == ["ended_exact_counting"]
    loud.add("next")
    assert names[1:] == ["opened_generation", "opened_generation"]
    assert loud.statistics().num_keys == 5001 and len(loud.reached[0]) == 0


def test_on_event_may_use_the_stream_and_raise_in_the_constructor():
    seen = []

    def on_event(name, **fields):
        if seen:
            seen.append(seen[0].statistics().num_keys)
            seen[0].add("nested")

    stream = tally.ThresholdStream(2, exact_keys=10, on_event=on_event)
    seen.append(stream)
    stream.add_batch(numpy.arange(1000))
    assert seen[1] == 1000 and stream.statistics().num_keys > 1000

    def fails(name, **fields):
        raise LookupError(name)

    with pytest.raises(LookupError, match="opened_generation"):
        tally.ThresholdStream(2, num_keys=10, on_event=fails)


def test_a_stream_that_its_on_event_refers_to_is_collected():
    class Monitor:
        def __init__(self):
            self.streams = [tally.ThresholdStream(2, on_event=self.on_event), tally.SumStream(2, on_event=self.on_event)]

        def on_event(self, name, **fields):
            pass

    gone = weakref.ref(Monitor())
    gc.collect()
    assert gone() is None


# Threads, memory, arguments.


def test_threads_may_share_a_stream(random):
    keys = skewed(random, 60_000)
    times = numpy.zeros(60_000, numpy.int64)
    events = []
    counts = tally.ThresholdStream(5, exact_keys=50, on_event=lambda name, **_: events.append(name))
    sums = tally.SumStream(5, window_seconds=10)
    tops = tally.TopStream(50)
    reported = [[], []]

    def work(number):
        for begin in range(number * 30_000, (number + 1) * 30_000, 1500):
            part = slice(begin, begin + 1500)
            reported[number] += keys[part][counts.add_batch(keys[part])[0]].tolist()
            sums.add_batch(keys[part], None, times[part])
            tops.add_batch(keys[part])
            counts.add(1), tops.top(), repr(sums), counts.statistics(), counts.reached, tops.to_bytes()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    all_keys = reported[0] + reported[1]
    assert len(all_keys) == len(set(all_keys))
    assert {key for key, n in collections.Counter(keys.tolist()).items() if n >= 5} - {1} <= set(all_keys)
    assert counts.statistics().num_keys == 60_040
    assert sums.statistics().total == tops.statistics().total == 60_000
    assert events.count("ended_exact_counting") == 1


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer itself needs the memory")
def test_a_stream_that_ran_out_of_memory_is_refused_and_not_used():
    program = """
import resource, numpy, tally
keys = numpy.array([b"%d" % i + b"x" * 200_000 for i in range(300)])
top = tally.TopStream(1000)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (30 << 20),) * 2)
try:
    top.add_batch(keys)
except MemoryError:
    for call in (top.top, top.to_bytes, top.statistics, lambda: top.add("a"), lambda: top.restore("x"), lambda: repr(top)):
        try:
            call()
        except (ValueError, FileNotFoundError) as error:
            print(type(error).__name__, "unusable" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    assert done.stdout.decode().splitlines() == ["ValueError True"] * 4 + ["FileNotFoundError False", "ValueError True"]


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda: tally.ThresholdStream(0), ValueError, "threshold is 0; must be 1 to 4294967295"),
        (lambda: tally.ThresholdStream(2**32), ValueError, "threshold"),
        (lambda: tally.ThresholdStream(-1), ValueError, "threshold is -1"),
        (lambda: tally.ThresholdStream(True), TypeError, "threshold is of type bool"),
        (lambda: tally.ThresholdStream(2.0), TypeError, "threshold"),
        (lambda: tally.ThresholdStream(2, num_keys=0), ValueError, "num_keys is 0"),
        (lambda: tally.ThresholdStream(2, memory_bytes=10), ValueError, "memory_bytes is 10"),
        (lambda: tally.ThresholdStream(2, num_keys=10**6, memory_bytes=4096, false_positive_rate=1e-3), ValueError, "memory_bytes is 4096; must be at least"),
        (lambda: tally.ThresholdStream(2, false_positive_rate=1), ValueError, "false_positive_rate"),
        (lambda: tally.ThresholdStream(2, false_positive_rate="x"), TypeError, "false_positive_rate"),
        (lambda: tally.ThresholdStream(2, exact_keys=0), ValueError, "exact_keys is 0"),
        (lambda: tally.ThresholdStream(2, update="fast"), ValueError, "'plain' or 'conservative'"),
        (lambda: tally.ThresholdStream(2, exact_check=1), TypeError, "exact_check"),
        (lambda: tally.ThresholdStream(2, on_event=3), TypeError, "on_event is of type int"),
        (lambda: tally.ThresholdStream(2, seed=1, key=bytes(32)), ValueError, "both given"),
        (lambda: tally.ThresholdStream(2, key=bytes(31)), ValueError, "31 bytes"),
        (lambda: tally.SumStream(0), ValueError, "threshold is 0"),
        (lambda: tally.SumStream(5, memory_bytes=4095), ValueError, "memory_bytes is 4095"),
        (lambda: tally.SumStream(5, window_seconds=0), ValueError, "window_seconds is 0"),
        (lambda: tally.SumStream(5, window_seconds=float("inf")), ValueError, "window_seconds is inf"),
        (lambda: tally.SumStream(5, window_seconds=float("nan")), ValueError, "window_seconds"),
        (lambda: tally.SumStream(5, window_seconds="1m"), TypeError, "window_seconds"),
        (lambda: tally.SumStream(5, window_seconds=1, num_slots=1001), ValueError, "num_slots is 1001"),
        (lambda: tally.SumStream(5, window_seconds=1, num_slots=9, memory_bytes=40_000), ValueError, "memory_bytes is 40000; must be 40960"),
        (lambda: tally.TopStream(0), ValueError, "capacity is 0"),
        (lambda: tally.TopStream(2**30 + 1), ValueError, "capacity"),
        (lambda: tally.TopStream(method="best"), ValueError, "'sketch' or 'space-saving'"),
        (lambda: tally.TopStream(method=None), TypeError, "method"),
        (lambda: tally.TopStream(sketch=7), TypeError, "shape"),
        (lambda: tally.TopStream(sketch=tally.BloomShape(64, 2)), ValueError, "CountMinShape"),
        (lambda: tally.TopStream(sketch=tally.CountMinShape(64, 2, scheme="two-hash")), ValueError, "congruential"),
        (lambda: tally.TopStream(method="space-saving", sketch=tally.CountMinShape(64, 2)), ValueError, "no sketch"),
    ],
)
def test_wrong_options_are_named(make, error, words):
    with pytest.raises(error) as raised:
        make()
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "arguments, error, words",
    [
        ((["a", None],), TypeError, "keys[1]"),
        (("ab",), TypeError, "pass [key]"),
        (([1.5],), TypeError, "keys[0]"),
        ((["a", "b"], [1]), ValueError, "weights has 1 numbers"),
        ((["a"], [-1]), ValueError, "-1; must be at least 0"),
        ((["a"], [1.5]), TypeError, "weights has dtype float64"),
        ((["a"], None), ValueError, "times is None; must be given with window_seconds"),
        ((["a"], None, [1, 2]), ValueError, "times has 2 times; must have one for each of the 1 keys"),
        ((["a", "b"], None, [1.0, float("nan")]), ValueError, "times[1] is NaN"),
        ((["a"], None, ["now"]), TypeError, "times has dtype <U3"),
    ],
)
def test_a_batch_with_a_wrong_argument_changes_nothing(arguments, error, words):
    for stream in (tally.SumStream(1, window_seconds=5), tally.TopStream(10, window_seconds=5)):
        before = stream.to_bytes()
        with pytest.raises(error) as raised:
            stream.add_batch(*arguments)
        assert words in str(raised.value)
        assert stream.to_bytes() == before


def test_single_keys_with_wrong_arguments_are_refused():
    stream = tally.ThresholdStream(1)
    for key in (None, 1.5, 2**64, ["a"], "\ud800"):
        with pytest.raises((TypeError, ValueError), match="^key "):
            stream.add(key)
    for own in (tally.SumStream(1), tally.TopStream()):
        with pytest.raises(ValueError, match="time is given; must be None without window_seconds"):
            own.add("a", time=3)
        with pytest.raises(ValueError, match="weight is -1"):
            own.add("a", -1)
    for time in ("now", None, True, float("nan"), numpy.datetime64("NaT")):
        with pytest.raises((TypeError, ValueError), match="^time is "):
            tally.SumStream(1, window_seconds=1).add("a", time=time)
    with pytest.raises(TypeError, match="digest"):
        tally.TopStream().add_batch(tally.digests(["a"]))
    for share in (0, 1, -1):
        with pytest.raises(ValueError, match="share"):
            tally.TopStream().ranking(share=share)
    with pytest.raises(ValueError, match="bytes, str or int"):
        tally.TopStream().top(as_type=float)


def test_signatures_and_docstrings_can_be_read():
    for cls in (tally.ThresholdStream, tally.SumStream, tally.TopStream):
        assert inspect.signature(cls).parameters["seed"].default is None
        for name in ("add", "add_batch", "save", "restore", "from_bytes", "statistics"):
            assert inspect.signature(getattr(cls, name)) is not None
            assert len(getattr(cls, name).__doc__) > 20


STREAMS = [
    lambda: tally.ThresholdStream(3, exact_keys=5),
    lambda: tally.ThresholdStream(1, memory_bytes=4096, exact_check=True),
    lambda: tally.SumStream(9, memory_bytes=4096),
    lambda: tally.SumStream(9, memory_bytes=40_000, window_seconds=2, num_slots=3),
    lambda: tally.TopStream(5, sketch=tally.CountMinShape(20, 2)),
    lambda: tally.TopStream(5, method="space-saving", window_seconds=3),
]


@pytest.mark.parametrize("make", STREAMS)
@QUICK
@given(st.data())
def test_any_arguments_give_a_result_or_an_exception(make, data):
    own = make()
    names = ["add", "add_batch", "to_bytes", "statistics", "check_result", "top", "ranking", "sketch", "from_bytes"]
    names = [name for name in names if hasattr(own, name)]
    for _ in range(4):
        call(getattr(own, data.draw(st.sampled_from(names))), data, data.draw(st.integers(0, 3)))
    assert str(own.seed) in repr(own)


@QUICK
@given(st.data())
def test_any_options_give_a_stream_or_an_exception(data):
    cls = data.draw(st.sampled_from([tally.ThresholdStream, tally.SumStream, tally.TopStream]))
    names = sorted(set(inspect.signature(cls).parameters) - {"capacity", "threshold", "num_keys", "memory_bytes"})
    options = {name: data.draw(ANY) for name in data.draw(st.lists(st.sampled_from(names), max_size=4, unique=True))}
    try:
        cls(data.draw(st.integers(0, 100)), **options).add_batch([1, 2])
    except ALLOWED as error:
        assert str(error)


@QUICK
@given(st.data())
def test_any_arguments_of_functions_give_a_result_or_an_exception(data):
    function = data.draw(st.sampled_from([tally.over, tally.top, tally.iter_over, tally.top_windows]))
    names = sorted(set(inspect.signature(function).parameters) - {"capacity", "num_keys", "memory_bytes"})
    options = {name: data.draw(ANY) for name in data.draw(st.lists(st.sampled_from(names), max_size=4, unique=True))}
    options.setdefault(names[0] if function is tally.top_windows else "keys", data.draw(MANY))
    if function in (tally.over, tally.iter_over):
        options.setdefault("n", 2)
    elif function is tally.top_windows:
        options.setdefault("window_seconds", 2)
    try:
        result = function(**options)
        if function in (tally.iter_over, tally.top_windows):
            list(itertools.islice(result, 100))
    except ALLOWED as error:
        assert str(error)
