#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# test.sh [--quick] [-R REGEX]: builds Weft (preset release) and runs its tests: units, ABI, launcher, MPI programs and
# mpi4py's own suite. --quick leaves out mpi4py, several hosts and what is labelled slow; -R runs the tests whose names match.
# Checks that judge times or take long are left to .ci/nightly. Installs what is missing. Tells every ten seconds how far it
# is; ends with ctest's summary, and with its status. Fifteen to twenty minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")"

selection=(-LE 'timing|nightly')
while [ $# -gt 0 ]; do
  case $1 in
    --quick) selection=(-LE 'mpi4py|slow|hosts|timing|nightly' "${selection[@]:2}") ;;
    -R)
      [ $# -gt 1 ] || { echo "test.sh: -R wants a regular expression" >&2; exit 2; }
      selection+=(-R "$2")
      shift
      ;;
    *)
      sed -n '4,7s/^# //p' "$0" >&2
      exit 2
      ;;
  esac
  shift
done

step() { printf '\n== %s\n' "$*"; }
mkdir -p build/test

step "Packages"
tools/dev/setup.sh build mpi4py test
tools/dev/launchers.sh mpich openmpi

step "Build"
if ! { cmake --preset release -DWEFT_TESTS=ON && cmake --build build/release && cmake --install build/release; } 2>&1 |
    tools/dev/progress.sh build/test/build.log; then
  tail -n 60 build/test/build.log >&2
  echo "test.sh: the build failed; the whole log is build/test/build.log" >&2
  exit 1
fi

step "Tests"
results=build/release/tests/mpi4py/results
rm -rf $results
status=0
# More at a time than there are processors: many wait.
ctest --test-dir build/release --parallel $((2 * $(nproc))) --timeout 300 --output-on-failure --no-tests=error \
  "${selection[@]}" 2>&1 | tools/dev/progress.sh build/test/ctest.log || status=$?
if compgen -G "$results/*.json" >/dev/null; then
  python3 tests/mpi4py/run.py --results $results --table
fi

step "Summary"
sed -n '/tests passed, .* tests failed out of/,$p' build/test/ctest.log
exit $status
