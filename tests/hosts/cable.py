#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""A bad cable between two interfaces, for kernels without netem: passes packets on, late, out of order, changed, or not at all.

    cable.py A B FAULTS PIDFILE

FAULTS is a file that is read again when it changes: 'delay=MS jitter=MS drop=PERCENT double=PERCENT reorder=PERCENT
flip=PERCENT', all 0 where not given. A packet that is out of order is not delayed; one that is doubled comes at two
times. The process id is in PIDFILE once packets pass. hosts.sh spoil starts it.

'flip' changes a bit of so many of the packets that have the 'part', and leaves checksums valid, as a broken adapter or switch
does: 'part=NAME' is a key of PARTS or 'any'; 'part=A+B' changes a bit of each, in one frame. 'way=out' are the
packets from A to B, 'way=in' the others; 'over=tcp' and 'over=udp' leave out the rest; 'seed=N' begins a series of choices."""
import heapq
import os
import random
import select
import socket
import sys
import time

SOL_PACKET, PACKET_VNET_HDR, ETH_P_ALL, OUTGOING = 263, 15, 3, 4
VNET_HEADER = 10
MOST = 128 << 10  # of one packet: a segment of TCP before it is cut, and the header of 10 bytes that says so
QUEUE = 20000  # packets; packets beyond that are lost


# What Weft sends, by its first bytes (src/transport/net/frame.hpp, tcp/reading.hpp, tcp/datagram.hpp, tcp/greeting.hpp,
# net/lifeline.hpp, relay/memory.hpp and ucx/reads.hpp), and where a part of it lies.
FRAME, PUSHED, SEALED = b"F\x03", b"P\x03", b"S\x03"
FRAMES = (FRAME, PUSHED, SEALED)
FIELDS = {"magic": (0, 2), "sequence": (2, 2), "origin": (4, 4), "proof": (8, 8), "stamp": (16, 8), "context": (24, 4),
          "source": (28, 4), "tag": (32, 4), "bytes": (36, 4), "staged": (40, 2), "kind": (42, 1), "lane": (43, 1), "check": (44, 4)}
HEADER = 48
PARTS = {**{name: (FRAMES, *place) for name, place in FIELDS.items()}, "header": (FRAMES, 0, HEADER), "data": (FRAMES, HEADER, 64),
         "pushed": ((PUSHED,), HEADER, 1024), "longer": (FRAMES, 37, 1), "no_rank": (FRAMES, 7, 1), "ask": ((b"WTA\x02",), 0, HEADER),
         "answer": ((b"WTR\x02",), 0, HEADER), "answered": ((b"WTR\x02",), HEADER, 1024), "invitation": ((b"WTI\x02",), 0, HEADER),
         "datagram": ((b"WTD\x02",), 0, 32), "greeting": ((b"WET\x04",), 0, 40), "lifeline": ((b"WEL\x02",), 0, 256),
         "prefix": (FRAMES, -8, 8), "ucx_ask": ((b"WUA\x01",), 0, 40), "ucx_answer": ((b"WUR\x01",), 0, 24)}
# The proof of a greeting, by its word.
GREETINGS = {"hello": 2, "welcome": 3, "confirmed": 5}
PARTS.update({name: ((b"WET\x04",), 32, 8) for name in GREETINGS})
# And of a word of a lifeline.
WORDS = {"line_hello": 2, "line_confirmed": 3, "line_goodbye": 4}
PARTS.update({name: ((b"WEL\x02",), 8, 8) for name in WORDS})


def port(name):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    s.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)  # else checksums and large segments would have to be made here
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 20)
    s.bind((name, 0))
    s.setblocking(False)
    return s


def read_faults(path):
    faults = {**dict.fromkeys(("delay", "jitter", "drop", "double", "reorder", "flip"), 0.0), "part": "any", "way": "", "over": ""}
    with open(path) as file:
        for word in file.read().split():
            name, value = word.split("=")
            faults[name] = float(value) if isinstance(faults.get(name), float) else value
    if "seed" in faults:
        random.seed(faults["seed"])
    return faults


def payload_of(packet):
    """The protocol of a packet of IPv4, where its payload lies, and its checksum; None for others."""
    ip = VNET_HEADER + 14
    if len(packet) < ip + 28 or packet[ip - 2:ip] != b"\x08\x00" or packet[ip + 9] not in (6, 17):
        return None
    above, end = ip + 4 * (packet[ip] & 15), min(len(packet), ip + int.from_bytes(packet[ip + 2:ip + 4], "big") or len(packet))
    if packet[ip + 9] == 17:
        return "udp", above + 8, end, above + 6
    return "tcp", above + 4 * (packet[above + 12] >> 4), end, above + 16


def is_header(frame):
    """Two bytes alone are found in any data: sizes and kind have to fit too, and the proof is no number of few bytes."""
    return (len(frame) == HEADER and int.from_bytes(frame[36:40], "little") <= 128 << 10 and frame[42] <= 30 and frame[43] < 64 and
            int.from_bytes(frame[40:42], "little") <= 32 << 10 and 0 not in frame[8:16])


def places_of(part, packet, begin, end):
    """The ranges of bytes that are this part."""
    if part == "any":
        return [(begin, end)] if begin < end else []
    found, (starts, at, length) = [], PARTS[part]
    for start in starts:
        place = packet.find(start, begin, end)
        while place >= 0:
            first, last = place + at, min(place + at + length, end)
            if start in FRAMES and not is_header(packet[place:min(place + HEADER, end)]):
                last = first
            if part in GREETINGS and packet[place + 14:place + 15] != bytes((GREETINGS[part],)):
                last = first
            if part in WORDS and packet[place + 24:place + 25] != bytes((WORDS[part],)):
                last = first
            if part == "data":
                last = min(last, first + int.from_bytes(packet[place + 36:place + 40], "little"))
            if begin <= first < last:
                found.append((first, last))
            place = packet.find(start, place + 1, end)
    return found


def flipped(packet, faults, way):
    """The packet, or with one bit changed. Where the checksum is made behind us (the first byte says so), nothing else is to do;
    otherwise it gets what the changed word adds."""
    if faults["way"] not in ("", way):
        return packet
    about = payload_of(packet)
    if about is None or faults["over"] not in ("", about[0]):
        return packet
    _, begin, end, checksum = about
    places = [places_of(part, packet, begin, end) for part in faults["part"].split("+")]
    if not all(places) or 100 * random.random() >= faults["flip"]:
        return packet
    which = random.random()  # of several frames the same one
    for there in places:
        packet = with_a_bit_changed(packet, random.randrange(*there[int(which * len(there))]), begin, checksum)
    return packet


def with_a_bit_changed(packet, at, begin, checksum):
    new = bytearray(packet)
    new[at] ^= 1 << random.randrange(8)
    if not packet[0] & 1 and new[checksum:checksum + 2] != b"\0\0":
        word = at - (at - begin) % 2  # a payload begins at an even place of what is summed
        before, after = (int.from_bytes(of[word:word + 2].ljust(2, b"\0")[:2], "big") for of in (packet, new))
        total = (~int.from_bytes(packet[checksum:checksum + 2], "big") & 0xffff) + (~before & 0xffff) + after
        total = (total & 0xffff) + (total >> 16)
        new[checksum:checksum + 2] = (~((total & 0xffff) + (total >> 16)) & 0xffff).to_bytes(2, "big")
    return bytes(new)


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
                if faults["flip"]:
                    packet = flipped(packet, faults, "out" if s is first else "in")
                for _ in range(1 + (100 * random.random() < faults["double"])):
                    due = time.monotonic()
                    if 100 * random.random() >= faults["reorder"]:
                        due += (faults["delay"] + faults["jitter"] * random.random()) / 1000
                    number += 1
                    heapq.heappush(late, (due, number, ports[s], packet))


if __name__ == "__main__":
    main()
