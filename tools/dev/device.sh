#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# The check on a machine with a device (docs/measurements/devices.md). Such a machine is often had for minutes: all is built before.
#
#   device.sh --pack KIT [--build DIR] [--mpi4py VENV] [--ucx DIR] [--osu DIR]
#                          gathers in KIT all that the run needs, also this script
#   KIT/device.sh [--seconds N] [--only REGEX] OUT                   runs it there, about three minutes
#
# --mpi4py: an environment of tools/dev/mpi4py.sh, made by a Python of the version of that machine. --ucx: UCX built with
# CUDA: the folder libucx of an unpacked package libucx-cu13. --osu: the OSU benchmarks built with CUDA and this library's
# mpi.h, as a folder with bin and, for CUDA's runtime, lib. Every step has a time limit of its own and within N seconds;
# its output is in OUT/results.txt as soon as it has ended, and tables of all are printed last (OUT/tables.txt).
# Environment of the run: DEVICE_PYTHON (python3), DEVICE_TYPES (types of CuPy's arrays, "bidF").
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd)

copy() {  # copy FOLDER FILE...: without symbols for debuggers
  local folder=$1
  mkdir -p "$folder"
  shift
  for file in "$@"; do
    [ -e "$file" ] || { echo "device.sh: there is no $file" >&2; exit 1; }
    cp -L "$file" "$folder/"
    case $(head -c 4 "$file" | tr -d '\0') in
      *ELF*) strip "$folder/$(basename "$file")" ;;
    esac
  done
}

pack() {
  local kit=$1 build=build/release venv='' ucx='' osu=''
  shift
  while [ $# -gt 1 ]; do
    case $1 in
      --build) build=$2 ;;
      --mpi4py) venv=$2 ;;
      --ucx) ucx=$2 ;;
      --osu) osu=$2 ;;
      *) break ;;
    esac
    shift 2
  done
  [ $# -eq 0 ] || { echo "device.sh: $1?" >&2; exit 2; }
  local root
  root=$(cd "$here/../.." && pwd)
  mkdir -p "$kit"
  copy "$kit" "$here/device.sh" "$here/device_tables.py"
  copy "$kit/bin" "$build"/bin/{mpiexec,weft}
  copy "$kit/lib" "$build"/src/{libweft.so,libmpi_abi.so.1}
  copy "$kit/libexec/weft" "$build/libexec/weft/weft-measure-devices"
  copy "$kit/bench" "$build"/bench/{device,latency,bandwidth,bibandwidth,allreduce,collectives,staged,faces,beside}
  copy "$kit/bench" "$build"/bench/{put_latency,get_latency,put_rate}
  copy "$kit/apps" "$build/apps/heat/heat" "$build/apps/mhd/mhd"
  copy "$kit/tests/device" "$build"/tests/device/{device_transfers,device_freed,device_enqueue,device_victim,device_unused}
  copy "$kit/tests/device" "$build/tests/device/libdevice_context.so"
  copy "$kit/tests/device" "$root/tests/device/kill.py"
  copy "$kit/tests/mpi" "$build/tests/mpi/mpi_device" "$root/tests/mpi/kill.py"
  if [ -n "$venv" ]; then
    rm -rf "$kit/mpi4py"
    copy "$kit/mpi4py/site/mpi4py" "$venv"/lib/python3*/site-packages/mpi4py/{*.py,*.so}
    cp -r "$venv"/lib/python3*/site-packages/mpi4py/util "$kit/mpi4py/site/mpi4py/"
    cp -r "$venv/src/mpi4py/test" "$kit/mpi4py/test"
    find "$kit/mpi4py" -name __pycache__ -prune -exec rm -r {} +
  fi
  if [ -n "$ucx" ]; then
    copy "$kit/ucx/bin" "$ucx/bin/ucx_perftest"
    copy "$kit/ucx/lib" "$ucx"/../libucx_cu*.libs/*
    copy "$kit/ucx/lib" "$ucx"/lib/libuc{p,t,s,m}.so.0
    copy "$kit/ucx/lib/ucx" "$ucx"/lib/ucx/lib{uct,ucm,ucx_perftest}_cuda.so.0 "$ucx/lib/ucx/libuct_cma.so.0"
  fi
  if [ -n "$osu" ]; then
    copy "$kit/osu/bin" "$osu"/bin/*
    copy "$kit/osu/lib" "$osu"/lib/*
  fi
  # Libraries that a bare machine may lack; never those of the compiler, which are newer there.
  local needed
  needed=$(LD_LIBRARY_PATH="$kit/lib:$kit/ucx/lib:$ucx/lib" ldd "$kit"/bin/* "$kit"/ucx/bin/* 2>/dev/null |
    sed -n 's/.*=> \(\/[^ ]*\/lib\(hwloc\|udev\|numa\|gomp\|metis\)[-.][^ ]*\) .*/\1/p' | sort -u)
  # shellcheck disable=SC2086
  [ -z "$needed" ] || copy "$kit/lib" $needed
  du -sh "$kit"
}

