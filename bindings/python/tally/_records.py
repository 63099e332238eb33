"""Plain data: shapes, statistics and results as dataclasses, results of calls as enumerations, and exceptions."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import os
from typing import Union

import numpy
from numpy.typing import NDArray

__all__ = [
    "digest_dtype",
    "count_estimate_dtype",
    "FormatError",
    "FileKindError",
    "StateMismatch",
    "NotAuthentic",
    "NoRoomForPeer",
    "InsertResult",
    "InsertOutcome",
    "RemoveResult",
    "ThresholdState",
    "ApplyResult",
    "Shape",
    "BloomShape",
    "BlockedBloomShape",
    "CountingBloomShape",
    "BlockedCountingBloomShape",
    "ThresholdShape",
    "DLeftShape",
    "CompactDLeftShape",
    "CountMinShape",
    "HistogramBin",
    "FilterStatistics",
    "DLeftStatistics",
    "CompactDLeftStatistics",
    "CountEstimate",
    "CountMinBound",
    "KeyCount",
    "LimitedEstimate",
    "SetSimilarity",
    "PredictedError",
    "CacheLines",
    "OperationCosts",
    "RoundingCost",
    "DLeftSize",
    "DLeftForecast",
    "Candidate",
    "Plan",
    "PlanCheck",
    "SharePlan",
    "StructureFit",
    "Verdict",
    "Verification",
    "ShardedStatistics",
    "SummaryVersion",
    "SummaryStatus",
    "SummaryMessage",
    "PeerMatches",
    "ThresholdStreamStatistics",
    "ExactCheckResult",
    "SumStreamStatistics",
    "Ranking",
    "TopStreamStatistics",
]

#: The type of an array of digests: what tally.digests returns, and batch functions take in place of keys.
digest_dtype = numpy.dtype([("low", "<u8"), ("high", "<u8")])

#: The type of what CountMinSketch.estimate_batch returns; see CountEstimate.
count_estimate_dtype = numpy.dtype(
    {
        "names": ["value", "lower", "upper", "probability", "saturated"],
        "formats": ["<u8", "<u8", "<u8", "<f8", "?"],
        "itemsize": 40,
    }
)


def from_pickle(data):
    """What a pickle calls; a function of C++ has no name that a pickle could hold."""
    from . import _tally

    return _tally.from_bytes(data)


def hash_set_from_pickle(image, max_bytes, seed):
    """The same for a HashSet."""
    from . import _tally

    return _tally._hash_set_from_image(image, max_bytes, seed)


def stream_from_pickle(name, data):
    """The same for a stream; `name` is that of its class."""
    from . import _tally

    return getattr(_tally, name).from_bytes(data)


class FormatError(ValueError):
    """Bytes that are not a valid file, state or message. `path` is the file (None for bytes), `offset` the wrong byte."""

    def __init__(self, message: str, path: Union[str, os.PathLike, None] = None, offset: int = 0) -> None:
        super().__init__(message, path, offset)
        self.path = path
        self.offset = offset

    def __str__(self) -> str:
        return str(self.args[0])


class FileKindError(FormatError):
    """A file of another kind than the wanted one."""


class StateMismatch(ValueError):
    """A valid state of a stream with other options: `option` is the first that differs, `saved` and `wanted` its values."""

    def __init__(self, message: str, option: str = "", saved: str = "", wanted: str = "") -> None:
        super().__init__(message, option, saved, wanted)
        self.option = option
        self.saved = saved
        self.wanted = wanted

    def __str__(self) -> str:
        return str(self.args[0])


class NotAuthentic(ValueError):
    """A summary message that is not signed with the group's secret."""


class NoRoomForPeer(ValueError):
    """A publisher that does not fit into a SummarySet: its max_peers or max_total_bytes is reached."""


class InsertResult(enum.IntEnum):
    """What an insertion did."""

    counted = 0  #: every counter was raised, none to its maximum: a removal undoes it exactly
    saturated = 1  #: a counter was or is now at its maximum, and stays there
    full = 2  #: there was no room, and nothing changed


class InsertOutcome(enum.IntEnum):
    """What an insertion found."""

    new_key = 0  #: the key was certainly absent, and now it is in
    seen = 1  #: the key was present, or taken for present, and now it is in once more
    full = 2  #: there was no room, and nothing changed


