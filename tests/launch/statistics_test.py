#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""WEFT_STATS: counts and bytes of a program whose calls are known (statist.c), reports of jobs that died, files, threads, tools,
weft stats; and a program of OpenSHMEM (statist_shmem.c). LAUNCH_BIN is the folder of mpiexec, STATIST the program, STATIST_TOOL the
program with a tool in it, STATIST_SHMEM that of OpenSHMEM."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import timing

BIN = pathlib.Path(os.environ["LAUNCH_BIN"])
PROGRAM = os.environ["STATIST"]
TOOL = os.environ["STATIST_TOOL"]
SHMEM = os.environ["STATIST_SHMEM"]
MPICH = pathlib.Path(os.environ.get("MPICH_PROGRAMS", "/nonexistent"))
HYDRA = os.environ.get("HYDRA", "")

needs_call_sites = unittest.skipIf(os.environ.get("UNOPTIMISED"), "an entry point that is not optimised calls in place of jumping, "
                                                                  "and is the caller itself then")


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def ask(self, pid):
        """What `weft stats` says of a running job."""
        done = subprocess.run([str(BIN / "weft"), "stats", "--json", str(pid)], capture_output=True, text=True, timeout=timing.HANGS,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def run_job(self, ranks, act, level="summary", file="report.json", program=PROGRAM, launcher=None, words=(), **more):
        environment = {**os.environ, "WEFT_STATS": level}
        if file:
            environment["WEFT_STATS_FILE"] = str(self.folder / file)
        launcher = launcher or [str(BIN / "mpiexec"), "-q"]
        return subprocess.run([*launcher, "-n", str(ranks), program, *words, act], capture_output=True, text=True, timeout=timing.HANGS,
                              check=False, env=environment, **more)

    def report(self, name="report.json"):
        return json.loads((self.folder / name).read_text())

    def calls(self, report=None):
        return {row["call"]: row for row in (report or self.report())["calls"]}

    def check_known(self, report, ranks):
        calls = self.calls(report)
        counts = {"MPI_Isend": 5, "MPI_Send": 5, "MPI_Irecv": 10, "MPI_Wait": 5, "MPI_Waitall": 5, "MPI_Barrier": 3,
                  "MPI_Bcast": 4, "MPI_Alltoall": 2}
        for name, count in counts.items():
            self.assertEqual(calls[name]["calls"], count * ranks, name)
        self.assertEqual(calls["MPI_Isend"]["bytes"], 5000 * ranks)
        self.assertEqual(calls["MPI_Send"]["bytes"], 5000 * ranks)
        self.assertEqual(calls["MPI_Isend"]["sizes"], [[512, 5 * ranks]])
        self.assertEqual(calls["MPI_Alltoall"]["bytes"], 2 * 64 * ranks * ranks)
        self.assertEqual(calls["MPI_Barrier"]["bytes"], 0)


class Counts(Case):
    def test_calls_and_bytes_are_exact(self):
        for ranks in (1, 2, 4):
            done = self.run_job(ranks, "known")
            self.assertEqual(done.returncode, 0, done.stderr)
            report = self.report()
            self.check_known(report, ranks)
            self.assertEqual(self.calls(report)["MPI_Bcast"]["bytes"], 4 * 256 * ranks)
            self.assertEqual((report["counted_ranks"], len(report["by_rank"])), (ranks, ranks))
            self.assertIn("in MPI", done.stderr)
            self.assertNotIn("matrix", report)

    def test_data_in_place_count(self):
        for ranks in (1, 4):
            done = self.run_job(ranks, "in_place")
            self.assertEqual(done.returncode, 0, done.stderr)
            given = {name: row["bytes"] for name, row in self.calls().items() if row["kind"] == "collective"}
            each, own = 40 * ranks, 4 * sum(range(1, ranks + 1))
            pairs = 4 * sum(r + 1 + q for r in range(ranks) for q in range(ranks))
            self.assertEqual(given, {"MPI_Allgather": each, "MPI_Alltoall": each * ranks, "MPI_Alltoallv": pairs, "MPI_Alltoallw": pairs,
                                     "MPI_Allgatherv": own, "MPI_Gather": each, "MPI_Gatherv": own, "MPI_Scatter": each, "MPI_Scatterv": own})

    def test_settings_that_were_given(self):
        os.environ["WEFT_BCAST_ALGORITHM"] = "tree"
        self.addCleanup(os.environ.pop, "WEFT_BCAST_ALGORITHM")
        done = self.run_job(2, "known")
        self.assertEqual(done.returncode, 0, done.stderr)
        settings = self.report()["settings"]
        self.assertEqual((settings["WEFT_BCAST_ALGORITHM"], settings["WEFT_STATS"]), ("tree", "summary"))
        self.assertNotIn("WEFT_RANK", settings)  # between mpiexec and its ranks
        self.assertNotIn("WEFT_EAGER_LIMIT", settings)

    def test_time_in_calls_is_less_than_the_time_of_the_run(self):
        self.run_job(2, "known")
        for rank in self.report()["by_rank"]:
            self.assertLessEqual(0, rank["waiting"])
            self.assertLessEqual(rank["waiting"], rank["mpi"])
            self.assertLessEqual(rank["mpi"], rank["seconds"] * 1.01)

    def test_a_call_through_a_tool_counts_once(self):
        done = self.run_job(2, "known", program=TOOL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_known(self.report(), 2)

    def test_partners_and_communicators(self):
        done = self.run_job(4, "known", level="calls")
        self.assertEqual(done.returncode, 0, done.stderr)
        matrix = self.report()["matrix"]
        self.assertEqual((matrix["ranks"], matrix["ranks_per_host"]), (4, [4]))
        self.assertEqual(matrix["bytes"], [[r, (r + 1) % 4, 10000, 10] for r in range(4)])
        self.run_job(2, "more", level="calls")
        report = self.report()
        # 6 puts of 8 bytes and 7 starts of 4.
        self.assertEqual(report["matrix"]["bytes"], [[0, 1, 76, 13], [1, 0, 76, 13]])
        comms = {c["name"]: c for c in report["communicators"]}
        self.assertEqual(comms["a window"]["calls"], 2 * 8)
        self.assertIn("MPI_COMM_WORLD", comms)
        self.assertEqual(self.calls(report)["MPI_Put"]["bytes"], 2 * 48)
        self.assertEqual(self.calls(report)["MPI_Startall"]["bytes"], 2 * 28)

    @needs_call_sites
    @unittest.skipUnless(shutil.which("addr2line"), "there is no addr2line")
    def test_sites_in_the_text_are_lines_of_the_program(self):
        done = self.run_job(2, "known", level="full")
        self.assertRegex(done.stderr, r"\n  MPI_Waitall .* known \(statist\.c:\d+\)\n")
        self.assertNotIn("+0x", done.stderr)
        self.run_job(2, "known", level="full", file="report")
        self.assertRegex((self.folder / "report").read_text(), r"\n  MPI_Waitall .* known \(statist\.c:\d+\)\n")
        self.check_known(json.loads((self.folder / "report.json").read_text()), 2)
        # Symbols without lines, then neither.
        program = self.folder / "stripped"
        for option, site in (("--strip-debug", r"known \(stripped\+0x[0-9a-f]+\)"), ("--strip-all", r"stripped\+0x[0-9a-f]+")):
            subprocess.run(["strip", option, "-o", program, PROGRAM], check=True)
            done = self.run_job(2, "known", level="full", program=f"./{program.name}", cwd=self.folder)
            self.assertRegex(done.stderr, rf"\n  MPI_Waitall .* {site}\n")

    @needs_call_sites
    def test_without_addr2line_the_text_names_the_package(self):
        done = self.run_job(1, "known", level="full", launcher=["/usr/bin/env", f"PATH={self.folder}", str(BIN / "mpiexec"), "-q"])
        self.assertRegex(done.stderr, r"\n  MPI_Waitall .*statist\+0x[0-9a-f]+\n")
        self.assertIn("apt-get install binutils", done.stderr)

    @needs_call_sites
    def test_sites_in_the_program(self):
        self.run_job(2, "known", level="full")
        barriers = [p for p in self.report()["sites"] if p["call"] == "MPI_Barrier"]
        self.assertEqual(sum(p["calls"] for p in barriers), 6)
        self.assertIn(pathlib.Path(PROGRAM).name + "+0x", barriers[0]["site"])

    def test_programs_of_mpichs_abi(self):
        for program, call, count in (("calls", "MPI_Isend", 320), ("puts", "MPI_Put", 321)):
            path = MPICH / f"mpich_{program}"
            if not path.exists():
                self.skipTest("no programs of MPICH's ABI")
            done = self.run_job(2, "20", program=str(path))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.calls()[call]["bytes"], count * 8)

    def test_more_threads_than_blocks(self):
        done = self.run_job(2, "threads")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = self.report()
        self.assertEqual(self.calls(report)["MPI_Sendrecv"]["calls"], 2 * 1800)
        self.assertEqual(self.calls(report)["MPI_Sendrecv"]["bytes"], 2 * 1800)
        self.assertEqual([r["threads"] for r in report["by_rank"]], [181, 181])

    def test_on_is_the_counters_as_before(self):
        for word in ("1", "on"):
            done = self.run_job(2, "known", level=word)
            self.assertIn("E0 mailbox", done.stderr)
            self.assertNotIn("in MPI", done.stderr)
        self.assertNotIn("Weft:", self.run_job(2, "known", level="off").stderr)


# An entry point that is not optimised calls in place of jumping, and is the caller itself then.
PLACE = "(?:%s)?" if os.environ.get("UNOPTIMISED") else r"%s \(statist\.c:\d+\)"


class Advice(Case):
    def skip_if_disturbed(self):
        advice = self.report()["advice"]
        if any(line.startswith("other programs use the processors") for line in advice):
            self.skipTest("other programs use the processors, and the advice says so")

    def test_the_rank_that_others_wait_for_is_named(self):
        done = self.run_job(2, "late")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.skip_if_disturbed()
        report = self.report()
        self.assertRegex(report["advice"][0], "rank 1 is late in collective operations")
        self.assertGreater(report["by_rank"][0]["waiting_in_collectives"], 0.2)
        # Ten lines answer it.
        self.assertTrue(any("rank 1 is late" in line for line in done.stderr.split("\n")[:11]), done.stderr)

    def advised(self, act, ranks, *parts):
        """`weft advice` names the cause, and with WEFT_STATS=full the place, among its first three lines. The ranks sleep
        in place of work, and take it that they have processors of their own."""
        done = self.run_job(ranks, act, level="full", program="env", words=("WEFT_LOCAL_CPUS=64", PROGRAM))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.skip_if_disturbed()
        said = subprocess.run([str(BIN / "weft"), "advice", str(self.folder / "report.json")], capture_output=True, text=True,
                              timeout=timing.HANGS, check=False)
        self.assertEqual(said.returncode, 0, said.stderr)
        head = "\n".join(said.stdout.splitlines()[:3])
        for part in parts:
            self.assertRegex(head, part)

    def test_a_serialised_order(self):
        self.advised("serial", 4, "one after the other: rank 3 waits for 2 .*, that waits for 1 .*, that waits for 0",
                     PLACE % "MPI_Recv at serial")

    def test_a_broadcast_where_an_allgather_is_meant(self):
        self.advised("rounds", 2, "MPI_Bcast takes .* one rank after the other as its root, at once, in (9.|100) %",
                     PLACE % "MPI_Bcast at rounds" + ".*: one call of MPI_Allgather")

    def test_late_receives(self):
        self.advised("late_receives", 2, "receives are posted late: sends wait .* most in MPI_Send .rank 0",
                     "rank 0 waits .* for receives of rank 1", PLACE % "MPI_Send at late_receives")

    def test_right_programs_give_no_advice(self):
        for act in ("ring", "columns", "sums", "sendrecv", "puts"):
            done = self.run_job(2, act, level="full")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.skip_if_disturbed()
            self.assertEqual(self.report()["advice"], [], act)


class Energy(Case):
    """Counters of energy in a folder like /sys/class/powercap."""

    def run_energy(self, folder, ranks=2, level="summary"):
        os.environ["WEFT_ENERGY"] = folder
        self.addCleanup(os.environ.pop, "WEFT_ENERGY", None)
        os.environ["STATIST_COUNTER"] = str(self.folder / "intel-rapl:0" / "energy_uj")
        self.addCleanup(os.environ.pop, "STATIST_COUNTER", None)
        return self.run_job(ranks, "energy" if folder == str(self.folder) else "known", level=level)

    def powercap(self):
        zone = self.folder / "intel-rapl:0"
        zone.mkdir()
        for name, text in (("name", "package-0"), ("energy_uj", "900000"), ("max_energy_range_uj", "1000000")):
            (zone / name).write_text(text + "\n")
        return str(self.folder)

    def test_joules_of_job_ranks_and_calls(self):
        done = self.run_energy(self.powercap(), 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"energy      0\.3 J, \S+ W, of 1 host; in MPI \S+ J, of which waiting awake \S+ J")
        report = self.report()
        energy = report["energy"]
        self.assertAlmostEqual(energy["joules"], 0.3)  # the counter began again at its range
        self.assertEqual(energy["hosts"], 1)
        self.assertAlmostEqual(sum(r["joules"] for r in report["by_rank"]), 0.3, 4)
        self.assertTrue(all(r["processor_seconds"] > 0 for r in report["by_rank"]))
        self.assertLessEqual(energy["waiting_awake"], energy["in_mpi"] + 1e-6)
        self.assertLessEqual(energy["in_mpi"], 0.3 + 1e-6)
        calls = self.calls(report)
        self.assertAlmostEqual(sum(c["joules"] for c in calls.values()), energy["in_mpi"], 3)
        self.assertGreater(calls["MPI_Barrier"]["joules"], 0)
        for call in calls.values():
            self.assertLessEqual(call["joules_waiting"], call["joules"] + 1e-6)
            self.assertLessEqual(call["asleep"], call["waiting"]["sum"] + 1e-6)

    def test_without_counters_it_says_why(self):
        nowhere = str(self.folder / "nowhere")
        done = self.run_energy(nowhere)
        self.assertEqual(done.returncode, 0, done.stderr)
        why = f"there are no counters of energy (RAPL) in {nowhere}, as in virtual machines"
        self.assertIn("  energy      not known: " + why, done.stderr)
        self.assertEqual(self.report()["energy"], {"unknown": why})
        self.assertNotIn("joules", self.report()["by_rank"][0])

    def test_a_counter_that_cannot_be_read_is_named(self):
        folder = self.powercap()
        counter = self.folder / "intel-rapl:0" / "energy_uj"
        counter.unlink()
        counter.mkdir()  # as root reads any file
        done = self.run_energy(folder + "/.")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"energy      not known: {folder}/./intel-rapl:0/energy_uj cannot be read: Is a directory", done.stderr)

    def power_events(self, kind):
        """A folder as /sys/bus/event_source/devices/power, whose event is another of perf's."""
        (self.folder / "events").mkdir()
        for name, text in (("type", str(kind)), ("cpumask", "0"), ("events/energy-pkg", "event=0x00"),
                           ("events/energy-pkg.scale", "1e-3"), ("events/energy-pkg.unit", "Joules")):
            (self.folder / name).write_text(text + "\n")
        return str(self.folder)

    def test_events_of_perf_count(self):
        done = self.run_energy(self.power_events(1) + "/.")  # nanoseconds of processor 0
        self.assertEqual(done.returncode, 0, done.stderr)
        if "unknown" in self.report()["energy"]:
            self.skipTest(self.report()["energy"]["unknown"])
        self.assertGreater(self.report()["energy"]["joules"], 0)
        self.assertGreater(sum(r["joules"] for r in self.report()["by_rank"]), 0)

    def test_events_that_the_kernel_refuses_are_named(self):
        folder = self.power_events(999999)
        done = self.run_energy(folder + "/.")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"energy      not known: {folder}/./events/energy-pkg cannot be read: ", done.stderr)

    def test_without_a_folder_it_looks_where_the_kernel_has_them(self):
        done = self.run_energy("on")
        self.assertEqual(done.returncode, 0, done.stderr)
        if not (os.path.exists("/sys/class/powercap/intel-rapl:0") or os.path.exists("/sys/bus/event_source/devices/power")):
            self.assertIn("energy      not known: there are no counters of energy (RAPL) in /sys/class/powercap and "
                          "/sys/bus/event_source/devices/power, as in virtual machines", done.stderr)

    def test_it_is_off_unless_asked_for(self):
        for word in ("off", "0", ""):
            done = self.run_energy(word)
            self.assertNotIn("energy", done.stderr)
            self.assertNotIn("energy", self.report())
        self.assertRegex(self.run_energy("perhaps").stderr, 'WEFT_ENERGY="perhaps" has no effect.*Remedy: give on, off or')


