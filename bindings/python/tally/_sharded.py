"""One filter divided over several of one shape: each key is in exactly one of them."""

from __future__ import annotations

import dataclasses
import json
import math
import operator
import os
from typing import Any, Iterable, Iterator, Optional, Union

import numpy
from numpy.typing import NDArray

from . import _tally, theory
from ._records import (
    FilterStatistics,
    FormatError,
    HistogramBin,
    InsertOutcome,
    InsertResult,
    RemoveResult,
    Shape,
    SharePlan,
    ShardedStatistics,
    ThresholdState,
)

_manifest = "filter.json"
_manifest_format = "tally.ShardedFilter"


def divided(digests: NDArray[Any], num_shards: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """(order, bounds): the keys of shard s are digests[order[bounds[s]:bounds[s + 1]]], in the order of the batch."""
    shards = _tally.shards(digests, num_shards)
    order = numpy.argsort(shards.astype(numpy.uint16), kind="stable")  # by radix, which numpy does for 16 bits
    bounds = numpy.zeros(num_shards + 1, numpy.int64)
    numpy.cumsum(numpy.bincount(shards, minlength=num_shards), out=bounds[1:])
    return order, bounds


def largest_share(num_keys: int, num_shards: int, failure_probability: float) -> int:
    """The number of keys that no shard exceeds, but with this probability."""
    return theory.largest_share(num_keys, num_shards, failure_probability)


def first_shard(
    filter_class: type,
    num_shards: int,
    share_failure_probability: float,
    *,
    seed: Optional[int],
    key: Optional[bytes] = None,
    requirements: dict[str, Any],
) -> tuple[Any, Optional[SharePlan]]:
    """An empty filter of the shape that each shard has, and its plan, if the number of all keys is given."""
    if not (isinstance(filter_class, type) and issubclass(filter_class, _tally.Filter)) or filter_class is _tally.Filter:
        raise TypeError(f"filter_class is {filter_class!r}; must be a class of filters, such as tally.BloomFilter")
    num_shards = _tally._whole_number(num_shards, "num_shards", 1, _tally.max_num_shards)
    probability = share_failure_probability
    if isinstance(probability, bool) or not isinstance(probability, (int, float)):
        raise TypeError(
            f"share_failure_probability is of type {type(probability).__name__}; must be a number above 0 and below 1"
        )
    if not 0 < probability < 1:
        raise ValueError(f"share_failure_probability is {probability}; must be above 0 and below 1")
    own = dict(requirements)
    if own.get("counts") is not None:
        raise ValueError("counts is given; a sharded filter is planned from num_keys")
    if own.get("memory_bytes") is not None:
        own["memory_bytes"] = _tally._whole_number(own["memory_bytes"], "memory_bytes", 8 * num_shards, 2**63) // num_shards
    if own.get("num_keys") is None:
        return filter_class(seed=seed, key=key, **own), None
    num_keys = largest_share(_tally._whole_number(own["num_keys"], "num_keys", 1, 2**56), num_shards, probability)
    own["num_keys"] = num_keys
    first = filter_class(seed=seed, key=key, **own)
    return first, SharePlan(num_shards, num_keys, first.memory_bytes, probability if num_shards > 1 else 0.0)

_writes = frozenset(
    ["insert", "insert_batch", "test_and_insert", "test_and_insert_batch", "remove", "remove_batch", "add", "add_batch"]
)


class ShardedFilter:
    """One filter divided over `num_shards` filters of one class and shape. Each key is in exactly one of them, which
    tally.shards tells, so different processes can fill different shards.

    The keyword arguments are those of filter_class. `num_keys` and `memory_bytes` are of the whole filter; all others are of
    each shard, and the false positive rate of a shard is that of the whole, because a lookup asks one shard. Each shard
    is planned for its largest share of num_keys: with at most `share_failure_probability`, some shard gets more keys. With
    `shape`, each shard has exactly this shape.

    Results are in the order of the keys. A batch changes one shard after the other: another thread may see half of it.
    Raises as the constructor of filter_class, before anything is made.
    """

    def __init__(
        self,
        filter_class: type,
        num_shards: int,
        *,
        seed: Optional[int] = None,
        key: Optional[bytes] = None,
        share_failure_probability: float = 1e-6,
        **requirements: Any,
    ) -> None:
        first, plan = first_shard(
            filter_class, num_shards, share_failure_probability, seed=seed, key=key, requirements=requirements
        )
        others = [_tally.make(first.shape, seed=seed, key=key) for _ in range(num_shards - 1)]
        self._take([first, *others], plan, key)

    @classmethod
    def from_filters(cls, filters: Iterable[Any], *, key: Optional[bytes] = None) -> ShardedFilter:
        """The filter whose shards are these, in order: of one class, shape and seed. They are used, not copied.

        `key` is the secret of filters with a keyed hash. Raises TypeError, and ValueError that names the first difference.
        """
        return cls._of(filters, None, key)

    @classmethod
    def _of(cls, filters: Iterable[Any], plan: Optional[SharePlan], key: Optional[bytes] = None) -> ShardedFilter:
        own = list(filters)
        _check_shards(own, key)
        sharded = cls.__new__(cls)
        sharded._take(own, plan, key)
        return sharded

    def _take(self, filters: list[Any], plan: Optional[SharePlan], key: Optional[bytes]) -> None:
        self._filters = tuple(filters)
        self._plan = plan
        self._hash: dict[str, Any] = {"seed": filters[0].seed} if key is None else {"key": key}

    @property
    def filters(self) -> tuple[Any, ...]:
        """The filters of the shards, in order."""
        return self._filters

    @property
    def filter_class(self) -> type:
        """The class of the shards."""
        return type(self._filters[0])

    @property
    def num_shards(self) -> int:
        """The number of shards."""
        return len(self._filters)

    @property
    def shape(self) -> Shape:
        """The shape of each shard; of the first, if they grow."""
        return self._filters[0].shape

    @property
    def seed(self) -> Optional[int]:
        """The seed of the hash; None with a keyed hash."""
        return self._filters[0].seed

    @property
    def share_plan(self) -> Optional[SharePlan]:
        """The keys that each shard is planned for, and the probability that one gets more; None without num_keys."""
        return self._plan

    @property
    def memory_bytes(self) -> int:
        """Bytes of memory of all shards."""
        return sum(own.memory_bytes for own in self._filters)

    @property
    def num_insertions(self) -> int:
        """Insertions so far, without refused ones; in sketches the sum of all weights."""
        return sum(own.num_insertions for own in self._filters)

    def _filter_of(self, key: Any) -> Any:
        return self._filters[int(_tally.shards([key], self.num_shards, **self._hash)[0])]

    def _require(self, name: str) -> None:
        if not hasattr(self._filters[0], name):
            raise AttributeError(f"a ShardedFilter of {self.filter_class.__name__} has no {name}")
        # Of all shards before any is changed.
        if name in _writes and any(own.closed or own.is_mapped for own in self._filters):
            raise ValueError("a shard is closed, or in a mapped file, which is read only; change the filter's copy()")

    def _one(self, name: str, key: Any, *arguments: Any, **options: Any) -> Any:
        self._require(name)
        # The shard and its filter convert the key each, and must get the same one.
        if isinstance(key, (bytearray, memoryview)):
            key = bytes(key)
        elif hasattr(key, "__index__") and not isinstance(key, (bool, numpy.bool_)):
            key = operator.index(key)
        return getattr(self._filter_of(key), name)(key, *arguments, **options)

    def _parts(self, keys: Any) -> Iterator[tuple[Any, NDArray[Any], NDArray[Any]]]:
        """(filter, places in the batch, digests) of every shard that gets keys; of the first shard, if none does."""
        digests = _tally.digests(keys, **self._hash)
        order, bounds = divided(digests, self.num_shards)
        with_keys = numpy.flatnonzero(numpy.diff(bounds))
        for shard in with_keys.tolist() or [0]:
            places = order[bounds[shard] : bounds[shard + 1]]
            yield self._filters[shard], places, digests[places]

    def _batch(self, name: str, keys: Any, *arguments: Any, **options: Any) -> Any:
        """The results of all shards in the order of the keys: an array, or a tuple of arrays."""
        self._require(name)
        size = 0
        found: list[tuple[NDArray[Any], tuple[NDArray[Any], ...]]] = []
        is_tuple = False
        for own, places, digests in self._parts(keys):
            result = getattr(own, name)(digests, *arguments, **options)
            is_tuple = isinstance(result, tuple)
            found.append((places, result if is_tuple else (result,)))
            size += len(places)
        results = tuple(numpy.empty(size, part.dtype) for part in found[0][1])
        for places, parts in found:
            for to, part in zip(results, parts):
                to[places] = part
        return results if is_tuple else results[0]

    def may_contain(self, key: Any) -> bool:
        """Whether the key may be in it, as the shards answer. `key in filter` is the same."""
        return self._one("may_contain", key)

    __contains__ = may_contain

    def may_contain_batch(self, keys: Any) -> NDArray[numpy.bool_]:
        """may_contain for every key, as an array of bool."""
        return self._batch("may_contain_batch", keys)

    def insert(self, key: Any) -> Union[InsertResult, ThresholdState, None]:
        """Inserts the key. Returns what the shard's insert does: InsertResult.full if its shard has no room."""
        return self._one("insert", key)

    def insert_batch(self, keys: Any) -> Union[int, NDArray[numpy.bool_], None]:
        """Inserts every key, those of a shard in their order. Returns what the insert_batch of the shards does: the
        number of keys that were refused because their shard is full; with ThresholdFilters an array of bool; with Bloom
        filters None."""
        self._require("insert_batch")
        if self._filters[0].kind == "threshold":
            return self._batch("insert_batch", keys)
        results = [own.insert_batch(digests) for own, _, digests in self._parts(keys)]
        return None if results[0] is None else sum(results)

    def test_and_insert(self, key: Any) -> InsertOutcome:
        """Inserts the key. Returns InsertOutcome.new_key, seen, or full."""
        return self._one("test_and_insert", key)

    def test_and_insert_batch(self, keys: Any) -> NDArray[numpy.uint8]:
        """test_and_insert for every key, in order, as an array of the numbers of InsertOutcome (uint8)."""
        return self._batch("test_and_insert_batch", keys)

    def remove(self, key: Any) -> RemoveResult:
        """Removes the key once; remove only what was inserted. Returns RemoveResult.removed, saturated or refused."""
        return self._one("remove", key)

    def remove_batch(self, keys: Any) -> NDArray[numpy.uint8]:
        """remove for every key, in order, as an array of the numbers of RemoveResult (uint8)."""
        return self._batch("remove_batch", keys)

    def add(self, key: Any, weight: int = 1) -> InsertResult:
        """Of sketches: adds a weight to the count of the key."""
        return self._one("add", key, weight)

    def add_batch(self, keys: Any, weights: Any = None) -> int:
        """Of sketches: add for every key; weights has one for each. Returns the number of keys with a saturated counter."""
        self._require("add_batch")
        if weights is None:
            return sum(own.add_batch(digests) for own, _, digests in self._parts(keys))
        digests = _tally.digests(keys, **self._hash)
        numbers = _weights(weights, len(digests))
        return sum(own.add_batch(part, numbers[places]) for own, places, part in self._parts(digests))

    def count(self, key: Any, *, with_saturated: bool = False) -> Union[int, tuple[int, bool]]:
        """How often the key was inserted, or its total weight: never too low, unless a counter is saturated."""
        return self._one("count", key, with_saturated=with_saturated)

    def count_batch(self, keys: Any, *, with_saturated: bool = False) -> Any:
        """count for every key, as an array of uint64; with with_saturated, also an array of bool."""
        return self._batch("count_batch", keys, with_saturated=with_saturated)

    def at_least(self, key: Any, threshold: int) -> bool:
        """Whether the key may have been inserted `threshold` times."""
        return self._one("at_least", key, threshold)

    def at_least_batch(self, keys: Any, threshold: int) -> NDArray[numpy.bool_]:
        """at_least for every key, as an array of bool."""
        return self._batch("at_least_batch", keys, threshold)

    def estimate(self, key: Any) -> Any:
        """Of sketches: the count of the key with its bounds, as a tally.CountEstimate."""
        return self._one("estimate", key)

    def estimate_batch(self, keys: Any) -> NDArray[Any]:
        """Of sketches: estimate for every key, as an array of tally.count_estimate_dtype."""
        return self._batch("estimate_batch", keys)

    def statistics(self) -> ShardedStatistics:
        """What all shards hold together, and what the fullest holds. Reads the whole memory of the filter."""
        shards = [own.statistics() for own in self._filters]
        fullest = max(range(len(shards)), key=lambda shard: shards[shard].load)
        return ShardedStatistics(_sum_of(shards), shards[fullest], fullest)

    def copy(self) -> ShardedFilter:
        """A copy with memory of its own."""
        return self._of([own.copy() for own in self._filters], self._plan, self._hash.get("key"))

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> ShardedFilter:
        return self.copy()

    def __reduce__(self) -> Any:
        return ShardedFilter._of, (self._filters, self._plan)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShardedFilter):
            return NotImplemented
        return len(self._filters) == len(other._filters) and all(
            type(own) is type(theirs) and own == theirs for own, theirs in zip(self._filters, other._filters)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        text = f"<tally.ShardedFilter: {self.num_shards} shards of {self.filter_class.__name__}, {self.shape}"
        return f"{text}, {self.num_insertions:,} insertions, {self.memory_bytes:,} bytes>"

    def save(self, directory: Union[str, os.PathLike], *, overwrite: bool = False) -> None:
        """Writes a directory with one file for each shard, which tally.open and the command read, and `filter.json`, which
        names them. That file is written last: a save that is interrupted leaves what was there.

        Raises FileExistsError if the directory has a filter and not overwrite, and other OSErrors."""
        path = os.fspath(directory)
        old = _read_manifest(path) if os.path.exists(os.path.join(path, _manifest)) else None
        if old is not None and not overwrite:
            raise FileExistsError(f"{path}: there is a filter in this directory; pass overwrite=True to replace it")
        generation = 0 if old is None else old["generation"] + 1
        os.makedirs(path, exist_ok=True)
        names = [f"shard-{shard:05d}.{generation}.tally" for shard in range(self.num_shards)]
        for own, name in zip(self._filters, names):
            own.save(os.path.join(path, name), overwrite=True)
        manifest = {
            "format": _manifest_format,
            "version": 1,
            "generation": generation,
            "num_shards": self.num_shards,
            "files": names,
            "share_plan": None if self._plan is None else dataclasses.asdict(self._plan),
        }
        _write_synced(os.path.join(path, _manifest), json.dumps(manifest, indent=1) + "\n")
        for name in [] if old is None else old["files"]:
            try:
                os.remove(os.path.join(path, name))
            except FileNotFoundError:
                pass

    @classmethod
    def open(
        cls,
        directory: Union[str, os.PathLike],
        *,
        mmap: bool = False,
        verify: bool = False,
        key: Optional[bytes] = None,
    ) -> ShardedFilter:
        """The filter in a directory, which save wrote. The arguments are those of tally.open.

        Raises FormatError for what save did not write, ValueError for a missing or wrong key, OSError."""
        path = os.fspath(directory)
        manifest = _read_manifest(path)
        filters = [
            _tally.open(os.path.join(path, name), mmap=mmap, verify=verify, key=key) for name in manifest["files"]
        ]
        try:
            plan = None if manifest["share_plan"] is None else SharePlan(**manifest["share_plan"])
            return cls._of(filters, plan, key)
        except (TypeError, ValueError) as error:
            raise FormatError(f"{os.path.join(path, _manifest)}: {error}", os.path.join(path, _manifest)) from None


def _weights(weights: Any, num_keys: int) -> NDArray[numpy.uint64]:
    """Checks what the shards would find only after some of them have changed."""
    numbers = numpy.asarray(weights)
    if numbers.ndim != 1 or len(numbers) != num_keys:
        raise ValueError(
            f"weights has {numbers.size} numbers in {numbers.ndim} dimensions; must have one for each of the {num_keys} keys"
        )
    if num_keys == 0:
        return numpy.zeros(0, numpy.uint64)
    if numbers.dtype.kind not in "iu":
        raise TypeError(
            f"weights has dtype {numbers.dtype}; must be whole numbers from 0 to 18446744073709551615"
        )
    if numbers.dtype.kind == "i" and numbers.min() < 0:
        raise ValueError(f"the least of weights is {numbers.min()}; must be at least 0")
    return numbers.astype(numpy.uint64)


def _without_doublings(shape: Shape) -> Shape:
    return dataclasses.replace(shape, num_doublings=0) if hasattr(shape, "num_doublings") else shape


def _check_shards(filters: list[Any], key: Optional[bytes]) -> None:
    if not 1 <= len(filters) <= _tally.max_num_shards:
        raise ValueError(f"filters has {len(filters)} filters; must have 1 to {_tally.max_num_shards}")
    first = filters[0]
    for shard, own in enumerate(filters):
        if not isinstance(own, _tally.Filter):
            raise TypeError(f"filters[{shard}] is of type {type(own).__name__}; must be a filter, such as tally.BloomFilter")
        if type(own) is not type(first):
            raise ValueError(
                f"filters[{shard}] is a {type(own).__name__}, and filters[0] a {type(first).__name__}; must be of one class"
            )
        if own.seed != first.seed:
            raise ValueError(f"filters[{shard}] has seed {own.seed}, and filters[0] {first.seed}; must be the same")
        if _without_doublings(own.shape) != _without_doublings(first.shape):
            raise ValueError(f"filters[{shard}] is {own.shape}, and filters[0] {first.shape}; must be of one shape")
    if len({id(own) for own in filters}) != len(filters):
        raise ValueError("filters has one filter twice; each shard must have its own")
    if (first.seed is None) != (key is not None):
        raise ValueError(
            "the filters have a keyed hash; pass its secret as key"
            if key is None
            else "key is given, but the filters have a seed; leave key out"
        )


def _added(values: list[Any]) -> Any:
    """Numbers added; lists added at each index, as if shorter ones ended with zeros."""
    if not isinstance(values[0], list):
        return sum(values)
    longest = max(len(value) for value in values)
    return [_added([value[i] for value in values if i < len(value)]) for i in range(longest)]


def _histograms_added(shards: list[FilterStatistics]) -> list[HistogramBin]:
    numbers: dict[tuple[int, int], int] = {}
    for own in shards:
        for bin in own.histogram:
            numbers[bin.least, bin.greatest] = numbers.get((bin.least, bin.greatest), 0) + bin.num_counters
    return [HistogramBin(least, greatest, number) for (least, greatest), number in sorted(numbers.items())]


def _sum_of(shards: list[FilterStatistics]) -> FilterStatistics:
    fields = {field.name: [getattr(own, field.name) for own in shards] for field in dataclasses.fields(shards[0])}
    positions = fields["num_positions"]
    total = {name: _added(values) for name, values in fields.items() if name != "histogram"}
    total["histogram"] = _histograms_added(shards)
    total["load"] = sum(map(operator.mul, fields["load"], positions)) / max(1, sum(positions))
    total["estimated_false_positive_rate"] = sum(fields["estimated_false_positive_rate"]) / len(shards)
    total["estimated_num_keys_standard_error"] = math.hypot(*fields["estimated_num_keys_standard_error"])
    return type(shards[0])(**total)


def _write_synced(path: str, text: str) -> None:
    temporary = path + ".new"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def _read_manifest(directory: str) -> dict[str, Any]:
    path = os.path.join(directory, _manifest)
    with open(path, "rb") as file:
        data = file.read()
    try:
        manifest = json.loads(data)
    except ValueError as error:
        raise FormatError(f"{path}: not JSON: {error}", path, getattr(error, "pos", 0)) from None
    if not isinstance(manifest, dict) or manifest.get("format") != _manifest_format:
        raise FormatError(f"{path}: not the list of files of a tally.ShardedFilter", path)
    if manifest.get("version") != 1:
        raise FormatError(f"{path}: version {manifest.get('version')}; this version of tally reads version 1", path)
    names, generation = manifest.get("files"), manifest.get("generation")
    if not isinstance(generation, int) or not isinstance(names, list) or not isinstance(
        manifest.get("share_plan"), (dict, type(None))
    ):
        raise FormatError(f"{path}: generation, files or share_plan is missing or invalid", path)
    if len(names) != manifest.get("num_shards") or len(set(map(str, names))) != len(names):
        raise FormatError(
            f"{path}: num_shards is {manifest.get('num_shards')!r}, and there are {len(set(map(str, names)))} different files", path
        )
    for name in names:
        if not isinstance(name, str) or name != os.path.basename(name) or not name.endswith(".tally"):
            raise FormatError(f"{path}: {name!r} is not the name of a shard's file in this directory", path)
    return manifest
