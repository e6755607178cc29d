// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The ABI that this folder is compiled for: how its handles and the standard's become each other, its status, and the
// few addresses and numbers that the tables of values do not have.

#ifdef WEFT_OPENMPI_ABI
#include "foreign/abi_openmpi.hpp"
#else
#include "foreign/abi_mpich.hpp"
#endif