class Ends(Case):
    def test_a_killed_rank_still_gives_a_report(self):
        with subprocess.Popen([str(BIN / "mpiexec"), "-q", "-n", "2", PROGRAM, "killed"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "WEFT_STATS": "summary", "WEFT_STATS_FILE": str(self.folder / "report.json")}) as job:
            job.stdout.readline()
            until = time.monotonic() + timing.HANGS
            waiter = {}
            while (waiter.get("in") != "MPI_Recv" or waiter["in_seconds"] < 0.1) and time.monotonic() < until:
                waiter = self.ask(job.pid)["by_rank"][1]
                time.sleep(0.05)
            _, errors = job.communicate("go\n", timeout=timing.HANGS)
        self.assertEqual(job.returncode, 128 + 9)
        report = self.report()
        self.check_known(report, 2)
        self.assertEqual(report["end"], "the job ended early with status 137")
        self.assertEqual(report["by_rank"][1]["in"], "MPI_Recv")
        self.assertGreater(report["by_rank"][1]["in_seconds"], 0)
        self.assertRegex(errors, "ended early with status 137")
        # At the end rank 0 was in the program, rank 1 in MPI.
        first, second = report["timeline"]["groups"]
        self.assertEqual((first["first"], second["first"], len(first["slices"])), (0, 1, 64))
        self.assertGreater(first["slices"][-1][0], 900)
        self.assertLess(second["slices"][-1][0], 100)

    def test_a_rank_that_never_comes_leaves_the_report_of_the_others(self):
        never = "test \"$WEFT_RANK\" = 1 && exec sleep 100000; exec \"$@\""
        for seconds in (1, 4, 16, 64):  # by then rank 0 has called MPI
            done = self.run_job(2, "known", program="sh", words=("-c", never, "sh", PROGRAM),
                                launcher=[str(BIN / "mpiexec"), "-q", "--timeout", str(seconds)])
            self.assertEqual(done.returncode, 124, done.stderr)
            if (self.folder / "report.json").exists() and self.report()["counted_ranks"] == 1:
                break
        report = self.report()
        self.assertEqual((report["counted_ranks"], [r["rank"] for r in report["by_rank"]]), (1, [0]))
        self.assertEqual(self.calls(report)["MPI_Irecv"]["calls"], 1)
        self.assertIn("Weft: calls of MPI, 1 of 2 ranks", done.stderr)
        self.assertIn("rank 1 has not come through MPI_Init", done.stderr)

    def test_sessions_alone(self):
        done = self.run_job(2, "session")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls()["MPI_Barrier"]["calls"], 8)

    def test_no_launcher(self):
        environment = {**os.environ, "WEFT_STATS": "summary", "WEFT_STATS_FILE": str(self.folder / "report.json")}
        for act in ("known", "session"):
            done = subprocess.run([PROGRAM, act], capture_output=True, text=True, timeout=timing.HANGS, check=False, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.calls()["MPI_Barrier"]["calls"], 3 if act == "known" else 4)

    def test_hydra(self):
        if not HYDRA:
            self.skipTest("no Hydra")
        done = self.run_job(2, "known", launcher=[HYDRA])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_known(self.report(), 2)

    def test_running_jobs_can_be_asked(self):
        with subprocess.Popen([str(BIN / "mpiexec"), "-q", "-n", "2", PROGRAM, "watched"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "WEFT_STATS": "summary"}) as job:
            rank = int(job.stdout.readline().split()[1])
            for pid in (job.pid, rank):
                report = self.ask(pid)
                self.assertEqual(self.calls(report)["MPI_Isend"]["calls"], 10)
                self.assertEqual(report["end"], "so far")
            _, errors = job.communicate("go\n", timeout=timing.HANGS)
            self.assertEqual(job.returncode, 0, errors)
        done = subprocess.run([str(BIN / "weft"), "stats", str(os.getpid())], capture_output=True, text=True, timeout=timing.HANGS,
                              check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("WEFT_STATS=summary", done.stderr)
        for word in ("x", "-5", "12x"):
            done = subprocess.run([str(BIN / "weft"), "stats", word], capture_output=True, text=True, timeout=timing.HANGS, check=False)
            self.assertEqual(done.returncode, 2)


class Shmem(Case):
    def run_shmem(self, ranks, act, **more):
        return self.run_job(ranks, act, program=SHMEM, **more)

    def check_shmem(self, report, ranks):
        calls = self.calls(report)
        known = {"shmem_put": (10, 5 * 80 + 3 * 100 + 2 * 32), "shmem_get": (4, 64), "shmem_p": (7, 56), "shmem_atomic_fetch_add": (6, 48),
                 "shmem_ibput": (1, 48), "shmem_barrier_all": (3, 0), "shmem_sum_reduce": (1, 64), "shmem_alltoall": (2, 32 * ranks),
                 "shmem_calloc": (2, 0), "shmem_free": (1, 0)}
        self.assertEqual({name: (calls[name]["calls"], calls[name]["bytes"]) for name in known},
                         {name: (ranks * count, ranks * size) for name, (count, size) in known.items()})

    def test_calls_and_bytes_are_exact(self):
        for ranks in (1, 3):
            done = self.run_shmem(ranks, "known")
            self.assertEqual(done.returncode, 0, done.stderr)
            report = self.report()
            self.check_shmem(report, ranks)
            self.assertEqual({name for name in self.calls(report) if not name.startswith("shmem_")}, set())
            self.assertEqual((report["counted_ranks"], report["end"]), (ranks, "shmem_finalize"))
            self.assertRegex(done.stderr, rf"\nWeft: calls of OpenSHMEM, {ranks} of {ranks} rank")
            self.assertEqual(done.stderr.count("Weft"), 1, done.stderr)

    def test_one_report_of_both_models(self):
        for first in ("mpi_first", "shmem_first"):
            for last in ("mpi_last", "shmem_last"):
                done = self.run_shmem(2, f"both {first} {last}")
                self.assertEqual(done.returncode, 0, done.stderr)
                calls = {name: row["calls"] // 2 for name, row in self.calls().items()}
                self.assertEqual(calls["MPI_Barrier"], 5 if last == "mpi_last" else 4)
                self.assertEqual((calls["shmem_barrier_all"], calls["shmem_sync_all"], calls["MPI_Finalize"], calls["shmem_finalize"]),
                                 (3, 2, 1, 1))
                self.assertEqual(done.stderr.count("Weft: calls of MPI and OpenSHMEM"), 1, done.stderr)

    def test_a_session_of_one_rank_delays_no_report(self):
        done = self.run_shmem(2, "session")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.report()["counted_ranks"], self.calls()["shmem_barrier_all"]["calls"]), (2, 2))
        self.assertEqual(done.stderr.count("Weft: calls of"), 1, done.stderr)

    def test_the_matrix_has_puts_and_gets(self):
        done = self.run_shmem(3, "known", level="calls")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.report()["matrix"]["bytes"], [[r, (r + 1) % 3, 764 + 64 + 56 + 48 + 48, 28] for r in (0, 1, 2)])

    def test_contexts_and_teams(self):
        done = self.run_shmem(3, "contexts", level="calls")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = self.report()
        self.assertEqual(report["matrix"]["bytes"], [[r, 0, 72, 9] for r in (0, 1, 2)])
        # The context, the syncs and the end of the team.
        self.assertEqual({c["name"]: (c["size"], c["calls"]) for c in report["communicators"]}, {"a team": (3, 3 * 6)})
        self.assertEqual((self.calls(report)["shmem_put"]["calls"], self.calls(report)["shmem_quiet"]["calls"]), (27, 3))

    def test_threads(self):
        done = self.run_shmem(2, "threads")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = self.report()
        self.assertEqual(self.calls(report)["shmem_atomic_inc"]["calls"], 2 * 4 * 50)
        self.assertEqual([r["threads"] for r in report["by_rank"]], [5, 5])

    @needs_call_sites
    def test_sites_in_the_program(self):
        done = self.run_shmem(2, "known", level="full")
        self.assertEqual(done.returncode, 0, done.stderr)
        for call, count in (("shmem_p", 14), ("shmem_barrier_all", 6), ("shmem_alltoall", 4)):
            sites = [p for p in self.report()["sites"] if p["call"] == call]
            self.assertEqual(sum(p["calls"] for p in sites), count, call)
            for site in sites:
                self.assertIn(pathlib.Path(SHMEM).name + "+0x", site["site"])

    def test_shmem_global_exit_leaves_a_report(self):
        done = self.run_shmem(2, "exit")
        self.assertEqual(done.returncode, 7, done.stderr)
        report = self.report()
        self.check_shmem(report, 2)
        self.assertEqual(report["end"], "the job ended early with status 7")
        self.assertEqual([r["in"] for r in report["by_rank"]][1], "shmem_global_exit")

    def test_a_file_that_cannot_be_written_is_named_with_the_reason(self):
        done = self.run_shmem(2, "known", file="none/report")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, f'cannot write the statistics to "{self.folder}/none/report": No such file or directory.*Remedy')
        self.assertIn("Weft: calls of OpenSHMEM", done.stderr)

    def test_counters_and_nothing(self):
        self.assertIn("E0 mailbox", self.run_shmem(2, "known", level="on", file=None).stderr)
        self.assertEqual(self.run_shmem(2, "known", level="off", file=None).stderr, "")

    def test_a_second_start_is_not_counted(self):
        done = self.run_shmem(2, "again")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("Weft: calls of OpenSHMEM"), 1, done.stderr)
        self.assertNotIn("shmem_barrier_all", self.calls())

    def test_no_launcher(self):
        done = self.run_shmem(1, "known", launcher=["/bin/sh", "-c", "shift; shift; exec \"$@\"", "sh"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_shmem(self.report(), 1)

    def test_hydra(self):
        if not HYDRA:
            self.skipTest("no Hydra")
        done = self.run_shmem(2, "known", launcher=[HYDRA])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_shmem(self.report(), 2)


class Files(Case):
    def test_text_and_json_beside_it(self):
        done = self.run_job(2, "known", file="report")
        self.assertNotIn("in MPI", done.stderr)
        self.assertIn("in MPI", (self.folder / "report").read_text())
        self.check_known(self.report(), 2)

    def test_a_file_that_cannot_be_written_leaves_the_status(self):
        places = [str(self.folder / "none" / "report"), str(self.folder / "none" / "report.json")]
        if os.path.isdir("/sys/kernel"):  # where nobody can make a file, root included
            places.append("/sys/kernel/report.json")
        if os.path.exists("/dev/full"):
            (self.folder / "full.json").symlink_to("/dev/full")
            places.append(str(self.folder / "full.json"))
        for place in places:
            done = self.run_job(2, "known", file=place)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, "cannot write the statistics to .*Remedy")
            self.assertIn("in MPI", done.stderr)
        done = self.run_job(2, "killed", file=places[0], stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 137)
        self.assertRegex(done.stderr, "cannot write the statistics to .*Remedy")


if __name__ == "__main__":
    unittest.main()
