# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The energy of a molecule of hydrogen, by GPAW in plane waves."""
from ase import Atoms
from gpaw import GPAW, PW
from gpaw.mpi import world

molecule = Atoms("H2", positions=[(0, 0, 0), (0, 0, 0.74)], cell=(4, 4, 4), pbc=True)
molecule.calc = GPAW(mode=PW(200), txt=None, xc="LDA")
energy = molecule.get_potential_energy()
if world.rank == 0:
    print(f"{world.size} ranks: energy {energy}")
