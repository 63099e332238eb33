"""Summaries: copies end with exactly the publisher's bits, whatever happens to messages, and strangers change nothing."""

import copy
import datetime
import inspect
import itertools
import pickle
import subprocess
import threading
import time

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tally
from conftest import FILTERS, insert_all
from test_any_arguments import ANY, call
from test_threads import run_in_threads

applied, unchanged, behind, unknown = tally.ApplyResult
SECRET, OTHER_SECRET = bytes(range(32)), bytes(32)
PUBLISHED = [tally.BloomFilter, tally.BlockedBloomFilter, tally.RegisterBlockedBloomFilter, tally.CountingBloomFilter,
             tally.DLeftCountingBloomFilter]
QUICK = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@pytest.fixture(params=PUBLISHED, ids=lambda cls: cls.__name__)
def published(request):
    return request.param(**FILTERS[request.param])


def terms_of(filter, **others):
    """What a copy of this filter must be started with."""
    of_cells = isinstance(filter, tally.DLeftCountingBloomFilter)
    return {"cells_scheme" if of_cells else "bits_scheme": filter.shape.scheme, **others}


def body_of(filter):
    """The bits, counters or cells in its file."""
    return numpy.frombuffer(filter.to_bytes(), "u1")[128:]


def has_bits_of(copied, filter):
    """Whether a copy, as a filter, has exactly the bits or cells of the published one."""
    wanted, found = body_of(filter), body_of(copied)
    if isinstance(filter, tally.CountingBloomFilter):
        assert filter.shape.counter_bits == 8
        found = numpy.unpackbits(found, bitorder="little")
        return (found == numpy.resize(wanted != 0, len(found)) * (numpy.arange(len(found)) < filter.shape.num_counters)).all()
    if isinstance(filter, tally.DLeftCountingBloomFilter):
        wanted = wanted[: len(found)]  # without its side table
    return len(wanted) == len(found) and (wanted == found).all()


def change(filter, keys, random):
    """Inserts or removes some keys; `keys` is what is in the filter."""
    if hasattr(filter, "remove_batch") and len(keys) > 300:
        gone = random.choice(sorted(keys), 40, replace=False)
        assert (filter.remove_batch(gone) == tally.RemoveResult.removed).all()
        keys.difference_update(gone.tolist())
    new = set(random.integers(0, 2**62, 40).tolist()) - keys
    insert_all(filter, sorted(new))
    keys |= new


def test_over_a_lossy_channel_copies_end_with_the_publishers_bits(published, random):
    publisher = tally.SummaryPublisher(published, "cache-1")
    replica = tally.SummaryReplica(**terms_of(published))
    peers = tally.SummarySet(**terms_of(published))
    keys, keys_at, channel, results = set(), {tally.SummaryVersion(0, 0): set()}, [], set()

    def receive(message):
        results.add(replica.apply(message))
        results.add(peers.apply(message)[1])
        now = sorted(keys_at[replica.status.held])
        assert replica.may_contain_batch(now).all()
        if peers.peers:
            now = sorted(keys_at[peers.status("cache-1").held])
            assert peers.who_may_have_batch(now).lists() == [["cache-1"]] * len(now)

    for step in range(60):
        change(published, keys, random)
        message = publisher.publish()
        keys_at[publisher.version] = set(keys)
        channel += [message] * int(random.choice([0, 1, 1, 2]))
        if step % 10 == 9:
            request = replica.request()
            channel.append(publisher.answer(request) if request else publisher.full())
        random.shuffle(channel)
        while len(channel) > 3:
            receive(channel.pop())
    assert results == {applied, unchanged, behind} or results == {applied, unchanged, behind, unknown}
    final = publisher.full()
    replica.apply(final)
    peers.apply(final)
    assert replica.status.is_current and replica.status.held == replica.status.newest == publisher.version
    assert has_bits_of(replica.filter(), published)
    digest = tally.read_summary_message(publisher.heartbeat()).digest
    assert digest == replica.status.digest == peers.status("cache-1").digest
    asked = random.integers(0, 2**62, 3000)
    found = peers.who_may_have_batch(asked)
    assert (numpy.isin(numpy.arange(3000), found.key_indices) == replica.may_contain_batch(asked)).all()
    assert (published.may_contain_batch(asked) == replica.may_contain_batch(asked)).all()


