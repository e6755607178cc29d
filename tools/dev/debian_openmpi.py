# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Table of debian.py: programs that Debian has for Open MPI alone."""
PACKAGES = {}


def programs(name, root):
    """Those of a name, in the folder of unpacked packages."""
    raise KeyError(name, root)
