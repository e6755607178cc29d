#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Python on Weft: objects round a ring, buffers, reductions, a split communicator. Asserts what it prints."""
import array
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
right, left = (rank + 1) % size, (rank - 1) % size


def say(text):
    """Prints at rank 0 only, so that lines do not interleave."""
    if rank == 0:
        print(text, flush=True)


def ring_of_objects():
    """Python objects travel pickled; each rank adds its name and passes the list on."""
    request = world.isend({"from": rank, "path": [rank]}, dest=right, tag=7)
    note = world.recv(source=left, tag=7)
    request.wait()
    for _ in range(size - 1):
        note["path"].append(rank)
        note = world.sendrecv(note, dest=right, sendtag=8, source=left, recvtag=8)
    note["path"].append(rank)
    # After a whole round the note that this rank started is back: everyone has signed it, once.
    assert note["from"] == rank and sorted(note["path"][:size]) == list(range(size)), note
    say(f"objects: round the ring by ranks {note['path']}")


def buffers():
    """What offers the buffer interface travels without pickling; 8 bytes to 4 MiB take different paths."""
    for count in (1, 100, 1000, 100_000, 524_288):
        mine = array.array("d", (rank + i / count for i in range(count)))
        got = array.array("d", bytes(8 * count))
        world.Sendrecv(mine, dest=right, recvbuf=got, source=left)
        assert got == array.array("d", (left + i / count for i in range(count)))
        say(f"buffers: {8 * count:8d} bytes to the right, the left one's arrived")


def collectives():
    total = world.allreduce(rank + 1)
    assert total == size * (size + 1) // 2
    say(f"allreduce: 1 + ... + {size} = {total}")

    squares = world.gather(rank * rank, root=0)
    assert rank != 0 or squares == [r * r for r in range(size)]
    say(f"gather: squares {squares}")

    # pi by the midpoint rule, the intervals dealt out like cards.
    n = 200_000
    part = array.array("d", [sum(4 / (1 + ((i + 0.5) / n) ** 2) for i in range(rank, n, size)) / n])
    pi = array.array("d", [0])
    world.Allreduce(part, pi, op=MPI.SUM)
    assert abs(pi[0] - 3.141592653589793) < 1e-9
    say(f"Allreduce: pi = {pi[0]:.12f}")


def split():
    half = world.Split(color=rank % 2, key=-rank)
    members = half.allgather(rank)
    assert members == sorted((r for r in range(size) if r % 2 == rank % 2), reverse=True)
    half.Free()
    say(f"split: even ranks, last first: {members}")


def main():
    say(f"mpi4py {sys.modules['mpi4py'].__version__}, Python {sys.version.split()[0]}, {size} ranks")
    say(MPI.Get_library_version().rstrip("\0\n").splitlines()[0])
    ring_of_objects()
    buffers()
    collectives()
    split()
    world.Barrier()
    say("mpi4py: all right")


if __name__ == "__main__":
    main()