class RemoveResult(enum.IntEnum):
    """What a removal did."""

    removed = 0  #: every counter was lowered
    saturated = 1  #: the same, but saturated counters stay
    refused = 2  #: the key is certainly absent; nothing changed


class ThresholdState(enum.IntEnum):
    """Whether a key has reached a threshold."""

    below = 0
    at_least = 1


class ApplyResult(enum.IntEnum):
    """What applying a summary message did."""

    applied = 0  #: the copy is now at the message's version
    unchanged = 1  #: nothing new
    behind = 2  #: an earlier message is missing: a full copy is needed
    unknown = 3  #: of a SummarySet: there is no copy of this publisher, and only a full copy makes it a peer


class Shape:
    """The size of a structure, which its constructor takes and its file contains. Base class of all shapes."""

    @property
    def num_bytes(self) -> int:
        """Bytes of memory, and of a file's body."""
        from . import _tally

        return _tally.shape_bytes(self)


@dataclasses.dataclass(frozen=True)
class BloomShape(Shape):
    """The size of a BloomFilter."""

    num_bits: int  #: 1 to 2^56; what the scheme can use
    num_hashes: int  #: 1 to 1024
    scheme: str = "congruential"


@dataclasses.dataclass(frozen=True)
class BlockedBloomShape(Shape):
    """The size of a BlockedBloomFilter or, with the scheme "register-blocked", of a RegisterBlockedBloomFilter."""

    num_bits: int  #: 512 to 2^56, a multiple of 512
    num_hashes: int  #: 1 to 1024; with "register-blocked" a multiple of 8
    scheme: str = "blocked"


@dataclasses.dataclass(frozen=True)
class CountingBloomShape(Shape):
    """The size of a CountingBloomFilter."""

    num_counters: int  #: 1 to 2^56; what the scheme can use
    num_hashes: int  #: 1 to 1024
    counter_bits: int = 4  #: 1 to 8, 16, 32 or 64
    max_threshold: int = 1  #: largest threshold that queries will use: 1 to 2^counter_bits - 1
    scheme: str = "congruential"


@dataclasses.dataclass(frozen=True)
class BlockedCountingBloomShape(Shape):
    """The size of a BlockedCountingBloomFilter."""

    num_counters: int  #: to 2^56, a multiple of those in 64 bytes
    num_hashes: int  #: 1 to 1024
    counter_bits: int = 4  #: 1 to 8, 16, 32 or 64
    max_threshold: int = 1  #: largest threshold that queries will use: 1 to 2^counter_bits - 1
    scheme: str = "blocked"


@dataclasses.dataclass(frozen=True)
class ThresholdShape(Shape):
    """The size of a ThresholdFilter."""

    num_counters: int  #: 1 to 2^56; what the scheme can use
    num_hashes: int  #: 1 to 1024
    threshold: int  #: in insertions of one key: 1 to 2^32 - 1
    update: str = "plain"  #: "plain", or "conservative": counts are never above those of plain
    scheme: str = "congruential"


@dataclasses.dataclass(frozen=True)
class DLeftShape(Shape):
    """The size of a DLeftCountingBloomFilter."""

    buckets_per_subtable: int  #: before any doubling: 1 to 2^40; what the scheme can use
    num_subtables: int = 4  #: 1 to 8
    cells_per_bucket: int = 8  #: 1 to 64
    remainder_bits: int = 14  #: before any doubling: 1 to 32
    counter_bits: int = 2  #: 0 to 4; with the remainder 8, 12, 16, 24 or 32 bits
    least_remainder_bits: int = 14  #: at the largest size: 1 to remainder_bits
    num_doublings: int = 0  #: so far: 0 to remainder_bits - least_remainder_bits
    spill_capacity: int = 64  #: fingerprints that may have a higher count than a cell can hold: 0 to 2^32
    moves: str = "search"  #: what an insertion tries when all buckets are full: "none", "first-subtable" or "search"
    grows: bool = False  #: whether an insertion that finds no room doubles the filter
    scheme: str = "rotation"


@dataclasses.dataclass(frozen=True)
class CompactDLeftShape(Shape):
    """The size of a CompactDLeftFilter."""

    num_lines_per_subtable: int  #: 1 to 2^40
    remainder_bits: int = 9  #: 8 to 14
    spill_capacity: int = 64  #: fingerprints that may be counted higher than by their cells: 0 to 2^32
    moves: str = "search"  #: "none" or "search"
    scheme: str = "rotation"


