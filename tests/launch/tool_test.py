#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""weft info and weft version: settings, networks, the machine. LAUNCH_BIN is the folder of weft; its other commands have tests
of their own."""
import json
import os
import re
import subprocess
import unittest

TOPOLOGIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit", "topology")
WEFT = os.path.join(os.environ["LAUNCH_BIN"], "weft")


class Tool(unittest.TestCase):
    def weft(self, *words, **env):
        return subprocess.run([WEFT, *words], capture_output=True, text=True, timeout=10, env=dict(os.environ, **env), check=False)

    def test_info_lists_settings_with_values_and_sources(self):
        done = self.weft("info", "--all", WEFT_LAUNCHER="singleton")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"WEFT_LAUNCHER +singleton +auto +environment +auto, singleton, pmi1, pmi2 or pmix")
        self.assertNotIn("WEFT_SEGMENT_FD", done.stdout)
        done = self.weft("info")
        self.assertNotIn("WEFT_LAUNCHER ", done.stdout)

    def test_each_command_says_how_it_is_used(self):
        commands = [line.split()[0] for line in self.weft("help").stdout.splitlines() if line[:2] == "  " and line[2] != " "]
        self.assertIn("info", commands)
        topics = [("info", topic) for topic in ("net", "files", "coll", "devices", "memory")]
        for command in [(c,) for c in commands] + topics:
            done = self.weft(*command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)
            self.assertIn(f"usage: weft {command[0]}", done.stdout)

    def test_info_names_the_functions_of_a_chapter(self):
        done = self.weft("info", "--chapter")
        self.assertRegex(done.stdout, r"\n  14 +90  files\n(.*\n)+ +664  in all")
        done = self.weft("info", "--chapter", "14")
        self.assertRegex(done.stdout, r"^Chapter 14, files: 90 functions\n(  MPI_\w+\n){90}$")
        self.assertIn("\n  MPI_File_iwrite_shared\n", done.stdout)
        for number in ("2", "xiv", "14 "):
            done = self.weft("info", "--chapter", number)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"no functions are defined by chapter \"{number}\"", done.stderr)

    def test_info_tells_which_algorithms_are_taken_and_why(self):
        done = self.weft("info", "coll", "--ranks", "64", "--ppn", "8", "--bytes", "1M", WEFT_BCAST_ALGORITHM="tree")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"bcast +tree +a setting")
        self.assertRegex(done.stdout, r"allreduce +split +default\n")
        done = self.weft("info", "coll", "--ranks", "2", "--bytes", "4096")
        self.assertRegex(done.stdout, r"allreduce +shared +default, ranks up to 32\n +nonblocking +doubling")
        done = self.weft("info", "coll", WEFT_BCAST_ALGORITHM="offload")
        self.assertRegex(done.stdout, r"bcast +shared +default")
        done = self.weft("info", "coll", WEFT_BCAST_ALGORITHM="offload", WEFT_OFFLOAD="mock")
        self.assertRegex(done.stdout, r"component mock")
        self.assertRegex(done.stdout, r"bcast +offload +a setting\n +otherwise +shared +default.*\ngather ")
        self.assertRegex(done.stdout, r"gatherv +shared +default.*\nscatterv")  # nonblocking ones too
        done = self.weft("info", "coll", WEFT_BCAST_ALGORITHM="offload", WEFT_OFFLOAD="ofi")
        self.assertRegex(done.stdout, r"component ofi \(\S+ at [0-9.]+\); operations that it refuses")
        self.assertRegex(done.stdout, r"bcast +offload +a setting\n")
        done = self.weft("info", "coll", WEFT_BCAST_ALGORITHM="offload", WEFT_OFFLOAD="ofi", WEFT_OFI_PROVIDER="udp")
        self.assertRegex(done.stdout, r"component ofi \(no provider of libfabric has collective operations; asked udp\) can do "
                                      r"nothing on this host")
        self.assertRegex(done.stdout, r"bcast +shared +default")
        done = self.weft("info", "coll", WEFT_OFFLOAD="ofi", WEFT_LIBFABRIC="/nowhere/libfabric.so.1")
        self.assertRegex(done.stdout, r"component ofi \(/nowhere/libfabric.so.1: .*\) can do nothing on this host")
        done = self.weft("info", "coll", WEFT_OFFLOAD="mok")
        self.assertEqual(done.returncode, 2)
        self.assertIn('no component "mok" for collective operations. Remedy: unset it, or take one of these: mock', done.stderr)
        for words in (["--ranks"], ["--ranks", "x"], ["--ranks", "0"], ["--bytes", "-1"], ["--turbo"]):
            done = self.weft("info", "coll", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn("Remedy: see weft info coll --help", done.stderr)
        done = self.weft("info", "coll", WEFT_TUNING="/nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/nowhere", done.stderr)

    def test_info_tells_why_the_kernel_does_not_read_files_by_itself(self):
        done = self.weft("info", "files")
        self.assertRegex(done.stdout, "unless the page cache has them: (io_uring, as the kernel|these threads, as the kernel refuses io_uring: )")
        done = self.weft("info", "files", WEFT_IO_URING="off", WEFT_IO_THREADS="7")
        self.assertIn("at most 7 threads", done.stdout)
        self.assertIn("up to 64.0 KiB in one piece, unless the page cache has them: these threads, as WEFT_IO_URING is off", done.stdout)
        done = self.weft("info", "files", WEFT_IO_THREADS="0")
        self.assertIn("in one piece, unless the page cache has them: the program's threads, as WEFT_IO_THREADS is 0", done.stdout)

    def test_info_tells_kinds_of_memory(self):
        done = self.weft("info", "memory")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Page sizes: 4K", done.stdout)
        self.assertRegex(done.stdout, r"affinity SYS_DEFAULT, policy Preferred, page size 4K\n +64 MiB would lie on the node that touches")
        done = self.weft("info", "memory", WEFT_ALLOC_MEM_AFFINITY="4000", WEFT_ALLOC_MEM_POLICY="m")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"cannot be had: .*and the policy is Mandatory")
        done = self.weft("info", "memory", WEFT_ALLOC_MEM_AFFINITY="4000")
        self.assertRegex(done.stdout, r"not as wished: ")

    def test_info_tells_kinds_of_other_machines(self):
        done = self.weft("info", "memory", "--xml", os.path.join(TOPOLOGIES, "two_packages_hbm.xml"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for row in (r"0 +DDR .* 256000 +0-1|0 +DDR .* 256000 +0,1", r"1 +HBM .* 819200 +none", r"3 +HBM"):
            self.assertRegex(done.stdout, row)
        done = self.weft("info", "memory", "--xml", "/nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Remedy", done.stderr)
        self.assertEqual(self.weft("info", "memory", "--magic").returncode, 2)

    def test_wrong_settings_of_memory_are_named(self):
        for name, value in (("WEFT_ALLOC_MEM_AFFINITY", "fast"), ("WEFT_ALLOC_MEM_POLICY", "maybe"), ("WEFT_ALLOC_MEM_PG_SZ", "1M"),
                            ("WEFT_MEMORY_NODES", "0=tape"), ("WEFT_MEMORY_NODES", "4095=DDR")):
            done = self.weft("info", "memory", **{name: value})
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(f"{name}: ", done.stderr)
            self.assertIn("Remedy", done.stderr)

    def test_noise_measures_each_core_and_allreduces(self):
        done = self.weft("noise", "--seconds", "0.1", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        processors = [core["processor"] for core in told["cores"]]
        self.assertTrue(processors and set(processors) <= os.sched_getaffinity(0))
        for one in told["cores"] + told["allreduce"]:
            steps = [one[f"{step}_us"] for step in ("fastest", "median", "p99", "p999", "slowest") if f"{step}_us" in one]
            self.assertEqual(steps, sorted(steps))
        self.assertTrue(all(core["turns"] > 0 and 0 <= core["lost"] < 1 for core in told["cores"]))
        self.assertEqual([one["reserved"] for one in told["allreduce"]], [0, 1][: len(processors)])
        self.assertTrue(all(one["count"] > 0 and one["ranks"] > 1 for one in told["allreduce"]))

    def test_noise_draws_a_picture(self):
        done = self.weft("noise", "--seconds", "0.05")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^ +\d+ \[[ .:=+*#@-]{64}\]$")
        self.assertRegex(done.stdout, r"(?m)^ +\d+ +\d+ +[\d.]+ .*%$")
        for words in (["--seconds"], ["--seconds", "0"], ["--seconds", "1e9"], ["--seconds", "nan"], ["--loud"]):
            self.assertEqual(self.weft("noise", *words).returncode, 2, words)

    def test_info_refuses_a_value_out_of_range(self):
        done = self.weft("info", WEFT_LAUNCHER="magic")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r'WEFT_LAUNCHER cannot be used: "magic" is not auto, singleton, pmi1, pmi2 or pmix. Remedy')

    def test_unknown_names_are_warned_about(self):
        done = self.weft("info", WEFT_LAUNCHR="auto")
        self.assertEqual(done.returncode, 0)
        self.assertIn("did you mean WEFT_LAUNCHER?", done.stderr)

    def test_the_manual_page_has_every_setting(self):
        page = self.weft("info", "--man", WEFT_LAUNCHER="singleton").stdout
        self.assertIn(".TH WEFT", page)
        self.assertIn("Default: auto", page, "the page does not depend on the environment")
        for name in re.findall(r"^(WEFT_\w+)", self.weft("info", "--all").stdout, re.M):
            self.assertIn(f".B {name}\n", page)

    def test_networks_and_why_they_are_not_used(self):
        done = self.weft("info", "net", WEFT_NETWORKS="240.0.0.0/8")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no address that may be used", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^  127\.0\.0\.1/8 +lo +not used: outside WEFT_NETWORKS$")
        self.assertRegex(done.stdout, r"(?m)^  WEFT_NETWORKS +240\.0\.0\.0/8$")
        done = self.weft("info", "net", WEFT_NETWORK_LIBRARY="ofi", WEFT_LIBFABRIC="/nowhere/libfabric.so")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, "Carried by libfabric: WEFT_NETWORK_LIBRARY names it(.|\n)*libfabric cannot be loaded: /nowhere/libfabric.so: .*\nA job on several hosts cannot start")

    def test_providers_and_why_they_are_not_chosen(self):
        done = self.weft("info", "net", WEFT_NETWORKS="127.0.0.0/8", WEFT_NETWORK_LIBRARY="ofi")
        if "libfabric cannot be loaded" in done.stdout:
            self.skipTest("there is no libfabric here")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(re.findall(r"(?m)^  [\w;]+ +chosen, at 127\.0\.0\.1", done.stdout)), 1, done.stdout)
        self.assertIn("the loopback is the only address", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^Large messages are read straight from the sender's memory \(R0\): (yes|no)")
        done = self.weft("info", "net", WEFT_NETWORKS="127.0.0.0/8", WEFT_NETWORK_LIBRARY="ofi", WEFT_OFI_PROVIDER="carrier-pigeon")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^  carrier-pigeon +not here: ")
        self.assertRegex(done.stdout, r"(?m)^  tcp +not asked: WEFT_OFI_PROVIDER names another$")
        self.assertNotIn("chosen, at", done.stdout)

    def test_whether_memory_of_other_hosts_is_read(self):
        for rdma, words in (("auto", "yes"), ("off", r"no \(WEFT_RDMA=off\)")):
            done = self.weft("info", "net", WEFT_NETWORKS="127.0.0.0/8", WEFT_NETWORK_LIBRARY="tcp", WEFT_RDMA=rdma)
            self.assertRegex(done.stdout, r"(?m)^Carried by TCP: (.|\n)*^Large messages are read straight from the sender's memory \(R0\): " + words)
        for rdma, words in (("auto", "no: it would emulate that"), ("off", r"no \(WEFT_RDMA=off\)"), ("on", "yes, emulated")):
            done = self.weft("info", "net", WEFT_NETWORKS="127.0.0.0/8", WEFT_NETWORK_LIBRARY="ofi", WEFT_OFI_PROVIDER="tcp;ofi_rxm", WEFT_RDMA=rdma)
            if "libfabric cannot be loaded" in done.stdout:
                self.skipTest("there is no libfabric here")
            self.assertRegex(done.stdout, r"(?m)^Large messages are read straight from the sender's memory \(R0\): " + words)
        for rdma, words in (("auto", "yes, by a rendezvous of UCX"), ("off", r"no \(WEFT_RDMA=off\)")):
            done = self.weft("info", "net", WEFT_NETWORKS="127.0.0.0/8", WEFT_NETWORK_LIBRARY="ucx", WEFT_RDMA=rdma)
            if "UCX cannot be loaded" not in done.stdout:
                self.assertRegex(done.stdout, r"(?m)^Large messages are read straight from the sender's memory \(R0\): " + words)
        for rdma, words in (("auto", "by R0 from 32768 bytes on over TCP, from 131072 through UCX and where libfabric's adapters"), ("off", "none by R0"),
                            ("on", r"by R0 from 32768 bytes on over TCP, from 131072 through UCX and libfabric \(WEFT_RDMA=on\)")):
            self.assertRegex(self.weft("info", "--paths", WEFT_RDMA=rdma).stdout, r"(?m)^Between hosts, .*: " + words)

    def test_each_part_answers_as_json(self):
        def answer(*words, **env):
            done = self.weft(*words, "--json", **env)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            return json.loads(done.stdout)
        by_name = {one["name"]: one for one in answer("info", "--all", WEFT_EAGER_LIMIT="4K")}
        self.assertEqual((by_name["WEFT_EAGER_LIMIT"]["value"], by_name["WEFT_EAGER_LIMIT"]["source"]), ("4K", "environment"))
        self.assertTrue(by_name["WEFT_LAUNCHER"]["expert"])
        self.assertNotIn("WEFT_LAUNCHER", [one["name"] for one in answer("info")])
        self.assertEqual(len(answer("info", "--topo")["cores"]), len(re.findall("{", self.weft("info", "--topo").stdout)))
        paths = answer("info", "--paths")
        self.assertEqual([path["path"][:2] for path in paths["paths"]], ["E0", "E1", "R0", "R1"])
        methods = [method["method"] for method in paths["methods"]]
        self.assertEqual(methods[-1], "stream")  # takes whatever the others do not
        self.assertIn("single copy", methods[:-1])
        self.assertEqual(len(answer("info", "--chapter", "14")["functions"]), 90)
        self.assertEqual(sum(len(one["functions"]) for one in answer("info", "--chapter")), 664)
        chosen = {one["operation"]: one for one in answer("info", "coll", "--ranks", "64", "--ppn", "8", WEFT_BCAST_ALGORITHM="tree")["operations"]}
        self.assertEqual(chosen["bcast"]["chosen"], {"algorithm": "tree", "decided_by": "a setting"})
        self.assertEqual(answer("info", "files", WEFT_IO_THREADS="7")["threads"], 7)
        hbm = answer("info", "memory", "--xml", os.path.join(TOPOLOGIES, "two_packages_hbm.xml"))
        self.assertEqual({node["kind"] for node in hbm}, {"DDR", "HBM"})
        self.assertEqual(answer("info", "memory", WEFT_ALLOC_MEM_POLICY="m")["program"]["policy"], "Mandatory")
        net = answer("info", "net", WEFT_NETWORKS="127.0.0.0/8", WEFT_NETWORK_LIBRARY="tcp")
        self.assertEqual((net["carried_by"], net["problem"], net["loopback_alone"]), ("TCP", "", True))
        self.assertIn("127.0.0.1/8", [one["network"] for one in net["addresses"] if one["usable"]])
        self.assertEqual(answer("info", "devices", WEFT_DEVICES="off"), {"driver": "", "problem": "WEFT_DEVICES=off"})
        self.assertIn("copies from and to the host", [way["way"] for way in answer("info", "devices", WEFT_DEVICES="mock")["ways"] if way["works"]])
        self.assertEqual("weft " + answer("version")["weft"], self.weft("version").stdout.strip())
        done = self.weft("info", "net", "--json", WEFT_NETWORKS="240.0.0.0/8")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no address that may be used", json.loads(done.stdout)["problem"])
        self.assertEqual(self.weft("info", "--man", "--json").returncode, 2)

    def test_topology_and_version(self):
        self.assertRegex(self.weft("info", "--topo").stdout, rf"processors {len(os.sched_getaffinity(0))} ")
        self.assertRegex(self.weft("version").stdout, r"^weft \d+\.\d+")
        self.assertEqual(self.weft("nonsense").returncode, 2)


if __name__ == "__main__":
    unittest.main()
