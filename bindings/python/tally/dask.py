"""Filters and sketches of the keys of a Dask collection. docs/dask.md is the guide.

`build` fills a structure per partition and merges them, for kinds that merge exactly. `build_sharded` divides the keys over
the shards of one filter, for any kind. `over` finds the keys that occur at least n times. All of them take a Bag, a Series
or an Index of dask.dataframe, an Array with one dimension, or a list of Delayed partitions, and compute nothing: the results
are Dask's own objects. The same keys and arguments give the same results, whatever the scheduler.
"""

from __future__ import annotations

import copy
import functools
import sys
from operator import getitem
from typing import Any, Callable, Optional, Union

import dask
import numpy
from dask.base import clone_key, tokenize
from dask.core import get_dependencies, istask
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from dask.optimization import SubgraphCallable
from dask.sizeof import sizeof
from numpy.typing import NDArray

from . import _tally
from ._records import CompactDLeftShape, DLeftShape, Shape, SharePlan, ThresholdShape, digest_dtype
from ._sharded import ShardedFilter, divided, first_shard, largest_share

__all__ = ["build", "build_sharded", "bytes_moved", "over"]

#: Partitions whose digests a shard takes in one task. Each task copies the shard, so that it can be repeated.
_partitions_per_task = 8
#: Shards of `over`, if there are as many partitions.
_default_num_shards = 8


def build(
    keys: Any,
    filter_class_or_shape: Union[type, Shape],
    *,
    seed: Optional[int] = None,
    split_every: int = 8,
    compute: bool = False,
    **requirements: Any,
) -> Any:
    """The structure of all keys: one is filled per partition, and `split_every` at a time are merged.

    For what merges exactly: BloomFilter, BlockedBloomFilter, RegisterBlockedBloomFilter, CountingBloomFilter,
    BlockedCountingBloomFilter and a CountMinSketch with plain update are equal to a structure that all keys were inserted
    into. Of TopKeys and SpaceSaving the bounds hold. `requirements` are the keyword arguments of the class, for all keys
    together. Returns a Delayed, or with `compute` the structure.

    Raises ValueError for kinds that do not merge exactly, and as the constructor."""
    split_every = _tally._whole_number(split_every, "split_every", 2, 2**31)
    make = _maker(filter_class_or_shape, seed, requirements)
    source = _Source(keys)
    name = f"tally-build-{tokenize(source.collection, make.args, make.keywords, split_every)}"
    filled = functools.partial(_filled, make)
    tasks: dict[Any, Any] = {(name, 0, p): (filled, key) for p, key in enumerate(source.keys)}
    tasks[name] = _merged_by_tree(tasks, (name, 0), len(source.keys), split_every, _merged)
    result = _delayed(name, tasks, [source.collection])
    return result.compute() if compute else result


def build_sharded(
    keys: Any,
    filter_class: type,
    *,
    num_shards: int,
    seed: Optional[int] = None,
    share_failure_probability: float = 1e-6,
    allow_full: bool = False,
    compute: bool = False,
    **requirements: Any,
) -> Any:
    """A ShardedFilter of all keys, equal to one that the partitions were inserted into one after the other.

    For any filter class, also those that cannot be merged exactly: DLeftCountingBloomFilter, CompactDLeftFilter,
    ThresholdFilter. Partitions divide the digests of their keys, 16 bytes each, among the shards. The further arguments are
    those of ShardedFilter. Returns a Delayed, or with `compute` the filter.

    If shards have no room for some keys, computing raises ValueError with their number. With `allow_full` the filter is
    returned without them; its statistics have the number."""
    _refuse_key(requirements)
    num_shards = _tally._whole_number(num_shards, "num_shards", 1, _tally.max_num_shards)
    first, plan = first_shard(
        filter_class, num_shards, share_failure_probability, seed=seed, requirements=requirements
    )
    shape = first.shape
    source = _Source(keys)
    name = f"tally-build-sharded-{tokenize(source.collection, shape, seed, num_shards, plan, allow_full)}"
    new = functools.partial(_new_filter, shape, seed)
    tasks = _divided_tasks(name, source, num_shards, seed, functools.partial(_inserted, new))
    last_group = len(_groups(source)) - 1
    tasks[name] = (
        functools.partial(_assembled, plan, allow_full),
        *((f"{name}-state", s, last_group) for s in range(num_shards)),
    )
    result = _delayed(name, tasks, [source.collection])
    return result.compute() if compute else result


