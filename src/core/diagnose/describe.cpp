// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/diagnose/describe.hpp"

#include <algorithm>

#include "core/message/path.hpp"
#include "core/object/settings.hpp"
#include "transport/select/transports.hpp"

namespace weft::core {

std::vector<PathRow> describe_paths(int ranks) {
  const int64_t mailbox = mailbox_bytes(ranks);
  const int64_t eager = std::max(mailbox, buffer_bytes());
  auto text = [](int64_t bytes) { return std::to_string(bytes) + " bytes"; };
  std::string get_range = "up to " + text(get_bytes()) + "; any size from MPI_Alloc_mem memory";
  std::string stream_range = "sends that wait where cells are the faster way (WEFT_CROSSING); above " +
                             text(get_bytes()) + ", layouts with gaps, and what cannot be read directly";
  if (!rendezvous_on()) {
    get_range = "off (WEFT_RENDEZVOUS=off)";
    stream_range = "above " + text(eager) + ", without asking the receiver";
  } else {
    get_range = "above " + text(eager) + ", " + get_range;
  }
  const std::string buffer_range =
      buffer_bytes() > mailbox ? "up to " + text(buffer_bytes()) : "none: the mailbox takes all up to its limit";
  return {{mailbox_info.name, "up to " + text(mailbox), mailbox_info.what, mailbox_info.cost},
          {buffer_info.name, buffer_range, buffer_info.what, buffer_info.cost},
          {get_info.name, get_range, get_info.what, get_info.cost},
          {stream_info.name, stream_range, stream_info.what, stream_info.cost}};
}

std::string describe_hosts() {
  return transport::describe_hosts(rendezvous_on(), get_bytes());
}

}  // namespace weft::core
