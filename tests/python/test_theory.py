"""The formulas against reference numbers, against arithmetic of Python, and against the list of public headers."""

import ast
import csv
import fractions
import inspect
import itertools
import math
import pathlib
import re
import threading
import time

import numpy
import pytest

import tally
from tally import theory

ROOT = pathlib.Path(__file__).parent.parent.parent


def declared_in_headers():
    """(name, names of the parameters, default values) of every function that the headers declare."""
    found = []
    for header in sorted((ROOT / "include" / "tally" / "theory").glob("*.hpp")):
        text = re.sub(r"//[^\n]*", "", header.read_text()).replace("TALLY_EXPORT ", "")
        text = re.sub(r"^(?:struct|enum class) \w+[^{;]*\{.*?\};", "", text, flags=re.M | re.S)
        of_header = re.findall(r"^[a-zA-Z][\w:<>]*\s(\w+)\(([^()]*)\);", text, re.M)
        assert of_header, header.name
        for name, parameters in of_header:
            while "<" in parameters:
                parameters = re.sub(r"<[^<>]*>", "", parameters)
            parameters = parameters.split(",")
            names = [re.sub(r" = .*", "", own).split()[-1] for own in parameters]
            found.append((name, names, [int(own.split(" = ")[1]) for own in parameters if " = " in own]))
    return found


def test_every_public_formula_is_there():
    declared = declared_in_headers()
    assert len(declared) >= 119
    assert [name for name, _, _ in declared if not hasattr(theory, name)] == []


def test_parameters_are_those_of_the_headers():
    for name, names, defaults in declared_in_headers():
        parameters = inspect.signature(getattr(theory, name)).parameters
        assert [own.rstrip("_") for own in parameters] == names, name
        assert [own.default for own in parameters.values() if own.default is not own.empty] == defaults, name


def test_every_formula_is_documented():
    formulas = [name for name in dir(theory) if name[0].islower() and callable(getattr(theory, name))]
    assert len(formulas) > 110
    for name in formulas:
        assert len(getattr(theory, name).__doc__) > 20, name
        assert inspect.signature(getattr(theory, name)).parameters, name


def rows(name):
    with open(ROOT / "tests" / "data" / name) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def test_best_loads_are_the_reference_numbers():
    compared = rows("kappa_star.csv")
    assert len(compared) > 30
    for row in compared:
        theta = int(row["theta"])
        assert theory.kappa_star(theta) == pytest.approx(float(row["kappa_star"]), rel=1e-12)
        assert theory.ln_c(theta) == pytest.approx(float(row["ln_c"]), rel=1e-12)


def test_threshold_rates_are_the_reference_numbers():
    compared = rows("threshold_fpr.csv")
    assert len(compared) > 300
    for row in compared:
        arguments = {name: int(row[name]) for name in ("theta", "k", "n", "m")}
        assert theory.ln_threshold_false_positive_probability(**arguments) == pytest.approx(float(row["ln_exact"]), rel=1e-9)
        assert theory.ln_threshold_false_positive_probability_approximate(**arguments) == pytest.approx(float(row["ln_approx"]), rel=1e-9)


def test_rates_are_those_printed_in_summary_cache():
    compared = rows("summary_cache_tables.csv")
    assert len(compared) > 200
    for row in compared:
        rate = theory.false_positive_probability_approximate(int(row["m_over_n"]) * 10**9, int(row["k"]), 10**9)
        printed = float(row["printed"]) / (10 if int(row["printed_typo"]) else 1)
        assert rate == pytest.approx(printed, rel=6e-3)


def test_loads_of_dleft_tables_are_the_reference_numbers():
    compared, known = 0, {}
    for row in rows("dleft_fluid_limit.csv"):
        for column, steps in (("insert_only", 0.0), ("steady", math.inf)):
            if not row[column] or float(row[column]) < 1e-25:
                continue
            key = int(row["d"]), float(row["average_load"]), steps
            if key not in known:
                known[key] = theory.dleft_loads(*key)
            assert known[key].fraction(int(row["i"])) == pytest.approx(float(row[column]), rel=1e-6)
            compared += 1
    assert compared > 250


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


