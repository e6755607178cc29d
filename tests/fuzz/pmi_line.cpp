// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/job/segment.hpp"
#include "boot/pmi/line.hpp"
#include "fuzz.hpp"

using namespace weft;

namespace {

bool inside(std::string_view part, const std::string& whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void one(fuzz::Random& random, const std::string& text) {
  boot::PmiLine line;
  bool taken = line.parse(text);
  if (taken) {
    FUZZ_CHECK(text.size() <= boot::PmiLine::longest);
    FUZZ_CHECK(line.has("cmd") || line.has("mcmd"));
  }
  for (const char* key : {"cmd", "rc", "value", "size", ""}) {
    std::string_view value = line.value(key);
    FUZZ_CHECK(inside(value, text));
    FUZZ_CHECK(value.find(' ') == std::string_view::npos);
    int number = line.number(key, 0, 100, -1);
    FUZZ_CHECK(number >= -1 && number <= 100);
  }
  // A value that another rank published is not to be trusted either. Opened are only segments, and there is none here.
  if (random.below(50) == 0) FUZZ_CHECK(boot::open_segment(text) < 0);
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::run(argc, argv,
                   {"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
                    "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024", "cmd=my_kvsname kvsname=kvs_1_2_3",
                    "cmd=get_result rc=0 msg=success value=12:3:4:5/6", "cmd=barrier_out",
                    "cmd=get_result rc=-1 msg=key not found", "mcmd=spawn", "a=b ", " =", "=", " ", "12:3:4:5", ""},
                   one);
}
