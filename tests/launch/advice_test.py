#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""weft advice: what another algorithm would gain, by the simulator and by measured times. LAUNCH_BIN is the folder of weft."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

WEFT = os.path.join(os.environ["LAUNCH_BIN"], "weft")


def spread(total, ranks):
    return {"sum": total, "mean": total / ranks, "deviation": 0, "min": total / ranks, "min_rank": 0, "max": total / ranks,
            "max_rank": 0, "ranks": ranks}


def call(name, ranks, seconds, size, calls=100, sizes=None):
    return {"call": name, "kind": "collective", "calls": calls * ranks, "bytes": size * calls * ranks, "longest": 0.1,
            "longest_rank": 0, "seconds": spread(seconds * ranks, ranks), "waiting": spread(seconds * ranks / 2, ranks),
            "sizes": sizes or [[1 << max(size.bit_length() - 1, 0), calls * ranks]]}


def statistics(ranks=96, per_host=4, calls=None, settings=None, hosts=None, **more):
    """A run of ten seconds for each rank."""
    whole = {"weft": "0.1.0", "level": "calls", "ranks": ranks, "processors": 4, "crowded": 0, "settings": settings or {},
             "run": spread(10.0 * ranks, ranks), "advice": ["rank 3 arrives last"], "calls": calls or [],
             "by_rank": [{"rank": r, "host": hosts[r] if hosts else r // per_host * per_host, "seconds": 10.0, "mpi": 5.0,
                          "waiting": 1.0} for r in range(ranks)],
             "communicators": [{"name": "MPI_COMM_WORLD", "context": 0, "size": ranks, "calls": 100, "seconds": 1.0}]}
    whole.update(more)
    return whole


