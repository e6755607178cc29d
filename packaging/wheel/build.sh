#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# build.sh [FOLDER]: makes the wheel weft-mpi, in build/wheel or in FOLDER, under the oldest tag that auditwheel finds
# right: it names the C library that this machine's is. Takes minutes where ccache knows nothing.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/build/wheel}
tools=$root/build/venv-wheel
mkdir -p "$out"
if [ ! -x "$tools/bin/auditwheel" ]; then
  python3 -m venv "$tools"
  "$tools/bin/pip" install -q build 'scikit-build-core>=0.10' auditwheel wheel twine
fi
rm -f "$out"/weft_mpi-*.whl
cp "$root/LICENSE" "$root/packaging/wheel/LICENSE"
trap 'rm -f "$root/packaging/wheel/LICENSE"' EXIT
# As CMake names the compilers, which the cache tells apart.
export CC=cc CXX=c++ CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=1
"$tools/bin/python" -m build --wheel --no-isolation --outdir "$out" -C build-dir="$root/build/wheel-tree" "$root/packaging/wheel"
tag=$("$tools/bin/auditwheel" show "$out"/weft_mpi-*.whl | grep -oE 'manylinux_[0-9]+_[0-9]+_[a-z0-9_]+' | head -n 1)
"$tools/bin/wheel" tags --remove --platform-tag "$tag" "$out"/weft_mpi-*.whl
"$tools/bin/twine" check --strict "$out"/weft_mpi-*.whl
ls -l "$out"/weft_mpi-*.whl
