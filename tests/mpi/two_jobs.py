#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Two jobs that connect: each is started by an mpiexec of its own, or without one. Nothing depends on how long something
takes: each step waits for what the other job says.

usage: two_jobs.py MPIEXEC PROGRAM CASE [RANKS RANKS]

A number of ranks of 0 is a process without a launcher. With AFAR=COMMAND in the environment the clients run on another
host, where the command starts them (tests/hosts/two_jobs.sh). Exit status 77: the case needs root, to be another user too.
"""
import contextlib
import os
import pathlib
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest.mock

MPIEXEC, PROGRAM, CASE = sys.argv[1:4]
RANKS = [int(text) for text in sys.argv[4:6]] or [1, 1]
AFAR = os.environ.get("AFAR", "").split()
CLIENTS = {"connect", "connect_name", "connect_threads", "wait_at", "hold_client", "loop_client"}
jobs = []


class Job:
    """A job, whose standard error joins its output."""

    def __init__(self, ranks, *words, user=None):
        launcher = [MPIEXEC, "--oversubscribe", "-n", str(ranks)] if ranks else []
        self.words = [*(AFAR if words[0] in CLIENTS else []), *launcher, PROGRAM, *(str(word) for word in words)]
        self.lines = []
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.STDOUT, user=user)
        jobs.append(self)

    def until(self, pattern):
        """The first group of the line that says so."""
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.match(pattern, line)
            if found:
                return found.group(found.re.groups)
        fail(f"{self.words} never said {pattern}")

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self, good=True, says=""):
        self.lines += self.process.stdout.readlines()
        status = self.process.wait()
        text = "".join(self.lines)
        if (status == 0) != good or not re.search(says, text):
            fail(f"{self.words} ended with status {status}; wanted: {'0' if good else 'another'} and {says!r}")


def fail(why):
    print("FAILED:", why)
    for job in jobs:
        if job.process.poll() is None:
            job.process.kill()
        print(" ".join(job.words), "wrote:")
        print("".join(job.lines + job.process.stdout.readlines()))
    sys.exit(1)


def port_of(server):
    return server.until(r"port (weft:\S+)")


def meet(rounds):
    server = Job(RANKS[0], "serve", rounds)
    client = Job(RANKS[1], "connect", rounds, port_of(server))
    client.end()
    server.end()


def threads():
    """At MPI_THREAD_MULTIPLE."""
    server = Job(RANKS[0], "serve_threads", 1)
    client = Job(RANKS[1], "connect_threads", 1, port_of(server))
    client.end()
    server.end()


def several(rounds):
    """One server, client after client."""
    server = Job(RANKS[0], "serve", rounds)
    port = port_of(server)
    for _ in range(rounds):
        Job(RANKS[1], "connect", 1, port).end()
    server.end()


def names():
    name = f"two jobs {os.getpid()}"
    server = Job(RANKS[0], "serve_name", 1, name)
    server.until("(published)")
    Job(RANKS[1], "connect_name", 1, name).end()
    server.end()
    # A name ends with its job.
    Job(RANKS[1], "connect_name", 1, name).end(good=False, says="is not published by a job of this user on this host")


def ambiguous():
    name = f"two jobs {os.getpid()}"
    servers = [Job(RANKS[0], "serve_name", 1, name) for _ in range(2)]
    for server in servers:
        server.until("(published)")
    Job(RANKS[1], "connect_name", 1, name).end(good=False, says="is published by several jobs")
    for server in servers:
        server.process.kill()
        server.end(good=False)


def answer_of(number, user):
    """What mpiexec answers a process of this user that asks for the job's memory."""
    words = b"visit"
    question = struct.pack("=II", 4 + len(words), len(words)) + words
    owner = os.geteuid()
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        with contextlib.suppress(OSError):
            os.setuid(user)
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(f"\0weft job of user {owner}: {number}")
                line.sendall(question)
                os.write(write_end, line.recv(4096))
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text


def users():
    """Another user that knows the port neither connects nor learns anything."""
    other = 65534
    name = f"two jobs {os.getpid()}"
    published = Job(RANKS[0], "serve_name", 1, name)
    published.until("(published)")
    server = Job(RANKS[0], "serve", 1)
    port = port_of(server)
    number, job = port.removeprefix("weft:").partition("/")[0].rpartition(":")[0].split(":", 1)
    if job.encode() not in answer_of(number, os.geteuid()):
        fail("mpiexec does not answer the own user")
    if answer_of(number, other):
        fail("mpiexec answers another user")
    Job(RANKS[1], "connect", 1, port, user=other).end(good=False, says="is not on this host, or has ended")
    Job(RANKS[1], "connect_name", 1, name, user=other).end(good=False, says="is not published by a job of this user")
    Job(RANKS[1], "connect", 1, port).end()
    Job(RANKS[1], "connect_name", 1, name).end()
    server.end()
    published.end()