class Advice(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, value):
        (self.folder / name).write_text(json.dumps(value))
        return str(self.folder / name)

    def weft(self, *words):
        return subprocess.run([WEFT, *words], capture_output=True, text=True, timeout=250, check=False)

    def lines(self, run, *words):
        done = self.weft("advice", self.write("run.json", run), "--json", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def simulated(self, coll, ranks, per_host, size):
        done = self.weft("simulate", "--coll", coll, "--ranks", str(ranks), "--ppn", str(per_host), "--size", str(size), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return {o["algorithm"]: o["time"] for o in json.loads(done.stdout)}

    def test_the_gain_is_the_simulators(self):
        for coll, name, setting, ranks, per_host, size in (
                ("bcast", "MPI_Bcast", "chain", 96, 4, 40960), ("allreduce", "MPI_Allreduce", "ring", 64, 8, 8192),
                ("gather", "MPI_Gather", "direct", 640, 16, 64)):
            times = self.simulated(coll, ranks, per_host, size)
            best = min((a for a in times if a != setting), key=times.get)
            gain = times[best] / times[setting]
            self.assertLess(gain, 0.8, f"{coll}: the test needs a bad choice")
            run = statistics(ranks, per_host, [call(name, ranks, 3.0, size)], {f"WEFT_{coll.upper()}_ALGORITHM": setting})
            kept, said = self.lines(run)
            self.assertEqual(kept, "rank 3 arrives last")
            self.assertIn(f"{name} of ", said)
            self.assertIn("takes 30 % of the time, 50 % of that waiting", said)
            shown = f"{gain:.2f}" if gain < 0.1 else f"{gain:.1f}"
            self.assertIn(f"WEFT_{coll.upper()}_ALGORITHM={best} would take {shown} of the time of {setting} (simulated with "
                          f"{ranks} ranks, {per_host} on a host, default model)", said)

    def test_a_placement_that_makes_messages_leave_hosts(self):
        """Columns of a grid of 4 x 8 talk most; hosts have its rows."""
        pairs = [[r, r + 8, 1000000, 10] for r in range(24)] + [[r, r + 1, 1000, 10] for r in range(32) if r % 8 < 7]
        matrix = {"ranks": 32, "ranks_per_host": [8] * 4, "bytes": pairs}
        lines = self.lines(statistics(32, 8, matrix=matrix))
        self.assertRegex(lines[1], r"^messages between ranks, which form a grid of 4 x 8: 22.9 MiB leave the hosts, 100 % of their "
                                   r"bytes \(ranks 0 and 8 exchange 976.6 KiB of them\); another order of ranks would keep all but 0 % on them: weft order --from \S+run.json")
        good = {"ranks": 32, "ranks_per_host": [4] * 8, "bytes": [[r, r + 1, 1000, 10] for r in range(32) if r % 4 < 3]}
        self.assertEqual(self.lines(statistics(32, 4, matrix=good)), ["rank 3 arrives last"])
        # Ranks are where the run had them: the order that keeps all is in force.
        hosts = [r % 8 // 2 for r in range(32)]
        self.assertEqual(self.lines(statistics(32, hosts=hosts, matrix=matrix)), ["rank 3 arrives last"])

    def test_sizes_count_as_often_as_they_were_used(self):
        """Most calls are small and suit the setting; the large ones decide."""
        size = 3 << 18  # stands for 512 KiB to 1 MiB
        small, large = self.simulated("bcast", 64, 8, 12), self.simulated("bcast", 64, 8, size)
        use = call("MPI_Bcast", 64, 3.0, 0)
        use.update(calls=6400, bytes=100 * size, sizes=[[8, 6300], [1 << 19, 100]])
        setting = "tree"
        total = {a: 6300 * small.get(a, small[setting]) + 100 * large.get(a, large[setting]) for a in large}
        best = min((a for a in total if a != setting), key=total.get)
        gain = total[best] / total[setting]
        self.assertLess(gain, 0.8)
        said = self.lines(statistics(64, 8, [use], {"WEFT_BCAST_ALGORITHM": setting}))[1]
        self.assertIn(f"ALGORITHM={best} would take {gain:.1f} of the time of {setting}", said)
        self.assertIn("MPI_Bcast of 8 B to 1024.0 KiB (98 % of the calls 8 B to 15 B) takes 30 % of the time", said)

    def test_blocks_are_a_part_of_what_a_rank_gives(self):
        times = self.simulated("alltoall", 32, 8, 1000)
        worst = max(times, key=times.get)
        best = min(times, key=times.get)
        self.assertLess(times[best], 0.8 * times[worst])
        said = self.lines(statistics(32, 8, [call("MPI_Alltoall", 32, 2.0, 32000)], {"WEFT_ALLTOALL_ALGORITHM": worst}))[1]
        self.assertIn(f"ALGORITHM={best} would take {times[best] / times[worst]:.1f} of the time of {worst}", said)

    def test_a_good_choice_is_left(self):
        times = self.simulated("bcast", 96, 4, 64)
        best = min(times, key=times.get)
        said = self.lines(statistics(calls=[call("MPI_Bcast", 96, 3.0, 64)], settings={"WEFT_BCAST_ALGORITHM": best}))[1]
        self.assertIn(f"no other algorithm would take much less than {best} (simulated", said)

    def test_little_time_is_no_matter(self):
        self.assertEqual(len(self.lines(statistics(calls=[call("MPI_Bcast", 96, 0.3, 64), call("MPI_Send", 96, 5.0, 64)]))), 1)

    def measured(self, us, size=65536, **more):
        row = {"collective": "bcast", "ranks": [1, 4], "hosts": 1, "algorithm": "single_copy",
               "measured": [{"bytes": size, "default": "shared", "us": us}]}
        row.update(more)
        return self.write("tune.json", {"weft_tuning": 1, "rows": [row], "measured": {"unchanged": []}})

    def test_measured_times_come_before_simulated_ones(self):
        run = statistics(4, 4, [call("MPI_Bcast", 4, 3.0, 65536)], {"WEFT_BCAST_ALGORITHM": "tree"})
        said = self.lines(run, "--measured", self.measured({"shared": 40.0, "tree": 50.0, "split": 100.0}))[1]
        self.assertIn("WEFT_BCAST_ALGORITHM=shared would take 0.8 of the time of tree (measured by weft tune with 4 ranks, 4 on "
                      "a host)", said)
        for far in (self.measured({"shared": 40.0, "tree": 50.0}, size=1024), self.measured({"shared": 40.0}),
                    self.measured({"shared": 40.0, "tree": 50.0}, ranks=8), self.measured({"shared": 40.0, "tree": 50.0}, hosts=2)):
            self.assertIn("(simulated with 4 ranks", self.lines(run, "--measured", far)[1])

    def test_the_measured_model_is_used(self):
        path = self.write("model.json", {"weft_tuning": 1, "rows": [], "measured": {"model": {"latency": 1e-3, "per_byte": 0}}})
        run = statistics(8, 1, [call("MPI_Bcast", 8, 3.0, 64)], {"WEFT_BCAST_ALGORITHM": "chain"})
        said = self.lines(run, "--measured", path)[1]
        self.assertIn("measured model", said)
        self.assertIn("=tree would take 0.4 of the time of chain", said)  # three latencies for seven

    def test_unknown_gains_say_why(self):
        use = call("MPI_Bcast", 8, 3.0, 64)
        for run, why in (
                (statistics(8, 8, [use]), "shared, its algorithm now, cannot be simulated (it sends no messages); weft tune -n 8 "
                                          "--only bcast measures it"),
                (statistics(8, calls=[use], hosts=[0, 1] * 4), "ranks that do not follow each other"),
                (statistics(8, calls=[use], hosts=[0, 0, 0, 3, 3, 5, 5, 5]), "hosts have different numbers of ranks"),
                (statistics(8, 4, [use], communicators=[{"size": 8, "seconds": 1.0}, {"size": 2, "seconds": 9.0}]),
                 "in other communicators than MPI_COMM_WORLD"),
                (statistics(8, 4, [use], {"WEFT_TUNING": "/nowhere/table"}), "the run's WEFT_TUNING cannot be read here"),
                (statistics(8, 4, [use], {"WEFT_BCAST_ALGORITHM": "magic"}), "the run's WEFT_BCAST_ALGORITHM cannot be used here"),
                (statistics(8, 4, [use], {"WEFT_OFFLOAD": "mock"}), "the run had WEFT_OFFLOAD"),
                (statistics(8, 4, [use], by_rank=[]), "the file lists the hosts of 0 ranks alone")):
            said = self.lines(run)[1]
            self.assertIn("it cannot be known whether another algorithm would take less: ", said)
            self.assertIn(why, said)

    def test_assumptions_are_named(self):
        run = statistics(8, 4, [call("MPI_Bcast", 8, 3.0, 64)])
        del run["settings"], run["communicators"]
        said = self.lines(run)[1]
        self.assertIn("as if all calls were on MPI_COMM_WORLD: WEFT_STATS=calls tells", said)
        self.assertIn("as if no setting chose the algorithm", said)

    def test_a_run_is_not_judged_by_settings_of_here(self):
        run = statistics(8, 4, [call("MPI_Bcast", 8, 3.0, 64)])
        self.addCleanup(os.environ.pop, "WEFT_BCAST_ALGORITHM", None)
        before = self.lines(run)
        os.environ["WEFT_BCAST_ALGORITHM"] = "chain"
        self.assertEqual(self.lines(run), before)

    def test_text_and_page_say_the_same(self):
        run = statistics(calls=[call("MPI_Bcast", 96, 3.0, 40960)], settings={"WEFT_BCAST_ALGORITHM": "chain"})
        lines = self.lines(run)
        path = str(self.folder / "run.json")
        self.assertEqual(self.weft("advice", path).stdout, "\n".join(lines) + "\n")
        page = self.folder / "page.html"
        self.assertEqual(self.weft("report", path, "-o", str(page)).returncode, 0)
        self.assertIn("<li>" + lines[1] + "</li>", page.read_text())
        self.assertEqual(self.weft("advice", self.write("none.json", statistics(advice=[], calls=[call("MPI_Send", 96, 1.0, 8)])))
                         .stdout, "nothing stands out\n")

    def test_mistakes_name_the_place_and_the_remedy(self):
        run = self.write("run.json", statistics(calls=[call("MPI_Bcast", 96, 3.0, 64)]))
        for words, said in (((), "no file of statistics is given"), ((run, run), "a second file"), (("-x",), '"-x" is no option'),
                            ((run, "--measured"), "--measured needs the name of a file"), (("/nowhere",), "cannot be read"),
                            ((run, "--measured", "/nowhere"), "cannot be read: No such file"),
                            ((run, "--measured", run), "has neither a measured model nor measured times"),
                            ((self.write("bad.json", [1]),), "cannot be used")):
            done = self.weft("advice", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("weft: advice: ", done.stderr)
            self.assertIn(said, done.stderr)
            self.assertIn(". Remedy: ", done.stderr)

    def test_many_ranks_take_seconds_not_minutes(self):
        run = statistics(4096, 32, [call("MPI_Alltoall", 4096, 3.0, 4096 * 64), call("MPI_Allreduce", 4096, 3.0, 64)])
        self.assertEqual(len(self.lines(run)), 3)


if __name__ == "__main__":
    unittest.main()