def over(
    keys: Any,
    n: int,
    *,
    num_shards: Optional[int] = None,
    seed: Optional[int] = None,
    false_positive_rate: Optional[float] = None,
    num_keys: Optional[int] = None,
    exact: bool = False,
) -> Any:
    """Every key that occurs at least n times (1 to 2^32 - 1) in all partitions together, once, at its n-th occurrence.

    The partitions send the digests of their keys, 16 bytes each, to `num_shards` shards (default: up to 8), which count.
    Then each partition is computed again, and picks its keys. No key is missed. A key that occurs less often is returned
    with at most the false positive rate (default 1%); with `exact`, the partitions then count all keys found, and none is
    returned falsely. Give num_keys, the number of distinct keys, if you know it: it saves memory.

    Returns a collection of the type of `keys`, with as many partitions; a Bag for a list of Delayed. Partitions must have
    the same keys when they are computed again."""
    n = _tally._whole_number(n, "n", 1, 2**32 - 1)
    source = _Source(keys)
    if num_shards is None:
        num_shards = min(len(source.keys), _default_num_shards)
    num_shards = _tally._whole_number(num_shards, "num_shards", 1, _tally.max_num_shards)
    seed = _tally.default_seed if seed is None else seed
    if num_keys is not None:
        num_keys = largest_share(_tally._whole_number(num_keys, "num_keys", 1, 2**40), num_shards, 1e-6)
    new = functools.partial(_new_counter, n, num_keys, false_positive_rate, seed)
    new()  # raises for what is out of range
    token = tokenize(source.collection, n, num_shards, seed, false_positive_rate, num_keys, exact)
    counting, picking = f"tally-count-{token}", f"tally-over-{token}"

    tasks = _divided_tasks(counting, source, num_shards, seed, functools.partial(_counted, new, exact))
    reports = [[(f"{counting}-report", s, g) for s in range(num_shards)] for g in range(len(_groups(source)))]
    # What each partition needs before it is computed again: in `exact`, the candidates of all shards.
    for s in range(num_shards):
        of_shard = [reports_of_group[s] for reports_of_group in reports]
        tasks[f"{counting}-candidates", s] = (_candidates if exact else _nothing, *of_shard)
    tasks[counting] = (
        _all_candidates if exact else _nothing,
        *((f"{counting}-candidates", s) for s in range(num_shards)),
    )
    counted = _delayed(counting, tasks, [source.collection])
    picks: dict[Any, Any] = {}
    pick = functools.partial(_picked, num_shards, seed)
    total = (f"{picking}-total",)
    again, again_keys = _computed_again(source, counting, token)
    for p, key in enumerate(again_keys):
        group, index = divmod(p, _partitions_per_task)
        if not exact:
            picks[picking, p] = (functools.partial(pick, index), key, *reports[group])
            continue
        found = (f"{picking}-found", p)
        picks[found] = (functools.partial(_picked_and_counted, pick, index, seed), key, counting, *reports[group])
        picks[f"{picking}-counts", 0, p] = (getitem, found, 0)
        picks[f"{picking}-picked", p] = (getitem, found, 1)
        picks[picking, p] = (functools.partial(_kept, n), (f"{picking}-picked", p), counting, total)
    if exact:
        picks[total] = _merged_by_tree(picks, (f"{picking}-counts", 0), len(source.keys), 8, _added)
    layers = {**counted.dask.layers, f"{picking}-again": MaterializedLayer(again), picking: MaterializedLayer(picks)}
    dependencies = {
        **counted.dask.dependencies,
        f"{picking}-again": {counting},
        picking: {f"{picking}-again", counting},
    }
    return source.like(HighLevelGraph(layers, dependencies), picking)


def bytes_moved(client: Any) -> int:
    """Bytes that the workers of a distributed.Client have sent to each other since they started, as they were written to
    their connections. What the scheduler and the client receive does not count. Workers remember 100,000 transfers."""
    workers = client.scheduler_info()["workers"]
    sent = client.run(_sent_bytes)
    return sum(size for by_receiver in sent.values() for who, size in by_receiver.items() if who in workers)