@dataclasses.dataclass(frozen=True)
class CountMinShape(Shape):
    """The size of a CountMinSketch, and of the sketches in TopKeys and CountMinWindow."""

    width: int  #: counters per row, at least 1; what the scheme can use
    depth: int  #: rows of one copy
    num_copies: int = 1  #: more than 1 only with the scheme "two-hash"
    counter_bits: int = 64  #: 8, 16, 32 or 64
    update: str = "plain"  #: "plain" or "conservative"
    scheme: str = "congruential"


@dataclasses.dataclass(frozen=True)
class HistogramBin:
    """The number of counters with values from `least` to `greatest`."""

    least: int
    greatest: int
    num_counters: int


@dataclasses.dataclass(frozen=True)
class FilterStatistics:
    """What a filter holds. Numbers that do not apply to a kind are 0."""

    num_positions: int  #: bits, counters or cells
    num_nonzero: int  #: positions above 0
    num_saturated: int  #: counters at their maximum, which stay there
    histogram: list[HistogramBin]  #: counters by value
    num_insertions: int
    num_removes: int  #: those that were not refused
    num_refused_removes: int
    estimated_num_keys: float  #: distinct keys; infinite if no position is 0
    estimated_num_keys_standard_error: float
    estimated_false_positive_rate: float  #: for a key that was never inserted, for what it holds now
    load: float  #: share of the positions that are above 0; of the cells that are in use


@dataclasses.dataclass(frozen=True)
class DLeftStatistics(FilterStatistics):
    """What a DLeftCountingBloomFilter holds."""

    num_full: int  #: insertions refused because there was no room
    num_rescues: int  #: insertions that found room by moves
    num_cells: int
    num_fingerprints: int  #: distinct fingerprints, one cell each
    num_keys: int  #: the size of the multiset: insertions minus removals
    num_spilled: int  #: fingerprints in the side table
    spill_capacity: int
    loads: list[list[int]]  #: loads[i][l]: number of buckets of subtable i with l cells in use
    counts: list[int]  #: counts[n]: number of cells with count n


@dataclasses.dataclass(frozen=True)
class CompactDLeftStatistics(FilterStatistics):
    """What a CompactDLeftFilter holds."""

    num_full: int  #: insertions refused because there was no room
    num_rescues: int  #: insertions that found room by moves
    num_cells: int
    num_used_cells: int
    num_fingerprints: int  #: distinct fingerprints
    num_keys: int  #: the size of the multiset: insertions minus removals
    num_spilled: int  #: fingerprints in the side table
    spill_capacity: int
    loads: list[list[int]]  #: loads[i][l]: number of lines of subtable i with l cells in use


@dataclasses.dataclass(frozen=True)
class CountEstimate:
    """A count with its bounds: truth <= upper always, and lower <= truth with `probability`."""

    value: int  #: never below the truth, unless saturated
    lower: int
    upper: int
    probability: float
    saturated: bool  #: all counters of the key are at their maximum: the truth may be above value


@dataclasses.dataclass(frozen=True)
class CountMinBound:
    """An estimate is too high by more than epsilon times the sum of all weights with at most failure_probability."""

    epsilon: float
    failure_probability: float


@dataclasses.dataclass(frozen=True)
class KeyCount:
    """A key and its count: count - error <= truth <= count is certain."""

    key: Union[bytes, str, int]
    count: int
    error: int

    @property
    def least(self) -> int:
        """The least that the truth can be."""
        return self.count - self.error


@dataclasses.dataclass(frozen=True)
class LimitedEstimate:
    """An estimate, and limits of the confidence that was asked for."""

    value: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class SetSimilarity:
    """How similar the keys of two filters are."""

    num_keys_a: LimitedEstimate
    num_keys_b: LimitedEstimate
    union_size: LimitedEstimate  #: keys in a or b
    intersection_size: LimitedEstimate  #: keys in a and b
    jaccard: LimitedEstimate  #: intersection_size / union_size
    containment_a: LimitedEstimate  #: intersection_size / num_keys_a
    containment_b: LimitedEstimate  #: intersection_size / num_keys_b


@dataclasses.dataclass(frozen=True)
class PredictedError:
    """The probability that a query reports a key inserted true_count times as inserted `threshold` times."""

    true_count: int
    false_positive_rate: float
    ln_false_positive_rate: float


