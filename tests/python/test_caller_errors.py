"""Errors name the field, the value and the fix, and never hide an exception of the caller's own code."""

import gc
import os
import weakref

import numpy
import pandas
import pytest

import tally


@pytest.fixture
def own():
    return tally.BloomFilter(num_keys=1000, false_positive_rate=0.01)


def test_an_exception_of_a_generator_of_keys_arrives_as_it_is(own):
    def keys():
        yield "a"
        raise TypeError("mine")

    for batch in (own.insert_batch, own.may_contain_batch, tally.digests, tally.top):
        with pytest.raises(TypeError, match="^mine$"):
            batch(keys())


def test_an_exception_of_a_number_is_the_cause_of_the_error():
    class Number:
        def __init__(self, error):
            self.error = error

        def __float__(self):
            raise self.error

        def __index__(self):
            raise self.error

    for wrong in (
        lambda number: tally.plan(num_keys=10, false_positive_rate=number),
        lambda number: tally.digests([number]),
    ):
        with pytest.raises(TypeError, match=r"must be") as caught:
            wrong(Number(TypeError("mine")))
        assert str(caught.value.__cause__) == "mine"
        with pytest.raises(ZeroDivisionError):
            wrong(Number(ZeroDivisionError()))


def test_a_value_of_any_size_is_shown_in_part():
    with pytest.raises(ValueError, match=r"preference is 'é{59}\.\.\.; must be 'fastest' or"):
        tally.plan(num_keys=10, false_positive_rate=0.1, preference="é" * 1000)
    with pytest.raises(ValueError, match="num_keys is an integer of 16610 bits; must be"):
        tally.plan(num_keys=10**5000, false_positive_rate=0.1)


@pytest.mark.parametrize("array", [numpy.array(["a"], object), numpy.array(["a"]), numpy.array([1])], ids=str)
def test_a_batch_larger_than_any_memory_is_a_memory_error(own, array):
    if array.dtype.kind == "U" and "asan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("the sanitizer ends a program whose operator new has no memory")
    with pytest.raises(MemoryError):
        own.may_contain_batch(numpy.broadcast_to(array, 2**58))


def test_an_option_takes_only_true_and_false(own, tmp_path):
    path = tmp_path / "own"
    own.save(path)
    for wrong, field in (
        (lambda: tally.open(path, mmap=2.5), "mmap"),
        (lambda: tally.open(path, mmap=True, verify=1), "verify"),
        (lambda: own.save(path, overwrite="no"), "overwrite"),
        (lambda: tally.CountingBloomFilter(num_keys=9, false_positive_rate=0.1).count(1, with_saturated=0),
         "with_saturated"),
    ):
        with pytest.raises(TypeError, match=f"^{field} is of type .*must be True or False"):
            wrong()


@pytest.mark.parametrize("options", [{}, {"mmap": True}], ids=str)
def test_a_pipe_is_refused_at_once(tmp_path, options):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(ValueError, match="path is .*pipe.*; must be a regular file, not a pipe or a device"):
        tally.open(path, **options)


def test_missing_values_name_the_fix(own):
    with pytest.raises(TypeError, match=r"keys\[1\] is of type NAType.*dropna"):
        own.insert_batch(pandas.Series(["a", pandas.NA]))
    with pytest.raises(TypeError, match=r"weights\[1\] is of type NAType; must be a whole number"):
        tally.top(["a", "b"], weights=pandas.Series([1, None], dtype="Int64"))


def test_weights_may_be_a_column_with_room_for_missing_values():
    weights = pandas.Series([3, 2**60], dtype="Int64")
    assert [found.count for found in tally.top(["a", "b"], weights=weights)] == [2**60, 3]


def test_a_wrong_argument_is_named():
    with pytest.raises(ValueError, match="^counts has 0 dimensions; must be a sequence of whole numbers"):
        tally.plan(counts=5, false_positive_rate=0.1, threshold=2)
    with pytest.raises(TypeError, match="^figures is of type int; must be a list of pairs"):
        tally.plan(num_keys=10, false_positive_rate=0.1, figures=5)
    digests = tally.digests(["a"])
    with pytest.raises(TypeError, match="digests are not enough"):
        tally.SpaceSaving(10).add_batch(digests)


def test_an_uninitialised_filter_does_not_call_itself_closed():
    with pytest.raises(TypeError, match="not initialised"):
        tally.BloomFilter.insert(tally.BloomFilter.__new__(tally.BloomFilter), 1)


def test_a_cycle_through_a_publisher_is_collected():
    class Own(tally.BloomFilter):
        pass

    own = Own(num_keys=10, false_positive_rate=0.1)
    own.publisher = tally.SummaryPublisher(own, "a")
    seen = weakref.ref(own)
    del own
    gc.collect()
    assert seen() is None


def test_few_keys_take_no_room_for_many_candidates(monkeypatch):
    capacities = []

    class Stream(tally.TopStream):
        def __init__(self, capacity, **options):
            capacities.append(capacity)
            super().__init__(capacity, **options)

    monkeypatch.setattr(tally._streams, "TopStream", Stream)
    assert [found.key for found in tally.top(["a"], 10**7)] == ["a"]
    assert capacities == [16384]


def test_a_refused_record_leaves_a_stream_usable():
    stream = tally.SumStream(10)
    with pytest.raises((TypeError, ValueError)):
        stream.add_batch(["a"], weights=[-1])
    stream.add_batch(["a"], weights=[20])
    assert list(stream.reached[1]) == [20]
