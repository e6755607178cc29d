// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory that the program gets from MPI, and the kinds of memory that it may pass.

#include <optional>
#include <string>
#include <string_view>

#include "mpi/env/info.hpp"
#include "mpi/object/error.hpp"
#include "pages/grant.hpp"

namespace weft::mpi {

// Memory as a call asks for it: the settings, then the hints mpi_minimum_memory_alignment (MPI-5.0, 9.2), and of our
// own weft_mem_affinity, weft_mem_policy and weft_mem_page_size (docs/guide/memory.md). Raises the error of a value
// that is none.
[[nodiscard]] int read_wish(const char* function, ErrorsOn on, const Info* info, pages::Wish& wish);

// Tells in an info object what memory was obtained.
void tell_grant(const pages::Grant& grant, Info& info);

// The device whose memory the info key weft_mem_device asks for. Its value must be the name of the driver in use, which
// the second checks.
[[nodiscard]] std::optional<std::string> device_wished(const Info* info);
[[nodiscard]] int check_device(const char* function, ErrorsOn on, const std::string& name);

// ---- Kinds (MPI-5.0, 11.4.3): the info keys mpi_memory_alloc_kinds, which says what may be passed as buffers, and
// mpi_assert_memory_alloc_kinds, by which a program says what it will pass. A list of kinds is separated by commas;
// restrictors follow a kind behind colons: "system,mpi:alloc_mem:win_allocate".

// The kinds there are, "mpi,system", and behind them the requested ones that say the same more narrowly, or are those
// of the driver of devices in use: "cuda:device".
[[nodiscard]] std::string supported_kinds(std::string_view requested);

// Whether each of the asserted kinds is, perhaps with less restrictors, among the supported ones.
[[nodiscard]] bool kinds_are_among(std::string_view asserted, std::string_view supported);

// Whether no memory of these kinds is a device's that the processor cannot reach.
[[nodiscard]] bool kinds_are_host(std::string_view kinds);

// The request to the launcher, "" when none; the kinds that a communicator supports.
[[nodiscard]] const char* requested_kinds();
[[nodiscard]] std::string kinds_of(const Comm& comm);

}  // namespace weft::mpi
