#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# aarch64.sh: runs the contents of build/aarch64 (cmake/aarch64.cmake) by qemu-user: the unit tests, and programs
# whose ranks an mpiexec of this machine (build/release) starts. Weak orders of memory are the host's, not AArch64's.
set -uo pipefail
cd "$(dirname "$0")/../.."

status=0
# Left out: UCX and libfabric, which are this machine's; topo, which looks at the machine; coll_many, which measures
# memory that is qemu's too; transport_conformance, as qemu has no process_vm_readv.
ctest --test-dir build/aarch64 -R '^unit/' \
  -E 'transport_(ucx|carriers|conformance)|topo|coll_many' --timeout 300 --output-on-failure \
  --no-tests=error || status=1
for program in p2p_match p2p_complete p2p_sendrecv bsend partitioned coll_data coll_reduce barrier win_sync win_data win_ops \
  threads_comms; do
  if build/release/bin/mpiexec -q --oversubscribe --timeout 120 -n 3 qemu-aarch64 build/aarch64/tests/mpi/mpi_$program; then
    echo "pass mpi/$program"
  else
    echo "FAIL mpi/$program"
    status=1
  fi
done
exit $status
