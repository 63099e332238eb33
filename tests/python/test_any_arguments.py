"""Whatever is passed to any function or method, there is a result or an exception of Python, and never a crash."""

import gc
import inspect
import os
import pickle

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tally
from conftest import FILTERS

ONE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**65), 2**65),
    st.integers(-3, 300),
    st.floats(),
    st.text(max_size=8),
    st.text(st.characters(), max_size=4),
    st.binary(max_size=8),
    st.builds(bytearray, st.binary(max_size=8)),
    st.builds(memoryview, st.binary(max_size=8)),
    st.sampled_from([object(), int, str, bytes, numpy.int8(-3), numpy.float32(2), numpy.bool_(True), 1j, ..., {}]),
)
ARRAYS = st.one_of(
    st.lists(st.integers(-100, 100), max_size=8).map(lambda v: numpy.array(v, "i1")),
    st.lists(st.integers(0, 2**64 - 1), max_size=8).map(lambda v: numpy.array(v, "u8")),
    st.lists(st.text(max_size=4), max_size=8).map(lambda v: numpy.array(v, "U4")),
    st.lists(st.binary(max_size=4), max_size=8).map(lambda v: numpy.array(v, "S4")),
    st.lists(ONE, max_size=8).map(lambda v: numpy.array([*v, object()], object)[:-1]),
    st.lists(st.floats(), max_size=8).map(numpy.array),
    st.sampled_from([numpy.zeros((2, 3), int), numpy.zeros(3, ">i4"), numpy.zeros(3, bool), numpy.zeros(3, "M8[s]"),
                     numpy.zeros(3, tally.digest_dtype), numpy.zeros((), int), numpy.arange(6)[::-2],
                     numpy.zeros(4, [("low", "<u8"), ("other", "<u8")])]),
)
MANY = st.one_of(st.lists(ONE, max_size=8), st.tuples(ONE, ONE), st.sets(st.integers(0, 9)), ARRAYS, st.builds(iter, st.lists(ONE, max_size=3)))
SHAPES = st.one_of(
    st.builds(tally.BloomShape, ONE, ONE),
    st.builds(tally.BloomShape, st.integers(0, 5000), st.integers(0, 40), st.sampled_from(["double", "standard", "x", "partitioned"])),
    st.builds(tally.BlockedBloomShape, st.integers(0, 9000), st.integers(0, 40), st.sampled_from(["blocked", "register-blocked"])),
    st.builds(tally.CountingBloomShape, st.integers(0, 5000), st.integers(0, 9), st.integers(0, 70), st.integers(0, 300)),
    st.builds(tally.BlockedCountingBloomShape, st.integers(0, 5000), st.integers(0, 9), st.integers(0, 70)),
    st.builds(tally.ThresholdShape, st.integers(0, 5000), st.integers(0, 9), st.integers(0, 2**33)),
    st.builds(tally.DLeftShape, st.integers(0, 50), st.integers(0, 9), st.integers(0, 65), st.integers(0, 33), st.integers(0, 5), st.integers(0, 33), st.integers(0, 20)),
    st.builds(tally.CompactDLeftShape, st.integers(0, 50), st.integers(0, 16), st.integers(0, 1000)),
    st.builds(tally.CountMinShape, st.integers(0, 500), st.integers(0, 9), st.integers(0, 3), st.integers(0, 70)),
)
ANY = st.one_of(ONE, MANY, SHAPES)
ALLOWED = (TypeError, ValueError, MemoryError, OSError, OverflowError)
QUICK = settings(max_examples=int(os.environ.get("TALLY_EXAMPLES", "60")), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def call(function, data, arguments):
    try:
        return function(*[data.draw(ANY) for _ in range(arguments)])
    except ALLOWED as error:
        assert str(error)
        if isinstance(error, OverflowError):
            assert "tally" not in str(error)


METHODS = [
    (cls, name)
    for cls in FILTERS
    for name in sorted(dir(cls))
    if callable(getattr(cls, name))
    and (not name.startswith("_") or name in ("__contains__", "__eq__", "__ior__", "__iadd__", "__or__", "__add__", "__and__"))
    and name not in ("save", "close")
]


@pytest.mark.parametrize("cls", FILTERS, ids=lambda cls: cls.__name__)
@QUICK
@given(st.data())
def test_methods_of_filters(cls, data):
    own = cls(**FILTERS[cls])
    names = [name for of, name in METHODS if of is cls]
    for _ in range(4):
        method = getattr(own, data.draw(st.sampled_from(names)))
        try:
            num_arguments = data.draw(st.integers(0, max(1, len(inspect.signature(method).parameters))))
        except ValueError:
            num_arguments = 1
        call(method, data, num_arguments)
    repr(own)
    assert own == tally.from_bytes(own.to_bytes())


@pytest.mark.parametrize("make", [lambda: tally.TopKeys(5, tally.CountMinShape(50, 2)), lambda: tally.SpaceSaving(5),
                                  lambda: tally.CountMinWindow(tally.CountMinShape(50, 2)), tally.HashSet,
                                  lambda: tally.RecentKeys(640), lambda: tally.AgingBloomFilter(5, tally.BloomShape(640, 2))])
@QUICK
@given(st.data())
def test_methods_of_sketches_and_sets(make, data):
    own = make()
    names = [name for name in sorted(dir(own)) if callable(getattr(own, name)) and (not name.startswith("_") or name == "__contains__")]
    for _ in range(4):
        name = data.draw(st.sampled_from([n for n in names if n != "save"]))
        call(getattr(own, name), data, data.draw(st.integers(0, 2)))
    repr(own)


@pytest.mark.parametrize("cls", FILTERS, ids=lambda cls: cls.__name__)
@QUICK
@given(st.data())
def test_constructors(cls, data):
    names = ["num_keys", "false_positive_rate", "threshold", "seed", "key", "scheme", "update", "counter_bits", "keys_repeat",
             "epsilon", "failure_probability", "num_insertions", "counts", "max_doublings", "nonsense"]
    arguments = {name: data.draw(ANY) for name in data.draw(st.lists(st.sampled_from(names), max_size=4, unique=True))}
    arguments.setdefault("memory_bytes", data.draw(st.integers(-1, 10_000)))
    shape = data.draw(st.one_of(st.none(), SHAPES))
    try:
        own = cls(shape) if shape is not None else cls(**arguments)
    except ALLOWED as error:
        assert str(error)
        return
    call(own.may_contain_batch, data, 1)
    assert own == tally.from_bytes(own.to_bytes())


FUNCTIONS = [tally.plan, tally.check_plan, tally.plan_shape, tally.plan_shares, tally.planned_num_keys, tally.shape_bytes, tally.make, tally.digests,
             tally.forecast_counts, tally.least_count_min_width, tally.shards, tally.similarity, tally.from_bytes]


@QUICK
@given(st.data())
def test_functions(data):
    call(data.draw(st.sampled_from(FUNCTIONS)), data, data.draw(st.integers(0, 3)))


@QUICK
@given(st.data())
def test_loaded_bytes(data):
    """Damaged files with a header that is right again are a matter of the library's own fuzzers; here: any bytes."""
    cls = data.draw(st.sampled_from(list(FILTERS)))
    good = bytearray(cls(**FILTERS[cls]).to_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        good[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    try:
        tally.from_bytes(good[: data.draw(st.integers(0, len(good)))])
    except (ValueError, MemoryError):
        pass


CLASSES = [own for own in vars(tally).values() if isinstance(own, type) and own.__module__ == "tally._tally"]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_an_object_that_was_never_initialised_is_refused(cls):
    own = cls.__new__(cls)
    repr_of = type(own).__repr__ is not object.__repr__
    for name in sorted(dir(cls)):
        attribute = inspect.getattr_static(cls, name)
        try:
            if isinstance(attribute, property):
                getattr(own, name)
            elif callable(getattr(cls, name)) and name in cls.__dict__ and name not in ("__init__", "__new__"):
                for arguments in ((), ("a",), (["a"],), (own,), ("a", 1), (3,)):
                    try:
                        getattr(own, name)(*arguments)
                    except (TypeError, ValueError, OSError):
                        pass
        except (TypeError, ValueError):
            pass
    if repr_of:
        try:
            repr(own)
        except (TypeError, ValueError):
            pass
    del own
    gc.collect()


def test_an_array_whose_methods_lie_is_read_as_an_array():
    class Lies(numpy.ndarray):
        def astype(self, *arguments, **options):
            return numpy.zeros(1, "i8")

    plain = numpy.arange(5000)
    one, two = tally.SpaceSaving(5000), tally.SpaceSaving(5000)
    one.add_batch(plain)
    two.add_batch(plain.view(Lies))
    assert one == two
    swapped = plain.astype(">i8")
    assert (tally.digests(swapped.view(Lies)) == tally.digests(plain)).all()


def test_a_key_that_closes_the_filter_does_no_harm():
    class Closes:
        def __init__(self, own):
            self.own = own

        def __index__(self):
            self.own.close()
            gc.collect()
            return 5

    for call in (lambda f: f.insert(Closes(f)), lambda f: f.may_contain(Closes(f)), lambda f: Closes(f) in f,
                 lambda f: f.insert_batch([Closes(f)])):
        with pytest.raises(ValueError, match="closed"):
            call(tally.BloomFilter(num_keys=10**6, false_positive_rate=0.01))


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_the_base_class_of_pybind11_is_never_made(cls):
    with pytest.raises(TypeError):
        cls.__mro__[-2]()


def test_what_cannot_be_pickled_says_so_in_every_protocol():
    filter = tally.BloomFilter(num_keys=10, false_positive_rate=0.01)
    for own in (tally.RecentKeys(4096), tally.AgingBloomFilter(5, tally.BloomShape(640, 2)), tally.SummaryReplica(),
                tally.SummarySet(), tally.SummaryPublisher(filter, "a")):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match="cannot be pickled"):
                pickle.dumps(own, protocol)
    for own in (filter, tally.HashSet(), tally.SpaceSaving(3), tally.ThresholdStream(3)):
        own.__reduce__()
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            assert type(pickle.loads(pickle.dumps(own, protocol))) is type(own)


def test_a_method_of_another_class_is_refused():
    window, top = tally.CountMinWindow(tally.CountMinShape(50, 2)), tally.SpaceSaving(3)
    for call in (lambda: tally.CountMinWindow.estimate_batch(top, [3]), lambda: tally.CountMinWindow.add(top, 3),
                 lambda: tally.SpaceSaving.add(window, "a"), lambda: tally.SpaceSaving.top(window),
                 lambda: tally.CountMinSketch.bound.fget(tally.BloomFilter(num_keys=10, false_positive_rate=0.01))):
        with pytest.raises(TypeError, match="self is a"):
            call()


def test_weights_anywhere_in_memory_are_the_same():
    weights = numpy.frombuffer(bytes(range(81)), "u1")[1:].view("u8")
    one, two = (tally.CountMinSketch(epsilon=0.01, failure_probability=0.01) for _ in range(2))
    one.add_batch(weights, weights)
    two.add_batch(weights.copy(), weights.tolist())
    assert one == two


def test_the_most_keys_that_can_be_asked_for():
    own = tally.TopStream()
    own.add("a")
    assert [found.key for found in own.top(2**64 - 1)] == [b"a"]
