// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory allocation kinds (MPI-5.0, 11.4.3): the info keys mpi_memory_alloc_kinds, which says what may be passed as
// buffers, and mpi_assert_memory_alloc_kinds, by which a program says what it will pass. A list of kinds is separated
// by commas; restrictors follow a kind behind colons: "system,mpi:alloc_mem:win_allocate".

#include <string>
#include <string_view>

#include "mpi/object/object.hpp"

namespace weft::mpi {

// The kinds there are, "mpi,system", and behind them the requested ones that say the same more narrowly.
[[nodiscard]] std::string supported_kinds(std::string_view requested);

// Whether each of the asserted kinds is, perhaps with less restrictors, among the supported ones.
[[nodiscard]] bool kinds_are_among(std::string_view asserted, std::string_view supported);

// What the launcher was asked for, "" when nothing; what a communicator supports.
[[nodiscard]] const char* requested_kinds();
[[nodiscard]] std::string kinds_of(const Comm& comm);

}  // namespace weft::mpi
