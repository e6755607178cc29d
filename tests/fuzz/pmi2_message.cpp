// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmi/pmi2_message.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "boot/pmi/process_mapping.hpp"
#include "fuzz.hpp"

using namespace weft;

namespace {

bool inside(std::string_view part, const std::string& whole) {
  return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

// A launcher's answer about the ranks of a host: this rank among them, in order, none twice.
void check_ranks(bool taken, const std::vector<int>& ranks, int rank, int size) {
  if (!taken) return;
  FUZZ_CHECK(std::adjacent_find(ranks.begin(), ranks.end(), std::greater_equal<>()) == ranks.end());
  FUZZ_CHECK(std::find(ranks.begin(), ranks.end(), rank) != ranks.end());
  FUZZ_CHECK(ranks.front() >= 0 && ranks.back() < size);
}

void one(fuzz::Random& random, const std::string& text) {
  boot::Pmi2Message message;
  if (message.parse(text)) {
    FUZZ_CHECK(text.size() <= boot::Pmi2Message::longest);
    FUZZ_CHECK(message.has("cmd"));
  }
  for (const char* key : {"cmd", "rc", "value", "size", ""}) {
    FUZZ_CHECK(inside(message.value(key), text));
    int number = message.number(key, 0, 100, -1);
    FUZZ_CHECK(number >= -1 && number <= 100);
  }
  int length = boot::Pmi2Message::length_of(std::string_view(text).substr(0, boot::Pmi2Message::length_size));
  FUZZ_CHECK(length == -1 || (length > 0 && length <= static_cast<int>(boot::Pmi2Message::longest)));

  const int size = 1 + static_cast<int>(random.below(20));
  const int rank = static_cast<int>(random.below(static_cast<size_t>(size)));
  std::vector<int> ranks;
  boot::ProcessMapping mapping;
  const bool mapped = mapping.parse(text, size);
  FUZZ_CHECK(mapped == mapping.known());
  if (mapped) ranks = mapping.ranks_on(mapping.node_of(rank));
  check_ranks(mapped, ranks, rank, size);
  check_ranks(boot::ranks_of_list(rank, size, text, ranks), ranks, rank, size);
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::run(argc, argv,
                   {"cmd=fullinit-response;pmi-version=2;pmi-subversion=0;rank=0;size=2;appnum=0;debugged=FALSE;rc=0;",
                    "cmd=kvs-get-response;found=TRUE;value=12:3:4:5/6;rc=0;", "cmd=kvs-put-response;rc=1;errmsg=a;;b;",
                    "cmd=info-getjobattr-response;found=FALSE", "    13", "000013cmd=", ";;", ";", "=", "",
                    "(vector,(0,2,1))", "(vector,(0,1,3),(1,1,2))", "0,1,2-5", ",", "-"},
                   one);
}
