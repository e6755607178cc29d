#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# try.sh WHEEL: installs the wheel and mpi4py's in a fresh virtual environment, runs programs in Python, C, C++ and Fortran on
# four ranks, and removes it again: no file may be left.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
wheel=$(readlink -f "$1")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
python3 -m venv v
files() { find v -not -type d -not -name '*.pyc' | sort; }
v/bin/pip install -q mpi4py
files >before
v/bin/pip install -q "$wheel"

v/bin/mpiexec --oversubscribe -n 4 v/bin/python -m mpi4py.bench helloworld | tee said
[ "$(grep -c 'of 4' said)" = 4 ]
v/bin/python -c 'from mpi4py import MPI; assert MPI.COMM_WORLD.size == 1 and "Weft" in MPI.Get_library_version()'

fortran=v/bin/mpifort
[ -x $fortran ] || fortran=
"$root/packaging/programs.sh" v/bin/mpicc v/bin/mpicxx "$fortran" v/bin/mpiexec v/bin/mpirun
# Names of the C++ runtime inside are for no other library of the process.
if find v/lib -name '*.so*' -not -path 'v/lib/python*' -print0 | xargs -0 nm -D --defined-only 2>&1 | grep -E ' _Z([nd]|N?S)'; then exit 1; fi
v/bin/weft selftest
v/bin/pip uninstall -q -y weft-mpi
files >after
diff before after
echo "removed without a file left"
