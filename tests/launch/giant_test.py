#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Two real ranks of a job that claims to have hundreds of thousands (docs/design/scale.md). This is the launcher: a server of PMI-1
that says how the ranks are placed on hosts, and answers for ranks that are not there with what a real one has published. GIANT
is the program of giant.c. With `--table` it prints what was measured instead of testing it."""
import os
import re
import subprocess
import sys
import threading
import unittest

import pmi1
import timing

GIANT = os.environ.get("GIANT", "")
ONE_HOST = "(vector,(0,1,2),(1,21874,32),(21875,1,30))"  # ranks 0 and 1 share a host, all others are elsewhere
TWO_HOSTS = "(vector,(0,1,1),(1,21874,32),(21875,1,30),(21876,1,1))"  # rank 0 and the last are alone on their hosts
SIZE = 700000
# Over TCP a peer proves who it is before anything is sent to it: one that stands in for others cannot.
STAND_INS = {"WEFT_NETWORK_LIBRARY": "ofi"}


class Server(pmi1.Job):
    """A job of `size` ranks, of which `real` are started; `ranks` are what they become in another order of ranks. `mapping` is
    PMI_process_mapping."""

    def __init__(self, size, real, mapping, **env):
        super().__init__(size, size, {"PMI_process_mapping": mapping})
        self.real, self.ranks, self.env = real, real, env
        self.per_host = max(map(int, re.findall(r",(\d+)\)", mapping)))
        self.lock = threading.Lock()
        self.asked = {rank: {} for rank in real}  # by command: requests, and bytes of them and of their answers
        self.steps = {rank: {} for rank in real}  # what each rank said, and what it had asked for until then

    def run(self, *words, most_seconds=60):
        threads, sockets, self.processes = [], [], {}
        for rank, other in zip(self.real, reversed(self.ranks)):
            self.processes[rank], ours = self.start(rank, [GIANT, str(other), *map(str, words)],
                                                    pmi1.clean(keep=["WEFT_LIBFABRIC"], **{"WEFT_LOST_AFTER": "0", **self.env}), stdin=subprocess.PIPE)
            sockets.append(ours)
            threads += [threading.Thread(target=self.serve, args=(ours, rank), daemon=True),
                        threading.Thread(target=self.listen, args=(rank,), daemon=True)]
        self.together = threading.Barrier(len(self.real))
        killer = threading.Timer(most_seconds, self.kill)
        killer.start()
        for thread in threads:
            thread.start()
        errors = "".join(process.stderr.read() for process in self.processes.values())
        status = [process.wait() for process in self.processes.values()]
        killer.cancel()
        for thread in threads:
            thread.join(5)
        for sock in sockets:
            sock.close()
        for process in self.processes.values():
            for stream in process.stdin, process.stdout, process.stderr:
                stream.close()
        return status, errors

    def kill(self):
        self.together.abort()
        for process in self.processes.values():
            process.kill()

    def listen(self, rank):
        """A step ends when all real ranks have come to its end."""
        process = self.processes[rank]
        for line in process.stdout:
            name, *rest = line.split()
            fields = dict(word.split("=") for word in rest if "=" in word)
            with self.lock:
                asked = {command: tuple(figures) for command, figures in self.asked[rank].items()}
            self.steps[rank][name] = {**{k: float(v) for k, v in fields.items()}, "asked": asked}
            try:
                self.together.wait()
                if fields:
                    process.stdin.write("\n")
                    process.stdin.flush()
            except (threading.BrokenBarrierError, OSError):
                break
        if process.wait() != 0:
            self.kill()

    def record_of_fake(self, turn, piece):
        """The record of a host whose ranks are not there: each of them says what the first real rank says."""
        pieces = []
        while (value := self.values.get(f"weft-notes{turn}-{len(pieces)}-{self.real[0]}")) is not None:
            pieces.append(value)
        notes = "".join(pieces).partition(":")[2]
        _, length, rest = notes.split(":", 2)
        notes = f"0:{length}:{rest[:int(length)]}" + (self.per_host - 1) * f"{length}:0:"
        record = f"{len(notes)}:{notes}"
        return record[900 * piece:900 * (piece + 1)]

    def known(self, key, rank):
        """Of a rank that is not there: what a real one says under such a key."""
        if key not in self.values and (match := re.fullmatch(r"weft-notes(\d+)-(\d+)-\d+", key)):
            return self.record_of_fake(int(match[1]), int(match[2]))
        if key not in self.values and (match := re.fullmatch(r"(.*)-(\d+)", key)) and int(match[2]) < self.size:
            for real in reversed(self.real):
                if f"{match[1]}-{real}" in self.values:
                    return self.values[f"{match[1]}-{real}"]
        return self.values.get(key)

    def serve(self, sock, rank):
        try:
            for line in sock.makefile("rb", 0):
                words = dict(word.split("=", 1) for word in line.decode().split())
                with self.lock:
                    figures = self.asked[rank].setdefault(words["cmd"], [0, 0])
                    figures[0] += 1
                    figures[1] += len(line)
                    if words["cmd"] == "barrier_in":
                        self.barrier(sock, len(self.real))
                        continue
                    if words["cmd"] == "abort":
                        return self.kill()
                    reply = self.answer(words, rank).encode() + b"\n"
                    figures[1] += len(reply)
                sock.sendall(reply)
        except OSError:
            pass

    def requests(self, rank, step):
        return sum(count for count, _ in self.steps[rank][step]["asked"].values())

    def growth(self, rank, step, since="start"):
        """KiB of a rank's own at the end of a step more than at the end of another."""
        return self.steps[rank][step]["own"] - self.steps[rank][since]["own"]


