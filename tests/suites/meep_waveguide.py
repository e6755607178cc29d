# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""A wave in a dielectric, by MEEP: the field at a point and the energy in a box."""
import sys
import unittest.mock

# Matplotlib, which only draws, looks for its data where Debian installs them.
for part in ("", ".pyplot", ".animation", ".axes", ".patches", ".figure", ".ticker", ".colors"):
    sys.modules[f"matplotlib{part}"] = unittest.mock.MagicMock()
import meep  # noqa: E402

simulation = meep.Simulation(
    cell_size=meep.Vector3(16, 8, 0), resolution=10, boundary_layers=[meep.PML(1.0)],
    geometry=[meep.Block(meep.Vector3(meep.inf, 1, meep.inf), material=meep.Medium(epsilon=12))],
    sources=[meep.Source(meep.ContinuousSource(frequency=0.15), component=meep.Ez, center=meep.Vector3(-7, 0))])
simulation.run(until=100)
field = simulation.get_field_point(meep.Ez, meep.Vector3(2, 0)).real
energy = simulation.field_energy_in_box(center=meep.Vector3(), size=meep.Vector3(12, 6))
print(f"{meep.count_processors()} ranks: field {field} energy {energy}")
