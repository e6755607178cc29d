#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# containers.sh MPIEXEC HYDRA PROGRAM: ranks each in a container of its own, as unshare makes them: with /dev/shm and IPC of
# its own, with processes of its own, with both, under Weft's mpiexec and Hydra. Where they share no network either, Hydra's
# ranks end with a message and the remedy.
set -u
mpiexec=$1 hydra=$2 program=$3
own_shm='mount -t tmpfs none /dev/shm; exec "$0"'
unshare --ipc --mount --pid --fork --mount-proc true 2> /dev/null || exit 77

status=0
for flags in "--ipc --mount" "--pid --fork --mount-proc" "--ipc --mount --pid --fork --mount-proc"; do
  # shellcheck disable=SC2086
  timeout 20 "$mpiexec" -n 2 unshare $flags sh -c "$own_shm" "$program" || { echo "mpiexec, $flags: $?"; status=1; }
  [[ -x $hydra ]] || continue
  # shellcheck disable=SC2086
  said=$(timeout 20 "$hydra" -n 2 unshare $flags sh -c "$own_shm" "$program" 2>&1 < /dev/null)
  code=$?
  [[ $code == 0 ]] && continue
  echo "Hydra, $flags: $code: $said"
  status=1
done
if [[ -x $hydra ]]; then
  said=$(timeout 20 "$hydra" -n 2 unshare --pid --fork --mount-proc --net "$program" 2>&1 < /dev/null)
  [[ $? != 0 && $said == *"cannot open the segment of rank 0"*"Remedy: ranks must be"* ]] ||
    { echo "Hydra, networks of their own: $said"; status=1; }
fi
exit $status
