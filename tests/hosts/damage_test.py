#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Data that are changed on their way between two hosts (hosts.sh, cable.py), by a fault that leaves the checksums of IP and TCP valid:
the job ends with a message that names both hosts, or its result is right. HYDRA is Hydra's mpiexec, LOST the program of lost.c."""
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import job
from lost_test import HANGS, LOST, Hosts

SAID = r"data were changed on their way from rank \d+ on host (h[12]) to rank \d+ on host (h[12]), over "


class Damage(Hosts):
    def begin(self, *settings):
        """A ring of messages that goes on until end()."""
        folder = tempfile.TemporaryDirectory(dir=os.path.dirname(LOST))
        self.addCleanup(folder.cleanup)
        self.enough = pathlib.Path(folder.name, "enough")
        running = self.start(LOST, "ring", self.enough, ranks=2, hosts=2, lost_after=30, settings=settings)
        running.wait_until_ready()
        return running

    @contextlib.contextmanager
    def spoiled(self, rate, what, settings):
        with self.subTest(" ".join((what, *settings))):
            running = self.begin(*settings)
            try:
                job.on_hosts("spoil", "h2", f"flip={rate}", *what.split())
                yield running
            finally:
                self.clean(running)

    def ends(self, what, *settings, link="tcp"):
        """What cable.py changes ends the job."""
        with self.spoiled(100, what, settings) as running:
            self.check_end(running, 10)
            said = re.search(SAID + link, running.output)
            self.assertTrue(said, running.output)
            self.assertNotEqual(said[1], said[2])
            self.assertNotIn("a rank of this job", running.output)
            self.assertNotIn("element", running.output)

    def goes_on(self, what, *settings):
        """What cable.py changes does no harm."""
        with self.spoiled(20, what, settings) as running:
            self.assertIsNone(running.wait(1), running.output)
            job.on_hosts("heal", "h2")
            self.enough.touch()
            self.assertEqual(running.wait(HANGS), 0, running.output)
            self.assertEqual(self.said(running), [])

    def greets(self, part, rate):
        """A job whose connections begin while greetings are changed; its status."""
        job.on_hosts("spoil", "h2", f"flip={rate}", f"part={part}", "over=tcp", "seed=5")
        running = self.start(LOST, "ring", "1", ranks=2, hosts=2, lost_after=10)
        try:
            return running.wait(HANGS), running.output
        finally:
            self.clean(running)

    def test_a_greeting_is_tried_again(self):
        for part in "hello", "welcome", "line_hello":
            status, output = self.greets(part, 30)
            self.assertEqual(status, 0, output)

    def test_greetings_that_never_come_right_end_the_job(self):
        status, output = self.greets("hello", 100)
        self.assertNotIn(status, (None, 0), output)
        self.assertIn("does not prove to be from a rank of this job", output)
        self.assertIn("cannot be delivered", output)

    def test_a_connection_whose_confirmation_is_changed_ends_the_job(self):
        status, output = self.greets("confirmed", 100)
        self.assertNotIn(status, (None, 0), output)
        self.assertRegex(output, SAID)

    def test_a_changed_word_of_a_lifeline_ends_the_job_and_no_rank_is_blamed(self):
        status, output = self.greets("line_confirmed", 100)
        self.assertNotIn(status, (None, 0), output)
        self.assertIn("changed on their way from rank 1 on host h2 (rank 1) to rank 0 on host h1 (rank 0), over the conn", output)
        self.assertNotIn("without MPI_Finalize", output)

    def test_a_header_over_tcp(self):
        for part in "magic", "origin", "proof", "longer", "staged", "kind", "lane", "sequence", "tag":
            self.ends(f"over=tcp part={part}")

    def test_a_header_in_a_datagram(self):
        for part in "magic", "sequence":
            self.ends(f"over=udp part={part}")

    def test_a_datagram_that_is_changed_in_front_of_its_frame_comes_again(self):
        self.goes_on("over=udp part=datagram")

    def test_a_header_of_an_encrypted_message(self):
        for part in "magic", "longer", "sequence":
            self.ends(f"over=tcp way=out part={part}", "WEFT_ENCRYPT=on")

    def test_data_over_tcp(self):
        for what in "over=udp part=data", "over=tcp part=check":
            self.ends(what)
        for what in "over=tcp part=data", "over=tcp part=pushed":
            self.ends(what, "WEFT_CHECK_DATA=on")
        self.ends("over=tcp part=answered", "WEFT_CHECK_DATA=on", "WEFT_RDMA_FROM=1000")
        self.ends("over=tcp part=data", "WEFT_ENCRYPT=on")

    def test_data_through_a_library(self):
        for library in "ofi", "ucx":
            self.ends("part=data", "WEFT_CHECK_DATA=on", f"WEFT_NETWORK_LIBRARY={library}", link=library)

    def test_a_header_through_a_library(self):
        for library in "ofi", "ucx":
            for part in "magic", "origin", "bytes", "tag":
                self.ends(f"part={part}", f"WEFT_NETWORK_LIBRARY={library}", link=library)
        self.ends("part=sequence", "WEFT_NETWORK_LIBRARY=ofi", "WEFT_ENCRYPT=on", link="ofi")

    def test_the_receiver_of_a_frame_to_a_host_that_shares_an_endpoint(self):
        self.goes_on("part=prefix", "WEFT_NETWORK_LIBRARY=ofi", "WEFT_MINIMUM_MEMORY=host")

    def test_weft_why_does_not_blame_the_program_for_what_was_turned_away(self):
        # Neither the origin nor the proof tells that it is a rank's.
        asking = {**os.environ, "WEFT_REMOTE_LAUNCHER": os.environ["HYDRA"], "WEFT_RSH": str(job.HERE / "rsh")}
        with self.spoiled(100, "part=no_rank+proof", ("WEFT_NETWORK_LIBRARY=ofi",)) as running:
            said, end = "", time.monotonic() + HANGS
            while "turned away" not in said and time.monotonic() < end and running.wait(0.1) is None:
                done = subprocess.run([os.environ["WEFT"], "why", "--hosts", "h1,h2", str(running.pids[0])], env=asking,
                                      capture_output=True, text=True, timeout=HANGS, check=False)
                said = done.stdout + done.stderr
            self.assertRegex(said, r"turned away \d+\. If they were changed on their way, ranks 0 and 1 wait for what", running.output)
            self.assertNotIn("deadlock: ", said)

    def test_questions_and_answers_about_reads_through_ucx(self):
        for part in "ucx_ask", "ucx_answer":
            self.goes_on(f"part={part}", "WEFT_NETWORK_LIBRARY=ucx", "WEFT_RDMA=on", "WEFT_RDMA_FROM=1000")


if __name__ == "__main__":
    if not os.access(os.environ["HYDRA"], os.X_OK):
        print("OK (skipped=1): there is no Hydra: tools/dev/launchers.sh mpich installs it")
        sys.exit(0)
    job.enter(2)
    unittest.main()
