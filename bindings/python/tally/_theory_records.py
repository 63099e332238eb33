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
    "DLeftMovesLimit",
    "DirectoryChange",
    "DistinctKeysEstimate",
    "Estimate",
    "OccupiedPositions",
    "ProbabilityInterval",
    "SendLimits",
    "SimilarityEstimate",
    "Staleness",
]


@dataclasses.dataclass(frozen=True, eq=False)
class CountHistogram:
    """The number of keys with each count, up to a limit; numbers of keys may be expected values."""

    keys_with_count: Sequence[float]  #: keys_with_count[c]: keys with count c; entry 0 is not used
    keys_beyond: float = 0.0  #: keys with a count of len(keys_with_count) or more
    insertions_beyond: float = 0.0  #: the sum of their counts

    @property
    def num_distinct(self) -> float:
        """All keys with a count of at least 1."""
        return math.fsum(self.keys_with_count[1:]) + self.keys_beyond

    @property
    def num_insertions(self) -> float:
        """The sum of all counts; if insertions_beyond is too low, its smallest possible value is used."""
        least_beyond = self.keys_beyond * len(self.keys_with_count)
        own = math.fsum(count * keys for count, keys in enumerate(self.keys_with_count))
        return own + max(self.insertions_beyond, least_beyond)


@dataclasses.dataclass(frozen=True)
class ProbabilityInterval:
    """Limits of a probability."""

    low: float  #: 0 to 1
    high: float  #: 0 to 1


@dataclasses.dataclass(frozen=True)
class CountInterval:
    """Limits of a count, both inclusive."""

    low: int  #: the smallest count inside
    high: int  #: the largest count inside


@dataclasses.dataclass(frozen=True, eq=False)
class DLeftLoads:
    """Loads of the buckets of a d-left hash table, from dleft_loads."""

    average_load: float  #: elements per bucket
    #: subtables[j][i]: share of the buckets of subtable j (0 is the leftmost) with at least i elements; beyond the end 0
    subtables: Sequence[Sequence[float]]

    def fraction(self, i: int, j: Optional[int] = None) -> float:
        """The share of buckets with at least i elements: of subtable j, or of all. ValueError for other i and j."""
        if i < 0:
            raise ValueError(f"i is {i}; must be at least 0")
        if j is not None and not 0 <= j < len(self.subtables):
            raise ValueError(f"j is {j}; must be below {len(self.subtables)}, the number of subtables")
        chosen = self.subtables if j is None else [self.subtables[j]]
        if len(chosen) == 0:
            raise ValueError("subtables is empty; must be those of 1 to 8 subtables, as dleft_loads returns")
        return math.fsum(own[i] if i < len(own) else 0.0 for own in chosen) / len(chosen)


@dataclasses.dataclass(frozen=True)
class DLeftExpectedOverflows:
    """Expected numbers of insertions that find no room."""

    filling: float  #: while the table is filled
    churning: float  #: while elements are replaced


@dataclasses.dataclass(frozen=True)
class DLeftMovesLimit:
    """A d-left table that makes room by moves, at one load, from dleft_moves_limit."""

    full_share: float  #: of the buckets
    moves_probability: float  #: that all d buckets of a new element are full, so that it needs moves
    room_probability: float  #: that a bucket which the search for moves looks at has room


@dataclasses.dataclass(frozen=True)
class DistinctKeysEstimate:
    """A number of distinct keys; both infinite if no position is 0."""

    num_keys: float  #: estimated distinct keys
    standard_error: float  #: of num_keys


@dataclasses.dataclass(frozen=True)
class Estimate:
    """An estimated number; both infinite where there is no estimate."""

    value: float  #: the estimate
    standard_error: float  #: of value


@dataclasses.dataclass(frozen=True)
class SimilarityEstimate:
    """Sizes of the sets of keys of two filters, and how similar they are."""

    num_keys_a: Estimate  #: distinct keys in A
    num_keys_b: Estimate  #: distinct keys in B
    union_size: Estimate  #: |A or B|
    intersection_size: Estimate  #: |A and B|
    jaccard: Estimate  #: |A and B| / |A or B|
    containment_a: Estimate  #: |A and B| / |A|: the share of A that is in B
    containment_b: Estimate  #: |A and B| / |B|: the share of B that is in A


@dataclasses.dataclass(frozen=True)
class OccupiedPositions:
    """Numbers of positions that are not 0 in the filters of A and B."""

    a: int  #: in the filter of A
    b: int  #: in that of B
    either: int  #: in at least one of the two


@dataclasses.dataclass(frozen=True)
class DirectoryChange:
    """How a directory changes. Rates are per second."""

    num_keys: float  #: keys in the directory, on average; at least 1
    insertion_rate: float  #: inserted keys per second
    removal_rate: float = 0.0  #: removed keys per second
    evictions: bool = True  #: whether keys are removed only when one is inserted (a full cache), or at any time (a lifetime)
    new_key_popularity: float = 1.0  #: requests for an unpublished key, relative to an average key
    removed_key_popularity: float = 1.0  #: requests for a removed key that is still published, relative to an average key


@dataclasses.dataclass(frozen=True)
class SendLimits:
    """When a message is sent: at the first limit that is reached. Infinity: never; at least one is finite."""

    new_share: float = math.inf  #: new keys over keys; 0: after every insertion
    interval: float = math.inf  #: seconds since the previous message
    max_bytes: float = math.inf  #: bytes of the message that would be sent
    header_bytes: float = 0.0  #: bytes of every message
    bytes_per_change: float = 0.0  #: bytes of a message for each inserted or removed key
    delay: float = 0.0  #: seconds from sending until the replica has it


@dataclasses.dataclass(frozen=True)
class Staleness:
    """How stale a replica is, on average, and what it costs."""

    interval: float  #: seconds between messages
    unknown_keys: float  #: keys in the directory that the replica cannot know
    stale_keys: float  #: removed keys that the replica still reports
    stale_miss_share: float  #: of the requests for keys in the directory: those for unknown keys
    stale_hit_share: float  #: requests for removed keys it reports, over requests for keys in the directory
    bytes_rate: float  #: bytes per second, to one replica
