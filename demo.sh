#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# demo.sh: from a bare Debian or Ubuntu to a picture. Installs what is missing, builds Weft into build/install, runs a
# heat equation on four ranks, a wave equation in Fortran, a Python program on mpi4py built against Weft, and a turbulent
# magnetised gas on two ranks of two threads. Some minutes with nothing there, under one when all is.
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
# Without what the demonstration does not show. `cmake --build build/release` builds all.
if ! cmake --build build/release --target demonstration 2>&1 | tools/dev/progress.sh build/demo/build.log; then
  tail -n 40 build/demo/build.log >&2
  echo "demo.sh: the build failed; the whole log is build/demo/build.log" >&2
  exit 1
fi
quiet install cmake --install build/release
PATH=$prefix/bin:$PATH

step "Heat equation on 4 ranks (apps/heat)"
heat=build/demo/heat
if [ -n "$(find apps/heat/*.[ch]pp apps/common/*.[ch]pp "$prefix/include/mpi.h" demo.sh -newer $heat 2>/dev/null || echo none)" ]; then
  quiet heat mpicxx -std=c++20 -O3 apps/heat/*.cpp apps/common/*.cpp -o $heat
fi
echo "\$ WEFT_STATS=1 mpiexec -n 4 $heat -o build/demo/heat.png"
WEFT_STATS=1 mpiexec -n 4 $heat -o build/demo/heat.png

step "Wave equation in Fortran on 4 ranks (apps/waves)"
if [ -x "$prefix/bin/mpifort" ]; then
  quiet waves mpifort -O3 apps/waves/waves.f90 -o build/demo/waves
  echo "\$ mpiexec -n 4 build/demo/waves"
  mpiexec -n 4 build/demo/waves
else
  echo "Left out: this build of Weft has no Fortran."
fi

step "mpi4py on 4 ranks (apps/mpi4py)"
tools/dev/mpi4py.sh "$prefix" build/venv-mpi4py
echo "\$ mpiexec -n 4 build/venv-mpi4py/bin/python apps/mpi4py/demo.py"
mpiexec -n 4 build/venv-mpi4py/bin/python apps/mpi4py/demo.py

step "Magnetohydrodynamics on 2 ranks of 2 threads (apps/mhd)"
mhd=build/demo/mhd
if [ -n "$(find apps/mhd/*.[ch]pp apps/common/*.[ch]pp "$prefix/include/mpi.h" demo.sh -newer $mhd 2>/dev/null || echo none)" ]; then
  # No contraction of products and sums: the same bits with every length of vector.
  quiet mhd mpicxx -std=c++20 -O3 -march=native -fopenmp -fno-math-errno -fno-trapping-math -ffp-contract=off \
    apps/mhd/*.cpp apps/common/*.cpp -o $mhd
fi
echo "\$ mpiexec -n 2 $mhd -t 2 -n 256 -a 100 -o build/demo/orszag-tang.png"
mpiexec -n 2 $mhd -t 2 -n 256 -a 100 -o build/demo/orszag-tang.png

step "Done"
cat <<END
The pictures are build/demo/heat.png and build/demo/orszag-tang.png. What to type next:

  PATH=$prefix/bin:\$PATH
  mpicc hello.c -o hello && mpiexec -n 4 ./hello    your own program; mpicxx, mpifort and oshcc do the same
  weft info                                         what Weft found on this machine, and its settings
  WEFT_STATS=1 mpiexec -n 4 ./hello                 where the time went
  cmake --build build/release && cmake --install build/release    the rest: Fortran programs that were built for MPICH
  ./test.sh                                         all tests
END
