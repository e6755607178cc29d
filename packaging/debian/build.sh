#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# build.sh: makes Debian packages from the source archive, in a clean chroot without network, and looks at them by lintian.
# Minutes with a network, for the chroot. docs/guide/install.md says what the packages are.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$root/packaging/chroot.sh"

usage() {
  cat <<END
Usage: build.sh [option]...
  --suite NAME       the release of Debian: bookworm (the default), trixie
  --host-arch ARCH   the packages' architecture, by cross building: arm64; this machine's
  --archive FILE     the source archive; made from build/release, by its target archive, when not given
  --out FOLDER       where the packages go; build/debian/SUITE-ARCH
  --mirror URL       a mirror of Debian; the one that this machine's apt uses
  --maintainer WHO   "Name <address>" of the packages' field Maintainer; DEBFULLNAME and DEBEMAIL, or an address
                     that nobody has
  --ccache FOLDER    a folder of ccache for the compilers in the chroot; none
  --keep FILE        an archive of the chroot with what the build needs: used when it is there, else written
END
}

suite=bookworm
build_arch=$(dpkg --print-architecture)
host_arch=$build_arch
archive=
out=
mirror=
maintainer="${DEBFULLNAME:-The Weft authors} <${DEBEMAIL:-weft@example.org}>"
ccache=
keep=
while [ $# -gt 0 ]; do
  case $1 in
    --suite) suite=$2 ;;
    --host-arch) host_arch=$2 ;;
    --archive) archive=$(readlink -f "$2") ;;
    --out) out=$2 ;;
    --mirror) mirror=$2 ;;
    --maintainer) maintainer=$2 ;;
    --ccache) ccache=$2 ;;
    --keep) keep=$2 ;;
    -h | --help) usage && exit 0 ;;
    *) echo "build.sh: unknown option $1 (build.sh --help)" >&2 && exit 2 ;;
  esac
  shift 2
done
needs_root
[ -n "$mirror" ] || mirror=$(mirror_of_machine)
out=${out:-$root/build/debian/$suite-$host_arch}
if [ -z "$archive" ]; then
  if [ ! -f "$root/build/release/CMakeCache.txt" ]; then
    echo "build.sh: no --archive is given, and build/release, which makes one, is not configured: cmake --preset release" >&2
    exit 1
  fi
  cmake --build "$root/build/release" --target archive
  archive=$(ls -t "$root"/build/release/weft-*.tar.gz | head -n 1)
fi

work=$(mktemp -d)
trap 'remove "$work"' EXIT
chroot=$work/chroot

# The source: the archive, and debian/ from the files beside this script.
mkdir -p "$work/source"
tar -xf "$archive" -C "$work/source"
tree=$(ls "$work/source")
source=$work/source/$tree
version=$(sed -n 's/^project(weft VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
case $suite in
  bookworm) release=12 ;;
  trixie) release=13 ;;
  *) echo "build.sh: suite $suite is not known here: bookworm, trixie" >&2 && exit 2 ;;
esac
mkdir "$source/debian"
cp -r "$here"/. "$source/debian/"
rm -f "$source"/debian/{build,try}.sh
sed -i "s|@MAINTAINER@|$maintainer|" "$source/debian/control"
# The archive's files have the time of its commit.
cat >"$source/debian/changelog" <<END
weft ($version-1+deb$release) $suite; urgency=medium

  * Packages of Weft $version for Debian $release ($suite). CHANGELOG.md says
    what changed.

 -- $maintainer  $(date -u -R -r "$source/CMakeLists.txt")
END
{
  cat <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: weft

Files: *
Copyright: $(sed -n 's/^Copyright (c) //p' "$source/LICENSE")
License: BSD-3-Clause

License: BSD-3-Clause
END
  sed -n '/^Redistribution/,$p' "$source/LICENSE" | sed -e 's/^$/./' -e 's/^/ /'
} >"$source/debian/copyright"

across=()   # mmdebstrap's options
profiles=() # dpkg-buildpackage's and apt's options
if [ "$host_arch" != "$build_arch" ]; then
  across=(--architectures="$build_arch,$host_arch" --include="crossbuild-essential-$host_arch")
  profiles=("-a$host_arch" -Pcross,nocheck)
fi

if [ -n "$keep" ] && [ -f "$keep" ]; then
  mkdir "$chroot"
  tar -xf "$keep" -C "$chroot"
else
  make_chroot "$chroot" "$suite" "$mirror" --variant=buildd "${across[@]}"
  inside "$chroot" --bind "$work/source" /source bash -ec "
    apt-get -qq update
    cd /source/$tree
    apt-get -qq -y ${profiles[*]} build-dep .
    apt-get -qq -y install lintian ${ccache:+ccache} >/dev/null"
  [ -z "$keep" ] || tar -cf "$keep" -C "$chroot" .
fi

options=(--offline --bind "$work/source" /source)
if [ -n "$ccache" ]; then
  mkdir -p "$ccache"
  options+=(--bind "$(readlink -f "$ccache")" /ccache)
fi
inside "$chroot" "${options[@]}" bash -ec "
  if [ -d /ccache ]; then export CCACHE_DIR=/ccache CCACHE_BASEDIR=/source; else export CCACHE_DISABLE=1; fi
  cd /source/$tree
  dpkg-buildpackage -b -us -uc ${profiles[*]}
  cd ..
  lintian --version
  lintian --allow-root --fail-on error,warning --info --display-info --pedantic --show-overrides ./*.changes"

# Symbols for debuggers lie apart, so that weft*.deb are the packages to install.
mkdir -p "$out/dbgsym"
rm -f "$out"/weft* "$out"/dbgsym/*
mv "$work"/source/*-dbgsym_* "$out/dbgsym/"
mv "$work"/source/weft*_* "$out/"
ls -l "$out" "$out/dbgsym"