if [ "${1:-}" = --pack ]; then
  [ $# -ge 2 ] || { echo "usage: device.sh --pack KIT [--build DIR] [--mpi4py VENV] [--ucx DIR] [--osu DIR]" >&2; exit 2; }
  shift
  pack "$@"
  exit
fi

seconds=200 only=.
while [ $# -gt 1 ]; do
  case $1 in
    --seconds) seconds=$2 ;;
    --only) only=$2 ;;
    *) break ;;
  esac
  shift 2
done
[ $# -eq 1 ] || { echo "usage: KIT/device.sh [--seconds N] [--only REGEX] OUT" >&2; exit 2; }
[ -x "$here/bin/mpiexec" ] || { echo "device.sh: $here is no kit (device.sh --pack KIT)" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
python=${DEVICE_PYTHON:-python3}
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export PYTHONDONTWRITEBYTECODE=1
steps=$(mktemp -d)
trap 'rm -rf "$steps"' EXIT
end=$((SECONDS + seconds))
: >"$out/results.txt"

# step NAME LIMIT COMMAND...: its output becomes a part of the results, with its status and its time.
step() {
  local name=$1 limit=$2 left=$((end - SECONDS - 3)) began status
  shift 2
  [[ $name =~ $only ]] || return 0
  began=${EPOCHREALTIME/[.,]/}
  if [ "$left" -lt 2 ]; then
    echo "no time was left" >"$steps/$name"
    status=skipped
  else
    [ "$left" -ge "$limit" ] || limit=$left
    timeout -k 2 "$limit" "$@" >"$steps/$name" 2>&1 </dev/null
    status=$?
  fi
  {
    local took=$(((${EPOCHREALTIME/[.,]/} - began) / 100000))
    printf '=== %s status %s seconds %d.%d\n' "$name" "$status" $((took / 10)) $((took % 10))
    tail -c 60000 "$steps/$name"
    echo
  } >"$steps/$name.part"
  flock "$steps" -c "cat '$steps/$name.part' >>'$out/results.txt'"
}

run() {  # run NAME LIMIT RANKS PROGRAM ARGUMENTS...
  local name=$1 limit=$2 ranks=$3
  shift 3
  step "$name" "$limit" "$here/bin/mpiexec" -n "$ranks" "$@"
}

facts() {
  nvidia-smi --format=csv,noheader \
    --query-gpu=name,driver_version,memory.used,memory.total,compute_mode,clocks.sm,pcie.link.gen.max,pcie.link.width.max
  uname -r
  nproc
  ls -l /dev/nvidia* /dev/gdrdrv 2>&1 | head -20
  "$here/bin/weft" info devices
}

ucx() {  # ucx TEST SIZE ITERATIONS PORT
  export UCX_WARN_UNUSED_ENV_VARS=n LD_LIBRARY_PATH="$here/ucx/lib:$LD_LIBRARY_PATH"
  "$here/ucx/bin/ucx_perftest" -p "$4" >/dev/null 2>&1 &
  local server=$! try
  for try in 1 2 3 4 5; do
    "$here/ucx/bin/ucx_perftest" 127.0.0.1 -p "$4" -t "$1" -m cuda,cuda -s "$2" -n "$3" -w 20 -f && break
    sleep 0.2
  done
  kill $server 2>/dev/null
  wait $server 2>/dev/null
}

# Modules of mpi4py's suite, with arrays of CuPy (or DEVICE_ARRAYS) alone.
suite() {  # suite NAME RANKS MODULE...
  local name=$1 ranks=$2
  shift 2
  run "$name" 60 "$ranks" env PYTHONPATH="$here/mpi4py/site" WEFT_DEVICES="${DEVICE_SETTING:-cuda}" \
    "$python" -X faulthandler -c "
import sys, mpi4py.MPI, runpy
sys.path[0] = '$here/mpi4py/test'
sys.modules['numba'] = None  # its import takes seconds
import arrayimpl
keep = [a for a in arrayimpl.ArrayBackends if '${DEVICE_ARRAYS:-cupy}' in a.backend]
assert keep, 'no arrays of ${DEVICE_ARRAYS:-cupy}: cannot be imported'
for a in keep: a.TypeMap = {c: t for c, t in a.TypeMap.items() if c in '${DEVICE_TYPES:-bidF}'}
arrayimpl.ArrayBackends[:] = keep
sys.argv = ['main.py', '--no-builddir', '--cupy', '--no-numba', '-v', *sys.argv[1:]]
runpy.run_path('$here/mpi4py/test/main.py', run_name='__main__')" "$@"
}
export -f facts ucx
export here

step facts 10 bash -c facts
step device 30 "$here/bench/device" --quick
for where in cuda host cuda,host cuda:host cuda:managed; do
  run "latency.$where" 12 2 "$here/bench/latency" --quick -d "$where" 8 64 1024 16384 65536 262144 1048576 4194304
done
for where in cuda host cuda,host host,cuda; do
  run "bandwidth.$where" 12 2 "$here/bench/bandwidth" --quick -d "$where" 8 1024 16384 65536 262144 1048576 4194304 16777216
done
# By messages through pinned memory alone.
for where in cuda cuda,host; do
  run "streamed.$where" 12 2 env WEFT_DEVICE_MAP_FROM=1G "$here/bench/bandwidth" --quick -d "$where" 65536 262144 1048576 4194304 \
    16777216
done
run staged 15 2 "$here/bench/staged" --quick
run bibandwidth.cuda 10 2 "$here/bench/bibandwidth" --quick -d cuda 65536 1048576 4194304
run faces.cuda 12 2 "$here/bench/faces" --quick -d cuda
run faces.host 12 2 "$here/bench/faces" --quick -d host
run faces.cuda.4 12 4 "$here/bench/faces" --quick -d cuda
run beside 12 2 "$here/bench/beside" --quick
for where in cuda host; do
  run "allreduce.$where" 10 2 "$here/bench/allreduce" --quick -d "$where" 8 65536 1048576 16777216
  run "allreduce.$where.4" 10 4 "$here/bench/allreduce" --quick -d "$where" 8 65536 1048576 16777216
  run "collectives.$where" 20 2 "$here/bench/collectives" --quick -d "$where" 8 65536 1048576
done
# Reductions by kernels: with the driver named.
for ranks in 2 4; do
  run "allreduce.kernels.$ranks" 12 $ranks env WEFT_DEVICES=cuda "$here/bench/allreduce" --quick -d cuda 8 32768 65536 262144 \
    1048576 16777216
done
step tune 40 env WEFT_DEVICES=cuda "$here/bin/weft" tune --devices --out "$out/devices.json"
run heat.cuda 15 2 env WEFT_DEVICES=cuda "$here/apps/heat" -n 1024 -s 400 -q -d cuda -o "$out/heat.png"
run heat.host 15 2 "$here/apps/heat" -n 1024 -s 400 -q
# Both print the same state.
run mhd.cuda 25 2 env WEFT_DEVICES=cuda "$here/apps/mhd" -n 512 -b 256 -s 100 -t 1 -q -d cuda -f "$out/mhd.png"
run mhd.host 25 2 "$here/apps/mhd" -n 512 -b 256 -s 100 -t 1 -q
run mhd.cuda.3d 25 2 env WEFT_DEVICES=cuda "$here/apps/mhd" -p blast3 -n 64 -b 32 -s 20 -t 1 -q -d cuda
run mhd.host.3d 25 2 "$here/apps/mhd" -p blast3 -n 64 -b 32 -s 20 -t 1 -q
for name in put_latency get_latency put_rate; do
  run "$name.cuda" 8 2 "$here/bench/$name" --quick -d cuda
done
run statistics 8 2 env WEFT_STATS=1 "$here/bench/latency" --quick -d cuda 8 4194304
if [ -d "$here/ucx" ]; then
  port=14330
  for row in "tag_lat 8 3000" "tag_lat 65536 2000" "tag_lat 4194304 200" \
    "tag_bw 65536 5000" "tag_bw 1048576 2000" "tag_bw 4194304 500"; do
    # shellcheck disable=SC2086
    set -- $row
    step "ucx.$1.$2" 8 bash -c "ucx $1 $2 $3 $((port++))"
  done
fi

if [ -d "$here/osu" ]; then
  for row in "latency -c -m 8:4194304 -i 200 -x 20 D D" "latency -c -m 8:4194304 -i 200 -x 20 D H" \
    "bw -c -m 8:4194304 -i 50 -x 5 D D" "bibw -c -m 8:4194304 -i 50 -x 5 D D" "put_latency -m 8:1048576 -i 100 -x 10 D D" \
    "allreduce -c -m 8:1048576 -i 100 -x 10" "alltoall -c -m 8:1048576 -i 100 -x 10" \
    "bcast -c -m 8:1048576 -i 100 -x 10" "reduce_scatter -c -m 8:1048576 -i 100 -x 10"; do
    # shellcheck disable=SC2086
    set -- $row
    program=$1 name=osu.$1
    case $row in
      *" D D") name+=.DD ;;
      *" D H") name+=.DH ;;
    esac
    shift
    run "$name" 9 2 env LD_LIBRARY_PATH="$here/osu/lib:$LD_LIBRARY_PATH" "$here/osu/bin/osu_$program" -d cuda "$@"
  done
