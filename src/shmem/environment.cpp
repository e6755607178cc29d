// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/environment.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "core/memory/shared.hpp"
#include "pages/wish.hpp"
#include "shmem/state.hpp"

namespace weft::shmem {
namespace {

constinit base::TextSetting symmetric_size{{.name = "WEFT_SYMMETRIC_SIZE",
                                            .help = "size of a PE's symmetric heap (OpenSHMEM), 64M if it is not set",
                                            .alias = "SHMEM_SYMMETRIC_SIZE",
                                            .subject = base::Subject::memory,
                                            .alike = true}};
WEFT_SETTING(symmetric_size);

constexpr uint64_t default_bytes = uint64_t{64} << 20;
constexpr uint64_t page = 4096;

// A variable under its name of now, or under its older one.
const char* variable(const char* name) {
  if (const char* value = getenv((std::string("SHMEM_") + name).c_str())) return value;
  return getenv((std::string("SMA_") + name).c_str());
}

bool is_set(const char* name) {
  return variable(name) != nullptr;
}

}  // namespace

bool parse_size(std::string_view text, uint64_t& bytes) {
  const std::string whole(text);
  const char first = whole.empty() ? '\0' : whole.front();
  if (first != '.' && (first < '0' || first > '9')) return false;
  char* end = nullptr;
  const double number = strtod(whole.c_str(), &end);
  double factor = 1;
  switch (*end) {
    case 'k':
    case 'K':
      factor = 0x1p10;
      break;
    case 'm':
    case 'M':
      factor = 0x1p20;
      break;
    case 'g':
    case 'G':
      factor = 0x1p30;
      break;
    case 't':
    case 'T':
      factor = 0x1p40;
      break;
    case '\0':
      break;
    default:
      return false;
  }
  const double size = std::ceil(number * factor);
  if (!(size >= 0 && size < 0x1p60)) return false;
  bytes = static_cast<uint64_t>(size);
  return true;
}

uint64_t read_environment() {
  base::load_settings();
  const char* text = symmetric_size.value();
  const char* name = symmetric_size.variable();
  if (*text == '\0') {
    text = variable("SYMMETRIC_SIZE");
    name = "SMA_SYMMETRIC_SIZE";
  }
  uint64_t bytes = default_bytes;
  if (text != nullptr && *text != '\0' && !parse_size(text, bytes)) {
    base::die({.cause = std::string(name) + " is " + base::quoted(text) + ", which is no size",
               .remedy = "give a number with a suffix, such as 512M or 1.5G"});
  }
  return (bytes + page - 1) / page * page + (bytes == 0 ? page : 0);
}

void tell_of_start() {
  if (state.pe != 0) return;
  if (is_set("VERSION")) {
    (void)fprintf(stderr, "Weft %s, OpenSHMEM %d.%d\n", WEFT_VERSION, SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
  }
  if (is_set("INFO")) {
    (void)fputs(
        "Environment variables of OpenSHMEM (docs/guide/pgas.md; `weft info` has those of Weft):\n"
        "  SHMEM_SYMMETRIC_SIZE  bytes of a PE's symmetric heap, with a suffix k, m, g or t; 64m if it is not set\n"
        "  SHMEM_VERSION         any value: PE 0 prints the version of the library\n"
        "  SHMEM_INFO            any value: PE 0 prints this\n"
        "  SHMEM_DEBUG           any value: PE 0 prints how the PEs reach each other\n",
        stderr);
  }
  if (is_set("DEBUG")) {
    uint32_t near = 0;
    for (uint32_t pe = 0; pe < state.pes; ++pe) near += state.near[pe].heap != nullptr ? 1 : 0;
    pages::Grant heap;
    (void)core::granted(reinterpret_cast<void*>(state.heap), heap);
    (void)fprintf(
        stderr,
        "weft: %u PEs; PE 0 reaches the heaps of %u by loads and stores, the others by messages; heaps of %llu "
        "bytes, memory %s, %spages of %s\n",
        state.pes, near, static_cast<unsigned long long>(state.heap_bytes),
        pages::shown_affinity(heap.affinity, heap.nodes.first()).c_str(), heap.transparent ? "transparent " : "",
        pages::shown_page(heap.page).c_str());
  }
}

}  // namespace weft::shmem
