// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Hints of communicators (MPI-5.0, 7.4.4).

#include <mutex>
#include <utility>

#include "mpi/comm/comm.hpp"
#include "mpi/env/info.hpp"
#include "mpi/env/memory.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {
namespace {

// The hints a communicator remembers; bit i of Comm::asserts is row i.
constexpr const char* hints[] = {"mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length",
                                 "mpi_assert_allow_overtaking", "mpi_assert_strict_persistent_collective_ordering"};

constexpr uint8_t no_any_tag = 1u << 0;
constexpr uint8_t allow_overtaking = 1u << 3;

}  // namespace

// An assertion about kinds that are not supported here is ignored, and not told again (MPI-5.0, 11.4.3).
void take_memory_assertion(Comm& comm, const Info* info) {
  if (info == nullptr) return;
  std::optional<std::string> asserted = info->find("mpi_assert_memory_alloc_kinds");
  if (!asserted || !kinds_are_among(*asserted, kinds_of(comm))) return;
  comm.host_memory = kinds_are_host(*asserted);
  std::lock_guard lock(details);
  comm.memory_asserted = std::move(asserted);
}

int read_hints(const char* function, const Comm& errors_on, const Info* info, uint8_t& asserts) {
  if (info == nullptr) return MPI_SUCCESS;
  uint8_t taken = asserts;
  for (unsigned i = 0; i < std::size(hints); ++i) {
    const std::optional<std::string> value = info->find(hints[i]);
    if (!value) continue;
    if (*value != "true" && *value != "false") {
      return fail(&errors_on, function, MPI_ERR_INFO_VALUE, "the value of %s is \"%s\": it must be true or false",
                  hints[i], value->c_str());
    }
    taken = static_cast<uint8_t>(*value == "true" ? taken | 1u << i : taken & ~(1u << i));
  }
  asserts = taken;
  return MPI_SUCCESS;
}

// A hint speaks of the process that gives it. Senders leave stamps out when no receiver needs them.
uint64_t hints_to_agree(uint8_t asserts) {
  return (asserts & (no_any_tag | allow_overtaking)) != 0 ? 1 : 0;
}

void set_agreed_hints(Comm& comm, uint64_t agreed) {
  comm.unordered = (agreed & 1) != 0;
}

int take_hints(const char* function, Comm& parent, Comm& comm, const Info* info) {
  uint8_t asserts = comm.asserts.load(std::memory_order_relaxed);
  const int error = read_hints(function, comm, info, asserts);
  comm.asserts.store(asserts, std::memory_order_relaxed);
  take_memory_assertion(comm, info);
  coll::Vote vote{0, error == MPI_SUCCESS ? hints_to_agree(asserts) : 0};
  const int32_t failed = coll::agree(founders_of(parent), vote);
  set_agreed_hints(comm, failed == core::no_error ? vote.bits : 0);
  if (error != MPI_SUCCESS || failed == core::no_error) return error;
  return fail(&comm, function, failed, "the ranks could not compare their hints");
}

int comm_set_info(MPI_Comm comm, MPI_Info info) {
  static const char* function = "MPI_Comm_set_info";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  const Info* given = info_of(info);
  if (given == nullptr) return bad_info(c, function, info);
  return take_hints(function, *c, *c, given);
}

int comm_get_info(MPI_Comm comm, MPI_Info* info_used) {
  static const char* function = "MPI_Comm_get_info";
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  if (no_address(info_used)) return null_argument(c, function, "info_used");
  Info* info = make_info();
  if (info == nullptr) return no_memory(c, function, "an info object");
  const uint8_t asserts = c->asserts.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < std::size(hints); ++i) info->set(hints[i], asserts >> i & 1 ? "true" : "false");
  info->set("mpi_memory_alloc_kinds", kinds_of(*c));
  {
    std::lock_guard lock(details);
    if (c->memory_asserted) info->set("mpi_assert_memory_alloc_kinds", *c->memory_asserted);
  }
  if (const char* gained = reordering_of(*c)) info->set("weft_reorder", gained);
  *info_used = handle_of<MPI_Info>(info);
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
