#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of memory on a machine that has them: two NUMA nodes with a processor each, and a third one of memory alone, which the
firmware's table says is four times as fast. Pages lie where settings ask for them, as the kernel tells it."""
import os
import unittest

import machine

MPIEXEC, WEFT, PLACED = os.environ["MPIEXEC"], os.environ["WEFT"], os.environ["PLACED"]
MIB = 1 << 20
HUGE = "/sys/devices/system/node/node{}/hugepages/hugepages-2048kB"

OPTIONS = ["-machine", "hmat=on", "-smp", "2,sockets=2,cores=1,threads=1", "-m", "1536M"]
for node, (size, rest) in enumerate([("768M", "cpus=0,initiator=0"), ("512M", "cpus=1,initiator=1"), ("256M", "initiator=0")]):
    OPTIONS += ["-object", f"memory-backend-ram,id=m{node},size={size}", "-numa", f"node,nodeid={node},memdev=m{node},{rest}"]
for initiator in (0, 1):
    for node in (0, 1, 2):
        near = node in (2, initiator)
        for kind, value in (("latency", f"latency={10 if near else 20}"),
                            ("bandwidth", f"bandwidth={'40G' if node == 2 else '10G' if near else '5G'}")):
            OPTIONS += ["-numa", f"hmat-lb,initiator={initiator},target={node},hierarchy=memory,"
                                 f"data-type=access-{kind},{value}"]


def placed(ranks, size, how, *settings):
    return f"{' '.join(settings)} {MPIEXEC} -n {ranks} {PLACED} {size} {how}"


HBM, MANDATORY, DDR = "WEFT_ALLOC_MEM_AFFINITY=HBM", "WEFT_ALLOC_MEM_POLICY=Mandatory", "WEFT_ALLOC_MEM_AFFINITY=DDR"
WAYS = ("alloc_mem", "allocate", "allocate_shared", "symmetric")
COMMANDS = {"info": f"{WEFT} info memory"}
for way in WAYS:
    COMMANDS[f"hbm_{way}"] = placed(2, MIB, way, HBM)
    COMMANDS[f"number_{way}"] = placed(1, MIB, way, "WEFT_ALLOC_MEM_AFFINITY=2", MANDATORY)
COMMANDS |= {
    "nothing": placed(2, MIB, "alloc_mem"),
    "next": placed(2, MIB, "next"),
    "ddr": placed(2, MIB, "alloc_mem", DDR),
    "interleave": placed(1, 3 * MIB, "alloc_mem", "WEFT_ALLOC_MEM_POLICY=Interleave"),
    "too_large": placed(1, 300 * MIB, "alloc_mem", HBM, MANDATORY),
    "spills": placed(1, 300 * MIB, "alloc_mem", HBM),
    "not_there": placed(1, MIB, "alloc_mem", "WEFT_ALLOC_MEM_AFFINITY=5", MANDATORY),
    "huge": f"echo 16 >{HUGE.format(2)}/nr_hugepages; "
            + placed(1, 8 * MIB, "alloc_mem", HBM, MANDATORY, "WEFT_ALLOC_MEM_PG_SZ=2M"),
    "huge_few": placed(1, 48 * MIB, "alloc_mem", HBM, MANDATORY, "WEFT_ALLOC_MEM_PG_SZ=2M"),
    "huge_given_back": f"cat {HUGE.format(2)}/free_hugepages",
    "huge_elsewhere": f"echo 0 >{HUGE.format(2)}/nr_hugepages; echo 16 >{HUGE.format(0)}/nr_hugepages; "
                      + placed(1, 8 * MIB, "alloc_mem", HBM, MANDATORY, "WEFT_ALLOC_MEM_PG_SZ=2M"),
    "huge_preferred": placed(1, 8 * MIB, "alloc_mem", HBM, "WEFT_ALLOC_MEM_PG_SZ=2M"),
}


def only_on(node, rank=0, pages=MIB // 4096):
    return f"rank {rank}: {pages} on node {node};"


@unittest.skipIf(machine.why_not(), machine.why_not())
class Nodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.told = machine.run(OPTIONS, [MPIEXEC, WEFT, PLACED], COMMANDS)

    def output(self, name):
        text, status = self.told[name]
        self.assertEqual(status, 0, text)
        return text

    def refused(self, name, why):
        text, status = self.told[name]
        self.assertNotEqual(status, 0, text)
        self.assertRegex(text, rf"MPI_Alloc_mem: no \d+ bytes of memory: {why}.*MPI_ERR_NO_MEM")

    def test_the_kinds_of_nodes_come_from_the_firmware(self):
        text = self.output("info")
        self.assertRegex(text, r"(?m)^0 +DDR .* 10\d* +0$")
        self.assertRegex(text, r"(?m)^1 +DDR .* 10\d* +1$")
        self.assertRegex(text, r"(?m)^2 +HBM .* 40\d* +\S*$")

    def test_pages_lie_in_the_memory_that_was_asked_for(self):
        for way in WAYS:
            with self.subTest(way=way):
                for name, ranks in (("hbm", (0, 1)), ("number", (0,))):
                    text = self.output(f"{name}_{way}")
                    for rank in ranks:
                        self.assertIn(f"rank {rank}: {MIB // 4096} on node 2", text)
                    if way != "symmetric":
                        self.assertEqual(text.count("nodes 2, pages base of 4K, fallback (none)"), len(ranks), text)

    def test_ddr_is_that_of_the_rank_s_own_processor(self):
        text = self.output("ddr")
        for rank in (0, 1):
            self.assertIn(only_on(rank, rank), text)

    def test_without_a_wish_the_thread_that_touches_decides(self):
        text = self.output("nothing")
        for rank in (0, 1):
            self.assertIn(only_on(rank, rank) + " affinity SYS_DEFAULT, nodes first touch", text)
        text = self.output("next")
        for rank in (0, 1):
            self.assertIn(only_on(1 - rank, rank), text)

    def test_interleaved_pages_are_spread_evenly(self):
        self.assertIn("rank 0: 256 on node 0, 256 on node 1, 256 on node 2;", self.output("interleave"))

    def test_more_than_the_node_has_is_refused_or_spills(self):
        self.refused("too_large", r"HBM memory has [\d.]+ MiB free of the 300.0 MiB asked for, and the policy is Mandatory")
        self.refused("not_there", r"this host has no NUMA node 5 for this process .its nodes: 0=DDR,1=DDR,2=HBM")
        text = self.output("spills")
        self.assertRegex(text, r"rank 0: \d+ on node [01],.* \d+ on node 2; affinity HBM, .*, "
                               r"fallback HBM memory has [\d.]+ MiB free of the 300.0 MiB asked for; pages beyond")
        self.assertIn("warning: memory is not as wished (affinity HBM", text)

    def test_huge_pages_lie_there_too_and_go_back(self):
        self.assertIn(only_on(2, pages=8 * MIB // 4096) + " affinity HBM, nodes 2, pages explicit of 2M, fallback (none)",
                      self.output("huge"))
        self.assertEqual(self.output("huge_given_back"), "16\n")

    def test_a_binding_takes_no_huge_pages_of_other_nodes(self):
        self.refused("huge_few", "24 huge pages of 2M are needed and 16 are free in HBM memory")
        self.refused("huge_elsewhere", "4 huge pages of 2M are needed and 0 are free in HBM memory")
        self.assertIn(only_on(0, pages=8 * MIB // 4096) + " affinity HBM, nodes 2, pages explicit of 2M, fallback (none)",
                      self.output("huge_preferred"))


if __name__ == "__main__":
    unittest.main()
