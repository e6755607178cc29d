#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Orders of ranks on two hosts, and what is said when hosts cannot be reached. WHERE is the program of where.c, STATIST that of
tests/launch/statist.c, HYDRA Hydra's mpiexec, LAUNCH_BIN the folder of weft."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import mpiexec

HERE = pathlib.Path(__file__).resolve().parent
HYDRA = os.environ["HYDRA"]


def run(ranks, *settings, program=None):
    command = mpiexec.command(HYDRA, 2, ranks, settings)
    done = subprocess.run([*command, *(program or [os.environ["WHERE"]])], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    if done.returncode == 77:
        raise unittest.SkipTest(done.stderr.strip())
    return done


@unittest.skipUnless(os.access(HYDRA, os.X_OK), "there is no Hydra: tools/dev/launchers.sh mpich installs it")
class Order(unittest.TestCase):
    def hosts(self, ranks, *settings):
        done = run(ranks, *settings)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.split()[1] for line in sorted(done.stdout.splitlines(), key=lambda l: int(l.split()[0]))]

    def test_methods_without_a_file(self):
        self.assertEqual(self.hosts(4, "WEFT_RANK_REORDER_METHOD=0"), ["h1", "h2", "h1", "h2"])
        self.assertEqual(self.hosts(4), ["h1", "h1", "h2", "h2"])
        self.assertEqual(self.hosts(4, "WEFT_RANK_REORDER_METHOD=2"), ["h1", "h2", "h2", "h1"])

    def test_a_file(self):
        with tempfile.NamedTemporaryFile("w", dir=HERE) as file:  # hosts have a /tmp of their own
            file.write("3,1  # the first host\n0 2\n")
            file.flush()
            method = ("WEFT_RANK_REORDER_METHOD=3", f"WEFT_RANK_REORDER_FILE={file.name}")
            self.assertEqual(self.hosts(4, *method), ["h2", "h1", "h2", "h1"])
            done = run(3, *method)
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual((done.stderr + done.stdout).count("line 1"), 1, "one rank speaks for all")

    def test_ranks_that_send_to_each_other_share_a_host(self):
        """The order that weft order makes from a run's messages."""
        with tempfile.TemporaryDirectory(dir=HERE) as folder:
            path = pathlib.Path(folder)
            (path / "sent").write_text("0 3 1000\n3 0 1000\n1 2 1000\n0 1 10\n2 3 10\n")
            done = subprocess.run([os.path.join(os.environ["LAUNCH_BIN"], "weft"), "order", "--from", "sent", "-n", "2"],
                                  cwd=path, capture_output=True, text=True, timeout=60, check=True)
            if "without METIS" in done.stdout:
                self.skipTest("built without METIS")
            file = path / "MPICH_RANK_ORDER.Grid"
            hosts = self.hosts(4, "WEFT_RANK_REORDER_METHOD=3", f"WEFT_RANK_REORDER_FILE={file}")
            self.assertEqual(hosts[0], hosts[3])
            self.assertEqual(hosts[1], hosts[2])
            self.assertNotEqual(hosts[0], hosts[1])
            listed = [line for line in file.read_text().splitlines() if not line.startswith("#")]
            for host, line in zip(("h1", "h2"), listed):
                self.assertEqual([hosts[int(rank)] for rank in line.split(",")], [host, host])

    def test_a_bad_placement_is_named_and_mended(self):
        """Ranks are dealt to the hosts, and talk most to the next one: weft advice says so first of all, and weft order mends it."""
        weft = os.path.join(os.environ["LAUNCH_BIN"], "weft")
        with tempfile.TemporaryDirectory(dir=HERE) as folder:  # hosts have a /tmp of their own
            file, order = os.path.join(folder, "run.json"), os.path.join(folder, "order")

            def advised(*settings):
                done = run(4, "WEFT_STATS=full", f"WEFT_STATS_FILE={file}", *settings, program=(os.environ["STATIST"], "pairs"))
                self.assertEqual(done.returncode, 0, done.stderr)
                said = subprocess.run([weft, "advice", file], capture_output=True, text=True, timeout=60, check=True)
                return said.stdout.splitlines()[:3]

            bad = "\n".join(advised("WEFT_RANK_REORDER_METHOD=0"))
            with open(file, encoding="utf-8") as report:
                self.assertEqual([rank["host"] for rank in json.load(report)["by_rank"]], [0, 1, 0, 1])
            place = "" if os.environ.get("UNOPTIMISED") else r"MPI_Isend at pairs \(statist\.c:\d+\)"
            self.assertRegex(bad, r"messages between ranks.*: .* leave the hosts, 100 % of their bytes \(ranks \d and \d exchange 6\d\d\.\d KiB of them, "
                             "most by " + place)
            self.assertRegex(bad, r"another order of ranks would keep all but \d % on them: weft order --from")
            subprocess.run([weft, "order", "--from", file, "-o", order], capture_output=True, text=True, timeout=60, check=True)
            good = "\n".join(advised("WEFT_RANK_REORDER_METHOD=3", f"WEFT_RANK_REORDER_FILE={order}"))
            self.assertNotIn("messages between ranks", good)

    def test_a_network_that_is_not_there(self):
        done = run(2, "WEFT_NETWORKS=192.168.55.0/24")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no IPv4 address in WEFT_NETWORKS=192.168.55.0/24", done.stderr + done.stdout)
        self.assertEqual(self.hosts(2, "WEFT_NETWORKS=10.77.0.0/16"), ["h1", "h2"])

    def test_a_library_that_is_not_there(self):
        for wanted, setting, file in (("ofi", "WEFT_LIBFABRIC", "/nowhere/libfabric.so"),
                                      ("ucx", "WEFT_LIBUCP", "/nowhere/libucp.so")):
            done = run(2, f"WEFT_NETWORK_LIBRARY={wanted}", f"{setting}={file}")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(file, done.stderr + done.stdout)
            self.assertIn("apt-get install", done.stderr + done.stdout)

    def test_networks_for_ucx(self):
        done = run(2, "WEFT_NETWORK_LIBRARY=ucx", "WEFT_NETWORKS=192.168.55.0/24")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no IPv4 address in WEFT_NETWORKS=192.168.55.0/24", done.stderr + done.stdout)
        ucx = ("WEFT_NETWORK_LIBRARY=ucx", "WEFT_NETWORKS=10.77.0.0/16")
        self.assertEqual(self.hosts(2, *ucx), ["h1", "h2"])
        done = run(2, *ucx, "WEFT_UCX_TRANSPORTS=nonsense")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("nonsense on eth0", done.stderr + done.stdout)

    def test_ranks_with_different_libraries(self):
        done = run(2, program=("sh", "-c", "[ $(hostname) = h1 ] || export WEFT_NETWORK_LIBRARY=ucx; exec $0",
                               os.environ["WHERE"]))
        self.assertNotEqual(done.returncode, 0)
        said = [line for line in (done.stderr + done.stdout).splitlines() if "weft:" in line]
        self.assertEqual(len(said), 1, said)
        self.assertIn('rank 0 reaches other hosts with "tcp", and rank 1 with "ucx"', said[0])
        self.assertIn("WEFT_NETWORK_LIBRARY", said[0])


if __name__ == "__main__":
    unittest.main()
