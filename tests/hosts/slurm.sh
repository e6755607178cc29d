#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# slurm.sh up FOLDER [HOST...] | down FOLDER: a Slurm of one node on this machine, or of these hosts of hosts.sh, all of whose
# files are in FOLDER (needs root). Then 'SLURM_CONF=FOLDER/slurm.conf srun ...' runs jobs. Ends with 77 when something is missing.
set -uo pipefail
folder=${2:-}
hosts=("${@:3}")
[ -n "$folder" ] || { sed -n '4,5s/^# //p' "$0" >&2; exit 2; }

missing() { echo "slurm.sh: $*" >&2; exit 77; }
fail() { echo "slurm.sh: $*" >&2; for file in "$folder"/*.log; do tail -n 5 "$file" >&2; done; exit 1; }
# Below those that the system gives away, as it would to others before Slurm takes it.
free_port() {
  local port
  while port=$(shuf -i 20000-29999 -n 1); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
}

configure() {
  local host at=127.0.0.1
  host=$(hostname -s)
  [ ${#hosts[@]} -eq 0 ] || at=$host
  mkdir -p "$folder/state" "$folder/munge"
  chmod 755 "$folder" "$folder/munge"
  head -c 1024 /dev/urandom >"$folder/munge/key"
  chmod 400 "$folder/munge/key"
  cat >"$folder/slurm.conf" <<END
ClusterName=weft
SlurmctldHost=$host($at)
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$folder/munge/socket
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.%n.log
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=pmi2
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
  if [ ${#hosts[@]} -eq 0 ]; then
    echo "NodeName=node NodeHostname=$host NodeAddr=$at CPUs=16 State=UNKNOWN"
  else
    printf 'NodeName=%s CPUs=16 State=UNKNOWN\n' "${hosts[@]}"
  fi >>"$folder/slurm.conf"
  echo CgroupPlugin=cgroup/v1 >"$folder/cgroup.conf"
}

up() {
  local program host
  for program in munged slurmctld slurmd srun; do
    command -v $program >/dev/null || missing "no $program here (Debian: slurm-wlm, munge)"
  done
  [ "$(id -u)" -eq 0 ] || missing "needs root"
  configure
  export SLURM_CONF=$folder/slurm.conf
  munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/pid" \
    --log-file="$folder/munge.log" --seed-file="$folder/munge/seed" || fail "munged does not start"
  slurmctld -f "$SLURM_CONF" || fail "slurmctld does not start"
  if [ ${#hosts[@]} -eq 0 ]; then
    slurmd -N node -f "$SLURM_CONF" || fail "slurmd does not start"
  fi
  for host in "${hosts[@]}"; do
    "$(dirname "$0")/hosts.sh" on "$host" slurmd -N "$host" -f "$SLURM_CONF" || fail "slurmd does not start on $host"
  done
  for _ in $(seq 100); do
    [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ] && return  # all of them
    sleep 0.2
  done
  fail "the nodes do not become idle"
}

down() {
  local file pid
  for file in "$folder"/slurmd.*.pid "$folder/slurmctld.pid" "$folder/munge/pid"; do
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
