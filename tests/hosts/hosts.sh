#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# hosts.sh N command...      runs the command on the first of N hosts, h1 to hN, that exist while it runs
# hosts.sh on HOST command...            on one of them, from within
# hosts.sh rsh [ssh options] HOST command...   the same in place of ssh, for launchers
# hosts.sh cut HOST        pulls the host's cable, from within
# hosts.sh spoil HOST [delay=MS] [jitter=MS] [drop=PERCENT] [reorder=PERCENT] [flip=PERCENT ...]   makes it a bad one (cable.py)
# hosts.sh heal HOST       undoes both
#
# Hosts on one machine: each has its own network (10.77.0.K on a common switch), host name, boot id, IPC, /dev/shm and /tmp.
# All of it lies in namespaces of this one process, made as root or as a user where user namespaces are allowed, and
# ends with it. HOSTS_PIN=1 pins host K to processor K-1. Exit status 77: this machine allows no such namespaces.
set -u
self=$(readlink -f "$0")
state=/run/weft-hosts  # on a /run of our own

fail() { echo "hosts.sh: $*" >&2; exit 9; }

# Everything below runs as root in fresh namespaces.
world() {
  local count=$1 k
  shift
  mount --make-rprivate / && mount -t tmpfs tmpfs /run && mkdir -p $state /run/netns || fail "cannot mount a /run of our own"
  echo $$ >$state/pid.0
  ip link set lo up
  ip link add br0 type bridge && ip link set br0 up || fail "cannot make a switch (ip link add br0 type bridge)"
  { echo "127.0.0.1 localhost"; for k in $(seq "$count"); do echo "10.77.0.$k h$k"; done; } >$state/hosts
  mount --bind $state/hosts /etc/hosts || fail "cannot give the hosts names"
  for k in $(seq "$count"); do
    ip netns add "h$k" && ip link add "p$k" type veth peer name eth0 netns "h$k" &&
      ip link set "p$k" master br0 up && ip -n "h$k" link set lo up && ip -n "h$k" link set eth0 up &&
      ip -n "h$k" addr add "10.77.0.$k/24" dev eth0 || fail "cannot make host h$k"
    cat /proc/sys/kernel/random/uuid >$state/boot-id.$k
    setsid nsenter --net=/run/netns/h$k unshare -u -i -m bash -c "
      hostname h$k && mount -t tmpfs -o size=4g shm /dev/shm && mount -t tmpfs -o size=2g,mode=1777 tmp /tmp &&
      mount --bind $state/boot-id.$k /proc/sys/kernel/random/boot_id && echo \$\$ >$state/pid.$k && exec sleep infinity
    " </dev/null >/dev/null 2>$state/error.$k &
  done
  for k in $(seq "$count"); do
    for _ in $(seq 250); do [ -s $state/pid.$k ] && break; sleep .02; done
    [ -s $state/pid.$k ] || fail "host h$k did not come up: $(cat $state/error.$k)"
  done
  "$self" on h1 "$@"
}

on() {
  local host=$1 k=${1#h} pin=()
  shift
  [ -s "$state/pid.$k" ] || fail "there is no host $host here"
  [ -z "${HOSTS_PIN:-}" ] || pin=(taskset -c $(((k - 1) % $(nproc --all))))
  exec nsenter -t "$(cat $state/pid.$k)" -n -u -i -m --wd="$PWD" -- "${pin[@]}" "$@"
}

rsh() {
  while :; do
    case $1 in
      -l | -p | -o | -i | -F) shift 2 ;;
      -*) shift ;;
      *) break ;;
    esac
  done
  local host=${1%%.*}
  case $1 in 10.77.0.*) host=h${1##*.} ;; esac
  shift
  on "$host" env -i HOME="$HOME" PATH="$PATH" LANG=C sh -c "$*"
}

# Where the switch and the hosts' ports are.
at_the_switch() { nsenter -t "$(cat $state/pid.0)" -n -- "$@"; }

port_of() {
  [ -s "$state/pid.${1#h}" ] || fail "there is no host $1 here"
  echo "p${1#h}"
}

cut() {
  local port
  port=$(port_of "$1") && at_the_switch ip link set "$port" down
}

# A program between the port and the switch, from the first time on; a file says what it does to packets.
spoil() {
  local port k=${1#h} host=$1
  port=$(port_of "$1") || exit
  shift
  echo "$*" >$state/cable.$k.new && mv $state/cable.$k.new $state/cable.$k
  [ ! -s $state/cable-pid.$k ] || return 0
  at_the_switch ip link add "q$k" type veth peer name "r$k" && at_the_switch ip link set "q$k" up &&
    at_the_switch ip link set "r$k" up || fail "cannot make a cable for $host"
  nsenter -t "$(cat $state/pid.0)" -n -- setsid python3 "$(dirname "$self")/cable.py" "$port" "r$k" $state/cable.$k \
    $state/cable-pid.$k </dev/null >/dev/null 2>$state/cable-error.$k &
  for _ in $(seq 250); do [ -s $state/cable-pid.$k ] && break; sleep .02; done
  [ -s $state/cable-pid.$k ] || fail "the cable of $host does not work: $(cat $state/cable-error.$k)"
  at_the_switch ip link set "$port" nomaster && at_the_switch ip link set "q$k" master br0
}

heal() {
  local port
  port=$(port_of "$1") && at_the_switch ip link set "$port" up || exit
  [ ! -e "$state/cable.${1#h}" ] || : >"$state/cable.${1#h}"
}

case ${1:-} in
  on | rsh | world | cut | spoil | heal) "$@" ;;
  [1-9]*)
    flags=(--mount --net --ipc --uts --pid --fork --kill-child --mount-proc)
    [ "$(id -u)" -eq 0 ] || flags+=(--map-root-user)
    why=$(unshare "${flags[@]}" true 2>&1) || {
      echo "hosts.sh: skipped: no namespaces here: $why" >&2
      exit 77
    }
    exec unshare "${flags[@]}" "$self" world "$@"
    ;;
  *) sed -n '4,9s/^# //p' "$0" >&2; exit 2 ;;
esac
