#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""What mpiexec tells the launcher of other hosts."""
import os
import signal
import tempfile
import unittest

from launch_test import Case, HANGS, mpiexec, sh, start

LAUNCHER = """#!/bin/sh
printf '%s ' "$@"
echo
{script}
"""


class Handed(Case):
    """Ranks on other hosts, with a launcher that only says what it was told."""

    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def hand_over(self, *words, script="exit 7", name="mpiexec.hydra", stdin="", hosts="weft-a,weft-b", quiet=True, **env):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(LAUNCHER.format(script=script))
        os.chmod(path, 0o755)
        return mpiexec("-hosts", hosts, *words, stdin=stdin, quiet=quiet, env={"WEFT_REMOTE_LAUNCHER": path, **env})


class Handover(Handed):
    def test_status_input_and_environment_pass_through(self):
        done = self.hand_over("-n", "2", "p", script="cat $2; echo $WEFT_SPIN,$PMI_RANK,$WEFT_RANK; cat; exit 7", stdin="in",
                              WEFT_SPIN="5", PMI_RANK="3", WEFT_RANK="1")
        self.assertEqual((done.returncode, done.stderr), (7, ""))
        told = done.stdout.splitlines()
        self.assertRegex(told[0], "^-machinefile /proc/self/fd/[0-9]+ -genv LD_LIBRARY_PATH [^ ]*/standard-abi:[^ ]+ "
                                  "-genv WEFT_JOB_ID [^ ]+ -genv WEFT_UNIVERSE_SIZE 2 -n 2 p $")
        self.assertEqual(told[1:], ["weft-a:1", "weft-b:1", "5,,", "in"])

    def test_a_search_path_is_told_once(self):
        for name in ("mpiexec.hydra", "prterun"):
            for option in (("-genv", "LD_LIBRARY_PATH", "/x"), ("-x", "LD_LIBRARY_PATH=/x")):
                told = self.hand_over(*option, "p", name=name).stdout
                self.assertEqual(told.count("/standard-abi:"), 1, told)
                self.assertEqual(told.count("/x"), 1, told)

    def test_the_remote_shell_is_passed_on(self):
        self.assertIn("-launcher-exec /x/rsh", self.hand_over("p", WEFT_RSH="/x/rsh").stdout)
        self.assertIn("plm_ssh_agent /x/rsh", self.hand_over("p", name="prterun", WEFT_RSH="/x/rsh").stdout)

    def test_the_time_of_the_job(self):
        done = self.hand_over("--timeout", "0.2", "p", script="exec sleep 200")
        self.assertEqual(done.returncode, 124)
        self.assertIn("did not end within 0.2 s", done.stderr)
        self.assertEqual(self.hand_over("--timeout", str(HANGS), "p").returncode, 7)
        # A launcher that knows the variable would end the ranks before they can tell what they wait for.
        done = self.hand_over("p", script='[ -z "$MPIEXEC_TIMEOUT" ] || exit 9; exec sleep 200', MPIEXEC_TIMEOUT="0.2")
        self.assertEqual(done.returncode, 124, done.stderr)
        self.assertIn("did not end within 0.2 s", done.stderr)
        self.assertEqual(self.hand_over("--timeout", str(HANGS), "p", script="kill -9 $$").returncode, 137)

    def test_signals_reach_the_launcher(self):
        for options in ([], ["--timeout", str(HANGS)]):
            path = os.path.join(self.folder.name, "prterun")
            with open(path, "w") as file:
                file.write(LAUNCHER.format(script="trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done"))
            os.chmod(path, 0o755)
            job = start("-hosts", "weft-a", *options, "p", env=dict(os.environ, WEFT_REMOTE_LAUNCHER=path))
            self.assertEqual([job.stdout.readline() for _ in range(2)][1], "ready\n")
            job.send_signal(signal.SIGTERM)
            job.communicate(timeout=HANGS)
            self.assertEqual(job.returncode, 9, options)

    def test_without_a_launcher_it_is_said_what_to_install(self):
        done = mpiexec("-hosts", "weft-a", "-n", "2", "p", env={"PATH": self.folder.name, "WEFT_REMOTE_LAUNCHER": ""})
        self.assertEqual((done.returncode, done.stderr.count("\n")), (127, 1))
        for text in ("weft-a:2", "neither mpiexec.hydra nor prterun", "apt-get install mpich", "WEFT_REMOTE_LAUNCHER"):
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
