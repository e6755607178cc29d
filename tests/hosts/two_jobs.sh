#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# usage: two_jobs.sh TWO_JOBS.PY MPIEXEC PROGRAM CASE RANKS RANKS
# A case of tests/mpi/two_jobs.py whose clients run on another host (hosts.sh). Secrets lie in a folder that both see.
# Exit status 77: there are no namespaces here.
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d "$PWD/ports.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
export WEFT_PORTS=$folder/ports WEFT_SPIN=0 AFAR="$here/hosts.sh on h2"
python3=$(command -v python3)
"$here/hosts.sh" 2 "$python3" "$@"
status=$?
# A port's secret goes with the port, and a name with its job.
left=$(ls "$folder/ports" 2>/dev/null)
if [ "$status" -eq 0 ] && [ -n "$left" ] && [ -z "${MAY_LEAVE:-}" ]; then
  echo "FAILED: files were left in the folder of secrets: $left"
  exit 1
fi
exit "$status"
