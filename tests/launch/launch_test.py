#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec's behaviour, with shell scripts as ranks. LAUNCH_BIN is the folder of mpiexec."""
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import timing

MPIEXEC = os.path.join(os.environ["LAUNCH_BIN"], "mpiexec")
CPUS = sorted(os.sched_getaffinity(0))
HANGS = timing.HANGS


def sh(script):
    return ["sh", "-c", script]


def mpiexec(*words, stdin="", timeout=HANGS, env=None, quiet=True, **more):
    """Runs mpiexec to its end; -q keeps notes, as on crowded cores, out of stderr."""
    full = dict(os.environ, **(env or {}))
    return subprocess.run([MPIEXEC, *(["-q"] if quiet else []), *words], input=stdin, capture_output=True, text=True,
                          timeout=timeout, env=full, **more)


def start(*words, **more):
    return subprocess.Popen([MPIEXEC, "-q", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def processes_with(mark):
    """Pids of processes whose command line or environment holds `mark`."""
    found = []
    for pid in os.listdir("/proc"):
        if not pid.isdigit() or int(pid) == os.getpid():
            continue
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                text = f.read()
            with open(f"/proc/{pid}/environ", "rb") as f:
                text += f.read()
            with open(f"/proc/{pid}/stat") as f:
                state = f.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if mark.encode() in text and state != "Z":
            found.append(int(pid))
    return found


def gone_within(mark, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not processes_with(mark):
            return True
        time.sleep(0.02)
    return False


class Case(unittest.TestCase):
    def setUp(self):
        # Every process of this test carries the mark in its environment.
        self.mark = f"launch-test-{os.getpid()}-{time.monotonic_ns()}"
        os.environ["LAUNCH_TEST_MARK"] = self.mark

    def tearDown(self):
        self.assertTrue(gone_within(self.mark, HANGS), f"processes are left: {processes_with(self.mark)}")


class Arguments(Case):
    def ranks(self, *words, **more):
        done = mpiexec(*words, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return sorted(done.stdout.split())

    def test_all_forms_of_the_number_of_ranks(self):
        for form in (["-n", "3"], ["-np", "3"], ["--n", "3"], ["--np", "3"], ["-c", "3"], ["-n=3"], ["--np=3"]):
            self.assertEqual(self.ranks(*form, *sh("echo $WEFT_RANK/$WEFT_SIZE")), ["0/3", "1/3", "2/3"], form)

    def test_one_rank_without_a_number(self):
        self.assertEqual(self.ranks(*sh("echo $WEFT_RANK/$WEFT_SIZE")), ["0/1"])

    def test_several_programs_number_ranks_through_and_tell_their_place(self):
        self.assertEqual(self.ranks("-n", "2", *sh("echo a$WEFT_RANK:$WEFT_APP_NUMBER"), ":", "-n", "1",
                                    *sh("echo b$WEFT_RANK:$WEFT_APP_NUMBER"), ":", *sh("echo c$WEFT_RANK/$WEFT_SIZE")),
                         ["a0:0", "a1:0", "b2:1", "c3/4"])

    def test_arguments_arrive_unchanged(self):
        done = mpiexec("--", "printf", "<%s>", "a b", "", "-n", "*", "$HOME")
        self.assertEqual(done.stdout, "<a b><><-n><*><$HOME>")

    def test_variables_for_one_program_and_for_all(self):
        script = sh('echo "$A,$B,$C"')
        done = self.ranks("-genv", "A", "1", "-x", "B=2=3", "-env", "C", "4", *script, ":", "-n", "1", *script)
        self.assertEqual(done, ["1,,", "1,2=3,4"])

    def test_a_variable_can_be_named_to_pass_ours(self):
        self.assertEqual(self.ranks("-x", "GIVEN", *sh("echo $GIVEN"), env={"GIVEN": "yes"}), ["yes"])

    def test_variables_of_another_launcher_do_not_reach_ranks(self):
        done = self.ranks("-n", "2", *sh("echo $WEFT_RANK,$PMI_RANK,$PMI_FD,$PMIX_RANK"),
                          env={"PMI_RANK": "7", "PMI_FD": "9", "WEFT_RANK": "5", "PMIX_RANK": "3"})
        self.assertEqual(done, ["0,,,", "1,,,"])

    def test_ranks_are_told_by_the_variables_of_other_launchers(self):
        names = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_NODE_RANK", "MPI_LOCALRANKID",
                 "MV2_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
        words = sh("echo " + ",".join("$" + name for name in names))
        self.assertEqual(self.ranks("-n", "2", *words, env={name: "77" for name in names}),
                         ["0,0,0,0,0,2,2,2", "1,1,1,1,1,2,2,2"])
        self.assertEqual(self.ranks("-x", "MPI_LOCALRANKID=given", *sh("echo $MPI_LOCALRANKID")), ["given"])
        many = str(len(CPUS) + 512)
        self.assertEqual(self.ranks("--universe", many, *sh("echo $OMPI_UNIVERSE_SIZE")), [many])

    def test_a_batch_system_gives_the_number_of_ranks(self):
        slurm = {"SLURM_JOB_ID": "5", "SLURM_NTASKS": "3", "SLURM_JOB_NODELIST": "localhost", "SLURM_TASKS_PER_NODE": "3"}
        self.assertEqual(self.ranks(*sh("echo $WEFT_RANK"), env=slurm), ["0", "1", "2"])
        self.assertEqual(self.ranks("-n", "1", *sh("echo $WEFT_SIZE"), env=slurm), ["1"])
        nested = self.ranks("-n", "1", *sh(f"{MPIEXEC} sh -c 'echo $WEFT_SIZE'"), env=slurm)
        self.assertEqual(nested, ["1"], "a rank's own job does not get the whole allocation again")
        told = subprocess.run([MPIEXEC, "--oversubscribe", "true"], capture_output=True, text=True, timeout=HANGS,
                              env=dict(os.environ, **slurm))
        self.assertRegex(told.stderr, r"^weft: mpiexec: 3 ranks, as Slurm allows \(SLURM_NTASKS, .*\); -n gives another number\n$")
        done = mpiexec("true", env={"SLURM_JOB_ID": "5", "SLURM_JOB_NODELIST": "n[1-"})
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"allocation of Slurm cannot be used: SLURM_JOB_NODELIST=.*; give -n")

    def test_working_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = os.path.realpath(folder)
            self.assertEqual(self.ranks("-wdir", folder, "pwd", ":", "pwd"), sorted([folder, os.getcwd()]))
            with open(os.path.join(folder, "here.sh"), "w") as f:
                f.write("echo found\n")  # no "#!": run as execvp would
            os.chmod(os.path.join(folder, "here.sh"), 0o755)
            self.assertEqual(self.ranks("-wdir", folder, "./here.sh"), ["found"])

    def test_mistakes_are_named_and_end_with_2(self):
        for words, text in ((["-n"], "needs a value"), (["-n", "0", "true"], "out of range: 1 to"), (["-n", "x", "true"], "-n"),
                            (["-n", "99999999999", "true"], "out of range"), (["-z", "true"], "-z"), (["-n", "2"], "no program"),
                            (["true", ":"], "no program"), (["-env", "A", "true"], "no program"),
                            (["--tag-output=1", "true"], "takes no value"), (["-x", "=1", "true"], "names no"),
                            (["--threads", "0", "true"], "out of range"), (["--bind", "sock", "true"], "core, pack, numa, none"), (["--timeout", "0", "true"], "out of range"),
                            (["--timeout", "1.2.3", "true"], "no time"), (["-hosts", "a,-b", "true"], "no name of a host"),
                            (["-hosts", "a", "true", ":", "-hosts", "b", "true"], "other hosts (b) than before (a)"),
                            (["-f", "/nowhere", "true"], "No such file"), (["-hosts", "a:1", "-n", "2", "true"], "more than the 1"),
                            (["-hosts", "a", "--bind", "0", "true"], "on this host alone")):
            done = mpiexec(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(text, done.stderr, words)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_names_of_this_host_start_ranks_here(self):
        self.assertEqual(self.ranks("-hosts", f"localhost,{os.uname().nodename}", "-n", "2", *sh("echo $WEFT_RANK")), ["0", "1"])
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("localhost slots=2\n")
            file.flush()
            self.assertEqual(self.ranks("-hostfile", file.name, "-n", "2", *sh("echo $WEFT_RANK")), ["0", "1"])

    def test_settings_of_ranks_are_none_of_our_business(self):
        done = mpiexec("true", env={"WEFT_EAGER_LIMIT": "0"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_more_ranks_than_cores_is_said_once(self):
        many = len(CPUS) + 1
        done = subprocess.run([MPIEXEC, "-n", str(many), "true"], capture_output=True, text=True, timeout=HANGS)
        self.assertRegex(done.stderr, rf"^weft: mpiexec: {many} ranks on \d+ cores: ranks will share cores; waiting ranks yield; .*one processor in turn.*--bind none.*\n$")
        done = subprocess.run([MPIEXEC, "--oversubscribe", "-n", str(many), "true"], capture_output=True, text=True, timeout=HANGS)
        self.assertEqual(done.stderr, "")

    def test_the_segment_is_inherited_private_and_empty(self):
        done = mpiexec("-n", "1", *sh("stat -L -c '%a %s' /proc/self/fd/$WEFT_SEGMENT_FD"))
        self.assertEqual(done.stdout, "600 0\n")


class Status(Case):
    def test_zero_when_all_ranks_end_with_zero(self):
        self.assertEqual(mpiexec("-n", "4", "true").returncode, 0)

    def test_the_status_of_the_rank_that_fails(self):
        done = mpiexec("-n", "3", *sh("[ $WEFT_RANK = 1 ] && exit 7; sleep 200"))
        self.assertEqual(done.returncode, 7)
        self.assertRegex(done.stderr, r"^weft: mpiexec: rank 1 \(pid \d+, host \S+, program sh\) exited with status 7; .*\n$")

    def test_a_signal_is_128_and_its_number(self):
        done = mpiexec("-n", "2", *sh("[ $WEFT_RANK = 1 ] && kill -SEGV $$; sleep 200"))
        self.assertEqual(done.returncode, 128 + signal.SIGSEGV)
        self.assertRegex(done.stderr, r"^weft: mpiexec: rank 1 \(pid \d+, host \S+, program sh\) was killed by signal 11 "
                                      r"\(Segmentation fault.*\); .*\n$")

    def test_a_program_that_is_not_there(self):
        done = mpiexec("-n", "2", "no-such-program-here")
        self.assertEqual(done.returncode, 127)
        self.assertRegex(done.stderr, r'cannot find the program "no-such-program-here" in PATH: No such file .*Remedy: ')
        done = mpiexec("-n", "2", "./no-such-program-here")
        self.assertEqual(done.returncode, 127)

    def test_a_program_that_cannot_be_executed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "file")
            with open(path, "w") as f:
                f.write("#!/no/such/interpreter\n")
            done = mpiexec("-n", "2", path)
            self.assertEqual(done.returncode, 126)
            self.assertIn("Permission denied", done.stderr)
            os.chmod(path, 0o755)
            done = mpiexec("-n", "2", path)
            self.assertEqual(done.returncode, 127)
            self.assertIn("interpreter", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_program_of_another_mpi_is_told(self):
        """A library without a symbol has the name of Open MPI's; ranks that need it end without a word of their own."""
        with tempfile.TemporaryDirectory() as folder:
            def build(name, text, *words):
                subprocess.run(["cc", "-x", "c", "-o", f"{folder}/{name}", "-", "-Wl,--no-as-needed", f"-Wl,-rpath,{folder}", "-L", folder,
                                *words], input=text, text=True, check=True)
                return f"{folder}/{name}"

            library = build("libmpi.so.20", "int one;", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.20")
            program = build("program", "int main(int count, char** words) { return count - 1; }", "-l:libmpi.so.20")
            told = (rf'the program "{program}" was built with Open MPI \(libmpi.so.20 at {library}\), so each rank runs alone. '
                    r"Remedy: compile it with Weft's mpicc\n")
            done = mpiexec("-n", "4", program)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr, rf"^weft: mpiexec: ranks 0\.\.3: {told}$")
            done = mpiexec("-n", "2", "true", ":", "-n", "1", program, "and fail")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rf"^.* exited with status 1.*\nweft: mpiexec: rank 2: {told}$")
            os.unlink(library)
            done = mpiexec("-n", "2", program)
            self.assertRegex(done.stderr, r"\(libmpi.so.20\), whose library is not found\. Remedy: ")
            self.assertEqual(mpiexec("-n", "2", "true").stderr, "")

    def test_a_program_in_this_folder_is_pointed_at(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "only-here")
            with open(path, "w") as f:
                f.write("#!/bin/sh\n")
            os.chmod(path, 0o755)
            self.assertIn("write ./only-here", mpiexec("only-here", cwd=folder).stderr)

    def test_a_folder_that_is_not_there(self):
        done = mpiexec("-wdir", "/no/such/folder", "true")
        self.assertEqual(done.returncode, 126)
        self.assertIn("/no/such/folder", done.stderr)


class Output(Case):
    def test_lines_of_eight_ranks_stay_whole(self):
        script = ("import os,sys\nr=os.environ['WEFT_RANK']\n"
                  "for i in range(400): sys.stdout.write(r*(50+i)+'\\n')\n")
        done = mpiexec("-n", "8", sys.executable, "-c", script)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 8 * 400)
        for line in lines:
            self.assertEqual(len(set(line)), 1, line)
        for rank in range(8):
            lengths = [len(line) for line in lines if line[0] == str(rank)]
            self.assertEqual(lengths, list(range(50, 450)), "the order within a rank is kept")

    @unittest.skipUnless(timing.JUDGED, "a piece waits a tenth of a second for its rest; unit/mpiexec_command has that without a clock")
    def test_lines_written_in_pieces_stay_whole(self):
        script = sh("for i in 1 2 3 4 5; do printf $WEFT_RANK; sleep 0.01; printf $WEFT_RANK; echo; done")
        for line in mpiexec("-n", "4", *script).stdout.splitlines():
            self.assertRegex(line, r"^(\d)\1$")

    def test_a_line_cut_by_a_full_buffer_waits_for_its_rest(self):
        script = ("import os,sys,time\nr=os.environ['WEFT_RANK']\n"
                  "os.write(1, r.encode()*4096)\ntime.sleep(0.4)\nos.write(1, r.encode()+b'\\n')\n")
        lines = mpiexec("-n", "3", sys.executable, "-c", script).stdout.splitlines()
        self.assertEqual(sorted(len(line) for line in lines), [4097] * 3)

    def test_a_last_line_without_an_end_is_passed_on(self):
        self.assertEqual(mpiexec("printf", "abc").stdout, "abc")
        done = mpiexec("-n", "3", *sh("printf r$WEFT_RANK"))
        self.assertEqual(sorted(done.stdout.split("\n")), ["r0", "r1", "r2"])

    def test_a_prompt_appears_soon(self):
        job = start(*sh("printf prompt; sleep 200"))
        took = timing.Took()
        self.assertEqual(job.stdout.read(6), "prompt")
        took.at_most(self.assertLess, "seconds until a prompt appears", 2)
        job.terminate()
        job.communicate(timeout=HANGS)

    def test_tags_name_the_rank_on_both_streams(self):
        done = mpiexec("-n", "2", "--tag-output", *sh("echo out; echo err >&2"))
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] out", "[1] out"])
        self.assertEqual(sorted(done.stderr.splitlines()), ["[0] err", "[1] err"])

    def test_a_very_long_line_is_bounded_and_complete(self):
        done = mpiexec("-n", "2", sys.executable, "-c", "print('x'*1000000)")
        self.assertEqual(done.stdout.count("x"), 2000000)

    def test_each_piece_of_a_long_or_slow_line_has_its_tag(self):
        # A pause is longer than mpiexec waits for the rest of a line.
        script = ("import os,sys,time\n"
                  "r=int(os.environ['WEFT_RANK'])\n"
                  "def pause():\n time.sleep(0.4)\n"
                  "for i in range(3):\n"
                  "  pause() if (r + i) % 2 else None\n"
                  "  os.write(1, (b'ab'[r:r+1]) * (100 if i else 70000))\n"
                  "  pause() if (r + i + 1) % 2 else None\n"
                  "os.write(1, b'\\n')\n")
        lines = mpiexec("-n", "2", "--tag-output", sys.executable, "-c", script).stdout.splitlines()
        for line in lines:
            self.assertRegex(line, r"^\[(0\] a+|1\] b+)$")
        for letter in "ab":
            self.assertEqual("".join(lines).count(letter), 70200)

    def test_lost_output_is_told_once_and_fails(self):
        for script in ("echo x", "yes", "yes | head -100000; exec sleep 200"):
            job = subprocess.run(f"{MPIEXEC} -q -n 2 sh -c '{script}' >/dev/full", shell=True, capture_output=True, text=True, timeout=HANGS)
            self.assertEqual(job.returncode, 1, job.stderr)
            self.assertRegex(job.stderr, r"^weft: mpiexec: output of the ranks is lost.*No space left on device.*\n$")
        job = subprocess.run(f"{MPIEXEC} -q -n 2 sh -c 'echo x >&2' 2>/dev/full", shell=True, timeout=HANGS)
        self.assertEqual(job.returncode, 1)
        reader, writer = os.pipe()
        os.close(reader)
        job = subprocess.run([MPIEXEC, "-q", "echo", "x"], stdout=writer, stderr=subprocess.PIPE, text=True, timeout=HANGS)
        os.close(writer)
        self.assertEqual(job.returncode, 128 + signal.SIGPIPE, job.stderr)
        self.assertRegex(job.stderr, r"^weft: mpiexec: output of the ranks is lost.*Broken pipe.*\n$")

    def test_bytes_pass_unchanged(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "data")
            data = os.urandom(500000)
            with open(path, "wb") as f:
                f.write(data)
            done = subprocess.run([MPIEXEC, "cat", path], capture_output=True, timeout=HANGS)
            self.assertEqual(done.stdout, data)

    def test_a_slow_reader_loses_nothing(self):
        job = subprocess.Popen(f"{MPIEXEC} -q -n 2 seq 100000 | (sleep 0.5; wc -l)", shell=True, stdout=subprocess.PIPE, text=True)
        self.assertEqual(job.communicate(timeout=HANGS)[0].strip(), "200000")

    def test_a_reader_that_leaves_ends_the_job(self):
        job = subprocess.run(f"{MPIEXEC} -q -n 2 yes | head -1", shell=True, capture_output=True, text=True, timeout=HANGS)
        self.assertEqual(job.stdout, "y\n")


class Input(Case):
    def test_only_rank_0_gets_it(self):
        done = mpiexec("-n", "3", *sh('echo "$WEFT_RANK:$(cat)"'), stdin="hello")
        self.assertEqual(sorted(done.stdout.split()), ["0:hello", "1:", "2:"])

    def test_much_of_it(self):
        text = "".join(f"{i}\n" for i in range(100000))
        done = mpiexec("-n", "2", *sh("if [ $WEFT_RANK = 0 ]; then wc -c; fi"), stdin=text)
        self.assertEqual(done.stdout.strip(), str(len(text)))
        self.assertEqual(mpiexec("cat", stdin=text).stdout, text)

    def test_what_rank_0_does_not_read_is_left(self):
        job = subprocess.run(f"printf 'a\\nb\\n' > /dev/null; (echo a; echo b) | ({MPIEXEC} true; cat)", shell=True,
                             capture_output=True, text=True, timeout=HANGS)
        self.assertEqual(job.stdout, "a\nb\n")

    def test_from_a_terminal(self):
        ours, theirs = pty.openpty()
        job = subprocess.Popen([MPIEXEC, "-q", "-n", "2", *sh('read x; echo "$WEFT_RANK:$x"')], stdin=theirs,
                               stdout=subprocess.PIPE, text=True, start_new_session=True,
                               preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
        os.write(ours, b"typed\n")
        # read fails on rank 1, whose input is empty; the shell goes on.
        self.assertEqual(sorted(job.communicate(timeout=HANGS)[0].split()), ["0:typed", "1:"])
        os.close(ours)
        os.close(theirs)

    def test_closed_descriptors_do_no_harm(self):
        job = subprocess.run(f"{MPIEXEC} -n 2 echo x <&-", shell=True, capture_output=True, text=True, timeout=HANGS)
        self.assertEqual(job.stdout, "x\nx\n")
        job = subprocess.run(f"{MPIEXEC} -n 2 true >&- 2>&-", shell=True, timeout=HANGS)
        self.assertEqual(job.returncode, 0)


class Ending(Case):
    def test_a_killed_rank_ends_the_job(self):
        job = start("-n", "4", *sh("echo $$; sleep 200 & wait"))
        pids = [int(job.stdout.readline()) for _ in range(4)]
        took = timing.Took()
        os.kill(pids[2], signal.SIGKILL)
        _, err = job.communicate(timeout=HANGS)
        took.at_most(self.assertLess, "seconds until a job with a killed rank is over", 1)
        self.assertEqual(job.returncode, 128 + 9)
        self.assertRegex(err, rf"^weft: mpiexec: rank \d \(pid {pids[2]}, host \S+, program sh\) was killed by signal 9 .*\n$")

    def test_ranks_that_ignore_sigterm_are_killed(self):
        job = start("-n", "3", *sh("trap '' TERM; echo $$; [ $WEFT_RANK = 0 ] && sleep 0.2 && exit 3; sleep 200"))
        took = timing.Took()
        job.communicate(timeout=HANGS)
        took.at_most(self.assertLess, "seconds until ranks that ignore SIGTERM are killed", 1.2)
        self.assertEqual(job.returncode, 3)

    def test_a_stopped_rank_is_ended_too(self):
        job = start("-n", "2", *sh("echo $$; [ $WEFT_RANK = 0 ] && sleep 0.3 && exit 3; kill -STOP $$; sleep 200"))
        job.communicate(timeout=HANGS)
        self.assertEqual(job.returncode, 3)

    def test_what_ranks_leave_behind_is_ended(self):
        for script in ("sleep 200 & exit 0", "(setsid sleep 200 > /dev/null 2>&1 &) ; exit 0",
                       "(trap '' TERM; while :; do sleep 0.1; done) & exit 0"):
            took = timing.Took()
            done = mpiexec("-n", "2", *sh(script))
            self.assertEqual(done.returncode, 0, script)
            took.at_most(self.assertLess, "seconds until what ranks left behind is ended", 2)
            self.assertEqual(processes_with(self.mark), [], script)

    def test_when_mpiexec_is_killed_nothing_is_left(self):
        job = start("-n", "3", *sh("echo up; sleep 200 & sh -c 'sleep 200'; echo late"))
        for _ in range(3):
            job.stdout.readline()
        job.kill()
        job.wait()
        took = timing.Took()
        self.assertTrue(gone_within(self.mark, HANGS), processes_with(self.mark))
        took.at_most(self.assertLess, "seconds until nothing is left of a killed mpiexec", 1)
        job.communicate()

    def test_when_either_process_of_mpiexec_is_killed_sessions_of_ranks_end_too(self):
        for which in ("front", "job"):
            job = start("-n", "2", *sh("setsid sleep 200 & setsid sh -c 'sleep 200 & sleep 200' & echo $$ $!; wait"))
            for _ in range(2):
                job.stdout.readline()
            mine = [int(pid) for pid in pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()]
            self.assertEqual(len(mine), 1)
            until = time.monotonic() + HANGS
            while len(left := self.below(mine[0])) < 10 and time.monotonic() < until:  # each rank, and its four
                time.sleep(0.01)
            self.assertEqual(len(left), 10)
            os.kill(job.pid if which == "front" else mine[0], signal.SIGKILL)
            job.communicate(timeout=HANGS)
            self.assertEqual(job.returncode, -9 if which == "front" else 128 + 9)
            until = time.monotonic() + HANGS
            while any(self.alive(pid) for pid in left) and time.monotonic() < until:
                time.sleep(0.01)
            self.assertEqual([pid for pid in left if self.alive(pid)], [], which)

    @staticmethod
    def alive(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def below(self, pid):
        try:
            text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
        except OSError:
            return []
        return [found for child in map(int, text.split()) for found in [child, *self.below(child)]]

    def test_a_signal_to_mpiexec_alone_reaches_the_ranks(self):
        job = start("-n", "2", *sh("trap 'echo got it; exit 0' USR1; echo ready; while :; do sleep 0.02; done"))
        for _ in range(2):
            job.stdout.readline()
        os.kill(job.pid, signal.SIGUSR1)
        out, _ = job.communicate(timeout=HANGS)
        self.assertEqual(out, "got it\n" * 2)
        self.assertEqual(job.returncode, 0)

    def test_a_timeout_ends_the_job_with_124(self):
        for form in ("0.3", "300ms"):
            took = timing.Took()
            done = mpiexec("-n", "2", "--timeout", form, *sh("trap '' TERM; sleep 200"))
            self.assertEqual(done.returncode, 124)
            took.at_most(self.assertLess, "seconds until --timeout 0.3 has ended a job", 1.5)
            self.assertRegex(done.stderr, r"did not end within 0.3 s .* 2 of 2 ranks were running")
        self.assertEqual(mpiexec("--timeout", str(HANGS), "true").returncode, 0)

    def test_ranks_that_a_timeout_ended_are_heard(self):
        for seconds in (0.3, 3, 30):  # by then both have said something
            done = mpiexec("-n", "2", "--timeout", str(seconds), *sh("trap '' TERM; echo started; sleep 200"))
            self.assertEqual(done.returncode, 124)
            if done.stdout == "started\n" * 2:
                break
        self.assertEqual(done.stdout, "started\n" * 2)

    def test_what_a_failing_rank_said_last_is_shown_first(self):
        done = subprocess.run([MPIEXEC, "-q", "-n", "2", *sh("echo last words >&2; exit 5")], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=HANGS)
        self.assertRegex(done.stdout, r"last words\n(.*\n)*.*exited with status 5")


class Signals(Case):
    def ready(self, *words):
        job = start(*words)
        for _ in range(2):
            job.stdout.readline()
        return job

    def test_user_signals_reach_every_rank(self):
        script = sh("trap 'echo got; exit 0' USR1; echo ready; while :; do sleep 0.05; done")
        job = self.ready("-n", "2", *script)
        job.send_signal(signal.SIGUSR1)
        out, _ = job.communicate(timeout=HANGS)
        self.assertEqual(out, "got\ngot\n")
        self.assertEqual(job.returncode, 0)

    def test_interrupt_ends_ranks_with_one_message(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            job = subprocess.Popen([MPIEXEC, "-n", "2", "--oversubscribe", sys.executable, "-c",
                                    "import signal,time; signal.signal(2, signal.SIG_DFL); print(1, flush=True); time.sleep(200)"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(2):
                job.stdout.readline()
            job.send_signal(number)
            _, err = job.communicate(timeout=HANGS)
            self.assertEqual(job.returncode, 128 + number)
            self.assertRegex(err, r"^weft: mpiexec: the job was ended by a signal to mpiexec \(\w+\)\n$")

    def test_a_program_may_end_well_after_a_signal(self):
        job = self.ready("-n", "2", *sh("trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done"))
        job.terminate()
        job.communicate(timeout=HANGS)
        self.assertEqual(job.returncode, 0)

    def test_the_second_interrupt_kills(self):
        job = self.ready("-n", "2", *sh("trap 'echo first' INT; trap '' TERM; echo ready; while :; do sleep 0.05; done"))
        job.send_signal(signal.SIGINT)
        self.assertEqual([job.stdout.readline() for _ in range(2)], ["first\n"] * 2)
        time.sleep(0.2)  # or it would be taken for the same
        self.assertIsNone(job.poll(), "the first may be ignored")
        job.send_signal(signal.SIGINT)
        took = timing.Took()
        job.communicate(timeout=HANGS)
        took.at_most(self.assertLess, "seconds until the second interrupt has killed", 1)
        self.assertEqual(job.returncode, 130)

    def test_the_job_stops_and_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            stopped = pathlib.Path(folder, "stopped")
            job = self.ready("-n", "2", *sh(f"echo ready; until [ -e {stopped} ]; do sleep 0.05; done; echo on; exec sleep 200"))
            job.send_signal(signal.SIGTSTP)
            self.assertTrue(os.WIFSTOPPED(os.waitpid(job.pid, os.WUNTRACED)[1]))
            stopped.touch()
            job.send_signal(signal.SIGCONT)
            self.assertEqual([job.stdout.readline() for _ in range(2)], ["on\n"] * 2)
            self.assertIsNone(job.poll())
            job.terminate()
            job.communicate(timeout=HANGS)

    def read_a_line_after(self, disturb):
        """Whether a job goes on after `disturb`, which gets the pids of both of mpiexec's processes."""
        job = start("-n", "1", *sh("echo ready; read line; echo $line"), stdin=subprocess.PIPE)
        self.assertEqual(job.stdout.readline(), "ready\n")
        disturb(job.pid, int(pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text()))
        out, _ = job.communicate("on\n", timeout=HANGS)
        self.assertEqual((out, job.returncode), ("on\n", 0))

    def stop(self, pid):
        """Again while it runs: mpiexec's processes tell each other of a SIGCONT, which may come later than the next stop."""
        os.kill(pid, signal.SIGSTOP)
        while pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "T":
            time.sleep(0.001)
            os.kill(pid, signal.SIGSTOP)

    def test_a_job_whose_processes_are_all_stopped_and_continued_goes_on(self):
        """As batch systems suspend jobs."""
        def in_turn(*pids):
            for pid in pids:
                self.stop(pid)
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
        self.read_a_line_after(in_turn)
        self.read_a_line_after(lambda front, inner: in_turn(inner, front))

    def test_mpiexec_goes_on_when_one_of_its_processes_was_stopped_and_continued(self):
        def often(pid):
            for _ in range(20):
                self.stop(pid)
                time.sleep(0.005)  # for another one to follow it
                os.kill(pid, signal.SIGCONT)
        self.read_a_line_after(lambda front, inner: often(inner))
        self.read_a_line_after(lambda front, inner: often(front))

    def test_ranks_start_with_our_signal_mask(self):
        done = mpiexec("-n", "1", "grep", "-E", "Sig(Blk|Ign)", "/proc/self/status")
        ours = subprocess.run(["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"], capture_output=True, text=True)
        self.assertEqual(done.stdout, ours.stdout)


if __name__ == "__main__":
    unittest.main()
