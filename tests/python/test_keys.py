"""Which bytes stand for a key of each type, and that a batch of them is the same as one by one."""

import array

import numpy
import pandas
import pytest

import tally


def digest(key, **options):
    return tally.digests([key], **options)[0]


def test_equal_keys_of_all_types_have_one_digest():
    text = [digest("né日😀"), digest("né日😀".encode()), tally.digests(numpy.array(["né日😀"]))[0],
            tally.digests(numpy.array(["né日😀"], object))[0], tally.digests(pandas.Series(["né日😀"]))[0],
            tally.digests(numpy.array(["né日😀".encode()]))[0], tally.digests([bytearray("né日😀".encode())])[0]]
    assert len(set(map(bytes, text))) == 1
    minus = [digest(-5), digest((-5) % 2**64), digest(numpy.int8(-5)), digest((-5).to_bytes(8, "little", signed=True))]
    minus += [tally.digests(numpy.array([-5], kind))[0] for kind in ("i1", "i2", "i4", "i8", ">i2", ">i8")]
    minus += [tally.digests(array.array("b", [-5]))[0], tally.digests(pandas.Series([-5], dtype="Int64"))[0]]
    assert len(set(map(bytes, minus))) == 1
    large = [digest(2**64 - 1), tally.digests(numpy.array([2**64 - 1], "u8"))[0], digest(-1)]
    assert len(set(map(bytes, large))) == 1


def test_the_text_42_and_the_number_42_are_different_keys():
    assert digest("42") != digest(42)
    own = tally.BloomFilter(num_keys=10, false_positive_rate=1e-6)
    own.insert("42")
    assert "42" in own and 42 not in own


def test_batches_in_any_memory_are_the_same(random):
    keys = random.integers(-(2**62), 2**62, 5000)
    wanted = tally.digests(keys.tolist())
    wide = numpy.zeros((5000, 3), "i8")
    wide[:, 1] = keys
    for same in (keys, wide[:, 1], numpy.ascontiguousarray(keys[::-1])[::-1], keys.astype(">i8"), keys.astype(object),
                 pandas.Series(keys, index=range(7, 5007)), pandas.Index(keys), array.array("q", keys.tolist()),
                 memoryview(keys), tuple(keys.tolist()), iter(keys.tolist()), list(map(numpy.int64, keys))):
        assert (tally.digests(same) == wanted).all()
    text = [f"k{key}é" for key in keys]
    wanted = tally.digests(text)
    for same in (numpy.array(text), numpy.array(text)[::1], pandas.Series(text), pandas.Series(text, dtype="string"),
                 pandas.Series(text, dtype="category"), numpy.array([t.encode() for t in text]), [t.encode() for t in text]):
        assert (tally.digests(same) == wanted).all()


def test_digests_take_the_place_of_keys():
    own = tally.CountingBloomFilter(num_keys=100, false_positive_rate=0.01)
    own.insert_batch(tally.digests(["a", "b"]))
    assert "a" in own and own.count_batch(tally.digests(["a", "c"])).tolist() == [1, 0]


def test_numpy_drops_nuls_at_the_end_and_so_are_keys():
    kept = digest(b"a\0")
    assert tally.digests(numpy.array([b"a\0", b"bcd"]))[0] == digest(b"a") != kept
    assert tally.digests(numpy.array([b"a\0"], object))[0] == kept
    assert tally.digests(numpy.array(["a\0", "b"]))[0] == digest("a") != digest("a\0")
    assert tally.digests(numpy.array([b"\0a"]))[0] == digest(b"\0a")


def test_a_masked_array_without_missing_values_is_an_array():
    assert (tally.digests(numpy.ma.masked_array([1, 2])) == tally.digests([1, 2])).all()
    with pytest.raises(ValueError, match="weights has masked values"):
        tally.SpaceSaving(3).add_batch(["a"], numpy.ma.masked_array([1], [True]))


