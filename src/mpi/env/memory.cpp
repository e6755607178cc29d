// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Memory that ranks of the host reach directly (MPI-5.0, 9.2), and kinds of memory (11.4.3).
#include "mpi/env/memory.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/setting.hpp"
#include "core/memory/shared.hpp"
#include "device/api/device.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"
#include "pages/wish.hpp"

namespace weft::mpi {
namespace {

constinit base::TextSetting requested{
    {.name = "WEFT_MEMORY_ALLOC_KINDS",
     .help = "memory allocation kinds the program asks support for, as mpiexec -memory-alloc-kinds"}};
WEFT_SETTING(requested);

std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    out.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

using Words = std::vector<std::string_view>;

bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Whether this library knows a kind of memory with its restrictors. It knows the kinds of a device while the device's
// driver is in use.
bool is_known(std::string_view kind) {
  const Words words = parts(kind, ':');
  if (words.empty()) return false;
  if (words[0] == "system") return words.size() == 1;
  Words restrictors;
  if (words[0] == "mpi") {
    restrictors = {"alloc_mem", "win_allocate", "win_allocate_shared"};
  } else if ((words[0] == "cuda" && device::active == &device::cuda) ||
             (words[0] == "rocm" && device::active == &device::hip)) {
    restrictors = {"host", "device", "managed"};
  } else if (words[0] == "level_zero" && device::active == &device::ze) {
    restrictors = {"host", "device", "shared"};
  } else {
    return false;
  }
  return std::all_of(words.begin() + 1, words.end(), [&](std::string_view word) { return has(restrictors, word); });
}

// Whether memory of the kind is of the other one too, which has no more restrictors.
bool is_part_of(std::string_view kind, std::string_view other) {
  const Words words = parts(kind, ':'), wider = parts(other, ':');
  return words[0] == wider[0] && std::all_of(wider.begin(), wider.end(), [&](auto word) { return has(words, word); });
}

std::string parse_alignment(std::string_view text, pages::Wish& wish) {
  int64_t value = 0;
  const bool number = base::parse_number(text, base::Unit::none, value).empty();
  if (!number || value < 1 || !std::has_single_bit(static_cast<uint64_t>(value)))
    return base::quoted(text) + " is no power of two";
  wish.alignment = static_cast<size_t>(value);
  return {};
}

struct WishKey {
  const char* key;
  std::string (*parse)(std::string_view text, pages::Wish& wish);
};
constexpr WishKey wish_keys[] = {{"mpi_minimum_memory_alignment", parse_alignment},
                                 {"weft_mem_affinity", pages::parse_affinity},
                                 {"weft_mem_policy", pages::parse_policy},
                                 {"weft_mem_page_size", pages::parse_page}};

}  // namespace

std::string supported_kinds(std::string_view asked) {
  std::string kinds = "mpi,system";
  for (std::string_view kind : parts(asked, ',')) {
    const auto known = parts(kinds, ',');
    if (!is_known(kind) || std::find(known.begin(), known.end(), kind) != known.end()) continue;
    kinds.append(",").append(kind);
  }
  return kinds;
}

bool kinds_are_among(std::string_view asserted, std::string_view supported) {
  const auto known = parts(supported, ',');
  const auto kinds = parts(asserted, ',');
  return std::all_of(kinds.begin(), kinds.end(), [&](std::string_view kind) {
    return is_known(kind) && std::any_of(known.begin(), known.end(), [&](auto one) { return is_part_of(kind, one); });
  });
}

bool kinds_are_host(std::string_view kinds) {
  const auto all = parts(kinds, ',');
  return !all.empty() && std::all_of(all.begin(), all.end(), [](std::string_view kind) {
    const Words words = parts(kind, ':');
    const bool ours = !words.empty() && (words[0] == "mpi" || words[0] == "system");
    return ours || (!has(words, "device") && (has(words, "host") || has(words, "managed")));
  });
}

const char* requested_kinds() {
  return requested.value();
}

std::string kinds_of(const Comm& comm) {
  const bool in_session = comm.session != nullptr && comm.session->kind == base::Kind::session;
  if (in_session) return static_cast<const Session*>(comm.session)->memory_kinds;
  return supported_kinds(requested_kinds());
}

int read_wish(const char* function, ErrorsOn on, const Info* info, pages::Wish& wish) {
  std::string problem;
  wish = pages::wish_of_settings(problem);  // which MPI_Init has checked
  if (info == nullptr) return MPI_SUCCESS;
  for (const WishKey& row : wish_keys) {
    const std::optional<std::string> text = info->find(row.key);
    if (!text) continue;
    problem = row.parse(*text, wish);
    if (problem.empty()) continue;
    return fail(on, function, MPI_ERR_INFO_VALUE, "the value of %s: %s", row.key, problem.c_str());
  }
  return MPI_SUCCESS;
}

void tell_grant(const pages::Grant& grant, Info& info) {
  info.set("weft_mem_affinity", pages::shown_affinity(grant.affinity, grant.nodes.first()));
  info.set("weft_mem_policy", pages::shown_policy(grant.policy));
  info.set("weft_mem_page_size", pages::shown_page(grant.page));
  info.set("weft_mem_pages", grant.transparent ? "transparent" : grant.page != pages::base_page ? "explicit" : "base");
  info.set("weft_mem_nodes", grant.nodes.empty() ? "first touch" : base::shown_cpu_list(grant.nodes));
  info.set("weft_mem_alignment", std::to_string(grant.aligned));
  if (!grant.fallback.empty()) info.set("weft_mem_fallback", grant.fallback.substr(0, MPI_MAX_INFO_VAL - 1));
}

// For programs that have no other way to the driver, such as tests.
std::optional<std::string> device_wished(const Info* info) {
  return info != nullptr ? info->find("weft_mem_device") : std::nullopt;
}

int check_device(const char* function, ErrorsOn on, const std::string& name) {
  if (device::on() && name == device::active->name) return MPI_SUCCESS;
  return fail(on, function, MPI_ERR_INFO_VALUE,
              "the value of weft_mem_device: %s is not the driver in use (%s): set WEFT_DEVICES", name.c_str(),
              device::on() ? device::active->name : "none");
}

namespace {

int alloc_on_device(MPI_Aint size, const std::string& name, void** memory) {
  static const char* function = "MPI_Alloc_mem";
  if (int error = check_device(function, nullptr, name)) return error;
  *memory = device::active->allocate(static_cast<size_t>(size));
  if (*memory != nullptr) return MPI_SUCCESS;
  return fail(nullptr, function, MPI_ERR_NO_MEM, "no %lld bytes of memory of the device are left, or none is current",
              static_cast<long long>(size));
}

}  // namespace

int alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
  static const char* function = "MPI_Alloc_mem";
  if (!is_running()) return not_running(function);
  if (size < 0) return negative(nullptr, function, MPI_ERR_SIZE, "size", size);
  if (info != MPI_INFO_NULL && info_of(info) == nullptr) return bad_info(nullptr, function, info);
  if (no_address(baseptr)) return null_argument(nullptr, function, "baseptr");
  if (const std::optional<std::string> name = device_wished(info_of(info)))
    return alloc_on_device(size, *name, static_cast<void**>(baseptr));
  pages::Wish wish;
  if (int error = read_wish(function, nullptr, info_of(info), wish)) return error;
  const pages::Grant grant = core::grant_shared(static_cast<size_t>(size), wish);
  if (grant.memory == nullptr) {
    return fail(nullptr, function, MPI_ERR_NO_MEM, "no %lld bytes of memory: %s", static_cast<long long>(size),
                grant.problem.c_str());
  }
  *static_cast<void**>(baseptr) = grant.memory;
  return MPI_SUCCESS;
}

int free_mem(void* base) {
  static const char* function = "MPI_Free_mem";
  if (!is_running()) return not_running(function);
  if (base == nullptr || core::release_shared(base)) return MPI_SUCCESS;
  if (device::on() && device::active->release(base)) return MPI_SUCCESS;
  return fail(nullptr, function, MPI_ERR_BASE, "%p was not given by MPI_Alloc_mem, or was freed already", base);
}

}  // namespace weft::mpi
