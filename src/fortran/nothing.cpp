// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Libraries of Open MPI's modules, which programs name beside the one that has their procedures.