def test_a_change_is_a_delta_and_no_change_a_heartbeat(published):
    publisher, replica = tally.SummaryPublisher(published, "a"), tally.SummaryReplica(**terms_of(published))
    insert_all(published, range(900))
    messages = [publisher.publish()]
    insert_all(published, ["x"])
    messages += [publisher.publish(), publisher.publish(), publisher.full(), publisher.heartbeat()]
    read = [tally.read_summary_message(message) for message in messages]
    assert [one.kind for one in read] == ["full", "delta", "heartbeat", "full", "heartbeat"]
    assert [one.version.sequence for one in read] == [1, 2, 2, 2, 2] and read[1].from_sequence == 1
    assert read[0].shape.scheme == published.shape.scheme and read[0].seed == tally.default_seed
    assert 0 < read[1].num_changes < 20 < read[0].num_changes and len(messages[1]) < 200 < len(messages[0])
    assert replica.apply(messages[0]) is applied and "x" not in replica
    assert (replica.apply(messages[2]), replica.status.needs_full, replica.status.num_versions_behind) == (behind, True, 1)
    assert (replica.apply(messages[1]), replica.apply(messages[1])) == (applied, unchanged) and "x" in replica
    of_filter = published.statistics().estimated_false_positive_rate  # a copy's is too low for blocked filters
    is_blocked = "locked" in type(published).__name__
    assert (0.7 if is_blocked else 0.98) * of_filter < replica.estimated_false_positive_rate < 1.02 * of_filter


def test_a_request_is_answered_with_a_copy_or_a_heartbeat():
    own = tally.BloomFilter(num_keys=100, false_positive_rate=0.01)
    publisher, replica = tally.SummaryPublisher(own, "a", epoch=5), tally.SummaryReplica()
    assert replica.request() == b"" and replica.publisher is None and replica.status.as_of is None and not replica.may_contain("x")
    own.insert("x")
    publisher.publish()
    replica.apply(publisher.heartbeat())
    assert replica.status.needs_full and replica.publisher == "a"
    replica.apply(publisher.answer(replica.request()))
    assert "x" in replica and replica.status.is_current
    assert tally.read_summary_message(publisher.answer(replica.request())).kind == "heartbeat"
    assert tally.SummaryPublisher(own, "b").answer(replica.request()) == b""
    with pytest.raises(ValueError, match="request"):
        publisher.answer(publisher.heartbeat())
    # A publisher whose clock was set back continues after what its peers have heard of.
    late = tally.SummaryPublisher(own, "a", epoch=3)
    own.insert("y")
    assert replica.apply(late.publish()) is behind and replica.status.is_contradicted
    assert replica.apply(late.answer(replica.request())) is applied and "y" in replica and late.version.epoch > 5


def test_a_publisher_keeps_its_filter_and_follows_its_growth(random):
    shape = tally.plan_shape("dleft", num_keys=200, false_positive_rate=0.001, max_doublings=3)
    publisher = tally.SummaryPublisher(tally.make(shape), "a")
    replica, peers = tally.SummaryReplica(), tally.SummarySet()
    keys, shapes = [], set()
    for _ in range(18):
        new = random.integers(0, 2**62, 100).tolist()
        insert_all(publisher.filter, new)
        keys += new
        message = publisher.publish()
        shapes.add(tally.read_summary_message(message).shape)
        assert replica.apply(message) is applied and peers.apply(message) == ("a", applied)
        assert replica.may_contain_batch(keys).all() and has_bits_of(replica.filter(), publisher.filter)
        assert len(peers.who_may_have_batch(keys).key_indices) == len(keys)
    assert {shape.num_doublings for shape in shapes} == {0, 1, 2, 3} == {*range(publisher.filter.shape.num_doublings + 1)}
    same = replica.filter()
    assert same.count(int(keys[0])) == publisher.filter.count(int(keys[0])) and same.num_insertions == len(keys)


