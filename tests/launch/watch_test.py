#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""A launcher that does nothing when a rank dies: this script. The ranks notice it themselves. Run by ctest with the program
in WEFT_VICTIM, which says its pid and then communicates without an end."""
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import pmi1

VICTIM = os.environ.get("WEFT_VICTIM", "")


class Server(pmi1.Job):
    def __init__(self, size):
        super().__init__(size, size)
        self.lock = threading.Lock()
        self.ranks, self.sockets, self.pids = [], [], []
        for rank in range(size):
            process, ours = self.start(rank, [VICTIM], pmi1.clean(), stdin=subprocess.DEVNULL)
            self.ranks.append(process)
            self.sockets.append(ours)
            threading.Thread(target=self.serve, args=(ours, rank), daemon=True).start()
        for process in self.ranks:
            process.stdout.readline()  # it is in MPI when it says something

    def serve(self, sock, rank):
        try:
            for line in sock.makefile("rb"):
                words = dict(word.split("=", 1) for word in line.decode().split())
                with self.lock:
                    if words["cmd"] == "barrier_in":
                        self.barrier(sock, self.size)
                        continue
                    reply = self.answer(words, rank)
                if reply is None:
                    return
                sock.sendall(reply.encode() + b"\n")
        except OSError:
            pass

    def end(self):
        for process in self.ranks:
            process.kill()
        said = [process.communicate()[1] for process in self.ranks]
        for sock in self.sockets:
            sock.close()
        return said


class Watched(unittest.TestCase):
    def test_ranks_notice_that_another_was_killed(self):
        for size, victim in ((2, 0), (3, 1), (5, 4)):
            server = Server(size)
            pid = server.ranks[victim].pid
            server.ranks[victim].kill()
            server.ranks[victim].wait()
            until = time.monotonic() + 20
            while any(process.poll() is None for process in server.ranks) and time.monotonic() < until:
                time.sleep(0.02)
            left = [rank for rank, process in enumerate(server.ranks) if process.poll() is None]
            said = "".join(server.end())
            self.assertEqual(left, [], said)
            self.assertIn(f"rank {victim} (pid {pid}, on this host) ended without MPI_Finalize", said)

    def test_a_rank_that_stops_for_a_while_ends_nothing(self):
        server = Server(3)
        server.ranks[1].send_signal(signal.SIGSTOP)
        time.sleep(3)
        server.ranks[1].send_signal(signal.SIGCONT)
        time.sleep(0.5)
        ended = [rank for rank, process in enumerate(server.ranks) if process.poll() is not None]
        said = server.end()
        self.assertEqual(ended, [], said)


if __name__ == "__main__":
    if not VICTIM:
        print("skipped: WEFT_VICTIM names no program", file=sys.stderr)
        sys.exit(77)
    unittest.main()
