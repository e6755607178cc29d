#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Options of Open MPI's mpirun, as scripts pass them to mpiexec."""
import unittest

from handover_test import Handed
from launch_test import CPUS, Case, mpiexec, sh


class OpenMpi(Case):
    def told(self, *words, status=0, **env):
        done = mpiexec(*words, quiet=False, env=env)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_options_without_a_meaning_are_named_once_for_each_reason(self):
        mca = ("--mca", "btl", "tcp,self", "-mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--gmca", "a", "b")
        rest = ("--prefix", "/p", "--output-filename", "f", "--display-allocation", "--use-hwthread-cpus", "-v")
        done = self.told(*mca, *rest, *sh("echo $WEFT_SIZE"))
        self.assertEqual(done.stdout, "1\n")
        lines = done.stderr.splitlines()
        self.assertRegex(lines[0], "^weft: mpiexec: ignored: --mca btl tcp,self, -mca pml ob1, --gmca a b: Weft chooses transports.*weft info")
        for line, option in zip(lines[1:], ("--prefix /p", "--output-filename f", "--display-allocation", "--use-hwthread-cpus", "-v"), strict=True):
            self.assertRegex(line, f"^weft: mpiexec: ignored: {option}: ")
        self.assertEqual(mpiexec(*mca, *rest, "true").stderr, "", "--quiet")

    def test_options_that_mean_what_mpiexec_does_anyway_are_silent(self):
        script = sh("echo $A,$B")
        done = self.told("--allow-run-as-root", "-np", "1", "--oversubscribe", "-x", "A", "-x", "B=2", "-wdir", "/", *script, A="1")
        self.assertEqual((done.stdout, done.stderr), ("1,2\n", ""))

    def test_mistakes_name_the_option(self):
        for words, text in ((["--mca", "btl"], "--mca needs 2 values"), (["--prefix"], "--prefix needs a value"),
                            (["--report-bindings=1", "true"], "--report-bindings takes no value"), (["--mca", "a", "b"], "no program"),
                            (["-N", "0", "true"], "out of range: 1 to"), (["-N"], "-N needs a value"), (["-N", "1", "-n", "2", "true"], "2 ranks are more than 1 on each host (-N)"),
                            (["--map-by", "rack", "true"], "is not slot, node, ppr:N:node"), (["--map-by", "", "true"], "is not slot"), (["--map-by", "ppr:2:socket", "true"], "is not ppr:N:node"),
                            (["--map-by", "ppr:x:node", "true"], "--map-by: "), (["--map-by", "slot:pe=0", "true"], "out of range"), (["--map-by", "slot:span", "true"], "is not pe=N"),
                            (["--map-by"], "needs a value"), (["--rank-by", "slot:x", "true"], "is not slot, node"), (["--bind-to", "board", "true"], "core, pack, numa, none"),
                            (["--bind-to", "sock", "true"], "nor socket"), (["-N", "1", "true", ":", "true"], "-N is for one program"), (["-N", "3", "-host", "localhost:2", "true"], "fewer than the 3")):
            done = self.told(*words, status=2)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_ranks_of_each_host(self):
        for words in (["-N", "3"], ["--npernode", "3"], ["-npernode=3", "-n", "3"], ["-N", "3", "-host", "localhost:4"]):
            self.assertEqual(self.told(*words, "--oversubscribe", *sh("echo $WEFT_SIZE")).stdout, "3\n" * 3, words)
        self.assertEqual(self.told("-N", "3", "-n", "1", *sh("echo $WEFT_SIZE")).stdout, "1\n")
        self.assertEqual(self.told("--map-by", "ppr:2:node:PE=1", "--oversubscribe", *sh("echo $WEFT_SIZE,$OMP_NUM_THREADS")).stdout, "2,1\n" * 2)
        self.assertIn("\n   2 ", self.told("--show-layout", "-N", "3").stdout)

    def test_mapping_on_this_host(self):
        for words in (["--map-by", "slot"], ["--map-by", "node", "--rank-by", "slot"], ["--map-by", ":OVERSUBSCRIBE"], ["--rank-by", "node"]):
            done = self.told(*words, "-n", "1", "true")
            self.assertEqual(done.stderr, "", words)
        done = self.told("--map-by", "Socket", "--rank-by", "core", "-n", "1", "true")
        self.assertRegex(done.stderr, "^weft: mpiexec: ignored: --map-by socket, --rank-by core: --bind decides .*\n$")
        many = ("-n", str(len(CPUS) + 1), "true")
        self.told("--map-by", "core:NOOVERSUBSCRIBE", *many, status=126)
        self.assertEqual(self.told("--map-by", "slot:OVERSUBSCRIBE", *many).stderr, "")

    def test_words_of_bindings(self):
        show = ("--report-bindings", "-n", "1", "true")
        for word, weft in (("socket", "numa"), ("package:if-supported", "numa"), ("hwthread", "core"), ("core:overload-allowed", "core"), ("none", "none")):
            done = self.told("--bind-to", word, *show)
            ignored = [line for line in done.stderr.splitlines() if "ignored" in line]
            self.assertEqual(len(ignored), word.split(":")[0] != weft, done.stderr)
            self.assertIn(self.told("--bind", weft, *show).stderr, done.stderr)

    def test_bindings_are_reported(self):
        for option in ("--report-bindings", "--display-map"):
            self.assertRegex(self.told(option, "-n", "1", "true").stderr, r"(?m)^rank  cores .*\n +0 ")

    def test_errors_and_output_of_a_rank_are_merged_in_their_order(self):
        done = self.told("--merge-stderr-to-stdout", "--tag-output", *sh("echo a; echo b >&2; echo c"))
        self.assertEqual((done.stdout, done.stderr), ("[0] a\n[0] b\n[0] c\n", ""))

    def test_more_ranks_than_processors_can_be_forbidden(self):
        many = ("-n", str(len(CPUS) + 1))
        for options in (["--nooversubscribe"], ["--oversubscribe", "--nooversubscribe", "--bind", "none"]):
            done = self.told(*options, *many, "echo", "x", status=126)
            self.assertEqual(done.stdout, "")
            self.assertIn(f"{len(CPUS) + 1} ranks are more than the ", done.stderr)
            self.assertIn("--nooversubscribe", done.stderr)
        self.assertEqual(self.told("--nooversubscribe", "--oversubscribe", *many, "true").stderr, "")
        self.assertEqual(self.told("--nooversubscribe", "-n", "1", "true").stderr, "")


