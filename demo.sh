#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# demo.sh: from a bare Debian or Ubuntu to a picture. Installs what is missing, builds Weft into build/install, runs a
# heat equation on four ranks, then a Python program on mpi4py built against Weft. Seconds when all is there.
set -euo pipefail
cd "$(dirname "$0")"
prefix=$PWD/build/install

step() { printf '\n== %s\n' "$*"; }
# Runs quietly; shows the end of what was said when it fails.
quiet() {
  local log=build/demo/$1.log
  shift
  if ! "$@" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "demo.sh: failed: $* (the whole log is $log)" >&2
    exit 1
  fi
}
mkdir -p build/demo

step "Packages"
tools/dev/setup.sh build mpi4py

step "Building Weft into ${prefix#"$PWD"/}"
# A build that ./test.sh configured keeps its tests; the demonstration needs none.
if [ ! -f build/release/CMakeCache.txt ]; then
  quiet configure cmake --preset release -DWEFT_TESTS=OFF
fi
quiet build cmake --build build/release
quiet install cmake --install build/release
PATH=$prefix/bin:$PATH

step "Heat equation on 4 ranks (apps/heat)"
heat=build/demo/heat
if [ -n "$(find apps/heat/*.[ch]pp "$prefix/include/mpi.h" demo.sh -newer $heat 2>/dev/null || echo none)" ]; then
  quiet heat mpicxx -std=c++20 -O3 apps/heat/*.cpp -o $heat
fi
echo "\$ WEFT_STATS=1 mpiexec -n 4 $heat -o build/demo/heat.png"
WEFT_STATS=1 mpiexec -n 4 $heat -o build/demo/heat.png

step "mpi4py on 4 ranks (apps/mpi4py)"
tools/dev/mpi4py.sh "$prefix" build/venv-mpi4py
echo "\$ mpiexec -n 4 build/venv-mpi4py/bin/python apps/mpi4py/demo.py"
mpiexec -n 4 build/venv-mpi4py/bin/python apps/mpi4py/demo.py

step "Done"
echo "The picture is build/demo/heat.png. To go on: PATH=$prefix/bin:\$PATH, then mpicc, mpicxx, mpiexec, weft."