def binomial(n, p):
    return [math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(n + 1)]


def occupancy(m, k, n):
    """E[(X/m)^k], X the number of set bits after k n throws, one throw after another."""
    shares = [fractions.Fraction(1)] + [fractions.Fraction(0)] * m
    for _ in range(k * n):
        shares = [shares[x] * x / m + (shares[x - 1] * (m - x + 1) / m if x else 0) for x in range(m + 1)]
    return sum(share * fractions.Fraction(x, m) ** k for x, share in enumerate(shares))


def test_rates_of_blocked_filters_are_mixtures_over_the_keys_in_a_block():
    assert theory.false_positive_probability_occupancy(16, 3, 4) == pytest.approx(float(occupancy(16, 3, 4)), rel=1e-12)
    assert theory.false_positive_probability_expansion(160, 3, 40) == pytest.approx(float(occupancy(160, 3, 40)), rel=1e-5)
    exact = sum(share * float(occupancy(16, 2, j)) for j, share in enumerate(binomial(10, 1 / 4)))
    assert theory.blocked_bloom_false_positive_probability(4, 16, 2, 10) == pytest.approx(exact, rel=1e-12)
    simple = sum(share * (1 - (15 / 16) ** (2 * j)) ** 2 for j, share in enumerate(binomial(10, 1 / 4)))
    assert theory.blocked_bloom_false_positive_probability_approximate(4, 16, 2, 10) == pytest.approx(simple, rel=1e-12)
    words = sum(share * (1 - (31 / 32) ** j) ** 8 for j, share in enumerate(binomial(10, 1 / 4)))
    assert theory.register_bloom_false_positive_probability(4, 8, 32, 8, 10) == pytest.approx(words, rel=1e-12)
    num_blocks = theory.blocked_bloom_num_blocks_for(0.01, 512, 6, 1000)
    assert theory.blocked_bloom_false_positive_probability(num_blocks, 512, 6, 1000) <= 0.01
    assert theory.blocked_bloom_false_positive_probability(num_blocks - 1, 512, 6, 1000) > 0.01
    assert theory.false_positive_probability_partitioned(100, 5, 8) == pytest.approx((1 - (1 - 5 / 100) ** 8) ** 5, rel=1e-12)


