"""The planner, and that its numbers are those of the command."""

import json
import subprocess

import numpy
import pytest

import tally


def test_a_plan_has_candidates_and_says_why():
    plan = tally.plan(num_keys=100_000, false_positive_rate=0.001, needs_deletes=True)
    assert plan.recommended is plan.candidates[0] and "deleted" in plan.reason or "removed" in plan.reason
    assert {candidate.kind for candidate in plan.candidates} >= {"dleft", "counting-bloom"}
    for candidate in plan.candidates:
        own = candidate.make(seed=1)
        assert own.memory_bytes == candidate.memory_bytes == candidate.shape.num_bytes and own.seed == 1
        assert candidate.false_positive_rate <= 0.001
        assert candidate.bits_per_key == pytest.approx(8 * own.memory_bytes / 100_000)
        assert candidate.operation_costs.insert_ns > 0 and candidate.errors[0].true_count == 0
    assert plan.candidates[0].dleft.sizes[0].num_keys == 100_000


def test_plans_are_those_of_the_command(command):
    out = subprocess.run([command, "plan", "--keys", "1M", "-p", "1%", "--json"], stdout=subprocess.PIPE, check=True).stdout
    theirs = json.loads(out)["candidates"]
    ours = tally.plan(num_keys=1_000_000, false_positive_rate=0.01).candidates
    assert [c["kind"] for c in theirs] == [c.kind for c in ours]
    assert [c["bytes"] if "bytes" in c else c["memory_bytes"] for c in theirs] == [c.memory_bytes for c in ours]


def test_a_sample_of_counts_takes_the_place_of_the_number_of_keys(random):
    counts = numpy.minimum(random.zipf(1.5, 10_000), 10_000)
    plan = tally.plan(counts=counts, false_positive_rate=0.01, threshold=3)
    assert plan.recommended.num_keys == 10_000


def test_figures_of_this_machine_order_the_candidates():
    wanted = dict(num_keys=1_000_000, false_positive_rate=0.01, preference="fastest")
    slowest = tally.plan(**wanted).candidates[1]
    fast = tally.OperationCosts(0.1, 0.1, 0.1, 0.1, 1.0, "figures")
    plan = tally.plan(**wanted, figures=[(slowest.shape, fast)])
    assert plan.recommended.shape == slowest.shape and plan.recommended.operation_costs.source == "figures"
    with pytest.raises(TypeError, match="figures"):
        tally.plan(**wanted, figures=[3])


def test_shapes_and_numbers_of_keys_are_inverse():
    shape = tally.plan_shape("bloom", num_keys=5000, false_positive_rate=0.01)
    assert tally.planned_num_keys(shape, 0.01) >= 5000
    assert tally.shape_bytes(shape) == shape.num_bytes
    assert tally.BloomFilter(shape).shape == shape
    sketch = tally.plan_shape("count-min", epsilon=0.001, failure_probability=0.01)
    assert isinstance(sketch, tally.CountMinShape)


def test_it_says_whether_a_memory_is_enough():
    check = tally.check_plan(num_keys=1_000_000, false_positive_rate=0.01, memory_bytes=2 << 20)
    assert check.is_enough and check.structures[0].fits and check.structures[0].kind == "bloom"
    assert check.structures[0].needed.shape.num_bytes <= 2 << 20
    less = tally.check_plan(num_keys=1_000_000, false_positive_rate=0.01, memory_bytes=1 << 20, needs_deletes=True)
    assert not less.is_enough and less.with_least_memory.shape.num_bytes > 1 << 20
    assert less.with_most_keys.num_keys < 1_000_000
    with pytest.raises(ValueError, match="all three"):
        tally.check_plan(num_keys=10, false_positive_rate=0.1)


def test_a_sketch_is_forecast_for_a_stream():
    shape = tally.CountMinShape(width=27_183, depth=5)
    stream = dict(num_ranks=1_000_000, exponent=1.0, num_insertions=10_000_000)
    found = tally.forecast_counts(shape, error=999, **stream)
    assert 40 < found.conservative_mean_excess < 60 < found.plain_mean_excess < 90
    assert found.conservative_failure_probability <= found.plain_failure_probability < 1e-6
    width = tally.least_count_min_width(shape, error=999, failure_probability=0.01, **stream)
    assert 3000 < width < 8000
    weighted = tally.forecast_counts(shape, error=999_000, weights=[(1000, 1.0)], **stream)
    assert weighted.conservative_mean_excess is None
    assert weighted.plain_mean_excess == pytest.approx(1000 * found.plain_mean_excess, rel=0.02)
    with pytest.raises(ValueError, match="exponent"):
        tally.forecast_counts(shape, error=1, num_ranks=10, exponent=-1, num_insertions=10)
    with pytest.raises(TypeError, match="weights"):
        tally.forecast_counts(shape, error=1, num_ranks=10, exponent=1, num_insertions=10, weights=[3])


def test_shares_hold_their_keys(random):
    plan = tally.plan_shares("bloom", 100_000, num_shares=16, false_positive_rate=0.01)
    shards = tally.shards(random.integers(0, 2**63, 100_000), 16)
    assert numpy.bincount(shards).max() <= plan.keys_per_share < 7500
    assert plan.num_shares == 16 and plan.failure_probability <= 1e-6


@pytest.mark.parametrize(
    "call, error, match",
    [
        (lambda: tally.plan(num_keys=10), ValueError, "exactly two|two of"),
        (lambda: tally.plan(num_keyz=10), TypeError, "unexpected keyword argument 'num_keyz'"),
        (lambda: tally.plan(num_keys=10, false_positive_rate="x"), TypeError, "false_positive_rate is of type str"),
        (lambda: tally.plan(num_keys=10, false_positive_rate=0.1, needs_deletes=1), TypeError, "needs_deletes"),
        (lambda: tally.plan(num_keys=10, false_positive_rate=0.1, preference="x"), ValueError, "'fastest' or 'smallest' or 'balanced'"),
        (lambda: tally.plan(num_keys=10, false_positive_rate=float("nan")), ValueError, "false_positive_rate"),
        (lambda: tally.plan_shape("x", num_keys=1), ValueError, "bloom"),
        (lambda: tally.plan_shape(3), TypeError, "kind is of type int"),
        (lambda: tally.plan_shares("bloom", 0, false_positive_rate=0.1), ValueError, "num_keys"),
        (lambda: tally.planned_num_keys("x", 0.1), TypeError, "shape is of type str"),
        (lambda: tally.shape_bytes(tally.BloomShape(0, 1)), ValueError, "num_bits"),
        (lambda: tally.shape_bytes(tally.BloomShape(64, 1, scheme="x")), ValueError, "scheme"),
        (lambda: tally.BloomShape(64, 1, scheme=3).num_bytes, TypeError, "scheme is of type int"),
    ],
)
def test_wrong_requirements_are_named(call, error, match):
    with pytest.raises(error, match=match):
        call()