def join():
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "socket")
        one = Job(RANKS[0], "join", "listen", path)
        one.until("(listens)")
        other = Job(RANKS[1], "join", "call", path)
        other.end()
        one.end()


def errors():
    Job(RANKS[0], "errors").end()


def unserved():
    """A port that is open, and at which nobody accepts: a time, the end of the server, and its death."""
    server = Job(RANKS[0], "open")
    port = port_of(server)
    Job(RANKS[1], "wait_at", port, "timeout").end()
    client = Job(RANKS[1], "wait_at", port, "end")
    client.until("(connects)")
    server.say("go")
    server.end()
    client.end()
    server = Job(RANKS[0], "open")
    port = port_of(server)
    client = Job(RANKS[1], "wait_at", port, "end")
    client.until("(connects)")
    server.process.kill()
    client.end()
    server.end(good=False)
    # Its port stays in somebody's hands.
    Job(RANKS[1], "wait_at", port, "end").end()


def death(victim):
    """A rank of either job, or an mpiexec: both jobs end."""
    server = Job(RANKS[0], "hold_server")
    client = Job(RANKS[1], "hold_client", port_of(server))
    pids = [int(job.until(r"connected (\d+)")) for job in (server, client)]
    first, second = (server, client) if victim.startswith("server") else (client, server)
    if victim.endswith("_mpiexec"):
        first.process.kill()
    else:
        os.kill(pids[0 if first is server else 1], signal.SIGKILL)
    second.end(good=False, says="which this process is connected with, has ended without MPI_Finalize")
    first.end(good=False)


def killed(runs):
    """A process of either job at any moment of many connections: both jobs end."""
    seed = int(os.environ.get("TEST_SEED", "1"))
    chance = random.Random(seed)
    for run in range(runs):
        jobs.clear()
        server = Job(RANKS[0], "loop_server")
        port = port_of(server)
        client = Job(RANKS[1], "loop_client", port)
        client.until("(port)")
        pids = [int(found.group(1)) for job in jobs for line in job.lines if (found := re.match(r"pid (\d+)", line))]
        pids += [job.process.pid for job in jobs]
        time.sleep(chance.random() * 0.2)
        victim = chance.choice(sorted(set(pids)))
        print(f"run {run} of seed {seed}: kill {victim} of {pids}", flush=True)
        with contextlib.suppress(ProcessLookupError):  # the whole machine was stopped, and both have given up
            os.kill(victim, signal.SIGKILL)
        server.end(good=False)
        client.end(good=False)


def settings():
    """Jobs whose memory is laid out in other ways do not connect, nor do jobs on two hosts whose algorithms differ."""
    server = Job(RANKS[0], "open")
    port = port_of(server)
    os.environ.update({"WEFT_COLL_LEADERS": "off"} if AFAR else {"WEFT_RING_BYTES": "1M"})
    Job(RANKS[1], "wait_at", port, "end").end()
    server.say("go")
    server.end()


# ---- Of two hosts


def secret_of(port):
    """The file with a port's secret."""
    number = 0xcbf29ce484222325
    for byte in port.encode():
        number = (number ^ byte) * 0x100000001b3 % 2**64
    return pathlib.Path(os.environ["WEFT_PORTS"]) / f"secret-{number.to_bytes(8, 'little').hex()}"


def tcp_of(port):
    """Where the mpiexec of a port listens."""
    address, _, number = port.rpartition("/")[2].rpartition(":")
    return address.split(",")[0], int(number)


def refused(port, says):
    Job(RANKS[1], "connect", 1, port).end(good=False, says=says)


def secret():
    """A client without the port's secret gets an error that names the file; one that has it connects."""
    server = Job(RANKS[0], "serve", 1)
    port = port_of(server)
    file = secret_of(port)
    text = file.read_text()
    if file.stat().st_mode & 0o777 != 0o600 or text.splitlines()[0] in port:
        fail(f"the secret of {port} is not kept")
    file.chmod(0o644)
    refused(port, "is not a file that this user alone may read")
    file.unlink()
    refused(port, "cannot be read from .*secret-.*: No such file")
    for wrong, says in ((text[:-1].translate(str.maketrans("0123456789abcdef", "123456789abcdef0")), "does not take the port's secret"),
                        ("no secret", "has no secret of a port")):
        file.touch(0o600)
        file.write_text(wrong + "\n")
        refused(port, says)
        file.unlink()
    file.touch(0o600)
    file.write_text(text)
    Job(RANKS[1], "connect", 1, port).end()
    server.end()
    refused(port, "cannot be read from")