#: Position i of a key by each scheme, from three hash values, for filters of 7 positions (16 in four parts of 4).
SCHEMES = {
    "plain": lambda i, h1, h2, h3: (h1 + i * h2) % 7,
    "quadratic": lambda i, h1, h2, h3: (h1 + i * h2 + i**2) % 7,
    "cubic": lambda i, h1, h2, h3: (h1 + i * h2 + i**3) % 7,
    "triple": lambda i, h1, h2, h3: (h1 + i * h2 + i * (i - 1) // 2 * h3) % 7,
    "partition": lambda i, h1, h2, h3: 4 * i + (h1 + i * h2) % 4,
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_rates_of_double_hashing_are_those_of_all_hash_values(scheme):
    m, size = (16, 4) if scheme == "partition" else (7, 7)
    third = range(7) if scheme == "triple" else [0]
    positions = [
        frozenset(SCHEMES[scheme](i, h1, h2, h3) for i in range(4))
        for h1, h2, h3 in itertools.product(range(size), range(size), third)
    ]
    passes = sum(query <= key for query in positions for key in positions)
    rate = theory.double_hashing_false_positive_probability(scheme, m, 4, 1)
    assert rate == pytest.approx(passes / len(positions) ** 2, abs=1e-13)
    distinct = [sum(len(own) == j for own in positions) / len(positions) for j in range(5)]
    assert theory.double_hashing_distinct_positions(scheme, m, 4) == pytest.approx(distinct)


def test_an_expansion_is_near_the_exact_rates_of_double_hashing():
    exact = theory.double_hashing_false_positive_probability("plain", 4096, 8, 353)
    ln_rate = theory.ln_double_hashing_false_positive_probability_expansion("plain", 4096, 8, 353)
    assert math.exp(ln_rate) == pytest.approx(exact, rel=0.02)
    # One of two positions is the other one in one of m keys.
    w = [0.25, 0.75]
    mean = 0.25**2 + (0.75 - 0.25**2) / 100
    assert math.exp(theory.ln_mean_over_coinciding_positions(100, 2, w)) == pytest.approx(mean)
    assert theory.double_hashing_gain_by_shared_positions("cubic", 100, 3, [5], [2]) == pytest.approx(5e-4 * (8 - 7))
    assert theory.double_hashing_gain_by_coinciding_positions("plain", 100, 2, w) == pytest.approx((0.75 - 0.25**2) / 100)


def test_rates_of_partitions_are_those_of_arithmetic():
    assert theory.independent_distinct_positions(10, 2) == pytest.approx([0, 0.1, 0.9])
    p, k, n = 11, 4, 6
    same = 1 - (1 - fractions.Fraction(1, p**2)) ** n
    covered = sum((-1) ** j * math.comb(k, j) * (1 - fractions.Fraction(j, p + 1)) ** n for j in range(k + 1))
    exact = float(same + (1 - same) * covered)
    assert theory.partition_double_false_positive_probability(p, k, n) == pytest.approx(exact, rel=1e-12)
    assert theory.ln_partition_double_false_positive_probability(p, k, n) == pytest.approx(math.log(exact), rel=1e-12)


def test_deviations_of_rates_are_those_of_the_theorem():
    bound = 2 * math.exp(-2 * 5000 * (0.05 - 0.01) ** 2 / (1.5**2 + 0.25))
    assert theory.rate_deviation_bound(5000, lambda_=1.5, xi=0.25, epsilon=0.05, bias=0.01) == pytest.approx(bound)
    assert theory.rate_deviation(5000, 1.5, 0.25, 0.01, delta=bound) == pytest.approx(0.05)
    measured = 2 * math.exp(-4000 * 0.1**2 / 2) + theory.rate_deviation_bound(5000, 1.5, 0.25, 0.05, 0.01)
    assert theory.measured_rate_deviation_bound(5000, 1.5, 0.25, 0.1, 0.01, q=4000) == pytest.approx(measured)


def test_rates_of_filters_vary_as_their_set_bits():
    m, k, n = 40000, 6, 5000
    f = theory.false_positive_probability_occupancy(m, k, n)
    exact = theory.false_positive_probability_occupancy(m, 2 * k, n // 2) - f**2  # E[(X/m)^(2k)] after k n throws
    assert theory.rate_variance_approximate(m, k, n) == pytest.approx(exact, rel=1e-3)
    assert theory.rate_variance_bound(m, k, f) == pytest.approx(k**3 * f / m)
    assert exact < theory.rate_variance_bound(m, k, f)
    by_rate = math.exp(-m * 0.05**2 / (2 * k**3 * (f + 0.05)))  # 0.05 below f is below 0
    assert theory.rate_deviation_bound_by_rate(m, k, f, epsilon=0.05) == pytest.approx(by_rate)
    assert theory.rate_deviation_bound_independent(m, k, n, 0.002) == pytest.approx(0.0102, rel=0.01)


def test_counters_have_binomial_and_poisson_counts():
    one = binomial(50, 1 / (8 * 16))
    for theta in (1, 2, 3):
        rate = theory.blocked_threshold_false_positive_probability(theta, 8, 16, 1, [(1, 50)])
        assert rate == pytest.approx(sum(one[theta:]), rel=1e-9)
    own = theory.blocked_threshold_false_positive_probability(3, 8, 16, 1, [(1, 50)], true_count=2)
    assert own == pytest.approx(sum(one[1:]), rel=1e-9)
    assert theory.blocked_counter_overflow_union_bound(8, 16, 1, 50, 5) == pytest.approx(8 * 16 * sum(one[5:]), rel=1e-9)
    assert theory.blocked_threshold_num_states(5, 3, 1) == math.comb(3 + 4, 3)
    poisson = [math.exp(-0.2) * 0.2**s / math.factorial(s) for s in range(4)]
    ones = theory.make_count_histogram([(1, 100)], 10)
    assert theory.counter_value_distribution(ones, 2, 1000, 4) == pytest.approx(poisson, rel=1e-12)
    assert theory.compound_threshold_false_positive_probability(ones, 2, 2, 1000) == pytest.approx((1 - sum(poisson[:2])) ** 2)
    once = theory.make_count_histogram([(1, 3000)], 10)
    for theta in (2, 3):
        rate = theory.conservative_threshold_false_positive_probability(once, theta, 4, 4000)
        assert rate < theory.compound_threshold_false_positive_probability(once, theta, 4, 4000)
        assert theory.ln_conservative_threshold_false_positive_probability(once, theta, 4, 4000) == pytest.approx(math.log(rate))
        assert theory.conservative_threshold_false_positive_probabilities(once, theta, 4, 4000)[0] == pytest.approx(rate)
        assert theory.conservative_counter_upper_tail(once, 4, 4000, theta) ** 4 == pytest.approx(rate, rel=1e-6)
    assert theory.conservative_mean_excess(once, 4, 4000) > theory.conservative_mean_excess(once, 4, 4000, true_count=1) > 0
    assert theory.zipf_count_histogram(50, 1.1, 1000, 2000).num_insertions == pytest.approx(1000, rel=1e-6)


def test_bounds_of_counters_are_those_of_the_papers():
    tail = sum(binomial(90, 1 / 300)[6:])
    assert theory.counter_overflow_union_bound(300, 3, 30, 6) == pytest.approx(300 * tail, rel=1e-9)
    assert theory.counter_overflow_bound(300, 3, 30, 6) == pytest.approx(math.comb(90, 6) / 300**5, rel=1e-12)
    assert theory.counter_overflow_bound_simple(300, 3, 30, 6) == pytest.approx(300 * (math.e * 90 / (6 * 300)) ** 6, rel=1e-12)
    assert theory.counter_overflow_bound_best_k(1, 16) == pytest.approx(1.37e-15, rel=4e-3)


def test_saturated_counters_and_spills_are_those_of_arithmetic():
    more, fewer = (sum(binomial(n, 1 / 300)[6:]) for n in (90, 87))
    rate = 300 * (more - fewer)
    assert theory.counter_saturation_rate(300, 3, 30, 6) == pytest.approx(rate, rel=1e-6)
    assert theory.expected_saturated_counters(300, 3, 30, 6, 9) == pytest.approx(300 * more + 9 * rate, rel=1e-6)
    one = 8 * 16 * sum(binomial(50, 1 / (8 * 16))[5:])
    assert theory.blocked_expected_saturated_counters(8, 16, 1, 50, 5, 0) == pytest.approx(one, rel=1e-9)
    assert theory.blocked_counter_saturation_rate(8, 16, 1, 50, 5) == pytest.approx(
        one - 8 * 16 * sum(binomial(49, 1 / (8 * 16))[5:]), rel=1e-6)
    ones = theory.make_count_histogram([(1, 100_000)], 20)
    assert theory.compound_counter_saturation_rate(ones, 4, 500_000, 5) == pytest.approx(
        theory.counter_saturation_rate(500_000, 4, 100_000, 5), rel=1e-3)
    assert theory.compound_expected_saturated_counters(ones, 4, 500_000, 5, 100) == pytest.approx(
        theory.expected_saturated_counters(500_000, 4, 100_000, 5, 100), rel=1e-3)
    assert theory.blocked_compound_expected_saturated_counters(ones, 4000, 128, 4, 5, 100) == pytest.approx(
        theory.blocked_expected_saturated_counters(4000, 128, 4, 100_000, 5, 100), rel=1e-2)
    assert theory.saturated_share(0.3, 1, 10) == pytest.approx(1 - math.exp(-0.3 * 11), rel=1e-9)
    assert theory.saturated_false_positive_probability(1000, 2, 0, 0.25) == pytest.approx(1 / 16, rel=1e-12)
    assert theory.ln_saturated_false_positive_probability(1000, 2, 0, 0.25) == pytest.approx(math.log(1 / 16))
    thrice = theory.make_count_histogram([(3, 1000)], 20)
    pairs = 1e6 * sum(binomial(1000, 1e-6)[2:4])
    assert theory.dleft_expected_spills(thrice, 1000, 1000, 4) == pytest.approx(pairs, rel=2e-3)
    assert theory.dleft_expected_spills_bound(thrice, 1000, 1000, 2) == 1000
    tail = 10 * math.exp(21 - 5 - 21 * math.log(21 / 5))
    assert theory.dleft_spills_tail(5, 20, 9) == pytest.approx(tail, rel=1e-9)
    assert theory.ln_dleft_spills_tail(5, 20, 9) == pytest.approx(math.log(tail), rel=1e-9)
    assert theory.dleft_spill_capacity(5, 9, tail * 1.0001) == 20
    assert theory.dleft_expected_most_spills(5, 0) == 5
    assert theory.insertion_count_histogram(10, 10, 5).keys_with_count[1] == 10
    assert theory.inverse_gamma_function(math.gamma(7.5)) == pytest.approx(7.5)
    assert theory.count_min_failure_probability(500, 3, 0.01) == pytest.approx((1 / 5) ** 3)
    two_hash = (2 / (0.01 * 503**2) + (2 / 5.03) ** 3) ** 2
    assert theory.count_min_two_hash_failure_probability(503, 3, 0.01, num_copies=2) == pytest.approx(two_hash)
    assert theory.count_min_two_hash_copies(0.01, 1e-5) == math.ceil(math.log(1e5) / math.log(100))


def test_sizes_of_shares_and_fingerprints_are_those_of_arithmetic():
    tails = [3 * sum(binomial(60, 1 / 3)[c + 1 :]) for c in range(61)]
    assert theory.probability_of_larger_share(60, 3, 30) == pytest.approx(tails[30], rel=1e-9)
    assert theory.largest_share(60, 3, 0.01) == next(c for c in range(61) if tails[c] <= 0.01)
    distinct = 64 * 1024 * (1 - (1 - 1 / (64 * 1024)) ** 700)
    assert theory.dleft_distinct_load(4, 64, 1024, 700) == pytest.approx(distinct / (4 * 64), rel=1e-12)
    assert theory.dleft_shared_fingerprint_bound(2048, 2**14, 49152, 5) == pytest.approx(1.89e-9, rel=3e-3)
    assert theory.probability_of_any(0.25) == pytest.approx(-math.expm1(-0.25), rel=1e-15)
    assert theory.dleft_any_overflow_filling(1, 2, 1, 2) == pytest.approx(0.5, rel=1e-12)
    assert theory.dleft_overflow_churning(2, 4, 8, 30) == pytest.approx(1.39993e-8, rel=1e-4)
    limit = theory.dleft_moves_limit(4, 8, 7.84, 2)
    assert limit.moves_probability == pytest.approx(0.5426, abs=1e-4)
    assert limit.full_share == pytest.approx(0.8583, abs=1e-4)
    assert limit.room_probability == pytest.approx(0.1350, abs=1e-4)
    assert theory.ln_dleft_no_placement_bound(2, 8, 8, 81) == pytest.approx(-25.2853129, abs=1e-7)
    assert theory.dleft_no_placement_bound(2, 1, 8, 16) == 0
    assert theory.dleft_orientable_load(2, 4) / 4 == pytest.approx(0.9803697743, abs=1e-10)
    load = theory.dleft_safe_load_for_share(4, 8, 1e-6, 0.0)
    assert theory.dleft_loads(4, load, 0.0).fraction(9) == pytest.approx(1e-6, rel=1e-5)
    filled = theory.dleft_loads(4, 7.0, 0.0)
    expected = 4 * 100 * sum(filled.fraction(i) for i in range(9, 30))
    assert theory.dleft_expected_overflows_filling(filled, 100, 8) == pytest.approx(expected, rel=1e-9)


def test_intervals_and_estimates_are_those_of_arithmetic():
    limits = theory.binomial_confidence_limits(5, 100, 0.99)
    assert sum(binomial(100, limits.low)[5:]) == pytest.approx(0.005, rel=1e-6)
    assert sum(binomial(100, limits.high)[:6]) == pytest.approx(0.005, rel=1e-6)
    shares, inside = binomial(100, 0.05), theory.binomial_acceptance_interval(0.05, 100, 0.99)
    assert sum(shares[: inside.low]) <= 0.005 < sum(shares[: inside.low + 1])
    assert sum(shares[inside.high + 1 :]) <= 0.005 < sum(shares[inside.high :])
    assert theory.normal_deviations(0.95) == pytest.approx(1.959964, rel=1e-6)
    similar = theory.estimate_similarity(1000, 2, theory.OccupiedPositions(a=200, b=300, either=400))
    a, b, either = (-500 * math.log(1 - occupied / 1000) for occupied in (200, 300, 400))
    assert similar.num_keys_a.value == pytest.approx(a) and similar.num_keys_b.value == pytest.approx(b)
    assert similar.union_size.value == pytest.approx(either)
    assert similar.intersection_size.value == pytest.approx(a + b - either)
    assert similar.jaccard.value == pytest.approx((a + b - either) / either)
    assert similar.containment_a.value == pytest.approx((a + b - either) / a)
    assert similar.containment_b.value == pytest.approx((a + b - either) / b)


def test_sizes_of_messages_are_those_of_arithmetic():
    def z(j):
        return (1 - 1 / 10_000) ** (4 * j)

    flipped = z(970) * (z(30) * (1 - z(50)) + z(50) * (1 - z(30)))
    assert theory.flipped_share(10_000, 4, 1000, 30, 50) == pytest.approx(flipped, rel=1e-12)
    assert theory.rice_bits_per_position(0.01, 6) == pytest.approx(6 + 1 / (1 - 0.99**64))
    entropy = -0.01 * math.log2(0.01) - 0.99 * math.log2(0.99)
    assert theory.least_delta_bits(10_000, 0.01) == pytest.approx(10_000 * entropy)
    best = theory.best_rice_parameter(0.01)
    assert theory.rice_delta_bits(10_000, 0.01) == pytest.approx(100 * min(theory.rice_bits_per_position(0.01, b) for b in range(20)))
    assert theory.rice_bits_per_position(0.01, best) == min(theory.rice_bits_per_position(0.01, b) for b in range(20))
    assert theory.overstated_prefix_probability(0.01, 2, 1000) == pytest.approx(1 - (1 - 1e-4) ** 1000)
    assert theory.overstated_prefix_probability(0.01, 2) == pytest.approx(1e-4)
    assert theory.mean_overstated_blocks(0.1, 3) == pytest.approx(0.111)
    vacated = 200 * (1 - math.exp(-30 / 200))
    assert theory.dleft_changed_cells(1200, 1000, 30, 30) == pytest.approx(30 + vacated)
    assert theory.dleft_delta_bits(10_000, 100.0, 16) == pytest.approx(10_000 * entropy + 1600)


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
        (lambda: theory.make_count_histogram([1], 5), TypeError, r"counts\[0\] is of type int; must be a tuple"),
        (lambda: theory.make_count_histogram([(1, 2), (1.5, 2)], 5), TypeError, r"counts\[1\]\[0\] is of type float"),
        (lambda: theory.make_count_histogram([(1, -2)], 5), ValueError, "-2"),
        (lambda: theory.ln_counter_upper_tail(theory.CountHistogram(5), 2, 10, 3), TypeError, "keys_with_count is of type int"),
        (lambda: theory.dleft_overflow_probability(theory.DLeftLoads(1.0, 5), 8), TypeError, "subtables is of type int"),
        (lambda: theory.dleft_overflow_probability(theory.DLeftLoads(1.0, [5]), 8), TypeError, "subtables is of type int"),
        (lambda: theory.dleft_loads(4, 6.0, 0.0).fraction(-1), ValueError, "i is -1"),
        (lambda: theory.dleft_loads(4, 6.0, 0.0).fraction(1, -1), ValueError, "j is -1; must be below 4"),
        (lambda: theory.dleft_loads(4, 6.0, 0.0).fraction(1, 4), ValueError, "j is 4; must be below 4"),
        (lambda: theory.kappa_star(0), ValueError, "theta"),
    ],
)
def test_wrong_arguments_are_named(call, error, match):
    with pytest.raises(error, match=match):
        call()


#: A value of each type in theory.pyi; formulas convert all arguments before they compute.
OF_TYPE = {
    "int": 1,
    "float": 0.5,
    "Scheme": "plain",
    "CountHistogram": theory.CountHistogram([0.0, 1.0]),
    "DLeftLoads": theory.DLeftLoads(1.0, [[1.0]]),
    "OccupiedPositions": theory.OccupiedPositions(1, 1, 1),
    "DirectoryChange": theory.DirectoryChange(1000, 1.0),
    "SendLimits": theory.SendLimits(interval=1.0),
    "Iterable[float]": [0.5],
    "Iterable[tuple[int, int]]": [(1, 1)],
    "Iterable[tuple[int, float]]": [(1, 1.0)],
}


def typed_formulas():
    """(function, {parameter: type}) of every function in theory.pyi."""
    stubs = ast.parse(pathlib.Path(theory.__file__).with_suffix(".pyi").read_text())
    for stub in stubs.body:
        if isinstance(stub, ast.FunctionDef):
            types = {own.arg: ast.unparse(own.annotation) for own in stub.args.args}
            yield getattr(theory, stub.name), types


def test_every_formula_names_an_argument_of_a_wrong_type():
    num_tried = 0
    for function, types in typed_formulas():
        arguments = {name: OF_TYPE[own] for name, own in types.items()}
        for name, own in types.items():
            wrong = [None, object(), True] + ([2.5, numpy.float64(2), "2"] if own == "int" else [])
            for value in wrong:
                with pytest.raises(TypeError, match=rf"^{name} is of type "):
                    function(**{**arguments, name: value})
                num_tried += 1
            for value in [-1, 2**64] if own == "int" else [math.nan, 10**400] if own == "float" else []:
                with pytest.raises(ValueError, match=rf"^{name} is .*; must be a "):
                    function(**{**arguments, name: value})
    assert num_tried > 1500


def test_structures_with_arrays_compare_and_hash_by_identity():
    for make in (lambda: theory.make_count_histogram([(1, 2)], 5), lambda: theory.dleft_loads(2, 1.0, 0.0)):
        one, other = make(), make()
        assert one == one and one != other and len({one, other}) == 2
    assert theory.binomial_acceptance_interval(0.5, 10, 0.9) == theory.CountInterval(2, 8)


def test_other_threads_run_during_a_long_computation():
    ended = []

    def compute():
        theory.double_hashing_false_positive_probability("quadratic", 1500, 4, 100)
        ended.append(True)

    thread = threading.Thread(target=compute)
    num_turns = 0
    thread.start()
    while not ended:
        num_turns += 1
        time.sleep(0.001)
    thread.join()
    assert num_turns > 5


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