class Giant(unittest.TestCase):
    """Bounds are well above what was measured (docs/measurements/large-jobs.md) and far below a table of the job's size or a question about
    every rank."""

    def run_job(self, real, mapping, *words, **env):
        server = Server(SIZE, real, mapping, **env)
        status, errors = server.run(*words)
        self.assertEqual(status, [0, 0], errors)
        for line in errors.splitlines():
            self.assertIn("not from a rank of this job", line)  # what was sent to ranks that are not there
        return server

    def check(self, server):
        for rank in server.real:
            self.assertLess(server.requests(rank, "init"), 20)
            # The library that carries messages between hosts holds most of it, whatever the job.
            self.holds("at MPI_Init", server.growth(rank, "init"), 24 << 10)
            self.holds("for groups", server.growth(rank, "groups", "init"), 1 << 10 if server.real[1] == 1 else 8 << 10)

    def holds(self, what, kib, most):
        """Memory that is resident counts in rows with the label `timing`."""
        print(f"timing: KiB of a rank among {SIZE} {what}: {kib:g}, at most {most}")
        if timing.JUDGED:
            self.assertLess(kib, most)

    def test_ranks_of_one_host(self):
        self.check(self.run_job((0, 1), ONE_HOST, WEFT_MINIMUM_MEMORY="on"))

    def test_ranks_of_two_hosts(self):
        self.check(self.run_job((0, SIZE - 1), TWO_HOSTS, WEFT_MINIMUM_MEMORY="on"))

    def run_with_stand_ins(self, *words):
        """A real rank gets what was sent to a stand-in. One such frame in 6000 seems to be from a rank of the job, changed on its
        way, since its origin is hidden from others than its receiver: then the job ends, and is run again."""
        for _ in range(8):
            server = Server(SIZE, (0, SIZE - 1), TWO_HOSTS, **STAND_INS, WEFT_MINIMUM_MEMORY="on")
            status, errors = server.run(*words)
            if not re.search(r"changed on their way from rank (?!0 |699999 )", errors):
                break
        self.assertEqual(status, [0, 0], errors)
        return server

    def test_a_contact_costs_little(self):
        server = self.run_with_stand_ins("1", "500")
        rank = server.real[0]
        self.assertLessEqual(server.requests(rank, "contact-500") - server.requests(rank, "contact-1"), 4 * 500)
        # A page of the table, and the peer.
        self.holds("for 500 contacts", server.growth(rank, "contact-500", "contact-1"), 500 * 5)

    def test_connecting_at_the_start(self):
        for choice, least, most in (("first", 0, 20), ("start", 38, 38 + 20)):
            server = Server(40, (0, 39), "(vector,(0,40,1))", WEFT_CONNECT=choice, WEFT_MINIMUM_MEMORY="on")
            self.assertEqual(server.run(), ([0, 0], ""))
            for rank in server.real:
                self.assertIn(server.requests(rank, "init"), range(least, most))

    def test_other_orders_ask_for_no_more(self):
        # Round robin: rank 0 stays where it is; the only rank of the last host is the last of the first round.
        last_host = 21876
        for method, other in (("0", last_host), ("2", last_host)):
            server = Server(SIZE, (0, SIZE - 1), TWO_HOSTS, WEFT_RANK_REORDER_METHOD=method, WEFT_MINIMUM_MEMORY="on")
            server.ranks = (0, other)
            status, errors = server.run()
            self.assertEqual((status, errors), ([0, 0], ""))
            for rank in server.real:
                self.assertLess(server.requests(rank, "init"), 30)


def table(contacts):
    for title, real, mapping in (("one host", (0, 1), ONE_HOST), ("two hosts", (0, SIZE - 1), TWO_HOSTS)):
        for env in {}, {"WEFT_MINIMUM_MEMORY": "on"}:
            server = Server(SIZE, real, mapping, **STAND_INS, **env)
            status, errors = server.run(*contacts, most_seconds=300)
            print(f"{title} {env}: status {status} {errors.strip()}")
            for step, said in server.steps[0].items():
                if "own" not in said:
                    continue
                count, size = (sum(figures) for figures in zip(*said["asked"].values())) if said["asked"] else (0, 0)
                print(f"  {step:14} own {said['own']:8.0f} KiB {1000 * said['seconds']:9.2f} ms "
                      f"{count:5} requests of {size} bytes", flush=True)


if __name__ == "__main__":
    if "--table" in sys.argv:
        table([word for word in sys.argv[1:] if word.isdigit()] or ["1", "100", "10000"])
    else:
        unittest.main()
