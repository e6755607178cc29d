#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""weft order --from: grids that are found in the messages of a run, tables of orders, and the files they are written to.
LAUNCH_BIN is the folder of weft, WHERE the program of tests/hosts/where.c."""
import collections
import itertools
import json
import os
import random
import re
import subprocess
import tempfile
import unittest

BIN = os.environ["LAUNCH_BIN"]
WEFT = os.path.join(BIN, "weft")
WITHOUT_METIS = "needs METIS" in subprocess.run(
    [WEFT, "order", "--from", "/dev/stdin", "-n", "1", "--levels", "1", "-o", "/dev/null"], input="0 1 1\n", capture_output=True, text=True,
    timeout=60, check=False).stderr


class Run:
    """The bytes that ranks sent to each other."""

    def __init__(self, ranks):
        self.ranks, self.sent = ranks, collections.Counter()

    def both(self, a, b, size):
        self.sent[a, b] += size
        self.sent[b, a] += size

    def doubling(self, size):
        """An allreduce by recursive doubling."""
        for distance in (1 << k for k in range(20)):
            for rank in range(self.ranks):
                if rank < rank ^ distance < self.ranks:
                    self.both(rank, rank ^ distance, size)
        return self

    def tree(self, size):
        """A binomial tree."""
        for rank in range(1, self.ranks):
            self.both(rank, rank & (rank - 1), size)
        return self

    def noise(self, size, count, seed=1):
        numbers = random.Random(seed)
        for _ in range(count):
            self.both(*numbers.sample(range(self.ranks), 2), numbers.randint(1, size))
        return self

    def shuffled(self, seed=1):
        names = list(range(self.ranks))
        random.Random(seed).shuffle(names)
        other = Run(self.ranks)
        for (a, b), size in self.sent.items():
            other.sent[names[a], names[b]] = size
        return other

    def on_host(self, ranks, per_host):
        """Bytes that stay on the hosts when they get the ranks in this order."""
        host = {rank: slot // per_host for slot, rank in enumerate(ranks)}
        return sum(size for (a, b), size in self.sent.items() if host[a] == host[b])

    def as_json(self, **more):
        matrix = {"ranks": self.ranks, "bytes": [[a, b, size, 1] for (a, b), size in self.sent.items()]}
        matrix.update(more.pop("matrix", {}))
        return json.dumps({"program": "sweep", "ranks": self.ranks, "matrix": matrix, **more})


def grid(sides, sizes, periodic=(), diagonal=0):
    """Each rank exchanges sizes[d] bytes with its neighbours in dimension d."""
    places = {at: number for number, at in enumerate(itertools.product(*map(range, sides)))}
    run = Run(len(places))
    for at, rank in places.items():
        for d, side in enumerate(sides):
            if at[d] + 1 < side or (d in periodic and side > 2):
                run.both(rank, places[at[:d] + ((at[d] + 1) % side,) + at[d + 1:]], sizes[d])
        if diagonal:
            for step in itertools.product((-1, 0, 1), repeat=len(sides)):
                other = places.get(tuple(x + s for x, s in zip(at, step)))
                if other is not None and other > rank and sum(map(abs, step)) > 1:
                    run.both(rank, other, diagonal)
    run.sent = +run.sent  # without zeros
    return run


def sweep():
    """A sweep over 96 x 8 ranks with unequal sides, and an allreduce now and then."""
    return grid((96, 8), (1000000, 15400)).doubling(1000).noise(20000, 768)


def unstructured(ranks, seed):
    """Points in a square, each with the nearest ones as neighbours."""
    numbers = random.Random(seed)
    points = [(numbers.random(), numbers.random()) for _ in range(ranks)]
    run = Run(ranks)
    for a, (x, y) in enumerate(points):
        near = sorted(range(ranks), key=lambda b: (points[b][0] - x) ** 2 + (points[b][1] - y) ** 2)
        for b in near[1:6]:
            run.both(a, b, numbers.randint(100, 1000))
    return run


def ranks_of(path):
    with open(path) as file:
        lines = [line for line in file.read().splitlines() if not line.startswith("#")]
    return [int(rank) for line in lines for rank in line.split(",")], [len(line.split(",")) for line in lines]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def order(self, text, *words, name="stats.json"):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)
        return subprocess.run([WEFT, "order", "--from", name, *words], capture_output=True, text=True, timeout=280,
                              check=False, cwd=self.folder)

    def good(self, text, *words, **more):
        done = self.order(text, *words, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def asked(self, run, *words, **more):
        return json.loads(self.good(run.as_json(**more), *words, "--json"))

    def shares(self, table):
        self.assertEqual([(o["order"], o["method"]) for o in table["orders"]],
                         [("Custom", 3), ("SMP", 1), ("Fold", 2), ("RoundRobin", 0)])
        return [o["share"] for o in table["orders"]]

    def path(self, name="MPICH_RANK_ORDER.Grid"):
        return os.path.join(self.folder, name)


class Grids(Case):
    def found(self, run, **more):
        said = self.asked(run, "-n", "4", **more)["grid"]
        return said and (said["sides"], said["periodic"], said["silent"])

    def test_sides_of_one_to_four_dimensions(self):
        for sides in ((768,), (96, 8), (8, 96), (2, 2), (12, 8, 8), (3, 2, 5, 4), (2, 2, 2, 2), (6, 1, 7)):
            run = grid(sides, (1000, 700, 500, 300))
            self.assertEqual(self.found(run), ([s for s in sides if s > 1], [False] * (len(sides) - sides.count(1)),
                                               [False] * (len(sides) - sides.count(1))), sides)

    def test_dimensions_that_wrap_around(self):
        for sides in ((24,), (6, 8), (4, 6, 5), (3, 4, 3, 4)):
            for periodic in itertools.product((False, True), repeat=len(sides)):
                run = grid(sides, (900, 1000, 500, 300), [d for d, p in enumerate(periodic) if p])
                self.assertEqual(self.found(run), (list(sides), list(periodic), [False] * len(sides)))

    def test_grids_side_by_side_in_a_larger_one(self):
        for sides, sizes in (((12, 8, 8), (0, 9, 5)), ((12, 8, 8), (9, 0, 5)), ((12, 8, 8), (9, 5, 0)),
                             ((4, 6, 3, 5), (5, 0, 7, 0)), ((10, 30), (0, 3))):
            found = self.found(grid(sides, sizes).tree(0))
            self.assertEqual(found, (list(sides), [False] * len(sides), [size == 0 for size in sizes]), (sides, sizes))

    def test_messages_of_collective_operations_hide_no_grid(self):
        for sides in ((96, 8), (8, 8, 12), (16, 16), (4, 4, 4, 4)):
            run = grid(sides, (1000, 400, 1000, 700))
            size = run.ranks
            for noisy in (run.doubling(20), run.tree(100), run.noise(50, 4 * size)):
                self.assertEqual(self.found(noisy)[0], list(sides))
        silent = grid((12, 8, 8), (1000, 0, 700)).doubling(30).tree(30)
        self.assertEqual(self.found(silent), ([12, 8, 8], [False] * 3, [False, True, False]))

    def test_every_rank_may_send_to_every_other_a_little(self):
        run = grid((8, 12), (1000, 300))
        for a, b in itertools.combinations(range(96), 2):
            run.both(a, b, 3)
        self.assertEqual(self.found(run)[0], [8, 12])

    def test_diagonal_neighbours_belong_to_the_grid(self):
        run = grid((8, 12), (1000, 1000), diagonal=600)
        said = self.asked(run, "-n", "4")["grid"]
        self.assertEqual(said["sides"], [8, 12])
        self.assertAlmostEqual(said["neighbours"] + said["diagonal"], 1)
        self.assertGreater(said["diagonal"], 0.2)

    def test_parts_of_different_sizes(self):
        run, numbers = grid((16, 12), (1000, 1000)), random.Random(5)
        for pair in run.sent:
            run.sent[pair] *= numbers.randint(1, 4)
        self.assertEqual(self.found(run)[0], [16, 12])

    def test_where_there_is_no_grid_none_is_found(self):
        self.assertIsNone(self.found(grid((12, 8, 8), (9, 7, 5)).shuffled()), "ranks are shuffled")
        self.assertIsNone(self.found(unstructured(200, 3)))
        self.assertIsNone(self.found(Run(64).doubling(100)), "an allreduce alone")
        self.assertIsNone(self.found(Run(64).noise(100, 2000)))
        self.assertIsNone(self.found(Run(64)), "no messages")
        self.assertIn("No grid was found", self.good(unstructured(64, 3).as_json(), "-n", "8"))

    def test_it_is_said_in_words(self):
        text = self.good(grid((12, 8, 8), (9, 0, 5), (0,)).as_json(), "-n", "4")
        self.assertIn("A grid of 12 x 8 x 8 was found. It wraps around (is periodic) in dimension 1.", text)
        self.assertIn("No messages go along dimension 2: these are 8 separate grids of 2 dimensions.", text)
        self.assertIn("-R -g 12,8,8 (the same by columns: -C -g 8,8,12)", text)
        self.assertIn("It does not wrap around", self.good(sweep().as_json(), "-n", "4"))


class Tables(Case):
    def test_a_sweep_of_768_ranks(self):
        run = sweep()
        said = self.asked(run, "-n", "4,16,32")
        self.assertEqual(said["grid"]["sides"], [96, 8])
        for table, per_host in zip(said["tables"], (4, 16, 32)):
            custom, smp, fold, robin = self.shares(table)
            self.assertGreaterEqual(custom, smp)
            self.assertGreater(smp, fold)
            self.assertLess(fold, 0.002)
            self.assertLess(robin, 0.002)
            self.assertEqual(table["hosts"], [per_host] * (768 // per_host))
        self.assertAlmostEqual(custom, 0.9555, delta=0.005)
        self.assertAlmostEqual(smp, 0.7530, delta=0.005)

    def test_its_form(self):
        text = self.good(sweep().as_json(), "-n", "16")
        self.assertRegex(text, r"\n48 hosts of 16 ranks:\n +Rank +On-host +Share of +WEFT_RANK_\n"
                               r" +order +bytes/rank +all bytes +REORDER_METHOD\n"
                               r" +Custom +\d\.\d{3}e\+\d\d +9\d\.\d\d % +3\n +SMP +\d\.\d{3}e\+\d\d +\d\d\.\d\d % +1\n"
                               r" +Fold +\d\.\d{3}e[+-]\d\d +\d\.\d\d % +2\n +RoundRobin +\d\.\d{3}e[+-]\d\d +0\.0\d % +0\n")

    def test_48_ranks_4_on_a_host(self):
        run = grid((8, 6), (1000, 700))
        table = self.asked(run, "-n", "4")["tables"][0]
        self.assertEqual(table["custom"], "cells of 2 x 2")
        custom, smp, fold, robin = self.shares(table)
        self.assertGreater(custom, smp)
        self.assertEqual((fold, robin), (0, 0))

    def test_the_numbers_are_those_of_the_orders(self):
        for run, per_host in ((grid((6, 8), (7, 3)), 8), (unstructured(50, 2), 7), (grid((4, 4, 3), (5, 2, 3)).shuffled(), 5)):
            table = self.asked(run, "-n", str(per_host))["tables"][0]
            total, size = sum(run.sent.values()), run.ranks
            hosts = [per_host] * (size // per_host) + [size % per_host] * (size % per_host > 0)
            self.assertEqual(table["hosts"], hosts)
            rounds, listed = [], {"SMP": list(range(size)), "Custom": ranks_of(self.path())[0]}
            for name in ("RoundRobin", "Fold"):
                left, members, rank, turn = list(hosts), [[] for _ in hosts], 0, 0
                while rank < size:
                    order = range(len(hosts))
                    for host in (reversed(order) if name == "Fold" and turn % 2 else order):
                        if left[host]:
                            members[host].append(rank)
                            left[host], rank = left[host] - 1, rank + 1
                    turn += 1
                listed[name] = sum(members, [])
            for order in table["orders"]:
                bytes_on_host = run.on_host(listed[order["order"]], per_host)
                self.assertAlmostEqual(order["share"], bytes_on_host / total, places=5)
                self.assertAlmostEqual(order["bytes_per_rank"], bytes_on_host / size, places=3)

    def test_the_hosts_of_the_run_are_the_default(self):
        run = grid((4, 6), (5, 9))
        said = self.asked(run, matrix={"ranks_per_host": [10, 6, 8]})
        self.assertEqual([table["hosts"] for table in said["tables"]], [[10, 6, 8]])
        self.assertEqual(ranks_of(self.path())[1], [10, 6, 8])
        self.assertIn("3 hosts of 6 to 10 ranks:", self.good(run.as_json(matrix={"ranks_per_host": [10, 6, 8]})))

    def test_a_cell_may_close_a_dimension_that_wraps_around(self):
        sides, sizes = (6, 4, 8), (60, 100, 40)
        self.assertEqual(self.asked(grid(sides, sizes, (1,)), "-n", "4")["tables"][0]["custom"], "cells of 1 x 4 x 1")
        self.assertEqual(self.asked(grid(sides, sizes), "-n", "4")["tables"][0]["custom"], "cells of 2 x 2 x 1")

    def test_custom_is_at_least_the_best_cell_and_every_other_order(self):
        for run, per_host in ((grid((16, 12), (5, 9)), 16), (grid((8, 8, 8), (5, 5, 5)), 32), (grid((9, 10, 6), (1, 2, 3)), 20),
                              (unstructured(300, 1), 20), (grid((12, 10), (4, 4)).shuffled(), 10), (sweep(), 24)):
            said = self.asked(run, "-n", str(per_host))
            table = said["tables"][0]
            shares = self.shares(table)
            self.assertEqual(shares[0], max(shares))
            ranks, hosts = ranks_of(self.path())
            self.assertEqual(sorted(ranks), list(range(run.ranks)))
            self.assertEqual(hosts, table["hosts"])
            if not said["grid"]:
                continue
            sides = ",".join(map(str, said["grid"]["sides"]))
            best = subprocess.run([WEFT, "order", "-g", sides, "-n", str(per_host)], capture_output=True, text=True,
                                  timeout=60, check=True).stdout
            listed = [int(r) for line in best.splitlines() if not line.startswith("#") for r in line.split(",")]
            self.assertGreaterEqual(run.on_host(ranks, per_host), run.on_host(listed, per_host))

    @unittest.skipIf(WITHOUT_METIS, "built without METIS")
    def test_graphs_are_divided_where_cells_do_not_fit(self):
        for run, per_host, least in ((unstructured(300, 1), 20, 0.6), (grid((12, 8, 8), (1, 1, 1)).shuffled(), 16, 0.5),
                                     (grid((11, 13), (1, 1)), 12, 0.7)):
            table = self.asked(run, "-n", str(per_host))["tables"][0]
            self.assertEqual(table["custom"], "parts of the graph, by METIS")
            self.assertGreater(self.shares(table)[0], least)
            self.assertGreater(self.shares(table)[0], self.shares(table)[1])
        shares = [self.shares(self.asked(unstructured(257, seed), "-n", "13")["tables"][0])[0] for seed in range(4)]
        self.assertGreater(sum(shares) / 4, 0.815, "METIS alone misses the sizes of the parts")
        pairs = Run(40)
        for rank in range(20):
            pairs.both(rank, 39 - rank, 100 + rank)
        self.assertEqual(self.shares(self.asked(pairs, "-n", "2")["tables"][0])[0], 1, "each pair on a host")

    @unittest.skipIf(WITHOUT_METIS, "built without METIS")
    def test_levels_inside_a_host(self):
        run = grid((8, 8), (1, 1)).shuffled()
        table = self.asked(run, "-n", "32", "--levels", "8,4")["tables"][0]
        ranks, total = ranks_of(self.path())[0], sum(run.sent.values())
        for order in table["orders"]:
            self.assertEqual(len(order["inside"]), 2)
        self.assertAlmostEqual(table["orders"][0]["inside"][0], run.on_host(ranks, 8) / total, places=5)
        self.assertAlmostEqual(table["orders"][0]["inside"][1], run.on_host(ranks, 4) / total, places=5)
        self.assertGreater(table["orders"][0]["inside"][0], 0.5)
        self.assertGreater(table["orders"][0]["inside"][1], 0.35)

    def test_where_nothing_helps_it_is_said(self):
        run = grid((6, 4), (1, 100))
        self.assertIn("No better order than SMP was found (the default)", self.good(run.as_json(), "-n", "4"))
        dealt = grid((4, 16), (100, 1))
        self.assertIn("No better order than RoundRobin was found (WEFT_RANK_REORDER_METHOD=0 needs no file)",
                      self.good(dealt.as_json(), "-n", "4"))
        self.assertIn("All ranks are on one host", self.good(run.as_json(), "-n", "64"))
        self.assertIn("0 bytes", self.good(Run(5).as_json(), "-n", "2"))


class Metrics(Case):
    def timed(self, run, user):
        return {"by_rank": [{"rank": r, "seconds": 10, "mpi": 10 - s, "host": 0} for r, s in enumerate(user)]}

    def test_ranks_that_compute_share_hosts_with_ranks_that_communicate(self):
        run = grid((4, 8), (5, 5))
        user = [9 if rank < 16 else 1 for rank in range(32)]  # the first hosts would have all the work
        table = self.asked(run, "-n", "8", "--metric", "time", **self.timed(run, user))["tables"][0]
        busiest = [order["busiest_seconds"] for order in table["orders"]]
        self.assertAlmostEqual(table["orders"][0]["mean_seconds"], 40)
        self.assertAlmostEqual(busiest[0], 40)
        self.assertAlmostEqual(busiest[1], 72)
        ranks, _ = ranks_of(self.path())
        for host in range(4):
            self.assertAlmostEqual(sum(user[rank] for rank in ranks[8 * host:8 * host + 8]), 40)

    def test_hybrid_gives_up_little_of_one_for_much_of_the_other(self):
        run = grid((12, 8), (5, 5))
        numbers = random.Random(4)
        user = [numbers.uniform(1, 9) + (4 if rank < 48 else 0) for rank in range(96)]
        results = {}
        for metric in ("sent", "time", "hybrid"):
            order = self.asked(run, "-n", "8", "--metric", metric, **self.timed(run, [min(u, 10) for u in user]))
            order = order["tables"][0]["orders"][0]
            results[metric] = (order["share"], order["busiest_seconds"] / order["mean_seconds"] - 1)
        cost = {metric: 1 - share + excess for metric, (share, excess) in results.items()}
        self.assertLess(cost["hybrid"], min(cost["sent"], cost["time"]))
        self.assertGreater(results["hybrid"][0], results["time"][0])
        self.assertLess(results["hybrid"][1], results["sent"][1])

    def test_hybrid_leaves_hosts_alone_that_are_balanced_already(self):
        run = grid((12, 8), (5, 5))
        numbers = random.Random(4)
        user = [numbers.uniform(9.8, 10) for _ in range(96)]
        sent, hybrid = (self.asked(run, "-n", "8", "--metric", metric, **self.timed(run, user)) for metric in ("sent", "hybrid"))
        self.assertAlmostEqual(hybrid["tables"][0]["orders"][0]["share"], sent["tables"][0]["orders"][0]["share"])

    def test_the_table_has_the_times(self):
        run = grid((4, 4), (5, 5))
        text = self.good(run.as_json(**self.timed(run, [1, 9] * 8)), "-n", "4", "--metric", "hybrid")
        self.assertRegex(text, r"User seconds of a host\n.*most +above mean\n +Custom .* 3 +\d+\.\d{3} +\d+\.\d\d %")


class Files(Case):
    def test_the_file_explains_itself(self):
        said = self.good(sweep().as_json(), "-n", "16")
        with open(self.path()) as file:
            text = file.read()
        comments = [line[2:] for line in text.splitlines() if line.startswith("# ")]
        for line in said.splitlines():
            if line and not line.startswith('"'):
                self.assertIn(line, comments)
        self.assertIn('Made by: weft order --from "stats.json" -n 16', comments)
        self.assertIn('Program: "sweep"', comments)
        self.assertTrue(any("WEFT_RANK_REORDER_METHOD=3" in line for line in comments))
        again = [line.split("weft order ")[1] for line in comments if line.startswith("The same order: ")]
        same = subprocess.run([WEFT, "order", *again[0].split()], capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual([line for line in same.stdout.splitlines() if line[0] != "#"],
                         [line for line in text.splitlines() if line[0] != "#"])

    def test_names(self):
        run = grid((4, 4), (5, 5)).as_json()
        self.good(run, "-n", "4,8", "-o", "mine")
        self.assertEqual(sorted(os.listdir(self.folder)), ["mine.4", "mine.8", "stats.json"])
        self.good(run, "--ranks-per-host", "4", "--output", "yours")
        self.assertTrue(os.path.exists(self.path("yours")))

    @unittest.skipIf(WITHOUT_METIS, "built without METIS")
    def test_ranks_run_with_it(self):
        run = Run(4)
        run.both(0, 3, 100)
        run.both(1, 2, 100)
        self.good(run.as_json(), "-n", "2")
        ranks, _ = ranks_of(self.path())
        self.assertEqual(sorted(map(sorted, (ranks[:2], ranks[2:]))), [[0, 3], [1, 2]])
        environment = {**os.environ, "WEFT_RANK_REORDER_METHOD": "3", "WEFT_RANK_REORDER_FILE": self.path()}
        done = subprocess.run([os.path.join(BIN, "mpiexec"), "-n", "4", os.environ["WHERE"]], capture_output=True, text=True,
                              timeout=60, check=False, env=environment)
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 4), done.stderr)

    def test_lines_of_text_are_read(self):
        text = "# from to bytes\nranks 6\n0 1 100\n1,0,50,3\n\n0 1 50 # again\n2\t2 7\n3 4 10\n"
        said = json.loads(self.good(text, "-n", "2", "--json", name="matrix.txt"))
        self.assertEqual((said["ranks"], said["bytes"], said["program"]), (6, 210, ""))
        self.assertEqual(self.shares(said["tables"][0])[0], 1)
        self.assertEqual(json.loads(self.good("0 1 5\n1 2 5\n", "-n", "2", "--json"))["ranks"], 3)

    def test_mistakes_name_the_place_and_the_remedy(self):
        ok = '{"matrix": {"ranks": 2, "bytes": [[0, 1, 5, 1]]}}'
        for text, words, said in (
                ("", (), "the file is empty"),
                ("[1]", (), "line 1, cannot be used: it is a list, an object is expected"),
                ("{", (), "line 1, cannot be used: the name of a member"),
                ("{}", (), 'it has no member "matrix"'),
                ('{"matrix": 3}', (), '"matrix" is a number, not an object'),
                ('{"matrix": {"ranks": 2}}', (), 'its "matrix" has no member "bytes"'),
                ('{"matrix": {"ranks": 0, "bytes": []}}', (), "a job has at least one rank"),
                ('{"matrix": {"ranks": -2, "bytes": []}}', (), '"-2" is out of range: 0 to 1048576'),
                ('{"matrix": {"ranks": 2, "bytes": [\n[0, 1, 5, 1],\n[0, 2, 5, 1]]}}', (), "rank 2 is out of range"),
                ('{"matrix": {"bytes": [[0, 1, 5],\n [0, 1]]}}', (), "line 2, cannot be used: entry 2 of \"bytes\": an entry has too few"),
                ('{"matrix": {"bytes": [[0, 1, 5, 1, 1]]}}', (), "more than four numbers"),
                ('{"matrix": {"bytes": [[0, 1.5, 5]]}}', (), 'entry 1 of "bytes": "1.5" is no whole number'),
                ('{"matrix": {"bytes": [[0, 1048576, 5]]}}', (), '"1048576" is out of range: 0 to 1048575'),
                ('{"matrix": {"bytes": [[0, 1, -5]]}}', (), '"-5" is out of range'),
                ('{"matrix": {"bytes": [[0, 1, 1e3]]}}', (), '"1e3" is no whole number'),
                ('{"matrix": {"bytes": [[0, 1, "5"]]}}', (), "it is a text, not a number"),
                ('{"matrix": {"bytes": [7]}}', (), "it is a number, not a list"),
                ('{"matrix": {"bytes": [[0, 1, 4611686018427387904], [1, 0, 5]]}}', (), "more than 2^62"),
                ('{"matrix": {"bytes": [], "bytes": []}}', (), '"bytes" is there twice'),
                ('{"matrix": {"ranks": 2, "ranks_per_host": [2, 1], "bytes": []}}', (), "have 3 ranks together, more than the 2"),
                ('{"matrix": {"ranks": 2, "ranks_per_host": [0], "bytes": []}}', (), "a host has at least one rank"),
                (ok[:-1] + ', "by_rank": [{"rank": 7, "user_seconds": 1}]}', (), "rank 7 is out of range"),
                (ok[:-1] + ', "by_rank": [{"rank": 1, "user_seconds": -1}]}', (), '"-1" is no time in seconds'),
                (ok[:-1] + ', "by_rank": [{"rank": 1, "user_seconds": 1}, {"rank": 1, "user_seconds": 1}]}', (), "there twice"),
                ("0 1\n", (), "line 1, cannot be used: an entry has too few numbers"),
                ("0 1 5\nx 1 5\n", (), 'line 2, cannot be used: "x" is no whole number'),
                ("ranks 1\n0 1 5\n", (), "rank 1 is out of range: there are 1 ranks"),
                (ok, (), "does not say how many ranks a host has"),
                (ok, ("-n", "0"), '-n cannot be used: "0" is out of range'),
                (ok, ("-n",), "-n needs a value"),
                (ok, ("-n", "2", "--metric", "fast"), '"fast" is none of sent, time and hybrid'),
                (ok, ("-n", "2", "--metric", "time"), "has not the times of all ranks"),
                (ok, ("-n", "2", "--levels", "3"), "METIS" if WITHOUT_METIS else "parts of 3 ranks, and a host has 2"),
                (ok, ("-n", "4,2", "--levels", "3"), "METIS" if WITHOUT_METIS else "parts of 3 ranks, and a host has 2"),
                (ok, ("-n", "2", "--levels", "1,2"), "METIS" if WITHOUT_METIS else "larger parts inside smaller ones"),
                (ok, ("-n", "2", "-g", "2,2"), '"-g" is not known beside --from')):
            done = self.order(text, *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), (text, words))
            self.assertIn("weft: order: ", done.stderr)
            self.assertIn(said, done.stderr)
            self.assertIn(". Remedy: ", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        self.assertEqual(os.listdir(self.folder), ["stats.json"])

    def test_files_that_cannot_be_read_or_written(self):
        done = subprocess.run([WEFT, "order", "--from", "/nowhere/stats.json", "-n", "2"], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r'"/nowhere/stats.json" cannot be read: No such file .*Remedy: ')
        done = self.order("0 1 5\n", "-n", "2", "-o", "/nowhere/order")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r'-o "/nowhere/order" cannot be written: No such file .*Remedy: ')

    def test_a_program_cannot_write_into_the_file(self):
        run = grid((2, 2), (1, 1))
        self.good(run.as_json(program="a\n7,7,7\n"), "-n", "2")
        self.assertEqual(sorted(ranks_of(self.path())[0]), [0, 1, 2, 3])


class Large(Case):
    def test_100_000_ranks(self):
        run = grid((500, 25, 8), (1000, 700, 500)).tree(5)
        for one, sides in ((run, [500, 25, 8]), (run.shuffled(), None)):
            said = self.asked(one, "-n", "16")
            self.assertEqual(said["grid"] and said["grid"]["sides"], sides)
            custom, smp, _, _ = self.shares(said["tables"][0])
            self.assertGreater(custom, smp)
            if not WITHOUT_METIS:
                self.assertGreater(custom, 0.55)
            self.assertEqual(sorted(ranks_of(self.path())[0]), list(range(100000)))

    @unittest.skipIf(WITHOUT_METIS, "this weft has no METIS")
    def test_few_pairs_among_a_million_ranks(self):
        # METIS takes minutes for them, since its time grows with the square of the ranks that send nothing.
        run, names = Run(1 << 20), random.Random(1).sample(range(1 << 20), 20000)
        for a, b in zip(names[::2], names[1::2]):
            run.both(a, b, 8)
        self.assertEqual(self.shares(self.asked(run, "-n", "64")["tables"][0])[0], 1)


if __name__ == "__main__":
    unittest.main()
