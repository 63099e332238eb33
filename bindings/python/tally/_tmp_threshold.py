"""A stand-in for tally.ThresholdStream: counts digests exactly. To be deleted with its only use, in dask.py."""

from __future__ import annotations

from typing import Any, Optional

import numpy
from numpy.typing import NDArray

from ._records import digest_dtype


class ExactThresholdStream:
    def __init__(
        self,
        threshold: int,
        *,
        num_keys: Optional[int] = None,
        false_positive_rate: Optional[float] = None,
        seed: Optional[int] = None,
    ) -> None:
        self._threshold = threshold
        self._digests = numpy.empty(0, digest_dtype)
        self._counts = numpy.empty(0, numpy.int64)

    def add_batch(self, digests: NDArray[Any]) -> tuple[NDArray[numpy.uint64], NDArray[numpy.uint64]]:
        num_before = len(self._digests)
        both = numpy.concatenate([self._digests, digests])
        counts = numpy.concatenate([self._counts, numpy.ones(len(digests), numpy.int64)])
        order = numpy.lexsort((both["high"], both["low"]))  # stable: the count so far comes first
        in_order, counts = both[order], counts[order]
        begins = numpy.ones(len(both), bool)
        begins[1:] = in_order[1:] != in_order[:-1]
        first = numpy.flatnonzero(begins)
        running = numpy.cumsum(counts)
        before = numpy.repeat(running[first] - counts[first], numpy.diff(numpy.append(first, len(both))))
        is_reached = (running - before == self._threshold) & (order >= num_before)
        self._digests = in_order[first]
        self._counts = numpy.add.reduceat(counts, first) if len(first) else counts
        positions = numpy.sort(order[is_reached] - num_before)
        return positions.astype(numpy.uint64), numpy.full(len(positions), self._threshold, numpy.uint64)
