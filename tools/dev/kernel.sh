#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# kernel.sh: puts a kernel for the virtual machines of tests/machine into build/kernel: Debian's for clouds, unpacked, not installed.
# Quiet when it is there. Without apt-get or a network the tests that need it are skipped, and say so.
set -euo pipefail
cd "$(dirname "$0")/../.."
at=build/kernel
compgen -G "$at/boot/vmlinuz*" >/dev/null && exit 0
fetch() {
  local package folder
  folder=$(mktemp -d "$PWD/build/kernel.XXXXXX")
  # shellcheck disable=SC2064
  trap "rm -rf '$folder'" RETURN
  package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: *//p' | head -n 1)
  [ -n "$package" ] && (cd "$folder" && apt-get -qq download "$package") && dpkg -x "$folder"/*.deb "$folder" &&
    mkdir -p $at && cp -r "$folder/boot" $at/
}
mkdir -p build
echo "unpacking: a kernel for virtual machines (linux-image-cloud-amd64) into $at"
fetch 2>/dev/null || echo "kernel.sh: no kernel; tests that need it will be skipped" >&2
