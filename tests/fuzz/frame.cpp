// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net/frame.hpp"

#include <cstring>
#include <vector>

#include "fuzz.hpp"
#include "transport/net/network.hpp"
#include "transport/net/socket.hpp"
#include "transport/tcp/datagram.hpp"
#include "transport/tcp/greeting.hpp"

using namespace weft;
using namespace weft::transport;

namespace {

constexpr const char* secret = "00112233445566778899aabbccddeeff";

net::Key key() {
  return net::Key::of_secret(secret);
}
const tcp::Keys of_connection{{{1, 2}}, {{3, 4}}};

std::string good_greeting() {
  const tcp::Greeting g = tcp::greeting(tcp::GreetingWord::hello, 1, {.caller = 1, .listener = 2, .attempt = 1}, key());
  return {reinterpret_cast<const char*>(&g), sizeof g};
}

std::string good_frame(uint32_t bytes, uint32_t staged) {
  net::Header h{.magic = net::magic,
                .origin = 1,
                .proof = 0,
                .bytes = bytes,
                .staged = static_cast<uint16_t>(staged),
                .kind = 1,
                .lane = 0};
  std::string text(sizeof h + bytes + staged, 'x');
  std::memcpy(text.data(), &h, sizeof h);
  return text;
}

std::string good_pushed(uint32_t bytes) {
  std::string text = good_frame(0, 0);
  net::Header h;
  std::memcpy(&h, text.data(), sizeof h);
  h.magic = net::pushed_magic;
  h.bytes = bytes;
  std::memcpy(text.data(), &h, sizeof h);
  return text;
}

std::string good_datagram() {
  tcp::Datagrams theirs({of_connection.theirs, of_connection.ours}, 0);
  const auto bytes = theirs.keep(good_frame(8, 0).data());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void one(fuzz::Random& /*random*/, const std::string& text) {
  static const net::Receiver receiver{2, 5, 1};
  std::vector<unsigned char> frame(text.begin(), text.end());  // of its own size: an access beyond would be seen
  if (const net::Header* h = net::check_frame(frame.data(), frame.size(), receiver)) {
    FUZZ_CHECK(h->origin < 5 && h->lane < 1 && h->kind <= net::congestion);
    FUZZ_CHECK(sizeof *h + uint64_t{h->bytes} + h->staged == frame.size());
  }
  if (net::Header h; frame.size() >= sizeof h) {
    std::memcpy(&h, frame.data(), sizeof h);
    if (net::check_pushed(h, receiver)) {
      FUZZ_CHECK(h.origin < 5 && h.lane < 1 && h.kind < net::taken);
      FUZZ_CHECK(h.bytes <= net::pushed_most && h.staged == 0);
    }
  }
  if (tcp::Datagram head; frame.size() >= sizeof head) {
    std::memcpy(&head, frame.data(), sizeof head);
    tcp::Datagrams known(of_connection, 0);
    if (known.take(head, frame.size(), false) != tcp::Datagrams::Taken::nothing) {
      FUZZ_CHECK(head.number == 0 && frame.size() == sizeof head + head.bytes);
      FUZZ_CHECK(text.compare(0, sizeof head, good_datagram(), 0, sizeof head) == 0);
    }
    FUZZ_CHECK(!known.keeps());
  }
  if (tcp::Greeting said; frame.size() == sizeof said) {
    std::memcpy(&said, frame.data(), sizeof said);
    if (tcp::is_for(said, 2, 5)) {
      FUZZ_CHECK(said.origin < 5 && said.origin != 2 && said.to == 2 && said.lane < max_lanes);
    }
  }
  if (net::ListenAddresses place; place.parse(text)) {
    FUZZ_CHECK(place.bytes() == text && !place.addresses.empty() && place.port != 0);
  }
  net::Networks networks;
  const std::string wrong = networks.parse(text);
  FUZZ_CHECK(!wrong.empty() || networks.named() || text.empty());
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::run(argc, argv,
                   {good_frame(0, 0), good_frame(8, 0), good_frame(32, 700), good_pushed(50000), good_greeting(),
                    good_datagram(), std::string("\x01\x02\x0a\x4d\x00\x01", 6), "", "10.0.0.0/8",
                    "192.168.0.0/16,127.0.0.1", "0.0.0.0/0", "10.0.0.0/33", ",", "/"},
                   one);
}
