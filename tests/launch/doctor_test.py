#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""weft doctor: each finding on a host made of files, its remedy, several hosts, wrong words."""
import json
import os
import pathlib
import pty
import subprocess
import tempfile
import unittest

WEFT = os.path.join(os.environ["LAUNCH_BIN"], "weft")
LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max locked memory         {memlock}              8388608              bytes
Max open files            {files}                 1048576              files
Max processes             unlimited            unlimited            processes
"""
# A host on which all is well.
GOOD = {
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    "sys/kernel/mm/transparent_hugepage/shmem_enabled": "always within_size [advise] never deny force",
    "proc/sys/vm/zone_reclaim_mode": "0",
    "proc/sys/vm/overcommit_memory": "0",
    "proc/sys/kernel/numa_balancing": "0",
    "sys/devices/system/node/node0/x": "", "sys/devices/system/node/node1/x": "",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance",
    "sys/devices/system/cpu/smt/active": "0",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
    "proc/self/limits": LIMITS.format(memlock="unlimited", files="65536"),
    "proc/sys/kernel/yama/ptrace_scope": "0",
    "proc/self/cgroup": "0::/job",
    "sys/fs/cgroup/job/memory.max": "max",
    "sys/fs/cgroup/job/cpu.max": "max 100000",
    "sys/class/net/eth0/operstate": "up", "sys/class/net/eth0/speed": "100000", "sys/class/net/eth0/mtu": "9000",
    "proc/sys/net/core/rmem_max": "16777216",
}
# Changes of one file: the subject, the grade and words of the remedy that follow.
FAULTS = [
    ({"sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]"}, "transparent huge pages", "note", "madvise"),
    ({"sys/kernel/mm/transparent_hugepage/shmem_enabled": "always [never]"}, "huge pages of shared memory", "note", "advise"),
    ({"proc/sys/vm/zone_reclaim_mode": "1"}, "zone reclaim", "bad", "vm.zone_reclaim_mode=0"),
    ({"proc/sys/vm/overcommit_memory": "2"}, "overcommit of memory", "note", "overcommit_memory=0"),
    ({"proc/sys/kernel/numa_balancing": "1"}, "NUMA balancing", "note", "numa_balancing=0"),
    ({"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave"}, "frequency governor", "note", "performance"),
    ({"sys/devices/system/cpu/smt/active": "1"}, "hardware threads", "note", "--bind core"),
    ({"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet"}, "clock source", "bad", "tsc"),
    ({"proc/self/limits": LIMITS.format(memlock="65536", files="65536"), "sys/class/infiniband/mlx5_0/x": ""},
     "locked memory", "bad", "ulimit -l"),
    ({"proc/self/limits": LIMITS.format(memlock="unlimited", files="1024")}, "open files", "note", "ulimit -n"),
    ({"proc/sys/kernel/yama/ptrace_scope": "1"}, "reading other processes (Yama)", "note", "ptrace_scope=0"),
    ({"sys/fs/cgroup/job/memory.max": "1073741824"}, "memory of the control group", "note", "killed"),
    ({"sys/fs/cgroup/job/cpu.max": "150000 100000"}, "processors of the control group", "bad", "cpuset"),
    ({"sys/class/net/eth0/mtu": "1500"}, "interface eth0", "note", "9000"),
    ({"proc/sys/net/core/rmem_max": "212992"}, "largest receive buffer of sockets", "note", "rmem_max"),
    ({"proc/self/mounts": "proc /proc proc rw 0 0\nshm /dev/shm tmpfs rw,nosuid,size=65536k,inode64 0 0"}, "shared memory (/dev/shm)",
     "note", "--shm-size"),
    ({"proc/self/mounts": "shm /dev/shm tmpfs rw,nosuid,size=16777216k 0 0"}, "shared memory (/dev/shm)", "good", ""),
    # Files that make no sense are no reason to fall over.
    ({"proc/self/limits": "Max open files"}, "interface eth0", "good", ""),
    ({"proc/self/mounts": "shm /dev/shm tmpfs size=\n/dev/shm"}, "interface eth0", "good", ""),
    ({"proc/sys/vm/zone_reclaim_mode": "many"}, "interface eth0", "good", ""),
    ({"sys/kernel/mm/transparent_hugepage/enabled": "]["}, "interface eth0", "good", ""),
]
PLAIN = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMP_", "KMP_", "MALLOC_", "GLIBC_", "LD_"))}


def weft(*words, **more):
    return subprocess.run([WEFT, "doctor", *words], capture_output=True, text=True, timeout=60, check=False,
                          env={**PLAIN, **more})


class Doctor(unittest.TestCase):
    def findings(self, changes, **environment):
        with tempfile.TemporaryDirectory() as root:
            for name, text in {**GOOD, **changes}.items():
                path = pathlib.Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            done = weft("--json", "--root", root, **environment)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        found = {f["subject"]: f for f in json.loads(done.stdout)["findings"]}
        self.assertEqual(done.returncode == 1, any(f["grade"] == "bad" for f in found.values()))
        return found

    def test_a_good_host_has_nothing_bad(self):
        found = self.findings({})
        odd = [f for f in found.values() if f["grade"] != "good" and f["subject"] not in ("malloc", "processors for this process")]
        self.assertEqual(odd, [])
        self.assertIn("clock source", found)

    def test_each_fault_has_its_remedy(self):
        for changes, subject, grade, words in FAULTS:
            with self.subTest(subject=subject, changes=changes):
                finding = self.findings(changes)[subject]
                self.assertEqual(finding["grade"], grade)
                self.assertIn(words, finding["why"])

    def test_the_environment_of_programs(self):
        found = self.findings({}, OMP_NUM_THREADS="4", OMP_WAIT_POLICY="active", LD_PRELOAD_X="x")
        self.assertIn("OMP_PLACES", found["places of OpenMP's threads"]["why"])
        self.assertIn("passive", found["waiting threads of OpenMP"]["why"])
        found = self.findings({}, MALLOC_MMAP_MAX_="0", MALLOC_TRIM_THRESHOLD_="-1", OMP_NUM_THREADS="4", OMP_PLACES="cores")
        self.assertEqual(found["malloc"]["grade"], "good")
        self.assertEqual(found["places of OpenMP's threads"]["grade"], "good")

    def test_the_library_that_carries_messages_between_hosts(self):
        found = self.findings({}, WEFT_NETWORK_LIBRARY="tcp")["messages between hosts"]
        self.assertEqual((found["grade"], found["state"]), ("good", "TCP: WEFT_NETWORK_LIBRARY names it"))

    def test_two_libraries_of_mpi_in_the_search_path(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a", "b"):
                os.mkdir(f"{folder}/{name}")
                pathlib.Path(folder, name, "libmpi.so.12").touch()
            found = self.findings({}, LD_LIBRARY_PATH=f"{folder}/a:{folder}/b")
            self.assertEqual(found["libraries of MPI"]["grade"], "bad")

    def test_libraries_of_mpi_in_a_program(self):
        """Libraries without a symbol have the names; a program needs one or two of them."""
        with tempfile.TemporaryDirectory() as folder:
            def build(name, *words):
                subprocess.run(["cc", "-x", "c", "-o", f"{folder}/{name}", "-", "-Wl,--no-as-needed", f"-Wl,-rpath,{folder}", "-L", folder,
                                *words], input="int main(void) { return 0; }" if "-shared" not in words else "int one;", text=True, check=True)
                return f"{folder}/{name}"

            def finding(*words, subject="libraries of MPI in"):
                done = weft("--json", *words)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                found = {f["subject"]: f for f in json.loads(done.stdout)["findings"]}
                return found[f"{subject} {words[0]}"]

            for name in ("libmpi.so.12", "libmpi.so.20", "libmpi_abi.so.1", "libgomp.so.1"):
                build(name, "-shared", "-fPIC", f"-Wl,-soname,{name}")
            self.assertEqual(finding(build("none"))["state"], "none")
            one = finding(build("one", "-l:libmpi.so.12"))
            self.assertEqual(one["grade"], "good")
            self.assertRegex(one["state"], r"^MPICH's ABI: [^ ]+/mpich-abi/libmpi.so.12 \(LD_LIBRARY_PATH\)$")
            self.assertIn("mpiexec sets LD_LIBRARY_PATH=", one["why"])
            self.assertIn("libraries of MPI in", weft(f"{folder}/one").stdout, "what was asked for is shown")
            behind = finding("env", "A=1", f"{folder}/one")
            self.assertEqual((behind["grade"], behind["state"]), ("good", f"{one['state']}, of {folder}/one"))
            old = finding(build("old", "-l:libmpi.so.12", "-Wl,--disable-new-dtags"))
            self.assertRegex(old["state"], r"/mpich-abi/libmpi.so.12 \(LD_PRELOAD\)")
            os.chmod(f"{folder}/old", 0o4755)
            old = finding(f"{folder}/old")
            self.assertEqual((old["grade"], old["state"]),
                             ("bad", f"MPICH's ABI: {folder}/libmpi.so.12 (DT_RPATH, for {folder}/old)"))
            self.assertIn("patchelf --remove-rpath", old["why"])
            two = finding(build("two", "-l:libmpi_abi.so.1", "-l:libmpi.so.20"))
            self.assertEqual(two["grade"], "bad")
            self.assertRegex(two["state"], rf"^Open MPI: {folder}/libmpi.so.20 \(DT_RUNPATH of {folder}/two\); the standard's ABI: ")
            self.assertIn("with one mpicc", two["why"])
            threads = finding(build("threads", "-l:libmpi_abi.so.1", "-l:libgomp.so.1"), subject="threads in")
            self.assertEqual((threads["grade"], threads["state"]), ("note", "libgomp.so.1"))
            self.assertIn("WEFT_CHECK=threads", threads["why"])
            foreign = build("foreign", "-l:libmpi.so.20")
            os.unlink(f"{folder}/libmpi.so.20")
            self.assertEqual((finding(foreign)["grade"], finding(foreign)["state"]), ("bad", "Open MPI: libmpi.so.20 (not found)"))
            script = pathlib.Path(folder, "script")
            script.write_text("#!/bin/sh\n", encoding="utf-8")
            script.chmod(0o755)
            for words in ((str(script),), ("sh", "-c", "true"), ("python3", "-c", "pass")):
                self.assertEqual((finding(*words)["grade"], finding(*words)["state"]), ("note", "not known"))
                self.assertIn("mpiexec sets LD_LIBRARY_PATH=", finding(*words)["why"])

    def test_this_host(self):
        done = weft("--all")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertIn("clock source", done.stdout)

    def test_colours_are_for_terminals_alone(self):
        def said(**environment):
            ours, theirs = pty.openpty()
            with subprocess.Popen([WEFT, "doctor", "--all"], stdout=theirs,
                                  env={**PLAIN, "NO_COLOR": "", "TERM": "xterm", **environment}) as process:
                os.close(theirs)
                text = os.read(ours, 30)
                os.close(ours)  # a process that has more to say is refused
                process.wait(60)
            return text.decode()

        self.assertRegex(said(), "^\033\\[3[123]m(bad|note|good) *\033\\[0m ")
        for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\033", said(**plain))
        self.assertNotIn("\033", weft("--all").stdout)

    def test_wrong_words(self):
        for words, message in ((["--rot"], "no option"), (["--root"], "needs a value"), (["--root", "/nowhere"], "no folder"), (["/nowhere"], "cannot be started: No such file")):
            done = weft(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)


class Hosts(unittest.TestCase):
    """Two test hosts of one machine: they differ in the addresses of their interfaces' names alone, or not at all."""

    def weft(self, *words):
        hosts = pathlib.Path(__file__).resolve().parent.parent / "hosts"
        done = subprocess.run([str(hosts / "hosts.sh"), "2", WEFT, "doctor", *words], capture_output=True, text=True,
                              timeout=120, check=False,
                              env={**PLAIN, "WEFT_REMOTE_LAUNCHER": os.environ["HYDRA"], "WEFT_RSH": str(hosts / "rsh")})
        if done.returncode == 77:
            raise unittest.SkipTest(done.stderr.strip())
        return done

    def test_each_host_answers(self):
        done = self.weft("--hosts", "h1,h2", "--json")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(sorted(answer["host"] for answer in answers), ["h1", "h2"])
        self.assertTrue(all(answer["findings"] for answer in answers))

    def test_the_differences_are_said(self):
        done = self.weft("--hosts", "h1,h2")
        self.assertRegex(done.stdout, "ifferen|differs")

    def test_a_host_that_is_not_there(self):
        done = self.weft("--hosts", "h1,nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("could not be asked", done.stderr)


if __name__ == "__main__":
    unittest.main()
