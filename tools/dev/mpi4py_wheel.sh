#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# mpi4py_wheel.sh VENV [PACKAGE...]: a virtual environment with PyPI's wheel of mpi4py, which was built for MPICH and Open MPI, with
# NumPy, and with packages of other MPIs. The version is that of mpi4py.sh. Quiet when it is there.
set -euo pipefail
cd "$(dirname "$0")"
version=$(sed -n 's/^version=//p' mpi4py.sh)

[ $# -ge 1 ] || { echo "usage: mpi4py_wheel.sh VENV [PACKAGE...]" >&2; exit 2; }
venv=$1
shift
holds="$version${*:+ $*}"
[ "$(cat "$venv/wheel.stamp" 2>/dev/null)" != "$holds" ] || exit 0
rm -rf "$venv"
python3 -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary=:all: "mpi4py==$version" numpy "$@"
echo "$holds" >"$venv/wheel.stamp"
