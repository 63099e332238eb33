"""States of streams: stops at any place, pickles, files, wrong options, damaged bytes."""

import copy
import os
import pickle

import numpy
import pytest

import tally

SECOND = 10**9
SHAPE = tally.CountMinShape(50, 3)
#: How to make each stream, with the columns that its batches need beside the keys.
STREAMS = {
    "exact": (lambda **o: tally.ThresholdStream(3, **o), 0),
    "generations": (lambda **o: tally.ThresholdStream(3, exact_keys=10, **o), 0),
    "bounded": (lambda **o: tally.ThresholdStream(3, num_keys=60, memory_bytes=4096, update="conservative", **o), 0),
    "rate": (lambda **o: tally.ThresholdStream(3, num_keys=20, false_positive_rate=0.1, **o), 0),
    "sums": (lambda **o: tally.SumStream(9, memory_bytes=4096, **o), 1),
    "window of sums": (lambda **o: tally.SumStream(9, memory_bytes=20_000, window_seconds=0.5, num_slots=2, **o), 2),
    "top": (lambda **o: tally.TopStream(10, sketch=SHAPE, **o), 1),
    "window of top": (lambda **o: tally.TopStream(10, sketch=SHAPE, window_seconds=2, num_slots=2, **o), 2),
    "space-saving": (lambda **o: tally.TopStream(10, method="space-saving", **o), 1),
}
RECORDS = 120


@pytest.fixture(params=STREAMS)
def name(request):
    return request.param


@pytest.fixture
def make(name):
    return STREAMS[name][0]


