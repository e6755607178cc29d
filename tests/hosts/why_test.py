#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""weft why of jobs on two hosts (hosts.sh). LAUNCH_BIN: the folder of weft; WRONG: the program of tests/launch/wrong.c; HYDRA:
Hydra's mpiexec. Both hosts see the processes of both here: what a host knows of its own ranks alone, unit/why_part tests."""
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "launch"))
import timing  # noqa: E402

BIN = pathlib.Path(os.environ["LAUNCH_BIN"])
WRONG = os.environ["WRONG"]
HYDRA = os.environ["HYDRA"]

# Starts the job, and asks until the answer has all the words, or the time is up.
ASK = """
"$MPIEXEC" -hosts h1,h2 -n "$RANKS" "$WRONG" "$WAY" >/dev/null 2>&1 &
job=$!
until=$(($(date +%s) + $HANGS))
while [ "$(date +%s)" -lt "$until" ] && kill -0 $job 2>/dev/null; do
  said=$("$WEFT" why "$@" $job 2>&1)
  status=$?
  case $said in *"$EXPECTED"*) break ;; esac
  sleep 0.2
done
kill $job 2>/dev/null
echo "$said"
exit $status
"""


@unittest.skipUnless(os.access(HYDRA, os.X_OK), "there is no Hydra: tools/dev/launchers.sh mpich installs it")
class Why(unittest.TestCase):
    def run_on_hosts(self, *words, **settings):
        done = subprocess.run([str(HERE / "hosts.sh"), "2", *words], capture_output=True, text=True, timeout=2 * timing.HANGS, check=False,
                              stdin=subprocess.DEVNULL,
                              env={**os.environ, "WEFT_REMOTE_LAUNCHER": HYDRA, "WEFT_RSH": str(HERE / "rsh"), **settings})
        if done.returncode == 77:
            raise unittest.SkipTest(done.stderr.strip())
        return done

    def ask(self, way, ranks, expected, *words):
        return self.run_on_hosts("bash", "-c", ASK, "ask", *words, MPIEXEC=str(BIN / "mpiexec"), WEFT=str(BIN / "weft"), WRONG=WRONG,
                                 WAY=way, RANKS=str(ranks), WRONG_UNTIL="/nonexistent/enough", HANGS=str(timing.HANGS), EXPECTED=expected)

    def test_a_deadlock_between_hosts(self):
        done = self.ask("receives", 2, "deadlock: rank 0 waits for a message from rank 1", "--hosts", "h1,h2", "--json")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        answer = json.loads(done.stdout.splitlines()[0])
        self.assertEqual(answer["host"], "h1, h2")
        self.assertEqual(answer["findings"][0]["cause"], "deadlock")
        self.assertTrue(answer["findings"][0]["certain"])
        self.assertEqual([rank["state"] for rank in answer["ranks"]], ["waiting", "waiting"])
        self.assertIn("MPI_Recv", answer["ranks"][1]["waits"][0]["call"])
        self.assertIn("wrong.c", answer["ranks"][1]["waits"][0]["place"])

    def test_a_rank_that_computes_on_another_host(self):
        done = self.ask("compute", 2, "rank 1 computes, and rank 0 waits for it", "--hosts", "h1,h2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("rank 1 computes, and rank 0 waits for it", done.stdout.splitlines()[0])

    def test_mpiexec_says_it_at_its_timeout(self):
        for seconds in (1, 4, 16, 64):  # by then both ranks wait
            done = self.run_on_hosts(str(BIN / "mpiexec"), "--timeout", str(seconds), "-hosts", "h1,h2", "-n", "2", WRONG, "receives")
            self.assertEqual(done.returncode, 124, done.stderr)
            if "deadlock: rank 0 waits for a message from rank 1" in done.stderr:
                break
        self.assertRegex(done.stderr, rf"(?s)did not end within {seconds} s.*deadlock: rank 0 waits for a message from rank 1.*wrong\.c:\d+")

    def test_hosts_that_do_not_answer(self):
        done = self.run_on_hosts(str(BIN / "weft"), "why", "--hosts", "h1,nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r'host "nowhere" could not be asked: .*Remedy: ')
        done = self.run_on_hosts(str(BIN / "weft"), "why", "--hosts", "h1,h2", "no-such-job")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, 'no such job runs on "h1,h2". Remedy: ')


if __name__ == "__main__":
    unittest.main()
