"""Functions around streams: which records reach a count, and the most frequent keys of a batch or of each window."""

from __future__ import annotations

import dataclasses
import itertools
import numbers
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Literal, Optional, TypeVar, Union, overload

import numpy
from numpy.typing import ArrayLike, NDArray

from . import _times
from ._records import ExactCheckResult, KeyCount
from ._tally import SumStream, ThresholdStream, TopStream

if TYPE_CHECKING:
    from ._tally import Keys

__all__ = ["over", "iter_over", "top", "top_windows"]

Positions = NDArray[numpy.int64]
Counts = NDArray[numpy.uint64]
Method = Literal["sketch", "space-saving"]
_Key = TypeVar("_Key")


#: Keys of an array that are added at once.
_keys_per_part = 1 << 16


@overload
def over(
    keys: Keys,
    n: int,
    *,
    weights: Optional[ArrayLike] = ...,
    times: Any = ...,
    window_seconds: Optional[float] = ...,
    num_slots: int = ...,
    false_positive_rate: Optional[float] = ...,
    memory_bytes: Optional[int] = ...,
    num_keys: Optional[int] = ...,
    exact: Literal[False] = ...,
    with_counts: Literal[False] = ...,
    seed: Optional[int] = ...,
    key: Optional[bytes] = ...,
) -> Positions: ...
@overload
def over(
    keys: Keys,
    n: int,
    *,
    weights: Optional[ArrayLike] = ...,
    times: Any = ...,
    window_seconds: Optional[float] = ...,
    num_slots: int = ...,
    false_positive_rate: Optional[float] = ...,
    memory_bytes: Optional[int] = ...,
    num_keys: Optional[int] = ...,
    exact: Literal[False] = ...,
    with_counts: Literal[True],
    seed: Optional[int] = ...,
    key: Optional[bytes] = ...,
) -> tuple[Positions, Counts]: ...
@overload
def over(
    keys: Keys,
    n: int,
    *,
    weights: Optional[ArrayLike] = ...,
    times: Any = ...,
    window_seconds: Optional[float] = ...,
    num_slots: int = ...,
    false_positive_rate: Optional[float] = ...,
    memory_bytes: Optional[int] = ...,
    num_keys: Optional[int] = ...,
    exact: Literal[True],
    with_counts: Literal[False] = ...,
    seed: Optional[int] = ...,
    key: Optional[bytes] = ...,
) -> tuple[Positions, ExactCheckResult]: ...
@overload
def over(
    keys: Keys,
    n: int,
    *,
    weights: Optional[ArrayLike] = ...,
    times: Any = ...,
    window_seconds: Optional[float] = ...,
    num_slots: int = ...,
    false_positive_rate: Optional[float] = ...,
    memory_bytes: Optional[int] = ...,
    num_keys: Optional[int] = ...,
    exact: Literal[True],
    with_counts: Literal[True],
    seed: Optional[int] = ...,
    key: Optional[bytes] = ...,
) -> tuple[Positions, Counts, ExactCheckResult]: ...
def over(
    keys: Keys,
    n: int,
    *,
    weights: Optional[ArrayLike] = None,
    times: Any = None,
    window_seconds: Optional[float] = None,
    num_slots: int = 4,
    false_positive_rate: Optional[float] = None,
    memory_bytes: Optional[int] = None,
    num_keys: Optional[int] = None,
    exact: bool = False,
    with_counts: bool = False,
    seed: Optional[int] = None,
    key: Optional[bytes] = None,
) -> Any:
    """The positions (int64, ascending) at which keys reached the count n, each key once, of a batch of any type.

    Positions count from 0 also for a pandas Series, whatever its index: pass them to iloc. With weights, n is a sum.
    With window_seconds and times, n must be reached within a window (see SumStream), and a key may be reported again
    after each window. Sums and windows take memory_bytes (default 16 MiB) and none of the other limits.

    Returns the positions; with with_counts, (positions, counts at that moment); with exact, which also counts exactly
    in unbounded memory, a tally.ExactCheckResult as one further element. For the other arguments and errors see
    ThresholdStream. No key is missed; others are reported with a probability of at most false_positive_rate.
    """
    if weights is not None or window_seconds is not None:
        _refuse(
            {"false_positive_rate": false_positive_rate, "num_keys": num_keys, "exact": exact or None},
            "weights or window_seconds are given; give memory_bytes",
        )
        sums = SumStream(
            n,
            memory_bytes=16 << 20 if memory_bytes is None else memory_bytes,
            window_seconds=window_seconds,
            num_slots=num_slots,
            seed=seed,
            key=key,
        )
        reports = sums.add_batch(keys, weights, times)
        return reports if with_counts else reports[0]
    _refuse({"times": times}, "window_seconds is None")
    stream = ThresholdStream(
        n,
        num_keys=num_keys,
        memory_bytes=memory_bytes,
        false_positive_rate=false_positive_rate,
        exact_check=exact,
        seed=seed,
        key=key,
    )
    reports = stream.add_batch(keys)
    if exact:
        return (*(reports if with_counts else reports[:1]), stream.check_result())
    return reports if with_counts else reports[0]


