// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net/lifeline.hpp"

#include <cstring>
#include <vector>

#include "fuzz.hpp"

using namespace weft;
using namespace weft::transport;

namespace {

const net::Key key{{5, 6}};

std::string good_word(net::LifelineNews news, const char* text) {
  const net::Word word = net::word_of(news, 1, key, text);
  return {reinterpret_cast<const char*>(&word), sizeof word};
}

void one(fuzz::Random& /*random*/, const std::string& text) {
  std::vector<unsigned char> bytes(text.begin(), text.end());  // of its own size: an access beyond would be seen
  if (net::Word w; bytes.size() == sizeof w) {
    std::memcpy(&w, bytes.data(), sizeof w);
    if (net::is_word(w, 5)) {
      FUZZ_CHECK(w.origin < 5 && w.bytes <= sizeof w.text);
      FUZZ_CHECK(w.news >= net::LifelineNews::challenge && w.news <= net::LifelineNews::ending);
    }
    if (net::is_proved(w, key)) {
      FUZZ_CHECK(text == good_word(w.news, std::string(w.text, w.bytes).c_str()));
    }
  }
  net::ListenAddresses place;
  if (place.parse(text)) FUZZ_CHECK(place.port != 0 && !place.addresses.empty() && place.bytes() == text);
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::run(
      argc, argv,
      {good_word(net::LifelineNews::hello, "h2 (ranks 2 and 3)"), good_word(net::LifelineNews::goodbye, ""),
       good_word(net::LifelineNews::ending, ""), "", "abcdef", "abcdefghij"},
      one);
}
