#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# build.sh [--glibc VERSION] [--arch ARCHITECTURE] [FOLDER]: makes the wheel weft-mpi, in build/wheel or in FOLDER, under the
# oldest tag that auditwheel finds right. Takes minutes where ccache knows nothing.
#   --glibc 2.28          runs with a C library as old as that: zig compiles (zig.sh), which pip installs for it. Without it
#                         this machine's compilers do, and its C library is the oldest.
#   --arch aarch64        for another architecture, by zig too. libhwloc-dev of that one is there (tools/dev/setup.sh aarch64);
#                         Fortran is left out without a gfortran for it.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
arch=$(uname -m) glibc='' out=$root/build/wheel
while [ $# -gt 0 ]; do
  case $1 in
    --glibc) glibc=$2 && shift 2 ;;
    --arch) arch=$2 && shift 2 ;;
    -*) echo "build.sh: \"$1\" is no option (--glibc, --arch)" >&2 && exit 2 ;;
    *) out=$1 && shift ;;
  esac
done
if [ "$arch" != "$(uname -m)" ]; then glibc=${glibc:-2.28}; fi
tools=$root/build/venv-wheel
mkdir -p "$out"
if [ ! -x "$tools/bin/auditwheel" ]; then
  python3 -m venv "$tools"
  "$tools/bin/pip" install -q build 'scikit-build-core>=0.10' auditwheel wheel twine
fi
tree=$root/build/wheel-tree
# As CMake names the compilers, which the cache tells apart.
export CC=cc CXX=c++ CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=1
settings=()
if [ -n "$glibc" ]; then
  tree+=-$arch-$glibc
  "$tools/bin/pip" install -q "ziglang~=0.17.1"
  zig=$("$tools/bin/python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
  "$root/packaging/wheel/zig.sh" "$zig" "$arch-linux-gnu" "$glibc" "$tree-tools"
  settings=(-C cmake.define.CMAKE_TOOLCHAIN_FILE="$tree-tools/toolchain.cmake" -C cmake.define.WEFT_WERROR=OFF)
  unset CC CXX
fi
made=$(mktemp -d)
trap 'rm -rf "$root"/packaging/wheel/LICENSE* "$made"' EXIT
cp "$root/LICENSE" "$root/packaging/wheel/LICENSE"
cp /usr/share/doc/libhwloc-dev/copyright "$root/packaging/wheel/LICENSE.hwloc"  # hwloc is inside (packaging/licences.md)
"$tools/bin/python" -m build --wheel --no-isolation --outdir "$made" -C build-dir="$tree" "${settings[@]}" "$root/packaging/wheel"
tag=$("$tools/bin/auditwheel" show "$made"/weft_mpi-*.whl | grep -oE 'manylinux_[0-9]+_[0-9]+_[a-z0-9_]+' | head -n 1)
"$tools/bin/wheel" tags --remove --platform-tag "$tag" "$made"/weft_mpi-*.whl
"$tools/bin/twine" check --strict "$made"/weft_mpi-*.whl
rm -f "$out"/weft_mpi-*"$tag".whl
mv "$made"/weft_mpi-*.whl "$out"
ls -l "$out"/weft_mpi-*"$tag".whl
