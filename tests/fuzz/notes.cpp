// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/job/notes.hpp"

#include <string>

#include "fuzz.hpp"

using namespace weft;

namespace {

bool inside(std::string_view part, std::string_view whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void one(fuzz::Random& random, const std::string& text) {
  std::string note;
  if (boot::find_note(text, static_cast<int>(random.below(4)), note)) FUZZ_CHECK(note.size() <= text.size());
  std::string_view value;
  for (const char* key : {"a", "weft-lanes", ""}) {
    if (boot::find_entry(text, key, value)) FUZZ_CHECK(inside(value, text));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::run(argc, argv,
                   {boot::entry_of("a", "1") + boot::entry_of("weft-lanes", "0s"), "5:1:1:ab7:1:3:axyz",
                    "0:3:one0:0:0:5:three3:4:ads", ":", "1:1:", "18446744073709551615:1:a"},
                   one);
}
