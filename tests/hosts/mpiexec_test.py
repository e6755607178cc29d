#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec --hosts on two hosts (hosts.sh), once for each launcher it hands jobs to. LAUNCH_BIN: the folder of mpiexec; WHERE: the
program of where.c, SPAWN, TWO_JOBS: those of tests/mpi; HYDRA, INTEL_HYDRA, PRTERUN: the launchers."""
import os
import pathlib
import subprocess
import unittest

HERE = pathlib.Path(__file__).resolve().parent
MPIEXEC = os.path.join(os.environ["LAUNCH_BIN"], "mpiexec")
WHERE, SPAWN, TWO_JOBS = (os.environ[name] for name in ("WHERE", "SPAWN", "TWO_JOBS"))


def launcher(variable):
    path = os.environ.get(variable, "")
    return unittest.skipUnless(os.access(path, os.X_OK), f"{variable} names no launcher that is here")


class Hosts:
    """The tests, for the launcher that the environment variable VARIABLE names."""

    def run_on_hosts(self, *words, **more):
        return self.run_in_hosts(MPIEXEC, *words, **more)

    def run_in_hosts(self, *words, stdin="", **settings):
        environment = {"WEFT_REMOTE_LAUNCHER": os.environ[self.VARIABLE], "WEFT_RSH": str(HERE / "rsh"), "WEFT_SPIN": "0",
                       "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **settings}
        done = subprocess.run([str(HERE / "hosts.sh"), "2", *words], input=stdin, capture_output=True, text=True,
                              timeout=60, env={**os.environ, **environment})
        if done.returncode == 77:
            raise unittest.SkipTest(done.stderr.strip())
        return done

    def lines(self, *words, **more):
        done = self.run_on_hosts(*words, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return sorted(line for line in done.stdout.splitlines() if line)

    def test_ranks_variables_folders_and_input_find_their_hosts(self):
        self.assertEqual(self.lines("--hosts", "h2,h1:1", "-n", "2", WHERE, ":", WHERE), ["0 h2", "1 h2", "2 h1"])
        script = 'echo "$(hostname) $A,$B,$WEFT_MAILBOX_LIMIT,$GIVEN $(pwd)"'
        self.assertEqual(self.lines("--hosts", "h1,h2", "-genv", "A", "1", "-x", "B=2 3", "sh", "-c", script, ":", "-wdir", "/usr",
                                    "sh", "-c", script, WEFT_MAILBOX_LIMIT="64", GIVEN="a;b"),
                         [f"h1 1,2 3,64,a;b {os.getcwd()}", "h2 1,,64,a;b /usr"])
        self.assertEqual(self.lines("--hosts", "h2", "head", "-n", "2", stdin="one\ntwo\n"), ["one", "two"])

    def test_the_universe_is_what_all_hosts_take(self):
        for words, universe in ((["--hosts", "h1:3,h2:4"], 7), (["--hosts", "h1,h2"], 2), (["--universe", "9", "--hosts", "h1,h2"], 9)):
            with self.subTest(words):
                self.assertEqual(self.lines(*words, "-n", "2", WHERE, "universe"), [f"0 {universe}", f"1 {universe}"])

    def test_ranks_of_both_hosts_spawn_processes_together(self):
        for mode in ("meet", "tree"):
            with self.subTest(mode):
                self.assertEqual(self.lines("--hosts", "h1,h2", "-n", "3", SPAWN, mode), [])

    NO_OTHER_JOB = r"has ranks on several hosts: it connects with no other job, .* Remedy: start both programs with one mpiexec"
    TWO = """
folder=$(mktemp -d)
mkfifo "$folder/port"
"$mpiexec" $server -n 2 "$two_jobs" serve 1 > "$folder/port" &
process=$!
exec 3< "$folder/port"
while read -r word port; do test "$word" = port && break; done <&3
$client_on "$mpiexec" $client -n 2 "$two_jobs" connect 1 "$port" > "$folder/client" 2>&1 && echo connected
cat "$folder/client"
"""

    def two_jobs(self, script, **variables):
        """A server and a client that connects with it; `script` follows the client's end."""
        return self.run_in_hosts("bash", "-c", self.TWO + script, mpiexec=MPIEXEC, two_jobs=TWO_JOBS, **variables)

    def test_another_job_cannot_connect_and_both_are_told_so(self):
        """The server has ranks on both hosts; the client is a job of h1 or h2 alone. Nobody can come to the server's port."""
        for where in ("", f"{HERE}/hosts.sh on h2"):
            with self.subTest(where):
                done = self.two_jobs("wait $process || echo ended", server="--hosts h1,h2", client="--oversubscribe", client_on=where)
                self.assertRegex(done.stdout, self.NO_OTHER_JOB)
                self.assertRegex(done.stderr, "no process can come to the port, as all that the job has on this host accept: .*" +
                                 self.NO_OTHER_JOB)
                self.assertEqual(done.stdout.splitlines()[-1], "ended")

    def test_a_job_on_both_hosts_cannot_connect_and_is_told_so(self):
        """The server, of h1 alone, goes on waiting: another job may come."""
        done = self.two_jobs('"$mpiexec" --oversubscribe -n 1 "$two_jobs" connect 1 "$port" && wait $process && echo good',
                             server="--oversubscribe", client="--hosts h1,h2", client_on="", WEFT_PORTS="off")
        self.assertRegex(done.stdout, self.NO_OTHER_JOB)
        self.assertEqual(done.stdout.splitlines()[-1], "good", done.stderr)


@launcher("HYDRA")
class Hydra(Hosts, unittest.TestCase):
    VARIABLE = "HYDRA"

    def test_output_status_and_time(self):
        self.assertEqual(self.lines("--hosts", "h1,h2", "-n", "2", "-l", "hostname"), ["[0] h1", "[1] h2"])
        self.assertEqual(self.run_on_hosts("--hosts", "h1,h2", "-n", "2", "sh", "-c", "exit 7").returncode, 7)
        done = self.run_on_hosts("--hosts", "h1,h2", "-n", "2", "--timeout", "1", "sleep", "50")
        self.assertEqual(done.returncode, 124)
        self.assertIn("did not end within 1 s", done.stderr)


@launcher("INTEL_HYDRA")
class IntelHydra(Hosts, unittest.TestCase):
    VARIABLE = "INTEL_HYDRA"


@launcher("PRTERUN")
class Prterun(Hosts, unittest.TestCase):
    VARIABLE = "PRTERUN"


if __name__ == "__main__":
    unittest.main()
