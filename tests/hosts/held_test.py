#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of a host that share an endpoint (WEFT_MINIMUM_MEMORY=host) hold together about as much for traffic between hosts as one
rank does (held.c). With `--table [off|on|host ...] [ranks of a host ...]` it prints the table of docs/measurements/large-jobs.md instead; 1xN in
place of a number: one rank that is connected to N of another host."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

import mpiexec

HYDRA = os.environ.get("HYDRA", "none")
HELD = os.environ.get("HELD", str(pathlib.Path(__file__).resolve().parents[2] / "build/release/tests/hosts/hosts_held"))


def held(of_host, minimum, seconds=100):
    """KiB of all ranks of the first host: after the start, after small messages, after large ones. `of_host` has the number of
    ranks of each host. None: no such hosts here."""
    settings = ["WEFT_NETWORK_LIBRARY=ofi", "WEFT_OFI_PROVIDER=tcp;ofi_rxm", f"WEFT_MINIMUM_MEMORY={minimum}"]
    words = mpiexec.command(HYDRA, len(of_host), sum(of_host), settings, of_host)
    done = subprocess.run([*words, HELD], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds)
    if done.returncode == 77:
        return None
    found = re.search(r"held (\d+) (\d+) (\d+)", done.stdout)
    if done.returncode != 0 or found is None:
        raise AssertionError(f"status {done.returncode}\n{done.stdout}{done.stderr}")
    return [int(kib) for kib in found.groups()]


def between(here, there, minimum, seconds=100):
    """The same of the traffic alone between `here` ranks of a host and `there` ranks of another one."""
    whole = held([here, there], minimum, seconds)
    return None if whole is None else [a - b for a, b in zip(whole, held([here], minimum, seconds))]


@unittest.skipUnless(os.access(HYDRA, os.X_OK), "there is no Hydra")
class Shared(unittest.TestCase):
    def holds_as_one(self, ranks):
        """Ranks that are all connected to as many of another host hold at most 1.5 times as much as one rank that is."""
        one = between(1, ranks, "host")
        if one is None:
            self.skipTest("this machine allows no namespaces")
        for last in (False, False, True):  # on a loaded machine more is in flight at a time, and more buffers are touched
            all_of_them = between(ranks, ranks, "host")
            print(f"between hosts, connected to {ranks} ranks, KiB: one rank {one}, {ranks} ranks {all_of_them}")
            if last or all(many <= 1.5 * few for few, many in zip(one, all_of_them)):
                break
        for few, many in zip(one, all_of_them):
            self.assertLessEqual(many, 1.5 * few)

    def test_eight_ranks_hold_little_more_than_one(self):
        self.holds_as_one(8)

    def test_sixty_four_ranks_hold_little_more_than_one(self):
        self.holds_as_one(64)


def table(words):
    one = [w for w in words if w.startswith("1x")]
    for minimum in [w for w in words if w in ("off", "on", "host")] if one else []:
        for ranks in one:
            kib = between(1, int(ranks[2:]), minimum, 580)
            print(f"{minimum:4} one rank, {ranks[2:]} of another host: {'/'.join(f'{k / 1024:.1f}' for k in kib)} MiB", flush=True)
    if one:
        return
    for minimum in [w for w in words if not w.isdigit()] or ["off", "on", "host"]:
        for ranks in [int(w) for w in words if w.isdigit()] or [1, 8, 16]:
            whole, alone = held([ranks, ranks], minimum, 580), held([ranks], minimum, 580)
            rows = ["/".join(f"{kib / 1024:.1f}" for kib in row) for row in (whole, alone, [a - b for a, b in zip(whole, alone)])]
            print(f"{minimum:4} {ranks:3} ranks of a host: two hosts {rows[0]}, one alone {rows[1]}, between hosts {rows[2]} MiB",
                  flush=True)


if __name__ == "__main__":
    if "--table" in sys.argv:
        table(sys.argv[2:])
    else:
        unittest.main()
