"""What the functions of tally.theory take and return, beside numbers and arrays."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Optional

import numpy

__all__ = [
    "CountHistogram",
    "CountInterval",
    "DLeftExpectedOverflows",
    "DLeftLoads",
    "DirectoryChange",
    "DistinctKeysEstimate",
    "Estimate",
    "OccupiedPositions",
    "ProbabilityInterval",
    "SendLimits",
    "SimilarityEstimate",
    "Staleness",
]


@dataclasses.dataclass(frozen=True)
class CountHistogram:
    """The number of keys with each count, up to a limit; numbers of keys may be expected values."""

    keys_with_count: Sequence[float]  #: keys_with_count[c]: keys with count c; entry 0 is not used
    keys_beyond: float = 0.0  #: keys with a higher count
    insertions_beyond: float = 0.0  #: their insertions

    @property
    def num_distinct(self) -> float:
        """Number of keys."""
        return math.fsum(self.keys_with_count[1:]) + self.keys_beyond

    @property
    def num_insertions(self) -> float:
        """The sum of all counts."""
        least_beyond = self.keys_beyond * len(self.keys_with_count)
        own = math.fsum(count * keys for count, keys in enumerate(self.keys_with_count))
        return own + max(self.insertions_beyond, least_beyond)


@dataclasses.dataclass(frozen=True)
class ProbabilityInterval:
    """Limits of a probability."""

    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class CountInterval:
    """Limits of a count, both inclusive."""

    low: int
    high: int


@dataclasses.dataclass(frozen=True)
class DLeftLoads:
    """Loads of the buckets of a d-left hash table: subtables[j][i] is the share of buckets with at least i elements."""

    average_load: float  #: elements per bucket
    subtables: Sequence[Sequence[float]]

    def fraction(self, i: int, j: Optional[int] = None) -> float:
        """The share of buckets with at least i elements: of subtable j, or of all."""
        chosen = self.subtables if j is None else [self.subtables[j]]
        return math.fsum(own[i] if i < len(own) else 0.0 for own in chosen) / len(chosen)


@dataclasses.dataclass(frozen=True)
class DLeftExpectedOverflows:
    """Expected numbers of insertions that find no room."""

    filling: float
    churning: float


@dataclasses.dataclass(frozen=True)
class DistinctKeysEstimate:
    """A number of distinct keys; both infinite if no position is 0."""

    num_keys: float
    standard_error: float


@dataclasses.dataclass(frozen=True)
class Estimate:
    """An estimated number and its standard error."""

    value: float
    standard_error: float


@dataclasses.dataclass(frozen=True)
class SimilarityEstimate:
    """Sizes of the sets of keys of two filters, and how similar they are."""

    num_keys_a: Estimate
    num_keys_b: Estimate
    union_size: Estimate
    intersection_size: Estimate
    jaccard: Estimate
    containment_a: Estimate
    containment_b: Estimate


@dataclasses.dataclass(frozen=True)
class OccupiedPositions:
    """Numbers of positions above 0: in filter a, in filter b, in either."""

    a: int
    b: int
    either: int


@dataclasses.dataclass(frozen=True)
class DirectoryChange:
    """How the keys of a directory change; rates per second."""

    num_keys: float
    insertion_rate: float
    removal_rate: float = 0.0
    evictions: bool = True
    new_key_popularity: float = 1.0
    removed_key_popularity: float = 1.0


@dataclasses.dataclass(frozen=True)
class SendLimits:
    """When a directory's summary is sent: as soon as one limit is reached; infinity: never."""

    new_share: float = math.inf  #: new keys as a share of the keys
    interval: float = math.inf  #: seconds
    max_bytes: float = math.inf
    header_bytes: float = 0.0
    bytes_per_change: float = 0.0
    delay: float = 0.0  #: seconds until a message has arrived


@dataclasses.dataclass(frozen=True)
class Staleness:
    """What a policy of sending costs."""

    interval: float  #: seconds between messages
    unknown_keys: float  #: keys that followers do not know yet, on average
    stale_keys: float  #: keys that are gone, and followers take for present
    stale_miss_share: float
    stale_hit_share: float
    bytes_rate: float  #: bytes per second
