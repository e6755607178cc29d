#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# slurm.sh up FOLDER | down FOLDER: a Slurm of one node on this machine, all of whose files are in FOLDER (needs root). Then
# 'SLURM_CONF=FOLDER/slurm.conf srun ...' runs jobs. Ends with 77 when something is missing here.
set -uo pipefail
folder=${2:-}
[ -n "$folder" ] || { sed -n '4,5s/^# //p' "$0" >&2; exit 2; }

missing() { echo "slurm.sh: $*" >&2; exit 77; }
fail() { echo "slurm.sh: $*" >&2; for file in "$folder"/*.log; do tail -n 5 "$file" >&2; done; exit 1; }
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

configure() {
  local host
  host=$(hostname -s)
  mkdir -p "$folder/state" "$folder/spool" "$folder/munge"
  chmod 755 "$folder" "$folder/munge"
  head -c 1024 /dev/urandom >"$folder/munge/key"
  chmod 400 "$folder/munge/key"
  cat >"$folder/slurm.conf" <<END
ClusterName=weft
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$folder/munge/socket
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=pmi2
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=node NodeHostname=$host NodeAddr=127.0.0.1 CPUs=16 State=UNKNOWN
PartitionName=all Nodes=node Default=YES MaxTime=INFINITE State=UP
END
  echo CgroupPlugin=cgroup/v1 >"$folder/cgroup.conf"
}

up() {
  local program
  for program in munged slurmctld slurmd srun; do
    command -v $program >/dev/null || missing "no $program here (Debian: slurm-wlm, munge)"
  done
  [ "$(id -u)" -eq 0 ] || missing "needs root"
  configure
  export SLURM_CONF=$folder/slurm.conf
  munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
    --log-file="$folder/munge.log" --seed-file="$folder/munge/seed" || fail "munged does not start"
  slurmctld -f "$SLURM_CONF" || fail "slurmctld does not start"
  slurmd -N node -f "$SLURM_CONF" || fail "slurmd does not start"
  for _ in $(seq 100); do
    [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ] && return
    sleep 0.2
  done
  fail "the node does not become idle"
}

down() {
  local file pid
  for file in "$folder/slurmd.pid" "$folder/slurmctld.pid" "$folder/munge/pid"; do
    pid=$(cat "$file" 2>/dev/null) || continue
    kill "$pid" 2>/dev/null || continue
    for _ in $(seq 50); do
      kill -0 "$pid" 2>/dev/null || continue 2
      sleep 0.1
    done
    kill -9 "$pid"
  done
}

case $1 in
  up | down) "$1" ;;
  *) sed -n '4,5s/^# //p' "$0" >&2; exit 2 ;;
esac
