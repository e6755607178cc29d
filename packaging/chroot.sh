# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Chroots of a Debian release, for packaging/debian/build.sh and the trials; read by them. Needs root and mmdebstrap.

# The mirror of Debian that this machine's apt uses.
mirror_of_machine() {
  local found
  found=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Label: Debian' 2>/dev/null | head -n 1)
  if [ -z "$found" ]; then
    echo "${0##*/}: apt on this machine names no mirror of Debian; --mirror URL does" >&2
    return 1
  fi
  echo "$found"
}

needs_root() {
  if [ "$(id -u)" -ne 0 ]; then
    echo "${0##*/}: a chroot needs root; start it with sudo" >&2
    return 1
  fi
  if ! command -v mmdebstrap >/dev/null; then
    echo "${0##*/}: no mmdebstrap here, which makes the chroot; apt-get install mmdebstrap" >&2
    return 1
  fi
}

# remove FOLDER: the files of a chroot go, and nothing that is mounted there.
remove() { rm -rf --one-file-system "$1"; }

# make_chroot FOLDER SUITE MIRROR [mmdebstrap's options]: a fresh release in FOLDER, whose apt has its lists.
make_chroot() {
  local folder=$1 suite=$2 mirror=$3
  shift 3
  mkdir -p "$folder"
  # Its mounts end with it, also when it is killed.
  unshare --mount mmdebstrap --quiet --skip=cleanup/apt/lists "$@" "$suite" "$folder" "$mirror"
  # For apt in there, which asks as this machine's does.
  cp -L /etc/resolv.conf "$folder/etc/resolv.conf"
  apt-config dump --format '%F "%v";%n' Acquire::http Acquire::https >"$folder/etc/apt/apt.conf.d/90machine"
  printf '%s\n' 'APT::Install-Recommends "false";' 'Dpkg::Use-Pty "false";' >"$folder/etc/apt/apt.conf.d/91chroot"
}

# inside FOLDER [--offline] [--bind OUTER INNER]... command...: runs it in the chroot, with mounts that end with it. Offline
# there is the loopback interface alone.
inside() {
  local folder=$1 binds=() apart=()
  shift
  while [[ ${1:-} = --* ]]; do
    case $1 in
      --offline) apart=(--net) && shift ;;
      --bind) binds+=("$2" "$3") && shift 3 ;;
      *) echo "inside: unknown option $1" >&2 && return 2 ;;
    esac
  done
  unshare --mount --pid --fork --ipc "${apart[@]}" bash -c '
    set -e
    folder=$1
    binds=$2
    shift 2
    mount --make-rprivate /
    mount -t proc proc "$folder/proc"
    mount --rbind /sys "$folder/sys"
    mkdir -p "$folder/dev/shm" "$folder/dev/pts"
    mount -t tmpfs -o mode=1777 shm "$folder/dev/shm"
    mount -t devpts -o ptmxmode=666 pts "$folder/dev/pts"
    while [ "$binds" -gt 0 ]; do
      mkdir -p "$folder$2"
      mount --bind "$1" "$folder$2"
      shift 2
      binds=$((binds - 2))
    done
    [ ! -e /sys/class/net/lo ] || ip link set lo up
    exec chroot "$folder" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
      DEBIAN_FRONTEND=noninteractive "$@"' bash "$folder" ${#binds[@]} "${binds[@]}" "$@"
}

# All files of the chroot, with the targets of links, but those of apt, dpkg and caches, which change with every package.
files_of() {
  (cd "$1" && find . \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./root/.cache -o -path ./var/cache \
    -o -path ./var/lib/apt -o -path ./mnt -o -path ./var/lib/dpkg -o -path ./var/log \) -prune -o -printf '%p %l\n' | sort)
}
