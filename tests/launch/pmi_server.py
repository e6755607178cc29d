# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""A server of PMI-1 and PMI-2 for the program JOINER (joiner.cpp), which can misbehave."""
import os
import socket
import subprocess
import threading
import time

import pmi1
import timing

JOINER = os.environ["JOINER"]


def framed(message):
    return f"{len(message):6d}{message}".encode()


class PmiServer(pmi1.Job):
    """PMI-1 and PMI-2 for the ranks of one job, over socket pairs. `speaks` holds the versions it takes. `quirks` maps a
    command to the answer to give instead, `values` a key to what is known of it already, `told` a rank to what it alone is
    told of keys. As Slurm does, it takes no lines above 1024 characters. `lazy` is a fence as Hydra's: answered at once; who
    then asks for what is not there is answered when it comes."""

    def __init__(self, size, speaks=(1,), quirks=None, values=None, told=None, lazy=False):
        super().__init__(size, 16, values)
        self.speaks, self.quirks = speaks, quirks or {}
        self.told, self.lazy = told or {}, lazy
        self.lock, self.sockets, self.aborted = threading.Lock(), [], None
        self.come = threading.Condition(self.lock)
        self.processes = []

    def run(self, *words, **env):
        threads = []
        for rank in range(self.size):
            process, ours = self.start(rank, [JOINER, *words], pmi1.clean(**env), stdin=subprocess.DEVNULL)
            self.processes.append(process)
            self.sockets.append(ours)
            threads.append(threading.Thread(target=self.serve, args=(ours, rank), daemon=True))
            threads[-1].start()
        results = []
        for process in self.processes:
            try:
                out, err = process.communicate(timeout=timing.HANGS)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                err += f"(killed after {timing.HANGS} s)"
            results.append((process.returncode, out, err))
        for thread in threads:
            thread.join(5)
        for sock in self.sockets:
            sock.close()
        return results

    def answer(self, words, rank):
        cmd = words.get("cmd")
        if cmd in self.quirks:
            return self.quirks[cmd]
        if cmd == "init":
            version = int(words["pmi_version"])
            return f"cmd=response_to_init pmi_version={version} pmi_subversion=1 rc={0 if version in self.speaks else -1}"
        return super().answer(words, rank)

    def answer2(self, words, rank):
        cmd = words.get("cmd")
        if cmd in self.quirks:
            return self.quirks[cmd]
        fields = None
        if cmd == "fullinit" and words["pmirank"] == str(rank) and "pmijobid" not in words:
            fields = f"pmi-version=2;pmi-subversion=0;rank={rank};size={self.size};appnum=0;debugged=FALSE;rc=0;"
        elif cmd == "job-getid":
            fields = "jobid=job_test;rc=0;"
        elif cmd == "info-getjobattr":
            value = "16" if words["key"] == "universeSize" else self.known(words["key"], rank)
            fields = f"found=TRUE;value={value};rc=0;" if value is not None else "found=FALSE;rc=0;"
        elif cmd == "kvs-put":
            self.values.setdefault(words["key"], words["value"])
            self.come.notify_all()
            fields = "rc=0;"
        elif cmd == "kvs-get" and words["jobid"] == "job_test":
            value = self.known(words["key"], rank)
            fields = f"found=TRUE;value={value};rc=0;" if value is not None else "found=FALSE;rc=0;"
        elif cmd == "finalize":
            fields = "rc=0;"
        return fields and f"cmd={cmd}-response;{fields}"

    def known(self, key, rank):
        return self.told.get(rank, {}).get(key, self.values.get(key))

    def abort(self, status):
        self.aborted = status
        time.sleep(0.05)  # for what the rank still says
        for process in self.processes:
            process.terminate()

    @staticmethod
    def send(sock, data):
        # In two pieces: a message may come in any.
        sock.sendall(data[:7])
        time.sleep(0.001)
        sock.sendall(data[7:])

    def serve(self, sock, rank):
        try:
            stream = sock.makefile("rb")
            for line in stream:
                words = dict(w.split("=", 1) for w in line.decode().split())
                if len(line) > 1024:
                    return sock.shutdown(socket.SHUT_RDWR)
                with self.lock:
                    if words["cmd"] == "abort":
                        return self.abort(int(words["exitcode"]))
                    if words["cmd"] == "barrier_in" and "barrier_in" not in self.quirks:
                        self.barrier(sock, self.size)
                        continue
                    reply = self.answer(words, rank)
                if reply is None:
                    return sock.shutdown(socket.SHUT_RDWR)
                self.send(sock, reply.encode() + b"\n")
                if words["cmd"] == "init" and words["pmi_version"] == "2" and 2 in self.speaks:
                    return self.serve2(sock, stream, rank)
        except OSError:
            pass

    def serve2(self, sock, stream, rank):
        while length := stream.read(6):
            words = dict(w.split("=", 1) for w in stream.read(int(length)).decode().split(";") if w)
            with self.lock:
                if words["cmd"] == "abort":
                    return self.abort(int(words["exitcode"]))
                if self.lazy and words["cmd"] == "kvs-fence":
                    sock.sendall(framed("cmd=kvs-fence-response;rc=0;"))
                    continue
                if self.lazy and words["cmd"] == "kvs-get":
                    self.come.wait_for(lambda key=words["key"]: key in self.values, 10)
                if words["cmd"] == "kvs-fence" and "kvs-fence" not in self.quirks:
                    self.barrier(sock, self.size, framed("cmd=kvs-fence-response;rc=0;"))
                    continue
                reply = self.answer2(words, rank)
            if reply is None:
                return sock.shutdown(socket.SHUT_RDWR)
            self.send(sock, framed(reply))
