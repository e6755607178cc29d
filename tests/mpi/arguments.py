#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Every MPI function, each argument of it wrong in turn: null pointers, pointers that nobody can read, handles that are
null, of another kind or garbage, numbers that are negative. No call may crash the program.

arguments.py LIBRARY ABI [FUNCTION ...]: the library, the folder of functions.json, and what to try (all that there are).
"""
import ctypes
import json
import os
import pathlib
import signal
import sys

LIMIT_S = 1  # for one call; one that waits for a message has not crashed
NOT_CALLED = {"MPI_Abort", "MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Pcontrol"}
UNREADABLE = 16
NULLS = {"MPI_Comm": "MPI_COMM_NULL", "MPI_Datatype": "MPI_DATATYPE_NULL", "MPI_Op": "MPI_OP_NULL", "MPI_Group": "MPI_GROUP_NULL",
         "MPI_Info": "MPI_INFO_NULL", "MPI_Errhandler": "MPI_ERRHANDLER_NULL", "MPI_Win": "MPI_WIN_NULL",
         "MPI_Request": "MPI_REQUEST_NULL", "MPI_Message": "MPI_MESSAGE_NULL", "MPI_Session": "MPI_SESSION_NULL"}
USUAL = {"MPI_Comm": "MPI_COMM_SELF", "MPI_Datatype": "MPI_INT", "MPI_Op": "MPI_SUM", "MPI_Group": "MPI_GROUP_EMPTY",
         "MPI_Info": "MPI_INFO_ENV", "MPI_Errhandler": "MPI_ERRORS_RETURN", "MPI_Request": "MPI_REQUEST_NULL",
         "MPI_Message": "MPI_MESSAGE_NO_PROC"}
# No huge counts: a program says with them how large its buffers are.
NUMBERS = {"int": (-1, -(1 << 31)), "const int": (-1,), "MPI_Count": (-1, -(1 << 63)), "MPI_Aint": (-1, 1 << 62),
           "MPI_Offset": (-1, 1 << 62), "MPI_T_cb_safety": (-1, 99)}


class Caller:
    """In a process of its own: calls one function in all ways, and says before each which it is."""

    def __init__(self, library, values):
        self.mpi = ctypes.CDLL(library)
        self.values = values
        self.mpi.MPI_Init(None, None)
        for comm in ("MPI_COMM_WORLD", "MPI_COMM_SELF"):
            self.mpi.MPI_Comm_set_errhandler(self.handle(comm), self.handle("MPI_ERRORS_RETURN"))
        provided = ctypes.c_int()
        self.mpi.MPI_T_init_thread(0, ctypes.byref(provided))
        self.made = {}
        for kind, create in (("MPI_Win", self.window), ("MPI_Session", self.session)):
            self.made[kind] = create()
        self.buffers = []

    def handle(self, name):
        return ctypes.c_void_p(self.values[name])

    def window(self):
        win, memory = ctypes.c_void_p(), ctypes.c_void_p()
        self.mpi.MPI_Win_allocate(ctypes.c_ssize_t(64), 1, self.handle("MPI_INFO_NULL"), self.handle("MPI_COMM_SELF"),
                                  ctypes.byref(memory), ctypes.byref(win))
        self.mpi.MPI_Win_set_errhandler(win, self.handle("MPI_ERRORS_RETURN"))
        return win.value

    def session(self):
        session = ctypes.c_void_p()
        self.mpi.MPI_Session_init(self.handle("MPI_INFO_NULL"), self.handle("MPI_ERRORS_RETURN"), ctypes.byref(session))
        return session.value

    def usual(self, param):
        """An argument with which the call may do what it is for, mostly nothing."""
        kind, name = param["type"], param["name"]
        if kind in NUMBERS:
            return ctypes.c_int(self.values["MPI_PROC_NULL"] if name in ("source", "dest") else 0) if "int" in kind else (
                ctypes.c_int64(0))
        if kind in NULLS:
            return ctypes.c_void_p(self.made[kind] if kind in self.made else self.values[USUAL[kind]])
        if kind.startswith("MPI_T_") and not kind.endswith("*"):
            return ctypes.c_void_p(0)
        if kind.endswith("function *") or kind.endswith("_c *"):
            return ctypes.c_void_p(0)
        buffer = ctypes.create_string_buffer(4096)
        self.buffers.append(buffer)
        base = kind.replace("const ", "").replace("*", "").replace("[]", "").strip()
        if base in NULLS:
            inside = self.made.get(base, self.values.get(USUAL.get(base, ""), 0))
            ctypes.cast(buffer, ctypes.POINTER(ctypes.c_void_p))[0] = inside
        return ctypes.cast(buffer, ctypes.c_void_p)

    def wrong(self, kind):
        if kind in NUMBERS:
            width = ctypes.c_int if "int" in kind or kind == "MPI_T_cb_safety" else ctypes.c_int64
            return [width(n) for n in NUMBERS[kind]]
        if kind in NULLS:
            other = "MPI_INT" if kind != "MPI_Datatype" else "MPI_SUM"
            return [ctypes.c_void_p(v) for v in (0, self.values[NULLS[kind]], self.values[other], 5, 4095)]
        # Handles come from elsewhere, as do statuses that are asked; a buffer that is not there, or a place for numbers, is
        # for the processor to find.
        asked = kind.removesuffix("*").removeprefix("const ").strip()
        return [ctypes.c_void_p(0)] + [ctypes.c_void_p(UNREADABLE)] * (asked in NULLS or kind == "const MPI_Status *")

    def ways(self, params):
        yield "as usual", [self.usual(p) for p in params]
        for i, param in enumerate(params):
            for value in self.wrong(param["type"]):
                given = [self.usual(p) for p in params]
                given[i] = value
                yield f"{param['type']} {param['name']} = {value.value}", given

    def call_all(self, function, begin, report):
        entry = getattr(self.mpi, function["name"])
        params = [p for p in function["params"] if p["type"] != "..."]
        for number, (text, given) in enumerate(self.ways(params)):
            if number < begin:
                continue
            os.pwrite(report, f"{number}\n{text}".encode().ljust(200), 0)
            signal.alarm(LIMIT_S)
            entry(*given)
            for kind, create in (("MPI_Win", self.window), ("MPI_Session", self.session)):
                if function["name"] in ("MPI_Win_free", "MPI_Session_finalize"):
                    self.made[kind] = create()
        signal.alarm(0)


def tried(library, values, function):
    """Calls until every way has been taken, in as many processes as it needs; what crashed, and how many waited."""
    crashes, waits, begin = [], 0, 0
    report = os.memfd_create("way")
    while True:
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            Caller(library, values).call_all(function, begin, report)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if status == 0:
            return crashes, waits
        number, text = os.pread(report, 200, 0).decode().split("\n")
        begin = int(number) + 1
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
            waits += 1
        else:
            crashes.append(f"{function['name']}: {text.strip()}: status {status}")


def main():
    library, abi = sys.argv[1], pathlib.Path(sys.argv[2])
    values = {c["name"]: c["value"] for c in json.loads((abi / "constants.json").read_text())["constants"]}
    there = {line.strip() for line in (abi / "implemented.txt").read_text().splitlines() if line.startswith("MPI_")}
    functions = [f for f in json.loads((abi / "functions.json").read_text())["functions"]
                 if f["name"] in there and f["name"] not in NOT_CALLED]
    if sys.argv[3:]:
        functions = [f for f in functions if f["name"] in sys.argv[3:]]
    crashed, waited = [], 0
    for function in functions:
        crashes, waits = tried(library, values, function)
        crashed += crashes
        waited += waits
        for line in crashes:
            print(line, flush=True)
    print(f"{len(functions)} functions, {waited} calls that wait, {len(crashed)} that crash")
    return len(crashed) > 0 or not functions


if __name__ == "__main__":
    sys.exit(main())