def strangers():
    """Whatever is said to a port without its secret, a job that has it connects, and the server's hears nothing of it."""
    server = Job(RANKS[0], "serve", 1)
    port = port_of(server)
    chance = random.Random(1)
    silent = [socket.create_connection(tcp_of(port)) for _ in range(100)]
    hello = struct.pack("=IIQQ", 0x014a4557, len(port), 1, 2)
    for said in (b"x", b"GET / HTTP/1.0\r\n\r\n", chance.randbytes(100), chance.randbytes(100000), b"\0" * 5000, hello,
                 hello + port.encode(), hello + port.encode() * 10, struct.pack("=IIQQ", 0x014a4557, 2**32 - 1, 1, 2) + b"a" * 4000):
        with contextlib.suppress(ConnectionError), socket.create_connection(tcp_of(port)) as line:
            line.sendall(said)
            while line.recv(4096) and len(said) > 30:
                pass
    Job(RANKS[1], "connect", 1, port).end()
    server.end()
    for line in silent:
        line.close()


def silent():
    """A port that leads to somebody else, who says nothing, other things, or nothing more: an error after a while."""
    with socket.create_server(("10.77.0.1", 0)) as listener:
        port = f"weft:1:h1-1:1/10.77.0.1:{listener.getsockname()[1]}"
        file = secret_of(port)
        file.parent.mkdir(0o700, parents=True, exist_ok=True)
        file.touch(0o600)
        file.write_text("0123456789abcdef" * 2 + "\n")
        refused(port, "cannot be reached at any of its addresses")
        listener.accept()[0].close()
        for said, says in ((b"what?" * 100, "cannot be reached at any of its addresses"),
                           (struct.pack("=IIQ", 0x014a4557, 0, 5), "does not take the port's secret")):
            client = Job(RANKS[1], "connect", 1, port)
            with listener.accept()[0] as line:
                line.sendall(said)
                line.recv(100)
            client.end(good=False, says=says)
        file.unlink()


def cut_off():
    """The client's host is cut off: both jobs end, each with a message, after the silence that is a loss."""
    server = Job(RANKS[0], "hold_server")
    client = Job(RANKS[1], "hold_client", port_of(server))
    for job in (server, client):
        job.until(r"(connected)")
    subprocess.run([AFAR[0], "cut", "h2"], check=True)
    for job in (server, client):
        job.end(good=False, says="or its host cannot be reached any more")


def stopped():
    """A client that is stopped when its turn comes: an error at both sides, at the server's after a while."""
    with unittest.mock.patch.dict(os.environ, WEFT_CONNECT_TIMEOUT="1"):
        server = Job(RANKS[0], "accept_in_vain")
    port = port_of(server)
    client = Job(RANKS[1], "wait_at", port, "end")
    pid = int(client.until(r"connects (\d+)"))
    time.sleep(1)  # until it waits at the port; it gets its error when the port is closed if it is not there yet
    os.kill(pid, signal.SIGSTOP)
    server.say("accept")
    server.until("(refused)")
    os.kill(pid, signal.SIGCONT)
    client.end()
    server.say("close")
    server.end()


def users_afar():
    """A process of another user, who knows the port, does not connect."""
    server = Job(RANKS[0], "serve", 1)
    port = port_of(server)
    AFAR.extend(["setpriv", "--reuid=65534", "--clear-groups"])
    refused(port, "cannot be opened|is not this user's")
    del AFAR[-3:]
    Job(RANKS[1], "connect", 1, port).end()
    server.end()


CASES = {"secret": secret, "cut_off": cut_off, "stopped": stopped, "strangers": strangers, "silent": silent, "users_afar": users_afar, "meet": lambda: meet(1), "again": lambda: meet(5), "several": lambda: several(4), "threads": threads, "names": names,
         "ambiguous": ambiguous, "users": users, "join": join, "errors": errors, "unserved": unserved, "settings": settings, "killed": lambda: killed(10),
         **{f"death_{who}": lambda who=who: death(who) for who in ("server", "client", "server_mpiexec", "client_mpiexec")}}
ports = None
if "WEFT_PORTS" not in os.environ:  # an mpiexec that is killed leaves the secret of its port
    ports = tempfile.TemporaryDirectory()
    os.environ["WEFT_PORTS"] = ports.name
if CASE in ("users", "users_afar") and os.geteuid() != 0:
    print("skipped: only root can be another user too")
    sys.exit(77)
CASES[CASE]()
print("ok")