class OpenMpiOnHosts(Handed):
    def test_options_of_this_host_alone_are_named(self):
        done = self.hand_over("--report-bindings", "--merge-stderr-to-stdout", "--nooversubscribe", "p", quiet=False)
        self.assertEqual(done.returncode, 7)
        for option in ("--report-bindings", "--merge-stderr-to-stdout", "--nooversubscribe"):
            self.assertRegex(done.stderr, f"(?m)^weft: mpiexec: ignored: {option}: ")
        self.assertEqual(done.stderr.count("\n"), 3, done.stderr)

    def test_ranks_of_each_host(self):
        for words, hosts, ranks in ((["-N", "2"], "weft-a,weft-b", "weft-a:2,weft-b:2"), (["-N", "2", "-n", "3"], "weft-a:8,weft-b:8", "weft-a:2,weft-b:1"),
                                    (["-N", "2", "-n", "4", "--oversubscribe"], "weft-b:2,weft-a:1", "weft-b:2,weft-a:2")):
            told = self.hand_over(*words, "p", name="prterun", hosts=hosts).stdout
            self.assertIn(f" --host {ranks} ", told)
        done = self.hand_over("-N", "2", "-n", "5", "p")
        self.assertEqual(done.returncode, 2)
        self.assertIn("5 ranks are more than 2 on each host (-N), 4 in all", done.stderr)

    def test_ranks_go_to_hosts_in_turn(self):
        method = " WEFT_RANK_REORDER_METHOD=0 "
        for words, ranks, in_turn in (([], "weft-a:3,weft-b:1", False), (["--map-by", "node"], "weft-a:2,weft-b:2", True), (["--rank-by", "node"], "weft-a:3,weft-b:1", True),
                                      (["--map-by", "node", "--rank-by", "slot"], "weft-a:2,weft-b:2", False)):
            told = self.hand_over(*words, "-n", "4", "p", name="prterun", hosts="weft-a:3,weft-b:3").stdout
            self.assertIn(f" --host {ranks} ", told)
            self.assertEqual(method in told, in_turn, told)
        done = self.hand_over("--map-by", "node", "p", WEFT_RANK_REORDER_METHOD="2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("WEFT_RANK_REORDER_METHOD=2", done.stderr)
        self.assertEqual(self.hand_over("--map-by", "node", "p", WEFT_RANK_REORDER_METHOD="0").returncode, 7)

    def test_prterun_is_told_that_root_may_start_ranks(self):
        self.assertIn(" --allow-run-as-root ", self.hand_over("--allow-run-as-root", "p", name="prterun").stdout)
        self.assertNotIn("root", self.hand_over("--allow-run-as-root", "p").stdout)


if __name__ == "__main__":
    unittest.main()