fi

# Operations on streams, each number of ranks by itself: a stream that never goes on must not hold up others.
run enqueue.times 25 2 "$here/tests/device/device_enqueue" cuda time
for ranks in 1 2 3; do
  run "enqueue.$ranks" 25 $ranks "$here/tests/device/device_enqueue" cuda
done

# These must be right rather than fast, and run beside each other.
context="$here/tests/device/libdevice_context.so"
for ranks in 2 4; do
  run "calls.$ranks" 60 $ranks env LD_PRELOAD="$context" WEFT_DEVICES=cuda "$here/tests/mpi/mpi_device" cuda &
  run "transfers.$ranks" 40 $ranks "$here/tests/device/device_transfers" host,cuda,cuda:host,cuda:managed 40 $ranks &
  run "freed.$ranks" 40 $ranks "$here/tests/device/device_freed" cuda &
done
if [ -d "$here/mpi4py" ]; then
  suite mpi4py.messages 2 test_msgspec test_p2p_buf test_p2p_buf_matched test_pack &
  suite mpi4py.collectives 2 test_cco_buf test_cco_vec test_cco_nb_buf &
  suite mpi4py.one_sided 2 test_rma test_rma_nb test_p2p_buf_part test_io &
fi
wait
step kill 60 "$python" "$here/tests/device/kill.py" "$here/bin/mpiexec" "$here"/tests/device/device_{victim,unused} 8 1
step after 10 nvidia-smi --query-gpu=memory.used,memory.total --format=csv,noheader
"$python" "$here/device_tables.py" "$out/results.txt" | tee "$out/tables.txt"
