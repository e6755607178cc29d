# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Times that tests bound. They count in rows with the label `timing`, which run with nothing beside them; elsewhere the bound
only tells the end of a job from what would have ended it without mpiexec."""
import os
import time

JUDGED = bool(os.environ.get("TEST_TIMING"))
# Seconds after which a job is said to hang, so that the test is named before ctest ends the row. Without mpiexec it
# takes longer: the ranks sleep 200 s.
HANGS = 100


class Took:
    """From its making on. `check` is a test's assertion: `self.assertLess`."""

    def __init__(self):
        self.began = time.monotonic()

    def at_most(self, check, name, seconds):
        took = time.monotonic() - self.began
        print(f"timing: {name}: {took:.3f}, at most {seconds:g}", flush=True)
        check(took, seconds if JUDGED else HANGS, name)
