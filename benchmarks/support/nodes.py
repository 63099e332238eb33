"""Nodes of `tally node`, a Redis server for them, and what they take: for time_nodes and soak_nodes."""

import json
import os
import select
import signal
import socket
import subprocess
import time


class Redis:
    """A server by a socket that keeps nothing. Each node has a user of its own, so that it can be cut off."""

    def __init__(self, directory):
        self.directory = directory
        self.path = os.path.join(directory, "redis.sock")
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.path, "--save", "", "--appendonly", "no",
             "--dir", self.directory], stdout=subprocess.DEVNULL)
        while True:
            try:
                self.call("PING")
                return
            except OSError:
                time.sleep(0.02)

    def stop(self):
        self.process.kill()
        self.process.wait()

    def call(self, *words):
        """The reply, as bytes with the header of the protocol."""
        with socket.socket(socket.AF_UNIX) as server:
            server.connect(self.path)
            server.sendall(b"*%d\r\n" % len(words) + b"".join(
                b"$%d\r\n%s\r\n" % (len(word), word)
                for word in (word if isinstance(word, bytes) else str(word).encode() for word in words)))
            reply = server.recv(65536)
            if reply[:1] == b"$":
                need = int(reply[1:reply.index(b"\r\n")]) + reply.index(b"\r\n") + 4
                while len(reply) < need:
                    reply += server.recv(65536)
            return reply

    def info(self):
        lines = self.call("INFO").decode(errors="replace").splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def make_user(self, name):
        self.call("ACL", "SETUSER", name, "on", ">secret", "~*", "&*", "+@all")
        return f"unix://{name}:secret@{self.path}"

    def cut_off(self, name):
        self.call("ACL", "SETUSER", name, "off")
        self.call("CLIENT", "KILL", "USER", name)

    def let_in(self, name):
        self.call("ACL", "SETUSER", name, "on")


class Node:
    """A process of `tally node`."""

    def __init__(self, build, redis, name, *flags):
        self.name = name
        self.process = subprocess.Popen(
            [os.path.join(build, "bin", "tally"), "node", name, "--json", "--quiet", "--stay",
             "--redis", redis.make_user(name), *flags],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.buffer = b""

    def say(self, text):
        self.process.stdin.write(text if isinstance(text, bytes) else text.encode())
        self.process.stdin.flush()

    def answer(self, seconds=600):
        """The next line of the node."""
        end = time.monotonic() + seconds
        file = self.process.stdout.fileno()
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([file], [], [], max(0, end - time.monotonic()))
            part = os.read(file, 1 << 16) if ready else b""
            if not part:
                raise RuntimeError(f"{self.name} does not answer")
            self.buffer += part
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def status(self):
        self.say("!status\n")
        return self.answer()["status"]

    def who_may_have(self, keys):
        """For each key, the names of the nodes that may have it."""
        found = []
        for first in range(0, len(keys), 500):  # no more than a pipe holds
            part = keys[first:first + 500]
            self.say("".join(f"?{key}\n" for key in part))
            found += [set(self.answer()["peers"]) for _ in part]
        return found

    def memory(self, field="RssAnon"):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith(field))

    def processor_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def versions(statuses):
    return {status["name"]: (status["epoch"], status["sequence"]) for status in statuses}


def have_converged(statuses):
    """Whether each has told everything, and has the newest version of all others."""
    newest = versions(statuses)
    for status in statuses:
        if status["pending_changes"] or not status["sequence"] or not status["is_connected"]:
            return False
        held = {peer["name"]: (peer["epoch"], peer["sequence"]) for peer in status["peers"]}
        if any(held.get(name) != version for name, version in newest.items() if name != status["name"]):
            return False
    return True


def converge(nodes, seconds=600):
    """The time until they have, in seconds."""
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        if have_converged([node.status() for node in nodes]):
            return time.monotonic() - start
        time.sleep(0.05)
    raise RuntimeError("the nodes do not converge")