@pytest.mark.parametrize("cls", [cls for cls in FILTERS if cls not in PUBLISHED], ids=lambda cls: cls.__name__)
def test_other_kinds_have_no_summary(cls):
    with pytest.raises(ValueError, match="bloom, blocked-bloom, counting-bloom or dleft"):
        tally.SummaryPublisher(cls(**FILTERS[cls]), "a")


def test_a_closed_filter_is_not_published_and_a_mapped_one_is(published, tmp_path):
    insert_all(published, range(50))
    published.save(tmp_path / "f.tally")
    mapped = tally.open(tmp_path / "f.tally", mmap=True)
    publisher, replica = tally.SummaryPublisher(mapped, "a"), tally.SummaryReplica(**terms_of(published))
    replica.apply(publisher.publish())
    assert has_bits_of(replica.filter(), published)
    mapped.close()
    with pytest.raises(ValueError, match="closed"):
        publisher.publish()
    assert replica.apply(publisher.full()) is unchanged


def test_names_may_be_any_bytes():
    own = tally.BloomFilter(num_keys=10, false_positive_rate=0.01)
    names = ["né日", "caf\udce9", "b\0c", "x" * 255, "a"]
    peers = tally.SummarySet()
    for name in names:
        publisher = tally.SummaryPublisher(own, name)
        assert publisher.name == name and name.encode("utf-8", "surrogateescape") in publisher.publish()
        assert peers.apply(publisher.full()) == (name, applied)
    assert peers.peers == sorted(names, key=lambda name: name.encode("utf-8", "surrogateescape"))
    assert all(peers.status(name).is_current and peers.request(name) for name in names)
    with pytest.raises(ValueError, match=r"caf\\xe9"):
        tally.SummaryReplica(publisher="a").apply(tally.SummaryPublisher(own, names[1]).publish())
    for bad in ["", "x" * 256, "é" * 128, "\ud800"]:
        with pytest.raises(ValueError):
            tally.SummaryPublisher(own, bad)
    with pytest.raises(TypeError, match="name"):
        tally.SummaryPublisher(own, b"a")


def test_a_set_tells_which_peers_may_have_a_key(random):
    peers, filters = tally.SummarySet(), {}
    for number in range(30):
        name = f"cache-{random.integers(10**9)}"
        filters[name] = tally.CountingBloomFilter(num_keys=100 + number % 3, false_positive_rate=0.01)
        insert_all(filters[name], range(number * 10, number * 10 + 100))
        peers.apply(tally.SummaryPublisher(filters[name], name).publish())
        if number % 5 == 4:  # its number is used again
            gone = sorted(filters)[number % 4]
            del filters[gone]
            assert peers.remove(gone) is True and peers.remove(gone) is False
    assert peers.peers == sorted(filters) and len(peers) == len(filters) == 24
    asked = numpy.arange(500)
    found = peers.who_may_have_batch(asked)
    truth = [[name for name in sorted(filters) if key in filters[name]] for key in range(500)]
    assert found.lists() == truth == [peers.who_may_have(key) for key in range(500)]
    assert found.key_indices.dtype == numpy.int64 and found.peer_indices.dtype == numpy.uint32 and found.num_keys == 500
    pairs = [(key, found.names.index(name)) for key in range(500) for name in truth[key]]
    assert list(zip(found.key_indices.tolist(), found.peer_indices.tolist())) == pairs
    assert len(peers.who_may_have_batch([]).lists()) == 0
    def longest(name, blocks):
        return next((i for i, key in enumerate(blocks) if key not in filters[name]), len(blocks))

    for blocks in [range(40, 60), range(0, 200), [1000], []]:
        prefixes = [(name, longest(name, blocks)) for name in sorted(filters)]
        assert peers.longest_prefix(list(blocks)) == sorted([own for own in prefixes if own[1]], key=lambda own: -own[1])
    with pytest.raises(TypeError):
        "cache-1" in peers  # names or keys?
    for call in (peers.status, peers.request, peers.estimated_false_positive_rate):
        with pytest.raises(ValueError, match="peers"):
            call("nobody")


