#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""weft order: the orders it writes and what it says of them. LAUNCH_BIN is the folder of weft."""
import itertools
import json
import os
import random
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

WEFT = os.path.join(os.environ["LAUNCH_BIN"], "weft")
COUNTS = re.compile(r"# (\d+) hosts of (\d+) ranks.*: a host has at most (\d+) off-node neighbours; "
                    r"all together (\d+) off-node, (\d+) on-node")


def order(*words, **more):
    return subprocess.run([WEFT, "order", *words], capture_output=True, text=True, timeout=60, check=False, **more)


def lines_of(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


def ranks_of(text):
    return [int(rank) for line in lines_of(text) for rank in line.split(",")]


def listed(ranks):
    return ",".join(map(str, ranks))


def counted(text):
    """Off-node neighbours of the host that has most, off-node and on-node ones in all, as the comments say."""
    return tuple(int(n) for n in COUNTS.search(text).groups()[2:])


def counts(grid, by_columns, ranks, per_host):
    """The same, from the order alone."""
    host = {rank: slot // per_host for slot, rank in enumerate(ranks)}
    number = {}
    for at in itertools.product(*map(range, grid)):
        number[at] = 0
        for side, x in zip(*((reversed(grid), reversed(at)) if by_columns else (grid, at))):
            number[at] = number[at] * side + x
    off, together, on_node = {}, 0, 0
    for at, rank in number.items():
        for d in range(len(grid)):
            other = number.get(at[:d] + (at[d] + 1,) + at[d + 1:])
            if other is None:
                continue
            if host[rank] == host[other]:
                on_node += 2
                continue
            together += 2
            for one in (rank, other):
                off[host[one]] = off.get(host[one], 0) + 1
    return max(off.values(), default=0), together, on_node


class Order(unittest.TestCase):
    def good(self, *words, **more):
        done = order(*words, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def test_rows_and_columns(self):
        rows = self.good("-R", "-g", "2,16")
        self.assertEqual(lines_of(rows), [listed(range(16)), listed(range(16, 32))])
        columns = self.good("-C", "-g", "2,16")
        self.assertEqual(lines_of(columns), [listed(range(0, 32, 2)), listed(range(1, 32, 2))])
        self.assertEqual(lines_of(self.good("-g", "2,16")), lines_of(rows), "rows are the default")

    def test_the_order_as_json(self):
        words = ["-g", "6,4", "-n", "6"]
        text = self.good(*words)
        answer = json.loads(self.good(*words, "--json"))
        self.assertEqual([listed(line) for line in answer["order"]], lines_of(text))
        self.assertEqual((answer["most_off_node"], answer["off_node"], answer["on_node"]), counted(text))
        self.assertEqual((answer["grid"], answer["hosts"], answer["ranks_per_host"]), ([6, 4], 4, 6))

    def test_a_cell_is_a_line(self):
        self.assertEqual(lines_of(self.good("-R", "-c", "2,2", "-g", "4,4")),
                         ["0,1,4,5", "2,3,6,7", "8,9,12,13", "10,11,14,15"])
        self.assertEqual(lines_of(self.good("-C", "-c", "2,2", "-g", "4,4")),
                         ["0,4,1,5", "8,12,9,13", "2,6,3,7", "10,14,11,15"])
        self.assertEqual(lines_of(self.good("-R", "-c", "2,2", "-g", "3,3")), ["0,1,3,4", "2,5", "6,7", "8"],
                         "cells at the end are smaller")

    def test_off_node_neighbours_of_three_cells(self):
        for cell, most in (("16,2,1", 64), ("2,2,8", 32), ("4,2,4", 24)):
            for numbering in ("-R", "-C"):
                text = self.good(numbering, "-g", "16,2,8", "-c", cell)
                self.assertEqual(counted(text)[0], most, cell)
                self.assertEqual(counted(text), counts((16, 2, 8), numbering == "-C", ranks_of(text), 32))

    def test_the_best_cell_is_found_and_named(self):
        text = self.good("-g", "16,2,8", "-n", "32")
        self.assertIn("in cells of 4x2x4, best of the 7 shapes of 32 ranks", text)
        self.assertEqual(counted(text), (24, 160, 1024))
        self.assertEqual(lines_of(self.good("-g", "16,2,8", "-H", "8")), lines_of(text))
        self.assertEqual(lines_of(self.good("-g", "16,2,8", "-N", "32")), lines_of(text))
        self.assertEqual(lines_of(self.good("-g", "16,2,8", "-c", "4,2,4")), lines_of(text))

    def test_no_cell_beats_the_one_that_is_found(self):
        for grid, per_host in (((12, 6), 6), ((8, 4, 4), 16), ((30,), 5), ((6, 6, 6), 12)):
            words = ("-g", listed(grid))
            most, together, _ = counted(self.good(*words, "-n", str(per_host)))
            sides = [[s for s in range(1, side + 1) if side % s == 0] for side in grid]
            tried = 0
            for cell in itertools.product(*sides):
                ranks = 1
                for side in cell:
                    ranks *= side
                if ranks == per_host:
                    tried += 1
                    self.assertLessEqual((most, together), counted(self.good(*words, "-c", listed(cell)))[:2], cell)
            self.assertGreater(tried, 0)

    def test_hosts_that_no_cell_fits_get_parts_of_other_shapes(self):
        text = self.good("-g", "6,6", "-n", "10")
        self.assertRegex(text, "no cell of 10 ranks tiles the grid")
        self.assertRegex(text, r"4 hosts of 10 ranks \(the last: 6\)")
        self.assertEqual([len(line.split(",")) for line in lines_of(text)], [10, 10, 10, 6])
        self.assertLess(counted(text)[1], counts((6, 6), False, list(range(36)), 10)[1])

    def test_random_orders_have_every_rank_and_the_counts_that_are_said(self):
        seed = 20261122
        numbers = random.Random(seed)
        for turn in range(60):
            grid = tuple(numbers.randint(1, 7) for _ in range(numbers.randint(1, 4)))
            size = 1
            for side in grid:
                size *= side
            words = [numbers.choice(("-R", "-C")), "-g", listed(grid)]
            per_host = numbers.randint(1, size)
            cell = [numbers.randint(1, side) for side in grid]
            if numbers.random() < 0.5:
                words += ["-c", listed(cell)]
            words += ["-n", str(per_host)]
            text = self.good(*words)
            ranks = ranks_of(text)
            where = f"{words}, turn {turn} of seed {seed}"
            self.assertEqual(sorted(ranks), list(range(size)), where)
            self.assertEqual(counted(text), counts(grid, words[0] == "-C", ranks, per_host), where)

    def test_the_comment_makes_the_same_order_again(self):
        for words in (("-C", "-g", "4,6", "-c", "2,3"), ("-g", "8,8", "-H", "4"), ("-g", "6,6", "-n", "10"), ("-g", "5,4")):
            text = self.good(*words)
            again = text.splitlines()[0].removeprefix("# weft order ").split()
            self.assertEqual(self.good(*again), text)

    def test_files_are_written(self):
        with tempfile.TemporaryDirectory() as folder:
            said = self.good("-g", "4,4,4", "-n", "8", "-o", "MPICH_RANK_ORDER", "--picture", "order.svg", cwd=folder)
            self.assertEqual(lines_of(said), [])
            with open(os.path.join(folder, "MPICH_RANK_ORDER")) as file:
                self.assertEqual(file.read(), self.good("-g", "4,4,4", "-n", "8"))
            with open(os.path.join(folder, "order.svg")) as file:
                picture = xml.etree.ElementTree.fromstring(file.read())
        name = "{http://www.w3.org/2000/svg}"
        texts = [element.text for element in picture.iter(name + "text")]
        self.assertIn("4x4x4 grid, 64 ranks on 8 hosts, cells 2x2x2", texts)
        for text in [f"host {h}" for h in range(8)] + [f"slice {s}" for s in range(4)] + [str(r) for r in range(64)]:
            self.assertEqual(texts.count(text), 1, text)
        fills = [element.get("fill") for element in picture.iter(name + "rect")]
        legend, squares = fills[-8:], fills[1:-8]
        self.assertEqual(len(set(legend)), 8)
        for host, colour in enumerate(legend):
            self.assertEqual(squares.count(colour), 8, host)

    def test_pictures_of_every_number_of_dimensions(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "order.svg")
            for grid in ("1", "7", "300", "1,1,1", "2,2,2,2", "2,1,2,1,2,1,2,3", "200,200", "65536", "5,5,50"):
                self.good("-C", "-g", grid, "-n", "5", "-o", os.path.join(folder, "order"), "--picture", path)
                xml.etree.ElementTree.parse(path)

    def test_mistakes_name_the_option_and_the_remedy(self):
        for words, said in (((), "the grid is missing"),
                            (("-R", "-C", "-g", "2,2"), "-R and -C are both given"),
                            (("-g",), "-g needs a value"),
                            (("-g", ""), '-g cannot be used: "" is not a whole number'),
                            (("-g", "2,,2"), "-g cannot be used"),
                            (("-g", "2,2,"), "-g cannot be used"),
                            (("-g", "2x2"), '-g cannot be used: "2x2"'),
                            (("-g", "0,4"), '-g cannot be used: "0" is out of range: 1 to 1048576'),
                            (("-g", "-4"), '-g cannot be used: "-4" is out of range'),
                            (("-g", "99999999999999999999"), "is too large"),
                            (("-g", "1048576,2"), "-g 1048576,2 has too many ranks"),
                            (("-g", ",".join(["1048576"] * 8)), "has too many ranks"),
                            (("-g", ",".join(["1"] * 9)), "more than 8 dimensions"),
                            (("-g", "4,4", "-c", "2"), "-c 2 has not as many dimensions as -g 4,4"),
                            (("-g", "4,4", "-c", "2,5"), "-c 2,5 is larger than the grid in dimension 2"),
                            (("-g", "4,4", "-c", "2,y"), '-c cannot be used: "y"'),
                            (("-g", "4,4", "-n", "0"), "-n cannot be used"),
                            (("-g", "4,4", "-n", "2", "-H", "8"), "-n and -H are both given"),
                            (("-g", "4,4", "-H", "3"), "-H 3 hosts cannot have equal shares of 16 ranks"),
                            (("-g", "4,4", "-H", "17"), "-H 17 hosts cannot"),
                            (("-g", "4,4", "-o", ""), "-o cannot be used"),
                            (("-g", "4,4", "--picture", "a.svg"), "--picture has no hosts to show"),
                            (("-g", "512,512", "-n", "4", "--picture", "a.svg"), "--picture cannot show 262144 ranks"),
                            (("-g", "4,4", "--surely-not"), '"--surely-not" is not known'),
                            (("4,4",), '"4,4" is not known')):
            done = order(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn("weft: order: ", done.stderr)
            self.assertIn(said, done.stderr)
            self.assertIn(". Remedy: ", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_what_cannot_be_written_is_said_with_errno(self):
        for option in ("-o", "--picture"):
            done = order("-g", "4,4", "-n", "4", option, "/nowhere/file")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf'{option} "/nowhere/file" cannot be written: No such file .*Remedy: ')
        with open("/dev/full", "w") as full:
            done = subprocess.run([WEFT, "order", "-g", "4,4"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=10,
                                  check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output cannot be written: No space left", done.stderr)

    def test_the_largest_grids_are_ordered_in_seconds(self):
        text = self.good("-g", "1024,1024", "-n", "128")
        self.assertIn("in cells of 8x16", text)
        self.assertEqual(len(lines_of(text)), 8192)
        self.good("-g", "64,64,64", "-n", "100", "-o", "/dev/null")


if __name__ == "__main__":
    unittest.main()
