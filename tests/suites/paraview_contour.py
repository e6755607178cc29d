# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""A surface of equal values in a field of ParaView's, each rank with its part of it."""
from mpi4py import MPI
from paraview.simple import Contour, Wavelet

wave = Wavelet(WholeExtent=[-20, 20, -20, 20, -20, 20])
surface = Contour(Input=wave, ContourBy=["POINTS", "RTData"], Isosurfaces=[157.0])
surface.UpdatePipeline()
cells = surface.GetDataInformation().GetNumberOfCells()
if MPI.COMM_WORLD.rank == 0:
    print(f"{MPI.COMM_WORLD.size} ranks: cells {cells}")
