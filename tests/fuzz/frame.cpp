// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net/frame.hpp"

#include <cstring>
#include <vector>

#include "fuzz.hpp"
#include "transport/net/network.hpp"

using namespace weft;
using namespace weft::transport;

namespace {

constexpr const char* secret = "00112233445566778899aabbccddeeff";

std::string good_frame(uint32_t bytes, uint32_t staged) {
  net::Header h{.magic = net::magic,
                .origin = 1,
                .proof = net::Proofs(secret).of(1, 2),
                .bytes = bytes,
                .staged = staged,
                .kind = 1,
                .lane = 0};
  std::string text(sizeof h + bytes + staged, 'x');
  std::memcpy(text.data(), &h, sizeof h);
  return text;
}

void one(fuzz::Random& /*random*/, const std::string& text) {
  static const net::Proofs proofs(secret);
  std::vector<unsigned char> frame(text.begin(), text.end());  // of its own size: what is beyond would be seen
  if (const net::Header* h = net::check_frame(frame.data(), frame.size(), proofs, 2, 5, 1)) {
    FUZZ_CHECK(h->origin < 5 && h->lane < 1 && h->kind <= net::congestion);
    FUZZ_CHECK(h->proof == proofs.of(h->origin, 2));
    FUZZ_CHECK(sizeof *h + uint64_t{h->bytes} + h->staged == frame.size());
  }
  net::Networks networks;
  const std::string wrong = networks.parse(text);
  FUZZ_CHECK(!wrong.empty() || networks.named() || text.empty());
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::run(argc, argv,
                   {good_frame(0, 0), good_frame(8, 0), good_frame(32, 700), "", "10.0.0.0/8",
                    "192.168.0.0/16,127.0.0.1", "0.0.0.0/0", "10.0.0.0/33", ",", "/"},
                   one);
}
