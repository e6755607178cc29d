#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# mpi4py.sh PREFIX VENV: a virtual environment with mpi4py built from its source package against the Weft installed in
# PREFIX. Its sources, for the test suite, are in VENV/src/mpi4py. Built again when the header changes, by which mpi4py
# decides which functions there are. Seconds when nothing changed.
set -euo pipefail
version=4.1.2

[ $# -eq 2 ] || { echo "usage: mpi4py.sh PREFIX VENV" >&2; exit 2; }
prefix=$(cd "$1" && pwd)
venv=$2
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable), sys.version.split()[0])')
key=$({ echo "$version $prefix $python"; sha256sum <"$0"; cat "$prefix/include/mpi.h"; } | sha256sum)
if [ -f "$venv/weft.stamp" ] && [ "$(cat "$venv/weft.stamp")" = "$key" ]; then exit 0; fi

echo "building mpi4py $version against $prefix (a minute or two)"
log=$(dirname "$venv")/$(basename "$venv").log
mkdir -p "$(dirname "$venv")"
# Not as the condition of an if: bash ignores set -e inside of one.
set +e
(
  set -e
  if [ ! -x "$venv/bin/python" ] || ! "$venv/bin/python" -c 'import sys; sys.exit(" ".join([sys.argv[1], sys.version.split()[0]]) != sys.argv[2])' \
      "$(readlink -f "$venv/bin/python")" "$python"; then
    rm -rf "$venv"
    python3 -m venv "$venv"
  fi
  rm -f "$venv/weft.stamp"
  pip="$venv/bin/python -m pip --disable-pip-version-check"
  $pip install 'setuptools>=42' wheel 'cython>=3.1'
  if [ ! -f "$venv/src/mpi4py-$version.tar.gz" ]; then
    # Its wheels are built for other libraries: the source package it must be.
    $pip download --no-deps --no-build-isolation --no-binary=mpi4py --dest "$venv/src" "mpi4py==$version"
  fi
  rm -rf "$venv/src/mpi4py"
  mkdir -p "$venv/src/mpi4py"
  tar -xzf "$venv/src/mpi4py-$version.tar.gz" -C "$venv/src/mpi4py" --strip-components=1
  # -O0 as one file of it takes minutes otherwise.
  WEFT_CC="$(command -v ccache || true) cc" MPICC="$prefix/bin/mpicc" CFLAGS='-O0 -g0' $pip install --no-cache-dir \
    --no-build-isolation --force-reinstall --no-deps --no-binary=mpi4py "$venv/src/mpi4py-$version.tar.gz"
  "$venv/bin/python" -c 'import mpi4py.MPI' </dev/null
) >"$log" 2>&1
status=$?
set -e
if [ $status -ne 0 ]; then
  tail -n 40 "$log" >&2
  echo "mpi4py.sh: mpi4py was not built; the whole log is $log" >&2
  exit 1
fi
printf '%s\n' "$key" >"$venv/weft.stamp"