@pytest.fixture
def columns(name, random):
    times = numpy.cumsum(random.integers(-SECOND // 20, SECOND // 5, RECORDS))
    return [random.zipf(1.2, RECORDS) % 40, random.integers(0, 5, RECORDS), times][: 1 + STREAMS[name][1]]


def feed(stream, columns, begin=0, end=RECORDS):
    reports = stream.add_batch(*(column[begin:end] for column in columns))
    return [] if reports is None else [(begin + at, count) for at, count in zip(*(one.tolist() for one in reports))]


def test_a_stop_at_any_record_changes_nothing(make, columns):
    whole = make(seed=3)
    reports = feed(whole, columns)
    for split in range(RECORDS + 1):
        first = make(seed=3)
        before = feed(first, columns, 0, split)
        second = type(first).from_bytes(first.to_bytes())
        assert before + feed(second, columns, split) == reports
        assert second.to_bytes() == whole.to_bytes()


@pytest.mark.parametrize("copied", [*(lambda s, p=p: pickle.loads(pickle.dumps(s, p)) for p in (2, 4, 5)), copy.copy, copy.deepcopy],
                         ids=["pickle 2", "pickle 4", "pickle 5", "copy", "deepcopy"])
def test_copies_and_pickles_continue_on_their_own(make, columns, copied):
    stream = make()
    feed(stream, columns, 0, 50)
    other = copied(stream)
    assert type(other) is type(stream) and other.seed == stream.seed and other.to_bytes() == stream.to_bytes()
    assert feed(other, columns, 50) == feed(stream, columns, 50)
    assert other.to_bytes() == stream.to_bytes()


def test_a_file_is_replaced_and_restored_with_its_seed(make, columns, tmp_path):
    path = tmp_path / "state"
    stream = make()
    feed(stream, columns, 0, 60)
    stream.save(path)
    assert path.read_bytes() == stream.to_bytes()
    resumed = make()
    assert resumed.seed != stream.seed
    resumed.restore(path)
    assert resumed.seed == stream.seed and resumed.to_bytes() == stream.to_bytes()
    feed(resumed, columns, 60)
    resumed.save(str(path))
    assert path.read_bytes() == resumed.to_bytes() and os.listdir(tmp_path) == ["state"]
    with pytest.raises(FileExistsError):
        resumed.save(path, overwrite=False)
    with pytest.raises(ValueError, match="restore a new one"):
        resumed.restore(path)


def test_a_keyed_stream_needs_its_key(make, columns, tmp_path):
    secret = bytes(range(32))
    stream = make(key=secret)
    feed(stream, columns, 0, 60)
    data = stream.to_bytes()
    assert secret not in data
    with pytest.raises(ValueError, match="keyed hash"):
        pickle.dumps(stream)
    with pytest.raises(ValueError, match="key is None"):
        type(stream).from_bytes(data)
    with pytest.raises(tally.StateMismatch, match="id of the key"):
        type(stream).from_bytes(data, key=bytes(32))
    assert feed(type(stream).from_bytes(data, key=secret), columns, 60) == feed(stream, columns, 60)
    path = tmp_path / "state"
    type(stream).from_bytes(data, key=secret).save(path)
    resumed = make(key=secret)
    resumed.restore(path)
    assert resumed.to_bytes() == data
    with pytest.raises(ValueError, match="key is None"):
        make().restore(path)
    with pytest.raises(tally.StateMismatch, match="hash"):
        type(stream).from_bytes(make().to_bytes(), key=secret)


def option_of(stream, path):
    before = stream.to_bytes()
    with pytest.raises(tally.StateMismatch) as raised:
        stream.restore(path)
    assert stream.to_bytes() == before
    assert f"'{raised.value.saved}', but now it is '{raised.value.wanted}'" in str(raised.value)
    return raised.value.option, raised.value.saved, raised.value.wanted


def test_other_options_are_named(tmp_path):
    path = tmp_path / "state"
    tally.ThresholdStream(3, seed=1).save(path)
    assert option_of(tally.ThresholdStream(4), path) == ("threshold", "3", "4")
    assert option_of(tally.ThresholdStream(3, num_keys=9), path) == ("num_keys", "", "9")
    assert option_of(tally.ThresholdStream(3, memory_bytes=9999), path) == ("memory_bytes", "", "9999")
    assert option_of(tally.ThresholdStream(3, false_positive_rate=0.1), path) == ("false_positive_rate", "", "0.1")
    assert option_of(tally.ThresholdStream(3, update="conservative"), path)[0] == "update"
    assert option_of(tally.ThresholdStream(3, exact_keys=9), path) == ("exact_keys", "65536", "9")
    assert option_of(tally.ThresholdStream(3, seed=2), path) == ("seed (or id of the key)", "1", "2")
    assert option_of(tally.SumStream(3), path) == ("class", "ThresholdStream", "SumStream")
    tally.SumStream(3, window_seconds=1.5, num_slots=2).save(path)
    assert option_of(tally.SumStream(3, window_seconds=1.5), path)[0] == "num_slots"
    assert option_of(tally.SumStream(3), path) == ("window_seconds, in ns", "1500000000", "")
    tally.TopStream(30).save(path)
    assert option_of(tally.TopStream(31), path)[0] == "capacity"
    assert option_of(tally.TopStream(30, sketch=SHAPE), path)[0] == "sketch.width"
    assert option_of(tally.TopStream(30, method="space-saving"), path)[0] == "method"
    with pytest.raises(tally.StateMismatch, match="class 'TopStream'"):
        tally.ThresholdStream.from_bytes(path.read_bytes())


def test_files_that_are_not_states_are_refused(make, tmp_path):
    stream = make()
    with pytest.raises(FileNotFoundError):
        stream.restore(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        stream.restore(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="must be a regular file"):
        stream.restore(tmp_path / "pipe")
    bloom = tmp_path / "bloom"
    tally.BloomFilter(num_keys=10, false_positive_rate=0.1).save(bloom)
    with pytest.raises(tally.FormatError) as raised:
        stream.restore(bloom)
    assert raised.value.path == str(bloom) and "does not begin like a state" in str(raised.value)
    for path in (3.5, None):
        with pytest.raises(TypeError):
            stream.restore(path)
        with pytest.raises(TypeError):
            stream.save(path)
    with pytest.raises(TypeError, match="overwrite"):
        stream.save(bloom, overwrite=1)
    with pytest.raises(FileNotFoundError):
        stream.save(tmp_path / "no" / "folder")


def test_damaged_bytes_are_refused(make, columns, random):
    stream = make()
    feed(stream, columns)
    data = stream.to_bytes()
    cls = type(stream)
    for at in {*range(0, 300, 7), *random.integers(0, len(data), 60).tolist(), len(data) - 1}:
        damaged = bytearray(data)
        damaged[at] ^= 1 << int(random.integers(8))
        with pytest.raises(tally.FormatError):
            cls.from_bytes(damaged)
    for size in {0, 1, 8, 23, 24, 40, len(data) // 2, len(data) - 1}:
        with pytest.raises(tally.FormatError):
            cls.from_bytes(data[:size])
    with pytest.raises(tally.FormatError):
        cls.from_bytes(data + b"x")
    with pytest.raises(TypeError, match="data is of type str"):
        cls.from_bytes("state")


def forged(data, old, new):
    """The state with another option, and a checksum that fits."""
    entry = len(old).to_bytes(8, "little") + old
    assert data.count(entry) == 1
    body = data[24:-8].replace(entry, len(new).to_bytes(8, "little") + new)
    data = data[:16] + len(body).to_bytes(8, "little") + body
    return data + int(tally.digests([data], seed=0)["low"][0]).to_bytes(8, "little")


def test_a_state_that_claims_a_huge_stream_takes_little_memory():
    top = tally.TopStream(12345, sketch=SHAPE, seed=2)
    top.add("a")
    assert tally.TopStream.from_bytes(forged(top.to_bytes(), b"12345", b"12345")).top()[0].key == b"a"
    huge = tally.TopStream.from_bytes(forged(top.to_bytes(), b"12345", b"1073741824"))
    assert huge.capacity == 2**30 and huge.statistics().memory_bytes < 100_000
    huge.add("b")
    with pytest.raises(tally.FormatError, match="another shape"):
        tally.TopStream.from_bytes(forged(top.to_bytes(), b"50", b"72057594037927936"))
    sums = tally.SumStream(5, memory_bytes=9_876_543, window_seconds=7.654321, num_slots=777, seed=3)
    for slots in (b"4294967295", b"1000000", b"0", b"-1", b"x"):
        with pytest.raises(ValueError, match="num_slots|number of options"):
            tally.SumStream.from_bytes(forged(sums.to_bytes(), b"777", slots))
    for memory in (b"1000000000000000", b"99"):
        with pytest.raises(ValueError):
            tally.SumStream.from_bytes(forged(sums.to_bytes(), b"9876543", memory))
    for window in (b"0", b"18446744073709551615", b""):
        with pytest.raises(ValueError):
            tally.SumStream.from_bytes(forged(sums.to_bytes(), b"7654321000", window))
    counts = tally.ThresholdStream(98765, num_keys=4321, false_positive_rate=0.123, seed=4)
    for old, new in ((b"98765", b"0"), (b"98765", b"98766"), (b"4321", b"0"), (b"0.123", b"nan"), (b"0.123", b"7"), (b"0.123", b"0.1230")):
        with pytest.raises(ValueError):
            tally.ThresholdStream.from_bytes(forged(counts.to_bytes(), old, new))
    far = tally.ThresholdStream.from_bytes(forged(counts.to_bytes(), b"4321", b"72057594037927936"))
    assert far.statistics().memory_bytes < 1_000_000


def test_events_go_on_after_a_state():
    names = []
    stream = tally.ThresholdStream(5, exact_keys=10, seed=1)
    stream.add_batch(numpy.arange(9))
    resumed = tally.ThresholdStream.from_bytes(stream.to_bytes(), on_event=lambda name, **_: names.append(name))
    resumed.add_batch(numpy.arange(20))
    assert names == ["ended_exact_counting", "opened_generation"]
    with pytest.raises(TypeError, match="on_event"):
        tally.ThresholdStream.from_bytes(stream.to_bytes(), on_event=1)