def test_only_a_full_copy_makes_a_peer_and_limits_hold():
    own = tally.BloomFilter(num_keys=100, false_positive_rate=0.01)
    publishers = [tally.SummaryPublisher(own, name) for name in "abc"]
    peers = tally.SummarySet(max_peers=2)
    for publisher in publishers:
        own.insert(publisher.name)
        publisher.publish()
        assert peers.apply(publisher.heartbeat()) == (publisher.name, unknown) and len(peers.peers) < 3
        answer = publisher.answer(peers.request_of_unknown(publisher.heartbeat()))
        if publisher.name != "c":
            assert peers.apply(answer) == (publisher.name, applied)
    with pytest.raises(tally.NoRoomForPeer, match="max_peers"):
        peers.apply(answer)
    assert peers.peers == ["a", "b"] and issubclass(tally.NoRoomForPeer, ValueError)
    peers.remove("a")
    assert peers.apply(answer) == ("c", applied)
    small = tally.SummarySet(max_total_bytes=1)
    with pytest.raises(ValueError, match="at most 1"):
        small.apply(answer)
    assert len(small) == 0 == small.memory_bytes
    # A few bytes may claim a filter of any size: the copy alone may not take what is not allowed.
    large = tally.SummaryPublisher(tally.BloomFilter(tally.BloomShape(2**26, 7)), "huge").publish()
    assert len(large) < 200
    with pytest.raises(ValueError, match="max_bytes_per_peer"):
        tally.SummaryReplica(max_bytes_per_peer=2**20).apply(large)
    peers.remove("b")
    assert peers.apply(large) == ("huge", applied) and peers.memory_bytes < 2**18


def test_other_terms_are_refused_by_name():
    blocked = tally.BlockedBloomFilter(num_keys=10, false_positive_rate=0.01)
    message = tally.SummaryPublisher(blocked, "a").publish()
    for terms, what in [({}, "scheme"), ({"bits_scheme": "blocked", "seed": 3}, "seed"), ({"key": SECRET}, "hash"),
                        ({"bits_scheme": "blocked", "max_num_hashes": 1}, "num_hashes"),
                        ({"bits_scheme": "blocked", "publisher": "b"}, "publisher")]:
        replica = tally.SummaryReplica(**terms)
        with pytest.raises(ValueError, match=what):
            replica.apply(message)
        assert replica.status.held == tally.SummaryVersion(0, 0)
    for wrong in [dict(bits_scheme="rotation"), dict(group="g"), dict(message_secret=b"short"), dict(max_num_hashes=0), dict(seed=-1)]:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            tally.SummaryReplica(**wrong)
    for wrong in [dict(bits_scheme=1), dict(group=None), dict(message_secret="s" * 32), dict(max_peers=True), dict(takes_unsigned=1)]:
        with pytest.raises(TypeError, match=next(iter(wrong))):
            tally.SummarySet(**wrong)


