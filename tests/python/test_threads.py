"""Several threads on one object: no crash, no lost key, and reads at the same time."""

import os
import subprocess
import sys
import threading

import numpy
import pytest

import tally
from conftest import insert_all


def run_in_threads(*calls):
    errors = []

    def run(call):
        try:
            call()
        except BaseException as error:  # noqa: B902
            errors.append(error)

    threads = [threading.Thread(target=run, args=[call]) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_threads_that_insert_lose_no_key(empty_filter, random):
    keys = random.integers(0, 2**63, 900)
    parts = numpy.array_split(keys, 9)

    def one_by_one(part):
        for key in part.tolist():
            empty_filter.add(key) if isinstance(empty_filter, tally.CountMinSketch) else empty_filter.insert(key)

    run_in_threads(*[lambda part=part: insert_all(empty_filter, part) for part in parts[:5]],
                   *[lambda part=part: one_by_one(part) for part in parts[5:]])
    assert empty_filter.num_insertions == 900 and empty_filter.may_contain_batch(keys).all()


def test_reads_writes_merges_and_copies_may_meet(empty_filter, filter_class, random):
    keys = random.integers(0, 2**63, 400)
    insert_all(empty_filter, keys)
    other = empty_filter.copy()
    asked = random.integers(0, 2**63, 5000)

    def reads():
        for _ in range(30):
            assert empty_filter.may_contain_batch(keys).all() and int(keys[0]) in empty_filter
            other.may_contain_batch(asked)

    def copies():
        for _ in range(10):
            assert empty_filter.copy().may_contain_batch(keys).all()
            assert len(empty_filter.to_bytes()) > 128
            empty_filter == other

    def merges(into, source):
        for _ in range(2):
            into.merge(source)

    run_in_threads(reads, reads, copies, lambda: merges(other, empty_filter), lambda: merges(empty_filter, other))


def test_sketches_and_sets_may_be_shared(random):
    keys = [f"k{i}" for i in random.integers(0, 500, 2000)]
    top, recent, seen = tally.SpaceSaving(30), tally.RecentKeys(2**16), tally.HashSet()

    def adds():
        for _ in range(5):
            top.add_batch(keys)
            recent.insert_batch(keys)
            seen.insert_batch(keys)

    def asks():
        for _ in range(50):
            top.top(5)
            seen.contains_batch(keys)
            len(seen)
            repr(top)

    run_in_threads(adds, adds, asks)
    assert top.total_count == 20_000 and len(seen) == len(set(keys))


def test_a_batch_gives_up_the_interpreter(random):
    """While a thread works on a large batch, this one runs Python: it would not get to before the batch ends."""
    own = tally.BloomFilter(num_keys=4_000_000, false_positive_rate=1e-6)
    keys = random.integers(0, 2**63, 2_000_000)
    thread = threading.Thread(target=lambda: own.insert_batch(keys))
    steps = 0
    thread.start()
    while thread.is_alive():
        steps += 1
    assert steps > 100


def run_program(program):
    return subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)


@pytest.mark.parametrize("work", ["own.insert_batch(keys)", "own.may_contain_batch(keys)", "stream.add_batch(keys)",
                                  "tally.theory.dleft_loads(4, 6.0, 3.0)", "own |= other"])
def test_a_program_ends_while_daemon_threads_work(work):
    done = run_program(f"""
import threading, time, numpy, tally
own, other = (tally.BloomFilter(num_keys=1000, false_positive_rate=0.01) for _ in range(2))
stream = tally.ThresholdStream(3)
keys = numpy.arange(300)
def run():
    global own
    while True:
        {work}
for _ in range(4):
    threading.Thread(target=run, daemon=True).start()
time.sleep(0.2)
""")
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_write_does_not_wait_for_reads_that_came_later(random):
    own = tally.BloomFilter(num_keys=1_000_000, false_positive_rate=0.01)
    keys = random.integers(0, 2**63, 1_000_000)
    stopped = threading.Event()

    def reads():
        while not stopped.is_set():
            own.may_contain_batch(keys)

    def writes():
        for i in range(5):
            own.insert(i)
        stopped.set()

    done = threading.Timer(30, stopped.set)
    done.start()
    run_in_threads(reads, reads, reads, writes)
    assert done.is_alive() or not done.finished.is_set()
    done.cancel()
    assert own.num_insertions == 5


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="a sanitizer's own locks may be held at a fork")
def test_a_forked_process_uses_a_filter_or_hears_that_it_was_being_changed():
    done = run_program("""
import os, signal, threading, time, numpy, tally
own = tally.BloomFilter(num_keys=1_000_000, false_positive_rate=0.01)
keys = numpy.arange(1_000_000)
stopped = []
def work():
    while not stopped:
        own.may_contain_batch(keys) if reads else own.insert_batch(keys)
for reads in (True, False):
    stopped.clear()
    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.1)
    answers = []
    for _ in range(5):
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            try:
                own.may_contain_batch(keys)
                7 in own
                os._exit(0)
            except ValueError as error:
                os._exit(1 if "forked" in str(error) and not reads else 2)
        answers.append(os.waitpid(child, 0)[1])
    stopped.append(True)
    thread.join()
    assert set(answers) <= ({0} if reads else {0, 256}), (reads, answers)
""")
    assert (done.returncode, done.stdout) == (0, b"")
