// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// "weft info files": whether threads or the kernel make nonblocking accesses to files on this host, and why.
#include <cstdio>

#include "base/bytes.hpp"
#include "base/setting.hpp"
#include "io/ring.hpp"
#include "io/worker.hpp"
#include "weft/commands.hpp"
#include "weft/json_object.hpp"

namespace weft::tool {

int info_files(bool json) {
  base::load_settings();
  const std::string why_not = io::why_no_ring();
  if (json) {
    const JsonObject answer = JsonObject()
                                  .whole("threads", io::most_workers())
                                  .flag("io_uring", why_not.empty())
                                  .text("why_not", why_not)
                                  .whole("largest_piece", static_cast<int64_t>(io::largest_piece));
    return puts(answer.json().c_str()) < 0 ? 1 : 0;
  }
  printf("Nonblocking accesses to files: at most %lld threads of each rank (WEFT_IO_THREADS)\n",
         static_cast<long long>(io::most_workers()));
  const char* const others = io::most_workers() > 0 ? "these threads, as " : "the program's threads, as ";
  printf("Nonblocking reads of up to %s in one piece, unless the page cache has them: %s%s\n",
         base::shown_bytes(io::largest_piece).c_str(), why_not.empty() ? "io_uring" : others,
         why_not.empty() ? ", as the kernel allows it (WEFT_IO_URING)" : why_not.c_str());
  return 0;
}

}  // namespace weft::tool
