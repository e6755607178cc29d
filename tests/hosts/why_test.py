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

# Waits until mpiexec has said something, and for a second in which it could say it again; then the job is ended.
QUIET = """
said=$(mktemp)
"$MPIEXEC" -hosts h1,h2 -n 2 "$WRONG" receives >/dev/null 2>"$said" &
job=$!
until=$(($(date +%s) + $HANGS))
while [ "$(date +%s)" -lt "$until" ] && ! grep -q "in MPI_Recv at" "$said"; do sleep 0.1; done
sleep 3
kill -0 $job && kill $job
wait $job
cat "$said"
"""

# The ranks that there are before and after mpiexec is killed.
KILLED = """
ranks() { local n; n=$(for file in /proc/[0-9]*/exe; do readlink "$file"; done 2>/dev/null | grep -cxF "$WRONG"); echo "$n ranks"; }
until_there_are() { while [ "$(date +%s)" -lt "$until" ] && [ "$(ranks)" != "$1 ranks" ]; do sleep 0.1; done; ranks; }
until=$(($(date +%s) + $HANGS))
"$MPIEXEC" -hosts h1,h2 -n 2 "$WRONG" receives >/dev/null 2>&1 &
until_there_are 2
kill -9 $!
until_there_are 0
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

    def test_mpiexec_says_it_after_a_quiet_time_once(self):
        done = self.run_on_hosts("bash", "-c", QUIET, "quiet", MPIEXEC=str(BIN / "mpiexec"), WRONG=WRONG, HANGS=str(timing.HANGS),
                                 WEFT_WHY_AFTER="1")
        lines = [line for line in done.stdout.splitlines() if line.startswith("weft: mpiexec: ")]
        self.assertRegex("\n".join(lines), r"(?s)^weft: mpiexec: no rank has written anything for a while, and the job stands still\n"
                         r"weft: mpiexec: deadlock: rank 0 waits for a message from rank 1.*wrong\.c:\d+.*job h1-\d+, 2 ranks")
        self.assertEqual(done.stdout.count("stands still"), 1, done.stdout)

    def test_mpiexec_on_a_host_without_ranks_says_it_too(self):
        for seconds in (1, 4, 16, 64):  # by then both ranks wait
            done = self.run_on_hosts(str(BIN / "mpiexec"), "--timeout", str(seconds), "-hosts", "h2", "-n", "2", WRONG, "receives")
            if "deadlock: rank 0 waits for a message from rank 1" in done.stderr:
                break
        self.assertRegex(done.stderr, r"(?s)did not end within.*deadlock: rank 0 waits for a message from rank 1.*job h1-\d+, 2 ranks")

    def test_the_job_ends_with_mpiexec_when_that_is_killed(self):
        done = self.run_on_hosts("bash", "-c", KILLED, "killed", MPIEXEC=str(BIN / "mpiexec"), WRONG=WRONG, HANGS=str(timing.HANGS))
        self.assertEqual(done.stdout, "2 ranks\n0 ranks\n", done.stderr)

    def test_a_job_that_dies_says_that_there_are_no_statistics(self):
        for settings, ending in (({"WEFT_STATS": "summary"}, ["kill", "-9", "$$"]), ({}, ["kill", "-9", "$$"]), ({"WEFT_STATS": "full"}, ["true"])):
            done = self.run_on_hosts(str(BIN / "mpiexec"), "-hosts", "h1,h2", "-n", "2", "sh", "-c", " ".join(ending), **settings)
            self.assertEqual("(WEFT_STATS), there are none. Remedy: ask while" in done.stderr, len(settings) == 1 and ending[0] == "kill", done.stderr)

    def test_hosts_that_do_not_answer(self):
        done = self.run_on_hosts(str(BIN / "weft"), "why", "--hosts", "h1,nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r'host "nowhere" could not be asked: .*Remedy: ')
        done = self.run_on_hosts(str(BIN / "weft"), "why", "--hosts", "h1,h2", "no-such-job")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, 'no such job runs on "h1,h2". Remedy: ')


if __name__ == "__main__":
    unittest.main()
