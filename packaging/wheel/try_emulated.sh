#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# try_emulated.sh WHEEL MPIEXEC: unpacks a wheel for another processor, and runs the programs of its `weft selftest` there by
# qemu: MPIEXEC, this machine's, starts 1, 2 and 4 ranks.
set -euo pipefail
wheel=$(readlink -f "$1") mpiexec=$(readlink -f "$2")
arch=$(sed -E 's/.*manylinux_[0-9]+_[0-9]+_(.*)\.whl/\1/' <<<"$wheel")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m zipfile -e "$wheel" "$place"
data=$(echo "$place"/weft_mpi-*.data/data)
chmod +x "$data"/bin/* "$data"/libexec/weft/*
qemu-"$arch" "$data/bin/weft" --version
for ranks in 1 2 4; do
  "$mpiexec" -q --oversubscribe --abi none --timeout 300 -n $ranks qemu-"$arch" "$data/libexec/weft/weft-selftest" "$place" $ranks >"$place/said"
  if grep -v '^good ' "$place/said" || [ "$(wc -l <"$place/said")" -lt 9 ]; then cat "$place/said" && exit 1; fi
  echo "$ranks ranks: all of $(wc -l <"$place/said") parts work"
done
