# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The launcher's side of PMI-1, for tests that are the launcher themselves."""
import os
import socket
import subprocess

LAUNCHERS = ("PMI", "PMIX", "OMPI", "SLURM", "WEFT", "PALS", "MPIRUN", "JSM")


def clean(*, keep=(), **more):
    """This environment without what launchers say, but for `keep`, and with `more`."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS) or k in keep}
    env.update(more)
    return env


class Job:
    """What the ranks of one job have published, and the answers to their lines. `values` maps a key to what is known of it
    already; what is published under it then does not count."""

    def __init__(self, size, universe, values=None):
        self.size, self.universe, self.values = size, universe, values or {}
        self.waiting = []

    def start(self, rank, command, env, **streams):
        """Starts a rank: its process, and our end of its connection."""
        ours, theirs = socket.socketpair()
        env = env | {"PMI_FD": str(theirs.fileno()), "PMI_RANK": str(rank), "PMI_SIZE": str(self.size)}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   pass_fds=[theirs.fileno()], env=env, **streams)
        theirs.close()
        return process, ours

    def known(self, key, rank):
        """What `rank` is told of a key: None when it is not there."""
        return self.values.get(key)

    def answer(self, words, rank):
        """The answer to a line, without its end; None to one that is not known here."""
        command = words.get("cmd")
        if command == "put":
            self.values.setdefault(words["key"], words["value"])
            return "cmd=put_result rc=0 msg=success"
        if command == "get":
            value = self.known(words["key"], rank)
            if value is not None:
                return f"cmd=get_result rc=0 msg=success value={value}"
            return "cmd=get_result rc=-1 msg=key_not_found value=unknown"
        return {"init": "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
                "get_maxes": "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
                "get_my_kvsname": "cmd=my_kvsname kvsname=kvs_test",
                "get_appnum": "cmd=appnum appnum=0",
                "get_universe_size": f"cmd=universe_size size={self.universe}",
                "finalize": "cmd=finalize_ack"}.get(command)

    def barrier(self, sock, ranks, release=b"cmd=barrier_out\n"):
        """Another one of `ranks` waits; the last one lets all go."""
        self.waiting.append(sock)
        if len(self.waiting) == ranks:
            for each in self.waiting:
                each.sendall(release)
            self.waiting = []
