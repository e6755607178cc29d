#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# try.sh SUITE [--debs FOLDER] [--mirror URL]: installs the packages of build.sh in a fresh chroot of that release, runs
# programs in C, C++, Fortran and Python on four ranks, also beside Open MPI and MPICH, and purges them: no file may be left.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/packaging/chroot.sh"
suite=${1:?try.sh SUITE [--debs FOLDER] [--mirror URL]}
shift
debs=$root/build/debian/$suite-$(dpkg --print-architecture)
mirror=
while [ $# -gt 0 ]; do
  case $1 in
    --debs) debs=$2 ;;
    --mirror) mirror=$2 ;;
    *) echo "try.sh: unknown option $1: --debs FOLDER, --mirror URL" >&2 && exit 2 ;;
  esac
  shift 2
done
needs_root
[ -n "$mirror" ] || mirror=$(mirror_of_machine)
compgen -G "$debs/weft-libs_*.deb" >/dev/null || {
  echo "try.sh: no packages in $debs; packaging/debian/build.sh --suite $suite makes them" >&2
  exit 1
}
work=$(mktemp -d)
trap 'remove "$work"' EXIT
chroot=$work/chroot
say() { printf '\n== %s (%s)\n' "$1" "$suite"; }
# Downloads come before; the tests have no network.
apt_get() { inside "$chroot" --bind "$debs" /mnt/debs bash -c "cd /mnt/debs && apt-get -qq -y $* >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }"; }
try() { inside "$chroot" --offline --bind "$root" /mnt/source bash -ec "cd /mnt/source; for test in $*; do packaging/debian/tests/\$test; done"; }

make_chroot "$chroot" "$suite" "$mirror" --variant=minbase
apt_get update
files_of "$chroot" >"$work/before"

say "apt install ./weft*.deb"
apt_get install './weft*.deb'
inside "$chroot" dpkg-query -W -f '${Package} ${Version} ${Installed-Size} KiB\n' 'weft*'
try programs selftest

say "purge"
apt_get purge "'^weft-'"
apt_get autoremove --purge
files_of "$chroot" >"$work/after"
diff "$work/before" "$work/after"
echo "removed without a file left"

say "beside Open MPI and MPICH"
# With compilers: those packages keep what Weft's bring.
apt_get install g++ gfortran openmpi-bin libopenmpi-dev mpich libmpich-dev python3-mpi4py pkg-config cmake make man-db
files_of "$chroot" >"$work/before"
apt_get install './weft*.deb'
try alternatives programs python builds manual selftest

say "purge beside Open MPI and MPICH"
apt_get purge "'^weft-'"
apt_get autoremove --purge
files_of "$chroot" >"$work/after"
diff "$work/before" "$work/after"
echo "removed without a file left; mpicc is $(inside "$chroot" readlink -f /usr/bin/mpicc), mpiexec $(inside "$chroot" readlink -f /usr/bin/mpiexec)"