def iter_over(
    keys: Iterable[_Key],
    n: int,
    *,
    batch_size: int = 1024,
    num_keys: Optional[int] = None,
    memory_bytes: Optional[int] = None,
    false_positive_rate: Optional[float] = None,
    seed: Optional[int] = None,
    key: Optional[bytes] = None,
) -> Iterator[_Key]:
    """Yields each key of an iterable, which may be endless, when it has occurred n times: the object itself, once.

    Keys are taken from the iterable in batches. So a key is yielded after at most batch_size - 1 further ones have
    arrived; batch_size=1 yields it at once, at the cost of a call per key. If the iterable raises, the keys before
    that are counted and yielded first. A key of a wrong type raises TypeError, and its batch is not counted.
    """
    if isinstance(keys, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"keys is of type {type(keys).__name__}; must be an iterable of keys")
    if isinstance(batch_size, (bool, numpy.bool_)) or not hasattr(batch_size, "__index__"):
        raise TypeError(f"batch_size is of type {type(batch_size).__name__}; must be a whole number")
    if batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}; must be at least 1")
    stream = ThresholdStream(
        n, num_keys=num_keys, memory_bytes=memory_bytes, false_positive_rate=false_positive_rate, seed=seed, key=key
    )
    return _iter_over(stream, iter(keys), int(batch_size))


def _iter_over(stream: ThresholdStream, keys: Iterator[_Key], batch_size: int) -> Iterator[_Key]:
    while True:
        batch: list[_Key] = []
        failure = None
        try:
            for key in itertools.islice(keys, batch_size):
                batch.append(key)
        except Exception as error:
            failure = error
        positions, _ = stream.add_batch(batch)
        for position in positions.tolist():
            yield batch[position]
        if failure is not None:
            raise failure
        if len(batch) < batch_size:
            return


def top(
    keys: Keys,
    num_keys: int = 10,
    *,
    weights: Optional[ArrayLike] = None,
    capacity: Optional[int] = None,
    method: Method = "sketch",
    seed: Optional[int] = None,
    key: Optional[bytes] = None,
) -> list[KeyCount]:
    """The most frequent keys of a batch, or those with the greatest sums of weights, as a list of tally.KeyCount.

    Keys have the type they came as: str for text, int for integers, else bytes. capacity is the number of candidates
    (default: 16384, or twice num_keys if that is more); for guarantees and the other arguments see TopStream.
    """
    batch = _batch_of(keys)
    # More candidates than keys would only take memory.
    most = len(batch) if hasattr(batch, "__len__") else 2**30
    stream = TopStream(_capacity(capacity, num_keys, 16384, most), method=method, seed=seed, key=key)
    kind = getattr(getattr(batch, "dtype", None), "kind", "O")
    if weights is None and kind in "iuS" and batch.ndim == 1:
        # In parts, because a part takes some 40 bytes per key. No such key can be refused, with a position in its part.
        for first in range(0, len(batch), _keys_per_part):
            stream.add_batch(batch[first : first + _keys_per_part])
    else:
        stream.add_batch(batch, weights)
    return _typed(stream, num_keys, _KeyType.of(batch))


def top_windows(
    batches: Iterable[Any],
    num_keys: int = 10,
    *,
    window_seconds: float,
    every_seconds: Optional[float] = None,
    num_slots: int = 4,
    capacity: Optional[int] = None,
    method: Method = "sketch",
    seed: Optional[int] = None,
    key: Optional[bytes] = None,
) -> Iterator[tuple[Any, list[KeyCount]]]:
    """The most frequent keys of the last window, each time the time of the records passes a multiple of every_seconds.

    batches gives (keys, times) or (keys, times, weights); it may be endless. Yields (time, list of tally.KeyCount): the
    first multiple that was passed, in the type of the times (numpy.datetime64, int in ns or float in s), and the ranking
    of the window that ended with the last record before it. When batches ends, the ranking at the latest time follows.
    every_seconds is the length of the window by default. From that record, counts reach back at least one window, and at
    most one window and one of its num_slots slots. For late records and guarantees see TopStream. capacity is that of each slot (default: 4096, or
    twice num_keys).
    """
    if window_seconds is None:
        raise TypeError("window_seconds is None; must be a number")
    stream = TopStream(
        _capacity(capacity, num_keys, 4096),
        window_seconds=window_seconds,
        num_slots=num_slots,
        method=method,
        seed=seed,
        key=key,
    )
    every = window_seconds if every_seconds is None else every_seconds
    if isinstance(every, (bool, numpy.bool_)) or not isinstance(every, numbers.Real):
        raise TypeError(f"every_seconds is of type {type(every).__name__}; must be a number")
    if not 1e-9 <= every <= 4.6e9:
        raise ValueError(f"every_seconds is {every}; must be from 1e-9 to 4.6e9")
    stream.top(num_keys)  # refuses a wrong number now
    return _top_windows(stream, iter(batches), num_keys, round(float(every) * 1e9))


