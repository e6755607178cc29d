# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""All ranks write data sets of one file by h5py, independently and collectively, and compare those of all ranks."""
import h5py
import numpy
from mpi4py import MPI

ROWS, COLUMNS = 64, 300
world = MPI.COMM_WORLD
right = wrong = 0


def expect(found, expected):
    """Counts elements."""
    global right, wrong
    same = int(numpy.count_nonzero(found == expected))
    right, wrong = right + same, wrong + expected.size - same


def block(rank, kind):
    return (numpy.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS) * 7 + rank * 1000003).astype(kind)


def write(file, name, kind, collective, **layout):
    data = file.create_dataset(name, (ROWS * world.size, COLUMNS), dtype=kind, **layout)
    rows = slice(ROWS * world.rank, ROWS * (world.rank + 1))
    if collective:
        with data.collective:
            data[rows] = block(world.rank, kind)
    else:
        data[rows] = block(world.rank, kind)


KINDS = {"i4": "<i4", "f8": "<f8", "big": ">i8"}
with h5py.File("h5py.h5", "w", driver="mpio", comm=world) as file:
    for name, kind in KINDS.items():
        write(file, name, kind, False)
        write(file, f"chunked_{name}", kind, True, chunks=(16, 50))
    write(file, "compressed", "<f8", True, chunks=(16, 50), compression="gzip")
    file.attrs["ranks"] = world.size
with h5py.File("h5py.h5", "r", driver="mpio", comm=world) as file:
    for name, data in file.items():
        for rank in range(world.size):
            expect(data[ROWS * rank:ROWS * (rank + 1)], block(rank, data.dtype))
    expect(numpy.array([file.attrs["ranks"]]), numpy.array([world.size]))
counts = world.reduce(numpy.array([right, wrong]))
if world.rank == 0:
    print(f"{world.size} ranks: {counts[0]} right, {counts[1]} wrong")
