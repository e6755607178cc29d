#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# try_chroot.sh SUITE wheel FILE | archive FILE | deb [--mirror URL] [--ccache FOLDER]: tries this way to install Weft in a
# fresh chroot of that release of Debian. The wheel is that of packaging/wheel/build.sh, the archive that of CMake's target
# archive, which is built with neither git nor network. A folder of ccache serves the compilers of the archive.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/packaging/chroot.sh"
usage() {
  echo "usage: try_chroot.sh SUITE wheel FILE | archive FILE | deb [--mirror URL] [--ccache FOLDER]" >&2
  exit 2
}
[ $# -ge 2 ] || usage
suite=$1
way=$2
shift 2
[ "$way" != deb ] || exec "$root/packaging/debian/try.sh" "$suite" "$@"
[ $# -ge 1 ] || usage
file=$(readlink -f "$1")
shift
mirror=
ccache=
while [ $# -ge 2 ]; do
  case $1 in
    --mirror) mirror=$2 ;;
    --ccache) ccache=$(readlink -f "$2") ;;
    *) usage ;;
  esac
  shift 2
done
[ $# -eq 0 ] || usage
needs_root
[ -n "$mirror" ] || mirror=$(mirror_of_machine)
work=$(mktemp -d)
trap 'remove "$work"' EXIT
chroot=$work/chroot
apt_get() { inside "$chroot" bash -c "apt-get -qq -y $* >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }"; }

make_chroot "$chroot" "$suite" "$mirror" --variant=minbase
apt_get update
case $way in
  wheel)
    apt_get install python3-venv g++ gfortran ca-certificates
    files_of "$chroot" >"$work/before"
    # pip trusts the mirrors that this machine trusts.
    inside "$chroot" --bind "$root" /mnt/source --bind "$(dirname "$file")" /mnt/wheel --bind /etc/ssl/certs /mnt/certs \
      env PIP_NO_CACHE_DIR=1 PIP_CERT=/mnt/certs/ca-certificates.crt /mnt/source/packaging/wheel/try.sh "/mnt/wheel/$(basename "$file")"
    ;;
  archive)
    apt_get install g++ gfortran cmake ninja-build pkg-config python3 libhwloc-dev libmetis-dev libfabric-dev libucx-dev \
      ${ccache:+ccache}
    files_of "$chroot" >"$work/before"
    mkdir "$work/source"
    tar -xf "$file" -C "$work/source" --strip-components=1
    options=(--offline --bind "$work/source" /mnt/source)
    [ -z "$ccache" ] || options+=(--bind "$ccache" /mnt/ccache)
    inside "$chroot" "${options[@]}" env CCACHE_DIR=/mnt/ccache CCACHE_BASEDIR=/mnt/source CCACHE_NOHASHDIR=1 CC=cc CXX=c++ bash -ec '
      if command -v git; then exit 1; fi
      cmake --preset release -S /mnt/source -DWEFT_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/usr/local
      cmake --build /mnt/source/build/release
      cmake --install /mnt/source/build/release' >"$work/log" 2>&1 || { tail -n 40 "$work/log" && exit 1; }
    echo "built with neither git nor network, and installed in /usr/local"
    inside "$chroot" --offline --bind "$work/source" /mnt/source bash -ec '
      ! grep -rIl "/mnt/source/build" /usr/local || { echo "installed files name the folder of the build" >&2; exit 1; }
      cd /
      /mnt/source/packaging/programs.sh mpicc mpicxx mpifort mpiexec mpirun
      weft selftest
      cmake --build /mnt/source/build/release --target uninstall | tail -n 1'
    ;;
  *) usage ;;
esac
files_of "$chroot" >"$work/after"
diff "$work/before" "$work/after"
echo "removed from $suite without a file left"
