#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# setup.sh [build] [mpi4py] [test] [ci] [aarch64] [machine] [vendors] [chroot] [builds]: installs what those steps need
# and this machine lacks, by apt. It looks for the thing itself and not for its package, so that a compiler or a Python from elsewhere
# counts. Quiet when nothing is missing.
set -euo pipefail

missing=()
need() {  # need PACKAGE command...: the package is wanted unless the command succeeds
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}
has() { command -v "$1"; }
cmake_is_new() {
  local version
  version=$(cmake --version | sed -n '1s/[^0-9]*//p')
  [ "$(printf '%s\n3.22\n' "$version" | sort -V | head -n 1)" = 3.22 ]
}
python_header() { [ -f "$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')/Python.h" ]; }
clang_runtime() { [ -f "$(clang++-14 -print-resource-dir)/lib/linux/libclang_rt.tsan-$(uname -m).a" ]; }
# Where Slurm's plugin looks, and by that name.
pmix_of_slurm() { compgen -G '/usr/lib/*/pmix2/lib/libpmix.so'; }
# Without shared libraries.
busybox_alone() { has busybox && ! ldd "$(command -v busybox)"; }
hip_compiler() { compgen -G '/usr/lib/*/libhiprtc-builtins.so.*'; }
# A pkg-config that is missing itself would say no to everything.
library() { if has pkg-config; then pkg-config --exists "$1"; else [ -f "/usr/include/$2" ]; fi; }

for part in "${@:-build}"; do
  case $part in
    build)
      need g++ has g++
      need gfortran has gfortran
      need gcc has gcc
      need cmake cmake_is_new
      need ninja-build has ninja
      need ccache has ccache
      need pkg-config has pkg-config
      need libhwloc-dev library hwloc hwloc.h
      need libmetis-dev test -f /usr/include/metis.h
      need libfabric-dev library libfabric rdma/fabric.h
      need libucx-dev library ucx ucp/api/ucp.h
      need python3 has python3
      need git has git
      ;;
    mpi4py)
      need ca-certificates test -s /etc/ssl/certs/ca-certificates.crt
      need python3-venv python3 -c 'import ensurepip, venv'
      need python3-dev python_header
      ;;
    test)
      need libgtest-dev library gtest gtest/gtest.h
      need valgrind has valgrind
      need spin has spin
      need libfftw3-dev library fftw3 fftw3.h
      need iproute2 has ip
      need mandoc has mandoc
      ;;
    ci)
      need clang-14 has clang++-14
      need libclang-rt-14-dev clang_runtime
      need clang-format-14 has clang-format-14
      need clang-tidy-14 has clang-tidy-14
      # Kernels of Level Zero without its devices (tests/device/fake_ze_kernels.cpp).
      need llvm-spirv-14 has llvm-spirv-14
      need spirv-tools has spirv-val
      # A Slurm to run jobs under (tests/hosts/slurm.sh), also with PMIx.
      need slurm-wlm has slurmctld
      need munge has munged
      need libpmix-dev pmix_of_slurm
      ;;
    aarch64)  # from another processor: cmake/aarch64.cmake
      need g++-aarch64-linux-gnu has aarch64-linux-gnu-g++
      need gfortran-aarch64-linux-gnu has aarch64-linux-gnu-gfortran  # for the wheel
      need qemu-user has qemu-aarch64
      need libgtest-dev:arm64 test -f /usr/lib/aarch64-linux-gnu/libgtest.a
      need libhwloc-dev:arm64 test -f /usr/lib/aarch64-linux-gnu/libhwloc.so
      ;;
    machine)  # virtual ones: tests/machine
      need qemu-system-x86 has qemu-system-x86_64
      need busybox-static busybox_alone
      ;;
    vendors)  # compilers of kernels: tests/device/kernel_texts.cpp
      need intel-opencl-icd has ocloc
      need libamdhip64-5 hip_compiler
      need libhiprtc-builtins5 hip_compiler
      ;;
    chroot)  # of releases of Debian: packaging/chroot.sh
      need mmdebstrap has mmdebstrap
      need iproute2 has ip
      ;;
    builds)  # other build systems: tests/abi/build_systems.sh
      need meson has meson
      need automake has automake
      need autoconf-archive test -f /usr/share/aclocal/ax_mpi.m4
      ;;
    *)
      echo "setup.sh: unknown part $part (build, mpi4py, test, ci, aarch64, machine, vendors, chroot, builds)" >&2
      exit 2
      ;;
  esac
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "installing: ${missing[*]}"
if ! has apt-get >/dev/null; then
  echo "setup.sh: no apt-get here; install what these Debian packages hold, then run again: ${missing[*]}" >&2
  exit 1
fi
root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! has sudo >/dev/null; then
    echo "setup.sh: neither root nor sudo; ask for: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  root=(sudo)
fi
apt() { "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"; }
case ${missing[*]} in *:arm64*) "${root[@]}" dpkg --add-architecture arm64 ;; esac
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt update && apt install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "setup.sh: apt-get failed (above)" >&2
  exit 1
fi
