"""Files: the same bytes as those of the command, mapped files, damage."""

import errno
import pathlib
import threading

import numpy
import pytest

import tally
from conftest import insert_all


def test_a_file_holds_what_was_saved(empty_filter, filter_class, tmp_path):
    insert_all(empty_filter, ["a", "b"])
    path = tmp_path / "f.tally"
    empty_filter.save(path)
    assert path.read_bytes() == empty_filter.to_bytes()
    for own in (tally.open(path), tally.open(str(path)), tally.open(bytes(path)), tally.from_bytes(path.read_bytes()),
                tally.from_bytes(memoryview(path.read_bytes())), tally.open(path, mmap=True)):
        assert type(own) is filter_class and own == empty_filter
    with pytest.raises(FileExistsError) as error:
        empty_filter.save(path)
    assert error.value.filename == str(path) and error.value.errno == errno.EEXIST
    empty_filter.save(path, overwrite=True)


def test_a_mapped_filter_is_read_only_until_it_is_copied(empty_filter, tmp_path):
    insert_all(empty_filter, ["a"])
    empty_filter.save(tmp_path / "f.tally")
    mapped = tally.open(tmp_path / "f.tally", mmap=True, verify=True)
    assert mapped.is_mapped and "a" in mapped and "mapped" in repr(mapped)
    for change in (lambda: insert_all(mapped, ["b"]), mapped.clear, lambda: mapped.merge(empty_filter)):
        with pytest.raises(ValueError, match="read only; change its copy"):
            change()
    own = mapped.copy()
    insert_all(own, ["b"])
    assert "b" in own and mapped == empty_filter


def test_with_closes_a_filter(empty_filter, tmp_path):
    empty_filter.save(tmp_path / "f.tally")
    with tally.open(tmp_path / "f.tally", mmap=True) as own:
        assert not own.closed
    assert own.closed and "closed" in repr(own)
    for call in (lambda: "a" in own, lambda: own.shape, lambda: own.copy(), lambda: own.to_bytes(), lambda: own == empty_filter,
                 lambda: empty_filter.merge(own)):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_a_filter_may_be_closed_while_another_thread_asks_it(tmp_path):
    own = tally.BloomFilter(num_keys=1_000_000, false_positive_rate=0.001)
    own.save(tmp_path / "f.tally")
    keys = numpy.arange(300_000)
    for _ in range(5):
        mapped = tally.open(tmp_path / "f.tally", mmap=True)
        thread = threading.Thread(target=lambda: mapped.may_contain_batch(keys))
        thread.start()
        mapped.close()
        thread.join()


def test_errors_of_files_name_path_and_offset(tmp_path):
    with pytest.raises(FileNotFoundError) as missing:
        tally.open(tmp_path / "none")
    assert missing.value.filename == str(tmp_path / "none")
    wrong = tmp_path / "wrong"
    wrong.write_bytes(b"no such thing" * 20)
    for call in (lambda: tally.open(wrong), lambda: tally.open(wrong, mmap=True)):
        with pytest.raises(tally.FormatError, match="wrong") as error:
            call()
        assert isinstance(error.value, ValueError)
        assert (error.value.path, error.value.offset) == (str(wrong), 0)
    with pytest.raises(tally.FormatError) as of_bytes:
        tally.from_bytes(b"abc")
    assert of_bytes.value.path is None
    with pytest.raises(TypeError, match="data is of type str"):
        tally.from_bytes("abc")
    with pytest.raises(TypeError):
        tally.open(3.5)
    with pytest.raises(ValueError):
        tally.open("a\0b")
    tally.SpaceSaving(3).save(tmp_path / "s.tally")
    with pytest.raises(tally.FileKindError):
        tally.open(tmp_path / "s.tally", mmap=True)


def test_every_damaged_byte_is_found(empty_filter, random):
    insert_all(empty_filter, range(100))
    data = bytearray(empty_filter.to_bytes())
    for at in [*range(128), *random.integers(128, len(data), 100).tolist()]:
        data[at] ^= 1 << int(random.integers(0, 8))
        with pytest.raises(ValueError):
            tally.from_bytes(data)
        data[:] = empty_filter.to_bytes()
    for size in (*range(0, 140), len(data) - 1):
        with pytest.raises(tally.FormatError):
            tally.from_bytes(data[:size])


def test_golden_files_are_read():
    """Files that an earlier version of the library wrote; none may change."""
    golden = pathlib.Path(__file__).parent.parent / "data" / "golden"
    files = list(golden.rglob("*.tally"))
    assert len(files) > 40
    for path in files:
        try:
            own = tally.open(path)
        except ValueError as error:
            assert "key" in str(error)  # of a keyed hash
            continue
        assert own.to_bytes() == path.read_bytes()