# Collections


class _Source:
    """The keys as a collection, and the names of its partitions."""

    def __init__(self, keys: Any) -> None:
        # Optimized as its own kind does it, because nothing does that for what a Delayed depends on.
        self.collection = dask.optimize(_collection_of(keys))[0]
        self.keys = _flat_keys(self.collection)
        if not self.keys:
            self.collection = _no_keys()
            self.keys = _flat_keys(self.collection)

    def like(self, graph: HighLevelGraph, name: str) -> Any:
        """The collection of this type whose partitions are (name, p)."""
        if _is_a(self.collection, "dask.bag", "Bag"):
            return sys.modules["dask.bag"].Bag(graph, name, len(self.keys))
        if _is_a(self.collection, "dask.array", "Array"):
            chunks = ((numpy.nan,) * len(self.keys),)
            return sys.modules["dask.array"].Array(graph, name, chunks, meta=self.collection._meta)
        divisions = [None] * (len(self.keys) + 1)
        from dask.dataframe.core import new_dd_object

        return new_dd_object(graph, name, self.collection._meta, divisions)


def _computed_again(source: _Source, after: str, seed: str) -> tuple[dict[Any, Any], list[Any]]:
    """Tasks that compute the partitions again, but not before `after`, so that they are not in memory until then; and the
    names of the partitions.

    dask.graph_manipulation.bind would lose the inputs of from_delayed's layers. Its tasks also lose the `list` of a lazy
    partition to the optimization of bags, which looks into tasks, but not into a SubgraphCallable."""
    tasks = dict(source.collection.__dask_graph__())
    again: dict[Any, Any] = {}
    for key, task in tasks.items():
        name = clone_key(key, seed)
        needed = list(get_dependencies(tasks, key))
        arguments = [clone_key(own, seed) for own in needed]
        if not needed:
            needed, arguments = ["tally-after"], [after]
        if istask(task) or isinstance(task, (list, dict)) or needed != ["tally-after"]:
            again[name] = (SubgraphCallable({name: task}, name, needed, str(name)), *arguments)
        else:
            again[name] = (_after, task, after)
    return again, [clone_key(key, seed) for key in source.keys]


def _is_a(value: Any, module: str, name: str) -> bool:
    """Whether it is of this class, without an import of what the program does not use."""
    return module in sys.modules and isinstance(value, getattr(sys.modules[module], name))


def _collection_of(keys: Any) -> Any:
    if _is_a(keys, "dask.bag", "Bag"):
        return keys
    if _is_a(keys, "dask.array", "Array"):
        if keys.ndim != 1:
            raise ValueError(f"keys has {keys.ndim} dimensions; must have 1; pass its ravel()")
        _check_dtype(keys.dtype)
        return keys
    if _is_a(keys, "dask.dataframe", "Series"):  # an Index is one
        _check_dtype(keys.dtype)
        return keys
    if _is_a(keys, "dask.dataframe", "DataFrame"):
        raise TypeError("keys is a DataFrame; must be one column, such as frame['name']")
    if isinstance(keys, (list, tuple)) and all(isinstance(partition, Delayed) for partition in keys):
        return _bag_of(list(keys)) if keys else _no_keys()
    raise TypeError(
        f"keys is of type {type(keys).__name__}; must be a dask Bag, a dask Series or Index, a dask Array, or a list of "
        "Delayed partitions"
    )


def _bag_of(partitions: list[Delayed]) -> Any:
    import dask.bag

    return dask.bag.from_delayed(partitions)


def _no_keys() -> Any:
    """A collection with one empty partition, because many functions of dask need one."""
    return _bag_of([dask.delayed([], name="tally-no-keys")])


def _check_dtype(dtype: Any) -> None:
    if getattr(dtype, "kind", "O") in "fcbmM":
        raise TypeError(
            f"keys has dtype {dtype}; must be of integers, text or bytes; if its values are whole numbers, leave missing "
            "values out and pass its astype('int64')"
        )


def _flat_keys(collection: Any) -> list[Any]:
    """The names of the partitions, in order."""
    return list(collection.__dask_keys__())


def _delayed(name: str, tasks: dict[Any, Any], dependencies: list[Any]) -> Delayed:
    return Delayed(name, HighLevelGraph.from_collections(name, tasks, dependencies=dependencies))


