#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# mpi4py_wheel.sh VENV: a virtual environment with PyPI's wheel of mpi4py, which was built for MPICH and Open MPI, and NumPy.
# The version is that of mpi4py.sh. Quiet when it is there.
set -euo pipefail
cd "$(dirname "$0")"
version=$(sed -n 's/^version=//p' mpi4py.sh)

[ $# -eq 1 ] || { echo "usage: mpi4py_wheel.sh VENV" >&2; exit 2; }
[ "$(cat "$1/wheel.stamp" 2>/dev/null)" != "$version" ] || exit 0
rm -rf "$1"
python3 -m venv "$1"
"$1/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary=:all: "mpi4py==$version" numpy
echo "$version" >"$1/wheel.stamp"
