// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net/lifeline.hpp"

#include <cstring>
#include <vector>

#include "fuzz.hpp"

using namespace weft;
using namespace weft::transport;

namespace {

const net::Proofs& proofs() {
  static const net::Proofs of_job("00112233445566778899aabbccddeeff");
  return of_job;
}

std::string good_word(net::News news, const char* text) {
  const net::Word word = net::word_of(news, proofs(), 1, 2, text);
  return {reinterpret_cast<const char*>(&word), sizeof word};
}

void one(fuzz::Random& /*random*/, const std::string& text) {
  std::vector<unsigned char> bytes(text.begin(), text.end());  // of its own size: an access beyond would be seen
  if (const net::Word* w = net::check_word(bytes.data(), bytes.size(), proofs(), 2, 5)) {
    FUZZ_CHECK(w->origin < 5 && w->origin != 2 && w->bytes <= sizeof w->text);
    FUZZ_CHECK(w->news >= net::News::hello && w->news <= net::News::ending);
    FUZZ_CHECK(bytes.size() == sizeof *w);
  }
  net::Place place;
  if (place.parse(text)) FUZZ_CHECK(place.port != 0 && !place.addresses.empty() && place.bytes() == text);
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::run(argc, argv,
                   {good_word(net::News::hello, "h2 (ranks 2 and 3)"), good_word(net::News::goodbye, ""),
                    good_word(net::News::ending, ""), "", "abcdef", "abcdefghij"},
                   one);
}
