#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# launchers.sh: puts Hydra, the launcher that tests on several hosts use, into build/peers/mpich, from MPICH's package on
# PyPI; quiet when it is there. Without a network the tests that need it are skipped, and say so.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -x build/peers/mpich/bin/mpiexec.hydra ] && exit 0
echo "installing: Hydra (MPICH's package of PyPI) into build/peers/mpich"
python3 -m venv build/peers/mpich && build/peers/mpich/bin/python -m pip install --quiet --disable-pip-version-check mpich ||
  echo "launchers.sh: no Hydra; tests that need it will be skipped" >&2