@dataclasses.dataclass(frozen=True)
class CacheLines:
    """Expected number of 64-byte cache lines that an operation on one key touches."""

    insert: float
    lookup_absent: float
    lookup_present: float


@dataclasses.dataclass(frozen=True)
class OperationCosts:
    """Processor time per key of a filter's operations, in batches, in ns."""

    insert_ns: float
    lookup_absent_ns: float
    lookup_present_ns: float
    remove_ns: Union[float, None]  #: None if the filter cannot remove
    line_read_ns: float  #: a read of one random 64-byte line in memory as large as the filter
    source: str  #: "table", "carried-over" or "figures"


@dataclasses.dataclass(frozen=True)
class RoundingCost:
    """What whole numbers cost, in percent of the memory, or of the false positive rate."""

    whole_hashes_percent: float
    whole_words_percent: float
    is_of_memory: bool


@dataclasses.dataclass(frozen=True)
class DLeftSize:
    """A d-left filter after a number of doublings, with the keys that it is planned for at that size."""

    num_doublings: int
    num_keys: int
    memory_bytes: int
    false_positive_rate: float


@dataclasses.dataclass(frozen=True)
class DLeftForecast:
    """The predictions for a d-left filter beside its false positive rate."""

    load: float  #: share of the cells in use when all keys are in the filter
    carried_load: float  #: the maximum share
    carried_load_without_moves: float  #: the maximum share if nothing were moved
    max_moves_per_insertion: float  #: required; 0: planned as if nothing were moved
    moves_per_insertion: float  #: expected share of the insertions that move a key, when the filter is full
    failure_probability: float  #: bound on the probability that any insertion of its life is refused
    lifetime_operations: int  #: replacements in the planned life
    expected_spills: float  #: fingerprints in the side table
    has_fast_loops: bool
    sizes: list[DLeftSize]


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A structure that meets the requirements; make(seed=...) makes it."""

    name: str  #: the kind, and for a d-left filter its buckets
    kind: str
    shape: Shape
    num_keys: int  #: distinct keys it is planned for
    memory_bytes: int
    bits_per_key: float
    false_positive_rate: float  #: predicted, at promised_true_count
    promised_true_count: int  #: the rate is guaranteed up to this true count
    errors: list[PredictedError]
    error_law: str  #: "bound", "insertions", "histogram" or "conservative"
    simple_threshold_rate: Union[float, None]
    saturation_probability: float  #: bound on the probability that any counter saturates in the planned life
    expected_saturated_counters: float  #: bound on their expected number at the end of the planned life
    cache_lines: CacheLines
    operation_costs: OperationCosts
    rounding_cost: Union[RoundingCost, None]
    dleft: Union[DLeftForecast, None]
    summary: str  #: what the structure is good for
    source: str  #: formula and paper

    def make(self, *, seed: Union[int, None] = None, key: Union[bytes, None] = None):
        """An empty structure of this shape."""
        from . import _tally

        return _tally.make(self.shape, seed=seed, key=key)


@dataclasses.dataclass(frozen=True)
class Plan:
    """Every structure that meets the requirements, the recommended one first."""

    candidates: list[Candidate]
    reason: str  #: why the first one is recommended
    warnings: list[str]
    exact_table_bytes: float  #: a hash table of 128-bit digests (and 32-bit counts), 3/4 full

    @property
    def recommended(self) -> Candidate:
        return self.candidates[0]


@dataclasses.dataclass(frozen=True)
class StructureFit:
    """What one structure makes of keys, rate and memory; a candidate is None if no shape does what it says."""

    kind: str
    promised_true_count: int
    needed: Union[Candidate, None]  #: the least memory for the keys and the rate
    with_memory: Union[Candidate, None]  #: the lowest rate for the keys in all of the memory
    with_most_keys: Union[Candidate, None]  #: the most keys at the rate in all of the memory
    fits: bool  #: whether `needed` takes no more than the memory


@dataclasses.dataclass(frozen=True)
class PlanCheck:
    """Whether a memory is enough for keys at a rate, and if not, what would do."""

    is_enough: bool
    num_keys: int
    false_positive_rate: float
    memory_bytes: int
    structures: list[StructureFit]  #: those that fit first, then the others by the memory that they need
    with_least_memory: Union[Candidate, None]
    with_lowest_rate: Union[Candidate, None]
    with_most_keys: Union[Candidate, None]
    warnings: list[str]


@dataclasses.dataclass(frozen=True)
class CountForecast:
    """By how much a Count-Min sketch reports keys too high that it has never seen."""

    plain_mean_excess: float
    conservative_mean_excess: Union[float, None]  #: predicted; None if insertions have weights
    plain_failure_probability: float  #: of an excess above the error that was asked for
    conservative_failure_probability: Union[float, None]


@dataclasses.dataclass(frozen=True)
class SharePlan:
    """One filter divided over shares of one shape."""

    num_shares: int
    keys_per_share: int  #: what each is planned for
    bytes_per_share: int
    failure_probability: float  #: bound on the probability that some share gets more keys


@dataclasses.dataclass(frozen=True)
class Verdict:
    """A measured false positive rate against the predicted one."""

    true_count: int
    num_queries: int
    num_passed: int
    measured: float
    predicted: float
    low: float  #: limits of the measurement
    high: float
    law: str  #: "exact": a rate outside the limits contradicts the formula; "limit": small filters may differ
    is_inside: bool
    noticed_rate: float  #: a rate this high would be outside the limits in 9 of 10 simulations
    is_seen: bool  #: False: too small for these queries, so that only the upper limit is tested


@dataclasses.dataclass(frozen=True)
class Verification:
    """What verify() measured."""

    shape: Shape
    threshold: int
    num_insertions: int  #: per filter
    num_trials: int
    num_queries: int  #: per filter, for keys that were never inserted
    verdicts: list[Verdict]
    num_false_negatives: int  #: 0, or a law is broken
    num_positives_checked: int
    was_full: bool  #: a filter of this shape refused insertions: nothing was measured
    is_good: bool  #: all rates with exact laws are inside their limits, and there is no false negative


@dataclasses.dataclass(frozen=True)
class ThresholdStreamStatistics:
    """What a ThresholdStream has done so far, and its error rates."""

    num_keys: int  #: keys added, including repeats
    num_distinct_keys: int  #: exact while keys are counted exactly; then a low estimate
    num_reported: int
    num_possible_repeats: int  #: reports made while the set of reported keys was full: each may be a repeat
    counts_exactly: bool
    num_generations: int  #: filters so far
    memory_bytes: int
    false_positive_rate: float  #: the present bound on the probability that a key below the threshold is reported
    planned_false_positive_rate: float  #: the planned maximum of that rate
    num_expected_false_reports: Union[float, None]  #: reported keys that never reach the threshold; None: unknown
    seed: Union[int, None]  #: of the hash; None with a keyed hash


@dataclasses.dataclass(frozen=True)
class ExactCheckResult:
    """The reports of a ThresholdStream against exact counts, and what theory predicts for this very stream."""

    num_distinct_keys: int
    num_keys_over_threshold: int  #: keys that reached the threshold
    num_missed: int  #: those of them never reported: 0, unless two keys have the same digest
    num_early_reports: int  #: those of them reported before they reached it
    num_false_reports: int  #: keys reported that never reached it
    predicted_early_reports: Union[float, None]  #: None for thresholds above 64
    predicted_false_reports: Union[float, None]
    predicted_standard_deviation: Union[float, None]  #: of early and false reports together


@dataclasses.dataclass(frozen=True)
class SumStreamStatistics:
    """What a SumStream has done so far, and its error."""

    num_records: int  #: without those left out as too late
    total: int  #: the sum of all weights; with a window, of those in it
    num_reported: int
    num_possible_repeats: int  #: reports made while the set of reported keys was full: each may be a repeat
    num_late: int  #: records before an earlier one in time, including those left out
    num_left_out: int  #: records late by a window or more, which do not count
    memory_bytes: int
    bound: CountMinBound  #: a sum is too high by more than epsilon times total with at most this probability
    seed: Union[int, None]  #: of the hash; None with a keyed hash


@dataclasses.dataclass(frozen=True)
class Ranking:
    """The most frequent keys of a stream, and bounds on the counts of all others."""

    keys: list[KeyCount]  #: the greatest count first
    total: int  #: the sum of all weights; with a window, of those in it
    floor: int  #: the highest count that a key which is not a candidate can have
    bound_of_others: int  #: the highest count that a key which is not in `keys` can have


@dataclasses.dataclass(frozen=True)
class TopStreamStatistics:
    """What a TopStream has done so far, and its bounds."""

    num_records: int  #: without those left out as too late
    total: int  #: the sum of all weights; with a window, of those in it
    floor: int  #: the highest count that a key which is not a candidate can have
    num_candidates: int  #: different keys among the candidates of all slots
    num_late: int  #: records before an earlier one in time, including those left out
    num_left_out: int  #: records late by a window or more, which do not count
    memory_bytes: int
    seed: Union[int, None]  #: of the hash; None with a keyed hash


@dataclasses.dataclass(frozen=True)
class ShardedStatistics:
    """What a ShardedFilter holds."""

    total: FilterStatistics  #: of all shards: sums; rates and loads are means over the shards, as lookups ask one shard
    fullest: FilterStatistics  #: of the shard with the highest load
    fullest_shard: int  #: which one that is


@dataclasses.dataclass(frozen=True, order=True)
class SummaryVersion:
    """A state of a publisher's filter. A later epoch is a later version, whatever the sequence."""

    epoch: int  #: of this run of the publisher; 0 of a copy that nothing has arrived for
    sequence: int  #: the number of versions published in this epoch