def test_a_damaged_message_changes_nothing():
    own = tally.DLeftCountingBloomFilter(num_keys=100, false_positive_rate=0.01, key=SECRET)
    publisher = tally.SummaryPublisher(own, "a", message_secret=SECRET)
    replica, peers = (cls(key=SECRET, message_secret=SECRET) for cls in (tally.SummaryReplica, tally.SummarySet))
    own.insert("x")
    for good in (publisher.publish(), publisher.heartbeat(), replica.request):
        own.insert("y")
        good = good if isinstance(good, bytes) else publisher.publish()
        before, before_of_set = replica.status, peers.peers
        for position in range(len(good)):
            bad = bytearray(good)
            bad[position] ^= 1 << position % 8
            for call in (replica.apply, peers.apply, tally.read_summary_message, publisher.answer, peers.request_of_unknown):
                with pytest.raises(tally.FormatError) as error:
                    call(bad)
                assert 0 <= error.value.offset <= len(good) and error.value.path is None
            with pytest.raises(tally.FormatError):
                replica.apply(good[:position])
        assert replica.status == before and peers.peers == before_of_set
        assert replica.apply(bytearray(good)) in (applied, unchanged)
        peers.apply(memoryview(good))
    assert "y" in replica and peers.who_may_have("y") == ["a"]
    for wrong in (3, None, "text", numpy.arange(6).reshape(2, 3).T):
        with pytest.raises(TypeError, match="message"):
            replica.apply(wrong)


@QUICK
@given(st.binary(max_size=300), st.integers(0, 200), st.binary(max_size=8))
def test_any_bytes_are_refused(data, position, replaced):
    own = tally.BloomFilter(num_keys=10, false_positive_rate=0.01)
    publisher, peers = tally.SummaryPublisher(own, "a"), tally.SummarySet()
    good = publisher.publish()
    for message in (data, good[:8] + data, good[:position] + replaced + good[position + len(replaced):]):
        if message == good:
            continue
        for call in (peers.apply, tally.SummaryReplica().apply, tally.read_summary_message, publisher.answer):
            with pytest.raises(ValueError):
                call(message)
    assert len(peers) == 0


def test_a_forged_message_changes_nothing():
    own = tally.BloomFilter(num_keys=100, false_positive_rate=0.01)
    signed = tally.SummaryPublisher(own, "a", message_secret=SECRET, group="g")
    forgers = [tally.SummaryPublisher(own, "a", **terms) for terms in
               [{}, dict(message_secret=OTHER_SECRET, group="g"), dict(message_secret=SECRET, group="h")]]
    terms = dict(message_secret=SECRET, group="g")
    replica, peers = tally.SummaryReplica(**terms), tally.SummarySet(**terms)
    assert replica.apply(signed.publish()) is applied and peers.apply(signed.full()) == ("a", applied)
    assert tally.read_summary_message(signed.full()).is_signed
    before, before_of_set = replica.status, peers.status("a")
    own.insert("x")
    for forger in forgers:
        message = forger.publish()
        for call in (replica.apply, peers.apply, peers.request_of_unknown):
            with pytest.raises(tally.NotAuthentic, match="'a'"):
                call(message)
    assert replica.status == before and peers.status("a") == before_of_set and issubclass(tally.NotAuthentic, ValueError)
    # A forged request would move the publisher to another epoch.
    stranger = tally.SummaryReplica()
    stranger.apply(tally.SummaryPublisher(own, "a", epoch=2**62).publish())
    version = signed.version
    with pytest.raises(tally.NotAuthentic):
        signed.answer(stranger.request())
    assert signed.version == version
    assert tally.read_summary_message(replica.request()).is_signed and signed.answer(replica.request())


def test_the_fields_of_a_message(random):
    own = tally.CountingBloomFilter(tally.CountingBloomShape(1000, 5, 8), key=SECRET)
    insert_all(own, range(20))
    message = tally.SummaryPublisher(own, "a", epoch=7).publish()
    found = tally.read_summary_message(message)
    assert (found.kind, found.publisher, found.version, found.from_sequence) == ("full", "a", tally.SummaryVersion(7, 1), 0)
    assert found.shape == tally.BloomShape(1000, 5) and found.seed is None and not found.is_signed
    assert found.num_changes == own.statistics().num_nonzero and found.num_bytes == len(message) and found.format_version == 2
    assert abs(datetime.datetime.now(datetime.timezone.utc) - found.published_at) < datetime.timedelta(minutes=1)
    assert tally.summary_header_bytes == 128
    assert tally.summary_message_bytes(message[:128]) == tally.summary_message_bytes(bytearray(message)) == len(message)
    with pytest.raises(tally.FormatError):
        tally.summary_message_bytes(message[:127])


