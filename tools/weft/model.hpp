// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The machine that `weft simulate` plays on, and `weft tune` measures: LogGP with hosts and NUMA domains. A rank is
// busy for `overhead` with each send and each receive; a message needs `latency`, and `per_byte` for each of its bytes.
// The ranks of a host share one network interface, which one message at a time leaves and one enters, for `gap` and its
// bytes' time each. Sends do not wait for receives.

#include <span>
#include <string>

#include "base/message.hpp"

namespace weft::tool {

// In seconds, and seconds for each byte.
struct Wire {
  double latency;
  double overhead;
  double per_byte;
};

struct Model {
  Wire within{300e-9, 80e-9, 0.1e-9};  // a NUMA domain
  Wire far{450e-9, 80e-9, 0.13e-9};    // between domains of a host
  Wire between{2.5e-6, 400e-9, 0.08e-9};
  double gap = 100e-9;    // of a network interface, between two messages
  double unexpected = 0;  // for a message that comes before its receive
  double incast = 0;      // for a message from another host that finds others waiting to enter
  double copy = 0.1e-9;   // for each byte, as for a reduction
};

// Sets parts of a model: "latency=2e-6,gap=1e-7". False: `problem` says what is wrong.
[[nodiscard]] bool read_model(const std::string& text, Model& model, base::Problem& problem);

// Sets those that a file of `weft tune` has.
[[nodiscard]] bool read_model_file(const std::string& path, Model& model, base::Problem& problem);

// Takes the parts from the output of weft-measure, lines "model NAME SECONDS", as a JSON object for such a file; adds
// them to those that `json` has. False: it is no such output, `wrong` is the line.
[[nodiscard]] bool add_measured_model(const std::string& output, std::string& json, std::string& wrong);

}  // namespace weft::tool