@dataclasses.dataclass(frozen=True)
class SummaryStatus:
    """Where a copy stands in its publisher's history."""

    held: SummaryVersion
    newest: SummaryVersion  #: the newest version that a message mentioned
    #: the publisher's clock, in UTC, when it last confirmed that the version held was the newest; None if it never did
    as_of: Union[datetime.datetime, None]
    is_current: bool  #: it holds the newest version that it has heard of
    needs_full: bool  #: a message is missing: send the request()
    num_versions_behind: Union[int, None]  #: None if another epoch has begun, or nothing has arrived
    num_nonzero: int  #: bits or cells held that are not 0
    digest: int  #: of the bits or cells held
    has_diverged: bool  #: the bits or cells differ from the publisher's at that version, which should never happen
    is_contradicted: bool  #: the last message was of an earlier epoch: it was late, or the publisher's clock was set back

    def age(self, now: Union[datetime.datetime, None] = None) -> Union[datetime.timedelta, None]:
        """The time since as_of, up to now, which has a time zone; 0 if the clocks disagree."""
        if self.as_of is None:
            return None
        now = datetime.datetime.now(datetime.timezone.utc) if now is None else now
        return max(now - self.as_of, datetime.timedelta())


@dataclasses.dataclass(frozen=True)
class SummaryMessage:
    """What a message between nodes says."""

    kind: str  #: "full", "delta", "heartbeat", "request" or "stored"
    publisher: str  #: whose filter it is about
    version: SummaryVersion  #: after the message; in a request, the newest version that the sender has heard of
    from_sequence: int  #: of a delta: the version it starts from, in the same epoch; otherwise 0
    published_at: datetime.datetime  #: by the sender's clock, in UTC
    num_changes: int  #: of a full copy: bits or cells that are not 0; of a delta: those that changed; otherwise 0
    digest: int  #: of all bits or cells of the version; in a request, of those that the sender holds
    shape: Shape  #: of a filter with these bits or cells: the scheme and the sizes
    seed: Union[int, None]  #: of the publisher's hash; None with a keyed hash
    is_signed: bool  #: it has a signature, which only a copy with the secret can check
    format_version: int  #: 1 or 2
    num_bytes: int  #: the length of the message


@dataclasses.dataclass(frozen=True, eq=False)
class PeerMatches:
    """Which peers may have the keys of a batch: an entry for every pair of a key and a peer, ordered by key and peer."""

    key_indices: NDArray[numpy.int64]  #: positions in the batch
    peer_indices: NDArray[numpy.uint32]  #: positions in `names`
    names: list[str]  #: all peers at the time of the call, whether they may have a key or not
    num_keys: int  #: in the batch

    def lists(self) -> list[list[str]]:
        """For every key of the batch, the names of the peers that may have it."""
        found: list[list[str]] = [[] for _ in range(self.num_keys)]
        for key, peer in zip(self.key_indices.tolist(), self.peer_indices.tolist()):
            found[key].append(self.names[peer])
        return found


def summary_time(microseconds: int) -> datetime.datetime:
    """This time after 1970 in UTC, or the latest that datetime has."""
    try:
        return datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(microseconds=microseconds)
    except OverflowError:
        return datetime.datetime.max.replace(tzinfo=datetime.timezone.utc)
