"""TopKeys, SpaceSaving and CountMinWindow against exact counts."""

import collections
import pickle

import numpy
import pytest

import tally

SHAPE = tally.CountMinShape(2000, 3, counter_bits=32)
MAKERS = {"TopKeys": lambda **options: tally.TopKeys(50, SHAPE, **options),
          "SpaceSaving": lambda **options: tally.SpaceSaving(50, **options)}


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def zipf(random, size=20_000):
    return numpy.minimum(random.zipf(1.3, size), 10**9)


def test_the_bounds_of_frequent_keys_hold(make, random):
    keys = zipf(random)
    own = make()
    own.add_batch(keys)
    truth = collections.Counter(keys.tolist())
    top = own.top(20, as_type=int)
    assert len(top) == 20 and [c.count for c in top] == sorted((c.count for c in top), reverse=True)
    for found in top:
        assert found.least <= truth[found.key] <= found.count
    listed = {found.key for found in own.top(50, as_type=int)}
    assert all(count <= own.floor for key, count in truth.items() if key not in listed)
    assert own.total_count == 20_000 and own.floor <= own.total_count / own.capacity
    assert own.num_candidates == 50 and "50 of 50 candidates" in repr(own)


def test_batches_of_any_keys_are_the_same_as_one_by_one(make, random):
    keys = [f"k{i}é" for i in zipf(random, 2000) % 300]
    weights = random.integers(0, 9, 2000)
    one = make()
    for key, weight in zip(keys, weights.tolist()):
        one.add(key, weight)
    for batch in (keys, numpy.array(keys), numpy.array(keys, object), [k.encode() for k in keys],
                  numpy.array([k.encode() for k in keys])):
        many = make()
        many.add_batch(batch, weights)
        assert many == one
    assert one.estimate(keys[0]).key == keys[0]
    assert one.top(3, as_type=str)[0].key.startswith("k")
    assert one.top(3)[0].key == one.top(3, as_type=str)[0].key.encode()


def test_keys_come_back_as_the_type_that_is_asked_for(make):
    own = make()
    own.add_batch(numpy.array([-7, -7, 2**40]))
    assert [found.key for found in own.top(as_type=int)] == [-7, 2**40]
    assert own.top(1)[0].key == (-7).to_bytes(8, "little", signed=True)
    own.add(b"\xff", 10)
    with pytest.raises(UnicodeDecodeError):
        own.top(as_type=str)
    with pytest.raises(ValueError, match="as_type=int"):
        own.top(as_type=int)
    with pytest.raises(ValueError, match="as_type"):
        own.top(as_type=float)


def test_merges_copies_pickles_and_files(make, tmp_path, random):
    keys = zipf(random)
    one, two = make(), make()
    one.add_batch(keys[:9000])
    two.add_batch(keys[9000:])
    both = one + two
    truth = collections.Counter(keys.tolist())
    assert all(found.least <= truth[found.key] <= found.count for found in both.top(50, as_type=int))
    one += two
    assert one == both and one == one.copy() == pickle.loads(pickle.dumps(one))
    one.save(tmp_path / "s.tally")
    assert tally.open(tmp_path / "s.tally") == one and (tmp_path / "s.tally").read_bytes() == one.to_bytes()
    one.merge(one)
    assert one.total_count == 40_000
    with pytest.raises(ValueError, match="seed"):
        both.merge(make(seed=3))
    with pytest.raises(TypeError):
        both += 3
    one.clear()
    assert one == make()


def test_a_window_forgets_its_older_generation():
    own = tally.CountMinWindow(SHAPE)
    own.add_batch(["a", "a", "b"])
    own.advance()
    assert own.add("a", 3) is tally.InsertResult.counted
    assert own.estimate("a").value == 5
    own.advance()
    assert own.estimate_batch(["a", "b"])["value"].tolist() == [3, 0]
    assert own == own.copy() == tally.from_bytes(own.to_bytes())


def test_wrong_arguments_are_named():
    for call, error, match in [
        (lambda: tally.TopKeys(0, SHAPE), ValueError, "capacity"),
        (lambda: tally.TopKeys(5, 3), TypeError, "shape is of type int"),
        (lambda: tally.TopKeys(5, tally.BloomShape(64, 1)), TypeError, "CountMinShape"),
        (lambda: tally.SpaceSaving(-1), ValueError, "capacity is -1"),
        (lambda: tally.SpaceSaving(5).add(3.5), TypeError, "key is of type float"),
        (lambda: tally.SpaceSaving(5).add("a", -1), ValueError, "weight is -1"),
        (lambda: tally.SpaceSaving(5).add_batch(["a"], [1, 2]), ValueError, "weights has 2 numbers"),
        (lambda: tally.CountMinWindow(tally.CountMinShape(0, 1)), ValueError, "width"),
    ]:
        with pytest.raises(error, match=match):
            call()

