#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""A bad cable between two interfaces, for kernels without netem: passes packets on, late, out of order, or not at all.

    cable.py A B FAULTS PIDFILE

FAULTS is a file that is read again when it changes: 'delay=MS jitter=MS drop=PERCENT reorder=PERCENT', all 0 where not
given. Who is out of order is not delayed. The process id is in PIDFILE once packets pass. hosts.sh spoil starts it."""
import heapq
import os
import random
import select
import socket
import sys
import time

SOL_PACKET, PACKET_VNET_HDR, ETH_P_ALL, OUTGOING = 263, 15, 3, 4
MOST = 128 << 10  # of one packet: a segment of TCP before it is cut, and the header of 10 bytes that says so
QUEUE = 20000  # packets; packets beyond that are lost


def port(name):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    s.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)  # else checksums and large segments would have to be made here
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 20)
    s.bind((name, 0))
    s.setblocking(False)
    return s


def read_faults(path):
    faults = dict.fromkeys(("delay", "jitter", "drop", "reorder"), 0.0)
    with open(path) as file:
        for word in file.read().split():
            name, value = word.split("=")
            faults[name] = float(value)
    return faults


def main():
    a, b, path, pid_file = sys.argv[1:]
    ports = {port(a): None, port(b): None}
    first, second = ports
    ports[first], ports[second] = second, first
    with open(pid_file, "w") as file:
        file.write(f"{os.getpid()}\n")
    late, number, stamp, faults = [], 0, None, {}
    while True:
        now = time.monotonic()
        while late and late[0][0] <= now:
            _, _, out, packet = heapq.heappop(late)
            try:
                out.send(packet)
            except OSError:
                pass  # the other side is down or full: lost
        status = os.stat(path)
        if stamp != (status.st_ino, status.st_mtime_ns):
            stamp, faults = (status.st_ino, status.st_mtime_ns), read_faults(path)
        wait = min(0.02, max(0.0, late[0][0] - now)) if late else 0.02
        for s in select.select(list(ports), [], [], wait)[0]:
            for _ in range(64):
                try:
                    packet, sender = s.recvfrom(MOST)
                except OSError:  # nothing more, or the interface went down
                    break
                if sender[2] == OUTGOING or 100 * random.random() < faults["drop"] or len(late) > QUEUE:
                    continue
                due = time.monotonic()
                if 100 * random.random() >= faults["reorder"]:
                    due += (faults["delay"] + faults["jitter"] * random.random()) / 1000
                number += 1
                heapq.heappush(late, (due, number, ports[s], packet))


if __name__ == "__main__":
    main()