def _top_windows(
    stream: TopStream, batches: Iterator[Any], num_keys: int, every: int
) -> Iterator[tuple[Any, list[KeyCount]]]:
    latest = 0  # the time of the stream, in ns
    has_begun = False
    kind = _KeyType()
    to_time: Callable[[int], Any] = int
    for batch in batches:
        keys, given, weights = _parts_of(batch)
        keys = _batch_of(keys)
        if not hasattr(keys, "__len__"):
            raise TypeError(f"keys is of type {type(keys).__name__}; must be a sequence of keys")
        kind = kind.with_batch(keys)
        times = _times.nanoseconds_of(given)
        if len(times) != len(keys) or (weights is not None and len(weights) != len(keys)):
            raise ValueError(
                f"a batch has {len(keys)} keys, {len(times)} times"
                + (f" and {len(weights)} weights" if weights is not None else "")
                + "; must have one of each per record"
            )
        if len(times) == 0:
            continue
        to_time = _back_to(given)
        if not has_begun:
            latest, has_begun = int(times[0]), True
        now = numpy.maximum.accumulate(numpy.maximum(times, latest))
        ends = numpy.flatnonzero(numpy.diff(now // every, prepend=latest // every)).tolist()
        begin = 0
        for end in [*ends, len(times)]:
            if end > begin:
                part = slice(begin, end)
                stream.add_batch(keys[part], None if weights is None else weights[part], times[part])
                latest = int(now[end - 1])
            if end < len(times):
                yield to_time((latest // every + 1) * every), _typed(stream, num_keys, kind)
            begin = end
    if has_begun:
        yield to_time(latest), _typed(stream, num_keys, kind)


def _parts_of(batch: Any) -> tuple[Any, Any, Any]:
    if not isinstance(batch, (tuple, list)) or len(batch) not in (2, 3):
        raise TypeError(f"batches gave {batch!r:.60}; must give (keys, times) or (keys, times, weights)")
    keys, times, weights = (*batch, None)[:3]
    return keys, times, None if weights is None else numpy.asarray(weights)


def _back_to(times: Any) -> Callable[[int], Any]:
    """What turns ns into the type of these times."""
    kind = getattr(getattr(times, "dtype", None), "kind", None) or numpy.asarray(times).dtype.kind
    if kind == "M":
        return lambda time: numpy.datetime64(time, "ns")
    if kind == "f":
        return lambda time: time / 1e9
    return int


def _batch_of(keys: Any) -> Any:
    """The batch as an array, a list or a tuple; one key stays what it is, to be refused."""
    if isinstance(keys, (str, bytes, bytearray, memoryview, list, tuple, numpy.ndarray)) or not hasattr(keys, "__iter__"):
        return keys
    return numpy.asarray(keys) if hasattr(keys, "__array__") else list(keys)


@dataclasses.dataclass(frozen=True)
class _KeyType:
    """What the bytes of keys become again."""

    type: Union[type, None] = None  # None: no key yet
    is_unsigned: bool = False

    @classmethod
    def of(cls, batch: Any) -> _KeyType:
        return cls().with_batch(batch)

    def with_batch(self, batch: Any) -> _KeyType:
        """The common type, if there were these keys, too."""
        if isinstance(batch, numpy.ndarray) and batch.dtype.kind != "O":
            found = {"U": _KeyType(str), "i": _KeyType(int), "u": _KeyType(int, True)}.get(batch.dtype.kind, _KeyType(bytes))
        elif isinstance(batch, (list, tuple, numpy.ndarray)):
            found = _type_of_objects(batch)
        else:
            return self
        if len(batch) == 0:
            return self
        if self.type is None:
            return found
        return _KeyType(self.type if self.type is found.type else bytes, self.is_unsigned or found.is_unsigned)


def _type_of_objects(keys: Any) -> _KeyType:
    types = set(map(type, keys))
    if all(issubclass(own, str) for own in types):
        return _KeyType(str)
    if all(issubclass(own, (int, numpy.integer)) for own in types):
        return _KeyType(int, any(key > 2**63 - 1 for key in keys))
    return _KeyType(bytes)


def _typed(stream: TopStream, num_keys: int, kind: _KeyType) -> list[KeyCount]:
    found = stream.top(num_keys, as_type=kind.type)
    if not kind.is_unsigned or kind.type is not int:
        return found
    return [dataclasses.replace(count, key=count.key % 2**64) for count in found]


def _capacity(capacity: Optional[int], num_keys: int, least: int, most: int = 2**30) -> int:
    if capacity is not None:
        return capacity
    return max(least, min(2 * num_keys, most, 2**30)) if isinstance(num_keys, (int, numpy.integer)) else least


def _refuse(given: dict[str, Any], reason: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} is given; must be left out if {reason}")
