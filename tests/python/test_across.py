"""The same file gives the same answers in Python, in C++, in the command and in Redis, for keys of every type."""

import os
import pathlib
import shutil
import subprocess
import time

import numpy
import pytest

import tally
from conftest import FILTERS, insert_all

TEXT = ["apple", "42", "né日😀", "a b", "0"]
NUMBERS = [0, 1, 42, -1, -5, 2**63 - 1, -(2**63), 2**64 - 2]
ABSENT_TEXT = [f"absent {i}" for i in range(50)]


def run(command, *arguments, stdin=""):
    done = subprocess.run([command, *arguments], input=stdin.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode in (0, 1), done.stderr.decode()
    return done.stdout.decode().splitlines()


@pytest.fixture
def written(filter_class, tmp_path):
    own = filter_class(**{**FILTERS[filter_class], "seed": None})
    insert_all(own, TEXT)
    insert_all(own, NUMBERS)
    path = tmp_path / "f.tally"
    own.save(path)
    return own, path


def test_the_command_answers_from_a_file_of_python(written, command):
    own, path = written
    asked = TEXT + ABSENT_TEXT
    assert run(command, "query", str(path), stdin="\n".join(asked) + "\n") == [key for key in asked if key in own]


def test_the_command_takes_numbers_as_python_does(written, command):
    own, path = written
    for kind, asked in [("u64", [0, 1, 42, 7, 2**64 - 1, 2**64 - 5, 2**63 - 1]), ("i64", [*NUMBERS[:7], 7, 8])]:
        found = run(command, "query", "--key-type", kind, str(path), stdin="".join(f"{key}\n" for key in asked))
        assert found == [str(key) for key in asked if key in own]


def test_python_reads_what_the_command_built(filter_class, command, tmp_path):
    own = filter_class(**FILTERS[filter_class])
    own.save(tmp_path / "empty.tally")
    for kind, keys in [("text", TEXT), ("i64", NUMBERS[:7])]:
        run(command, "build", "-o", str(tmp_path / kind), "--like", str(tmp_path / "empty.tally"), "--key-type", kind,
            stdin="".join(f"{key}\n" for key in keys))
        same = filter_class(**FILTERS[filter_class])
        insert_all(same, keys)
        assert tally.open(tmp_path / kind) == same


def test_cxx_reads_and_writes_the_same(written, tmp_path):
    program = os.environ.get("TALLY_CXX_KEYS")
    if not program:
        pytest.skip("TALLY_CXX_KEYS is not set")
    own, path = written
    answers = run(program, str(path), str(tmp_path / "out.tally"))
    # It asks for each of these keys as text, as std::int64_t and as std::uint64_t, and inserts "from C++" and -7.
    wanted = [str(int(key in own)) for key in ["apple", "42", "absent"]] + [str(int(key in own)) for key in [42, -5, 7, 2**64 - 5]]
    assert answers == wanted
    insert_all(own, ["from C++"])
    insert_all(own, [-7])
    assert tally.open(tmp_path / "out.tally") == own


@pytest.fixture
def redis_server(tmp_path):
    module, server = os.environ.get("TALLY_MODULE"), shutil.which("redis-server")
    redis = pytest.importorskip("redis")
    if not module or not server or not pathlib.Path(module).exists():
        pytest.skip("no module for Redis, or no redis-server")
    socket = str(tmp_path / "socket")
    process = subprocess.Popen([server, "--port", "0", "--unixsocket", socket, "--loadmodule", module, "--save", "", "--dir", str(tmp_path)],
                               stdout=subprocess.DEVNULL)
    client = redis.Redis(unix_socket_path=socket)
    for _ in range(200):
        try:
            client.ping()
            break
        except redis.ConnectionError:
            time.sleep(0.02)
    yield client
    process.terminate()
    process.wait()


def exported(client, name):
    pieces, position = [], 0
    while True:
        position, piece = client.execute_command("TALLY.EXPORT", name, position)
        pieces.append(piece)
        if int(position) == 0:
            return b"".join(pieces)


def test_redis_has_the_same_keys(redis_server):
    client = redis_server
    client.execute_command("TALLY.CREATE", "f", "--kind", "bloom", "--keys", 1000, "--false-positive-rate", "1%")
    items = [key.encode() for key in TEXT] + [key.to_bytes(8, "little", signed=key < 2**63) for key in NUMBERS]
    client.execute_command("TALLY.ADD", "f", *items)
    own = tally.from_bytes(exported(client, "f"))
    assert own.may_contain_batch(TEXT).all() and own.may_contain_batch(NUMBERS).all()
    same = tally.BloomFilter(own.shape, seed=own.seed)
    same.insert_batch(TEXT)
    same.insert_batch(NUMBERS)
    assert same == own
    same.insert(numpy.int16(-300))
    assert int(client.execute_command("TALLY.IMPORT", "g", 0, same.to_bytes()) is not None)
    asked = [(-300).to_bytes(8, "little", signed=True), b"-300", b"apple"]
    assert [int(answer) for answer in client.execute_command("TALLY.QUERY", "g", *asked)] == [1, 0, 1]
