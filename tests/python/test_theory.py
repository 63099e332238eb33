"""The formulas against reference numbers, against arithmetic of Python, and against the list of public headers."""

import csv
import fractions
import inspect
import math
import pathlib
import re

import numpy
import pytest

import tally
from tally import theory

ROOT = pathlib.Path(__file__).parent.parent.parent


def test_every_public_formula_is_there():
    missing = []
    for header in (ROOT / "include" / "tally" / "theory").glob("*.hpp"):
        text = re.sub(r"//[^\n]*", "", header.read_text())
        for name in re.findall(r"^(?:double|std::uint\w+|std::vector<double>|[A-Z]\w+) (\w+)\(", text, re.M):
            if not hasattr(theory, name):
                missing.append((header.name, name))
    assert missing == []


def test_every_formula_is_documented():
    formulas = [name for name in dir(theory) if name[0].islower() and callable(getattr(theory, name))]
    assert len(formulas) > 110
    for name in formulas:
        assert len(getattr(theory, name).__doc__) > 20, name
        assert inspect.signature(getattr(theory, name)).parameters, name


def rows(name):
    with open(ROOT / "tests" / "data" / name) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def test_reference_numbers():
    compared = 0
    for row in rows("kappa_star.csv"):
        theta, kappa = int(row["theta"]), float(row["kappa_star"])
        assert theory.kappa_star(theta) == pytest.approx(kappa, rel=1e-12)
        compared += 1
    assert compared > 5


def test_formulas_are_those_of_arithmetic():
    m, k, n = 1000, 5, 80
    assert theory.false_positive_probability(m, k, n) == pytest.approx((1 - (1 - 1 / m) ** (k * n)) ** k, rel=1e-12)
    assert theory.ln_false_positive_probability(m, k, n) == pytest.approx(math.log(theory.false_positive_probability(m, k, n)))
    assert theory.best_num_hashes(m=10_000, n=1000) == 7
    ratio = 1 - (1 - fractions.Fraction(1, 64 * 2**10)) ** 700
    assert theory.dleft_false_positive_probability(64, 2**10, 700) == pytest.approx(float(ratio), rel=1e-12)
    assert theory.count_min_width(0.01) == math.ceil(math.e / 0.01) and theory.count_min_depth(0.01) == 5
    assert theory.ln_poisson_point(3, 2.0) == pytest.approx(math.log(math.exp(-2) * 8 / 6))
    exact = sum(math.comb(400, i) / 1000**i * (1 - 1 / 1000) ** (400 - i) for i in range(4, 401))
    assert theory.ln_binomial_upper_tail(4, 400.0, 1 / 1000) == pytest.approx(math.log(exact), rel=1e-10)
    assert theory.threshold_false_positive_probability(4, 1, 400, 1000) == pytest.approx(exact, rel=1e-10)
    assert theory.binary_entropy(0.5) == 1 and theory.per_test_confidence(0.99, 10) == pytest.approx(0.999)
    assert theory.kappa_star(1) == pytest.approx(math.log(2))


def test_structures_go_both_ways():
    loads = theory.dleft_loads(4, 6.0, math.inf)
    assert len(loads.subtables) == 4 and loads.fraction(0) == 1
    assert 0 < theory.dleft_overflow_probability(loads, 8) < 1
    assert theory.dleft_overflow_probability(loads, 8) == pytest.approx(math.prod(own[8] for own in loads.subtables))
    histogram = theory.make_count_histogram([(1, 100), (3, 20), (900, 2)], limit=50)
    assert (histogram.num_distinct, histogram.num_insertions) == (122, 100 + 60 + 1800)
    values = theory.counter_value_distribution(histogram, 2, 1000, 5)
    assert isinstance(values, numpy.ndarray) and len(values) == 5 and values.sum() < 1
    limits = theory.binomial_confidence_limits(5, 100, 0.99)
    assert limits.low < 0.05 < limits.high
    interval = theory.binomial_acceptance_interval(0.05, 100, 0.99)
    assert interval.low < 5 < interval.high
    assert theory.estimate_distinct_keys(1000, 2, 800).num_keys == pytest.approx(-500 * math.log(0.8))
    similar = theory.estimate_similarity(1000, 2, theory.OccupiedPositions(200, 200, 300))
    assert 0 < similar.jaccard.value < 1 and similar.num_keys_a == similar.num_keys_b
    change = theory.DirectoryChange(num_keys=1000, insertion_rate=10, removal_rate=10)
    stale = theory.summary_staleness(change, theory.SendLimits(interval=60.0))
    assert stale.unknown_keys == pytest.approx(300, rel=0.01)
    assert theory.double_hashing_distinct_positions("plain", 101, 3).sum() == pytest.approx(1)
    groups = [(1, 50), (2, 10)]
    assert 0 < theory.blocked_threshold_false_positive_probability(3, 4, 64, 2, groups) < 1
    assert theory.dleft_expected_overflows(4, 100, 8, 6.0, 1000).filling >= 0


def test_limits_of_measured_rates_agree_with_verify():
    shape = tally.BloomShape(2000, 5)
    found = tally.verify(shape, 200, num_trials=50, num_queries=500)
    assert found.verdicts[0].predicted == pytest.approx(theory.false_positive_probability_occupancy(2000, 5, 200), rel=0.02)


@pytest.mark.parametrize(
    "call, error, match",
    [
        (lambda: theory.false_positive_probability(-1, 1, 1), ValueError, "m is -1"),
        (lambda: theory.false_positive_probability(0, 1, 1), ValueError, "m is 0"),
        (lambda: theory.false_positive_probability(10, 2.5, 1), TypeError, "k is of type float"),
        (lambda: theory.false_positive_probability(10, 2**32, 1), ValueError, "k is 4294967296"),
        (lambda: theory.count_min_width("x"), TypeError, "epsilon is of type str"),
        (lambda: theory.count_min_width(True), TypeError, "epsilon is of type bool"),
        (lambda: theory.dleft_overflow_probability(3, 8), TypeError, "loads is of type int; must be a tally.theory.DLeftLoads"),
        (lambda: theory.dleft_overflow_probability(theory.DLeftLoads(1.0, []), 8), ValueError, "subtables"),
        (lambda: theory.double_hashing_num_steps("odd", 10, 2), ValueError, "scheme is 'odd'; must be 'plain'"),
        (lambda: theory.make_count_histogram([1], 5), TypeError, "counts is of type int; must be pairs"),
        (lambda: theory.make_count_histogram(5, 5), TypeError, "not iterable"),
        (lambda: theory.kappa_star(0), ValueError, "theta"),
    ],
)
def test_wrong_arguments_are_named(call, error, match):
    with pytest.raises(error, match=match):
        call()


@pytest.mark.parametrize("loads", [theory.DLeftLoads(1.0, [[1.0]]), theory.DLeftLoads(float("inf"), [[], [0.5]]), theory.DLeftLoads(-1, [[2.0] * 400] * 8)])
def test_loads_of_ones_own_do_no_harm(loads):
    for c in (0, 1, 8, 255, 256):
        for function in (theory.dleft_overflow_probability, theory.ln_dleft_overflow_probability):
            try:
                function(loads, c)
            except ValueError:
                pass
        try:
            theory.dleft_expected_overflows_filling(loads, 10, c)
        except ValueError:
            pass