def test_empty_batches_and_empty_keys_are_fine():
    for empty in ([], (), numpy.array([]), numpy.array([], "U3"), pandas.Series([], dtype=object), iter(())):
        assert len(tally.digests(empty)) == 0
    assert digest("") == digest(b"") != digest(0)


@pytest.mark.parametrize(
    "wrong, error, match",
    [
        (["a", 1.5], TypeError, r"keys\[1\] is of type float; .*dropna"),
        (["a", None], TypeError, r"keys\[1\] is of type NoneType; .*dropna"),
        ([True], TypeError, r"keys\[0\] is of type bool"),
        ([numpy.bool_(True)], TypeError, r"keys\[0\] is of type numpy.bool_"),
        (pandas.Series(["a", None]), TypeError, r"keys\[1\]"),
        (pandas.Series(["a", None], dtype="string"), TypeError, r"keys\[1\] is of type"),
        ([2**64], ValueError, r"keys\[0\] is 18446744073709551616; must be an integer from -9223372036854775808"),
        ([-(2**63) - 1], ValueError, r"keys\[0\]"),
        (["ok", "\ud800"], ValueError, r"keys\[1\] has the code point 55296"),
        (numpy.array(["\ud800"]), ValueError, r"keys\[0\] has the code point 55296"),
        (numpy.array([1.5]), TypeError, r"dtype float64; .*astype\('int64'\)"),
        (numpy.array([True]), TypeError, "dtype bool"),
        (numpy.array(["2020-01-01"], "M8[D]"), TypeError, "dtype datetime64"),
        (numpy.zeros((2, 2), int), ValueError, "2 dimensions"),
        (numpy.ma.masked_array([1, 2], [False, True]), ValueError, "keys has masked values"),
        (numpy.zeros((), int), ValueError, "0 dimensions"),
        ("abc", TypeError, "for one key call the function for one key"),
        (b"abc", TypeError, "for one key"),
        (5, TypeError, "for one key"),
        (None, TypeError, "keys is of type NoneType"),
        (3.5, TypeError, "keys is of type float"),
        (numpy.zeros(2, [("x", "i4")]), TypeError, "dtype"),
        ([["a"]], TypeError, r"keys\[0\] is of type list"),
    ],
)
def test_a_wrong_key_is_named_and_nothing_is_inserted(wrong, error, match):
    own = tally.CountingBloomFilter(num_keys=100, false_positive_rate=0.01)
    with pytest.raises(error, match=match):
        own.insert_batch(wrong)
    assert own.num_insertions == 0


def test_one_wrong_key_is_named():
    own = tally.BloomFilter(num_keys=100, false_positive_rate=0.01)
    for call in (own.insert, own.may_contain, own.__contains__):
        for wrong in (None, 1.5, True, [1], numpy.array([1, 2]), object()):
            with pytest.raises(TypeError, match="key is of type"):
                call(wrong)
        with pytest.raises(ValueError, match="key is"):
            call(2**64)


def test_an_index_that_raises_gets_through():
    class Odd:
        def __index__(self):
            raise RuntimeError("odd")

    with pytest.raises(RuntimeError, match="odd"):
        tally.digests([Odd()])


def test_an_index_that_changes_the_list_does_no_harm():
    keys = []

    class Changes:
        def __index__(self):
            keys.clear()
            return 7

    keys.extend([Changes(), *map(str, range(1000))])
    assert len(tally.digests(keys)) == 1001


def test_the_hash_is_xxh3():
    # XXH3-128 of no bytes with the seed 0, from its specification.
    assert digest(b"", seed=0).tolist() == (0x6001C324468D497F, 0x99AA06D3014798D8)


def test_shards_divide_keys_evenly_and_as_documented(random):
    keys = random.integers(0, 2**63, 20_000)
    shards = tally.shards(keys, 16)
    assert (tally.shards(keys, 32) // 2 == shards).all()
    assert numpy.bincount(shards, minlength=16).min() > 1000
    with pytest.raises(ValueError, match="num_shards"):
        tally.shards(keys, 0)