def _merged_by_tree(
    tasks: dict[Any, Any], leaves: tuple[str, int], num_leaves: int, split_every: int, merge: Callable[..., Any]
) -> Any:
    """Adds tasks that merge split_every of (*leaves, i) at a time. Returns the last task."""
    prefix, level = leaves
    while num_leaves > split_every:
        num_next = -(-num_leaves // split_every)
        for i in range(num_next):
            last = min((i + 1) * split_every, num_leaves)
            tasks[prefix, level + 1, i] = (merge, *((prefix, level, j) for j in range(i * split_every, last)))
        num_leaves, level = num_next, level + 1
    return (merge, *((prefix, level, i) for i in range(num_leaves)))


def _groups(source: _Source) -> list[range]:
    return [
        range(first, min(first + _partitions_per_task, len(source.keys)))
        for first in range(0, len(source.keys), _partitions_per_task)
    ]


def _divided_tasks(
    name: str, source: _Source, num_shards: int, seed: Optional[int], take: Callable[..., Any]
) -> dict[Any, Any]:
    """Tasks that divide the digests of every partition; shard s then takes its pieces, group by group, in order.

    take(state before, *pieces) returns (state, report); (NAME-state, s, group) and (NAME-report, s, group) are these."""
    tasks: dict[Any, Any] = {}
    divide = functools.partial(_pieces, num_shards, seed)
    for p, key in enumerate(source.keys):
        tasks[f"{name}-pieces", p] = (divide, key)
        for s in range(num_shards):
            tasks[f"{name}-piece", p, s] = (getitem, (f"{name}-pieces", p), s)
    for g, group in enumerate(_groups(source)):
        for s in range(num_shards):
            before = (f"{name}-state", s, g - 1) if g else None
            tasks[f"{name}-step", s, g] = (take, before, *((f"{name}-piece", p, s) for p in group))
            tasks[f"{name}-state", s, g] = (getitem, (f"{name}-step", s, g), 0)
            tasks[f"{name}-report", s, g] = (getitem, (f"{name}-step", s, g), 1)
    return tasks


# Kinds


def _maker(
    filter_class_or_shape: Union[type, Shape], seed: Optional[int], requirements: dict[str, Any]
) -> functools.partial:
    """What makes an empty structure. Raises for what does not merge exactly."""
    _refuse_key(requirements)
    if isinstance(filter_class_or_shape, Shape):
        if requirements:
            raise TypeError(f"{', '.join(requirements)} is given beside a shape; must be one of them")
        _refuse_inexact(type(filter_class_or_shape))
        shape = filter_class_or_shape
        _new_filter(shape, seed)
    elif isinstance(filter_class_or_shape, type) and issubclass(filter_class_or_shape, _tally.Filter):
        _refuse_inexact(filter_class_or_shape)
        shape = filter_class_or_shape(seed=seed, **requirements).shape
    elif filter_class_or_shape in _merged_with_bounds():
        make: Any = functools.partial(filter_class_or_shape, seed=seed, **requirements)
        make()
        return make
    else:
        raise TypeError(
            f"filter_class_or_shape is {filter_class_or_shape!r}; must be a class such as tally.BloomFilter, or a shape"
        )
    if getattr(shape, "update", "plain") != "plain":
        raise ValueError(
            f"structures with {shape.update} update are not merged exactly; use update='plain', or "  # type: ignore
            "tally.dask.build_sharded"
        )
    return functools.partial(_new_filter, shape, seed)


def _merged_with_bounds() -> list[type]:
    return [_tally.TopKeys, _tally.SpaceSaving]


def _refuse_key(requirements: dict[str, Any]) -> None:
    if requirements.get("key") is not None:
        raise ValueError("key is given; the tasks of a graph would contain the secret; use a seed")


def _refuse_inexact(kind: type) -> None:
    """Of a class or a shape."""
    if kind in (DLeftShape, CompactDLeftShape, _tally.DLeftCountingBloomFilter, _tally.CompactDLeftFilter):
        raise ValueError("d-left filters can fill up when they are merged; use tally.dask.build_sharded")
    if kind in (ThresholdShape, _tally.ThresholdFilter):
        raise ValueError(
            "a ThresholdFilter is not merged exactly; use tally.dask.over for the keys that reach a threshold, or "
            "tally.dask.build_sharded for the filter"
        )


def _new_filter(shape: Shape, seed: Optional[int]) -> Any:
    return _tally.make(shape, seed=seed)


def _new_counter(n: int, num_keys: Optional[int], false_positive_rate: Optional[float], seed: Optional[int]) -> Any:
    """What counts the keys of one shard."""
    return _tally.ThresholdStream(n, num_keys=num_keys, false_positive_rate=false_positive_rate, seed=seed)


# Tasks. They change nothing that they take, so that a scheduler may repeat them. What they take are arguments, not lists:
# dask looks for tasks in all lists in a task, also in those that stand for partitions.


def _keys_of(partition: Any) -> Any:
    """What tally takes as keys. Raises ValueError for missing values."""
    if hasattr(partition, "isna") and hasattr(partition, "to_numpy"):
        if partition.ndim != 1:
            raise TypeError(f"a partition of keys is a {type(partition).__name__}; must be one column of it")
        missing = numpy.flatnonzero(partition.isna())
        if len(missing) != 0:
            raise ValueError(
                f"keys has {len(missing)} missing values in a partition, the first at position {missing[0]}; leave them "
                "out by dropna()"
            )
        dtype = getattr(partition.dtype, "numpy_dtype", None)  # of Int64 and the like, which are objects otherwise
        return partition.to_numpy(dtype=dtype) if getattr(dtype, "kind", "O") in "iu" else partition.to_numpy()
    if hasattr(partition, "__next__"):
        return list(partition)
    return partition


def _taken(partition: Any, positions: NDArray[Any]) -> Any:
    """The keys at these positions."""
    if hasattr(partition, "take"):
        return partition.take(positions)
    return [partition[position] for position in positions]


def _filled(make: Callable[[], Any], partition: Any) -> Any:
    structure = make()
    add = getattr(structure, "add_batch", None) or structure.insert_batch
    add(_keys_of(partition))
    return structure


def _merged(*structures: Any) -> Any:
    if len(structures) == 1:
        return structures[0]
    result = copy.copy(structures[0])
    for other in structures[1:]:
        result.merge(other)
    return result


def _pieces(num_shards: int, seed: Optional[int], partition: Any) -> list[NDArray[Any]]:
    """The digests of each shard."""
    digests = _tally.digests(_keys_of(partition), seed=seed)
    order, bounds = divided(digests, num_shards)
    return [digests[order[bounds[s] : bounds[s + 1]]] for s in range(num_shards)]


def _inserted(new: Callable[[], Any], before: Any, *pieces: NDArray[Any]) -> tuple[Any, None]:
    shard = new() if before is None else copy.copy(before)
    insert = getattr(shard, "insert_batch", None) or shard.add_batch
    for digests in pieces:
        insert(digests)
    return shard, None


def _assembled(plan: Optional[SharePlan], allow_full: bool, *shards: Any) -> ShardedFilter:
    result = ShardedFilter._of(shards, plan)
    if not allow_full and isinstance(result.shape, (DLeftShape, CompactDLeftShape)):
        total: Any = result.statistics().total
        if total.num_full != 0:
            raise ValueError(
                f"{total.num_full} insertions were refused, because shards are full: load {total.load:.3g}, "
                f"{total.num_spilled} of {total.spill_capacity} entries of the side tables in use; give a larger "
                "num_keys, or num_frequent_keys if many keys occur often, or allow_full=True for a filter without these keys"
            )
    return result


#: Of one shard and one group: the positions in each piece, and with `exact` the digests, of the keys that it reports.
_Report = tuple[list[NDArray[Any]], list[NDArray[Any]]]


def _counted(new: Callable[[], Any], exact: bool, before: Any, *pieces: NDArray[Any]) -> tuple[Any, _Report]:
    counter = new() if before is None else copy.copy(before)
    positions = [counter.add_batch(digests)[0].astype(numpy.int64) for digests in pieces]
    found = [digests[own] for digests, own in zip(pieces, positions)] if exact else []
    return counter, (positions, found)


def _after(value: Any, waited_for: Any) -> Any:
    return value


def _nothing(*parts: Any) -> None:
    """Waits for its arguments."""


def _added(*numbers: NDArray[Any]) -> NDArray[Any]:
    return functools.reduce(numpy.add, numbers)


def _candidates(*reports: _Report) -> NDArray[Any]:
    return _joined([digests for _, found in reports for digests in found])


def _all_candidates(*shards: NDArray[Any]) -> NDArray[Any]:
    """The digests of all shards, each once, by `low` and then `high`."""
    return numpy.unique(_joined(list(shards)))


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return numpy.concatenate([numpy.empty(0, digest_dtype), *parts])


def _picked_positions(order: NDArray[Any], bounds: NDArray[Any], reports: tuple[_Report, ...], index: int) -> NDArray[Any]:
    """The positions of the keys in their partition, which is number `index` of its group; `reports` has one per shard."""
    return numpy.sort(
        numpy.concatenate([order[bounds[s] + positions[index]] for s, (positions, _) in enumerate(reports)])
    )


def _picked(num_shards: int, seed: Optional[int], index: int, partition: Any, *reports: _Report) -> Any:
    keys = partition if not hasattr(partition, "__next__") else list(partition)
    if all(len(positions[index]) == 0 for positions, _ in reports):
        return _taken(keys, numpy.empty(0, numpy.int64))
    order, bounds = divided(_tally.digests(_keys_of(keys), seed=seed), num_shards)
    return _taken(keys, _picked_positions(order, bounds, reports, index))


def _picked_and_counted(
    pick: Callable[..., Any],
    index: int,
    seed: Optional[int],
    partition: Any,
    candidates: NDArray[Any],
    *reports: _Report,
) -> tuple[NDArray[Any], tuple[Any, NDArray[Any]]]:
    """How often each candidate occurs in the partition; the keys that it picks, and their digests."""
    keys = partition if not hasattr(partition, "__next__") else list(partition)
    places = _places(candidates, _tally.digests(_keys_of(keys), seed=seed))
    counts = numpy.bincount(places[places >= 0], minlength=len(candidates))
    picked = pick(index, keys, *reports)
    return counts, (picked, _tally.digests(_keys_of(picked), seed=seed))


def _kept(n: int, picked: tuple[Any, NDArray[Any]], candidates: NDArray[Any], counts: NDArray[Any]) -> Any:
    keys, digests = picked
    return _taken(keys, numpy.flatnonzero(counts[_places(candidates, digests)] >= n))


def _places(candidates: NDArray[Any], digests: NDArray[Any]) -> NDArray[Any]:
    """The index of each digest in the sorted candidates, or -1."""
    places = numpy.full(len(digests), -1, numpy.int64)
    if len(candidates) == 0:
        return places
    lows, highs = numpy.ascontiguousarray(candidates["low"]), numpy.ascontiguousarray(candidates["high"])
    low, high = numpy.ascontiguousarray(digests["low"]), numpy.ascontiguousarray(digests["high"])
    first = numpy.searchsorted(lows, low)
    for step in range(numpy.unique(lows, return_counts=True)[1].max()):  # 1, unless two agree in `low`
        at = numpy.minimum(first + step, len(candidates) - 1)
        is_here = (lows[at] == low) & (highs[at] == high)
        places[is_here] = at[is_here]
    return places


def _sent_bytes(dask_worker: Any) -> dict[str, int]:
    """Bytes that this worker sent, by receiver."""
    sent: dict[str, int] = {}
    log = getattr(dask_worker, "transfer_outgoing_log", None)
    for transfer in dask_worker.outgoing_transfer_log if log is None else log:
        sent[transfer["who"]] = sent.get(transfer["who"], 0) + transfer["compressed"]
    return sent


# Dask would take structures for objects of some bytes, and plan memory and transfers by that.


@sizeof.register(_tally.Filter)
def _sizeof_filter(structure: Any) -> int:
    return 1024 + (0 if structure.closed else structure.memory_bytes)


for _kind in _merged_with_bounds():
    sizeof.register(_kind, lambda structure: 1024 + structure.memory_bytes)


sizeof.register(_tally.ThresholdStream, lambda stream: 1024 + stream.statistics().memory_bytes)


@sizeof.register(ShardedFilter)
def _sizeof_sharded(structure: ShardedFilter) -> int:
    return sum(map(_sizeof_filter, structure.filters))