def test_times_that_datetime_lacks_become_its_last():
    from tally._records import summary_time
    utc = datetime.timezone.utc
    assert summary_time(1_500_000) == datetime.datetime(1970, 1, 1, 0, 0, 1, 500_000, utc)
    assert summary_time(2**62) == datetime.datetime.max.replace(tzinfo=utc)


def test_the_age_of_a_copy():
    own = tally.BloomFilter(num_keys=10, false_positive_rate=0.01)
    replica = tally.SummaryReplica()
    assert replica.status.age() is None and replica.status.num_versions_behind is None
    replica.apply(tally.SummaryPublisher(own, "a").publish())
    as_of = replica.status.as_of
    assert replica.status.age(as_of + datetime.timedelta(seconds=3)) == datetime.timedelta(seconds=3)
    assert replica.status.age(as_of - datetime.timedelta(seconds=3)) == datetime.timedelta(0) < replica.status.age()


def test_python_applies_the_messages_of_the_command_and_back(command, tmp_path):
    def run(*arguments, stdin=b""):
        done = subprocess.run([command, *arguments], input=stdin, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    for cls in (tally.BloomFilter, tally.CountingBloomFilter, tally.DLeftCountingBloomFilter):
        own = cls(**FILTERS[cls])
        keys = [f"key {number}" for number in range(500)]
        insert_all(own, keys)
        publisher = tally.SummaryPublisher(own, "python")
        own.save(tmp_path / "old.tally", overwrite=True)
        (tmp_path / "full").write_bytes(publisher.publish())
        insert_all(own, ["new key"])
        own.save(tmp_path / "new.tally", overwrite=True)
        (tmp_path / "delta").write_bytes(publisher.publish())
        run("patch", "-q", f"{cls.__name__}.copy", "full", "delta")
        assert has_bits_of(tally.open(tmp_path / f"{cls.__name__}.copy"), own)

        replica, peers = tally.SummaryReplica(publisher="command"), tally.SummarySet()
        for message in (run("diff", "-q", "--name", "command", "old.tally"), run("diff", "-q", "--name", "command", "old.tally", "new.tally")):
            assert tally.summary_message_bytes(message[:128]) == len(message)
            assert (replica.apply(message), peers.apply(message)) == (applied, ("command", applied))
        assert replica.may_contain_batch([*keys, "new key"]).all() and has_bits_of(replica.filter(), own)
        assert peers.who_may_have("new key") == ["command"]


def test_threads_may_share_a_publisher_a_copy_and_a_set(published, random):
    publisher = tally.SummaryPublisher(published, "a")
    replica, peers = tally.SummaryReplica(**terms_of(published)), tally.SummarySet(**terms_of(published))
    keys = random.integers(0, 2**62, 800)
    replica.apply(publisher.publish())
    peers.apply(publisher.full())

    def inserts():
        for part in numpy.array_split(keys, 4):
            insert_all(published, part[:150])
            insert_all(published, part[150:])

    def publishes():
        for _ in range(40):
            message = publisher.publish()
            replica.apply(message)
            peers.apply(message)
            publisher.heartbeat()

    def asks():
        for _ in range(30):
            replica.may_contain_batch(keys)
            found = peers.who_may_have_batch(keys)
            assert len(found.key_indices) == len(found.peer_indices) <= 800
            int(keys[0]) in replica
            peers.apply(publisher.answer(peers.request("a")))
            replica.filter()
            repr(replica), repr(peers), repr(publisher), replica.status, publisher.version

    run_in_threads(inserts, publishes, publishes, asks, asks)
    publisher.publish()
    replica.apply(publisher.full())
    peers.apply(publisher.full())
    assert has_bits_of(replica.filter(), published) and replica.may_contain_batch(keys).all()
    assert len(peers.who_may_have_batch(keys).key_indices) == 800 and replica.status.digest == peers.status("a").digest


@QUICK
@given(st.data())
def test_whatever_is_passed_there_is_a_result_or_an_exception(data):
    own = tally.CountingBloomFilter(num_keys=10, false_positive_rate=0.01)
    publisher, replica, peers = tally.SummaryPublisher(own, "a"), tally.SummaryReplica(), tally.SummarySet()
    if data.draw(st.booleans()):
        peers.apply(publisher.publish())
        replica.apply(publisher.full())
    for _ in range(4):
        one = data.draw(st.sampled_from([publisher, replica, peers]))
        names = [name for name in sorted(dir(one)) if callable(getattr(one, name)) and not name.startswith("_")]
        call(getattr(one, data.draw(st.sampled_from(names))), data, data.draw(st.integers(0, 1)))
    call(data.draw(st.sampled_from([tally.SummaryPublisher, tally.read_summary_message, tally.summary_message_bytes])), data, 2)
    names = [*inspect.signature(data.draw(st.sampled_from([tally.SummaryReplica, tally.SummarySet]))).parameters]
    for cls in (tally.SummaryReplica, tally.SummarySet):
        arguments = {name: data.draw(ANY) for name in data.draw(st.lists(st.sampled_from(names), max_size=3, unique=True))}
        call(lambda: cls(**arguments), data, 0)
    assert repr(publisher) and repr(replica) and repr(peers) and len(peers) <= 1


def test_bytes_that_change_while_they_are_read_make_no_wrong_copy(random):
    own = tally.BloomFilter(num_keys=50_000, false_positive_rate=0.01)
    insert_all(own, range(50_000))
    message = bytearray(tally.SummaryPublisher(own, "a").publish())
    results, is_done = [], threading.Event()

    def applies():
        try:
            for _ in range(200):
                replica = tally.SummaryReplica()
                try:
                    replica.apply(message)
                    results.append(has_bits_of(replica.filter(), own))
                except tally.FormatError:
                    results.append(None)
        finally:
            is_done.set()

    def changes():
        for position in itertools.cycle(random.integers(200, len(message), 1000).tolist()):
            message[position] ^= 255
            time.sleep(0)
            message[position] ^= 255
            if is_done.is_set():
                return

    run_in_threads(applies, changes)
    assert len(results) == 200 and False not in results


def test_signatures_reprs_and_no_pickles():
    own = tally.BloomFilter(num_keys=10, false_positive_rate=0.01)
    publisher, replica, peers = tally.SummaryPublisher(own, "né\udcff"), tally.SummaryReplica(), tally.SummarySet()
    assert publisher.filter is own and publisher.memory_bytes >= own.memory_bytes
    assert str(inspect.signature(tally.SummaryPublisher)) == "(filter, name, *, epoch=0, message_secret=None, group='')"
    defaults = {name: one.default for name, one in inspect.signature(tally.SummarySet).parameters.items()}
    assert (defaults["max_peers"], defaults["max_total_bytes"], defaults["max_bytes_per_peer"]) == (1000, 2**30, 2**28)
    assert "empty" in repr(replica) and "0 peers" in repr(peers)
    replica.apply(publisher.publish())
    peers.apply(publisher.full())
    assert "current" in repr(replica) and "1 peers" in repr(peers) and "version 1" in repr(publisher)
    for one in (publisher, replica, peers):
        with pytest.raises(TypeError):
            pickle.dumps(one)
        with pytest.raises(TypeError):
            copy.copy(one)
        for name, member in vars(type(one)).items():
            if not name.startswith("_"):
                assert inspect.isroutine(member) and inspect.signature(member) or member.__doc__, name
