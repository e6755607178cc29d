// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The scripts with names and those of chance. Messages of one source have exactly one right matching, whatever the
// timing: each message in turn takes the first receive that fits.
#include "threads_order/script.hpp"

#include <algorithm>

namespace order {

namespace {

const char* const form_names[] = {"messages first", "receives first", "free"};

// Sends: thread A, B or C, tag, then L (100 KiB), X (1 MiB), s (synchronous). Receives: thread a, b or c, tag or *,
// then ? (any source), and the kind: r (blocking), p (probe), i (iprobe), m (mprobe), n (improbe); none: any that
// serves.
struct Case {
  const char *sends, *receives;
};
constexpr Case cases[] = {
    // Two and three threads, one receiver or several.
    {"A1 B2", "a* a*"},
    {"A1 B2", "a*? a*?"},
    {"A1 B2", "a* b*"},
    {"A2 B1 C3", "a* b* c*"},
    {"A1 B2 A3 B4 A5 B6", "a* a* a* a* a* a*"},
    {"A1 B2 A2 B1", "a* b* a*? b*?"},
    {"A0 B1 C2 A3 B4 C5 A6 B7 C8 A9 B10 C11 A12 B13 C14 A15 B16", "a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a*"},
    {"A0 B1 A2 B3 A4 B5 A6 B7 A8 B9 A10 B11", "a*? b*? c*? a*? b*? c*? a*? b*? c*? a*? b*? c*?"},
    // Several threads send one envelope.
    {"A1 B1 C1", "a1 a1 a1"},
    {"A1 B1 C1", "a1? b1? c1?"},
    {"A1 B1 A1 B1", "a1 b1? a1 b1?"},
    // A specific receive before or after a wildcard, by the same thread or another.
    {"A1 B1", "a* a1"},
    {"A1 B1", "a1 a*"},
    {"A1 B1", "a* b1"},
    {"A1 B1", "b1 a*"},
    {"A1 B1", "a1? b1"},
    {"A1 B1", "a*? b1?"},
    {"A1 B2", "a2 b*"},
    {"A1 B2", "a* b2"},
    {"A1 B2 A1 B2", "a2 b* c1 a*"},
    {"A3 B1 C2 A1", "a1 b* c* a1?"},
    {"A1 B2 C3 A4", "a4 b3 c* a*"},
    {"A1 B2 C3 A4", "a* b2 c*? a*"},
    {"A1 B2 C1 A2 B1 C2", "a* b1 c2? a*? b1 c*"},
    // Probes that see what a receive would take, and the receive of what was seen.
    {"A1 B2", "ap* bp*"},
    {"A1 B2 C3", "ai* bm* cn*"},
    {"A1 B2 C3", "am*? bp*? cr*?"},
    {"A1 B2 C1 A2", "a* bp1 cm2 a*"},
    {"A1 B2 A3", "an2 bp* ci*"},
    // Large ones, which take another path, are among small ones.
    {"A1L B2", "a* b*"},
    {"A1X B2", "a* b*"},
    {"A1 B2X C3", "a*? b*? c*?"},
    {"A1L B2 A3L B4 A5X B6", "a* b* a* b* a* b*"},
    {"A1X B1 C1L A1", "a1 b* c1? a*"},
    {"A1L B2 C3X", "am* bp* ci*"},
    // Synchronous ones.
    {"A1s B2", "a* b*"},
    {"A1s B2 C3s A4", "a* b*? c* a*?"},
    {"A1Ls B2 C2s", "a* b2 cm*"},
};

Kind kind_of(char letter) {
  switch (letter) {
    case 'r':
      return Kind::recv;
    case 'p':
      return Kind::probe;
    case 'i':
      return Kind::iprobe;
    case 'm':
      return Kind::mprobe;
    default:
      return Kind::improbe;
  }
}

size_t small_size(Random& random) {
  static constexpr size_t sizes[] = {8, 8, 16, 24, 40, 64, 200, 1000, 8000, 8193, 20000};
  return sizes[random.below(sizeof sizes / sizeof *sizes)];
}

void parse(const Case& text, Random& random, Script& script) {
  // Tags that lie on lanes next to each other, on the same one, and scattered.
  static constexpr int strides[] = {1, 1, 2, 7, 8, 16, 1021};
  const int stride = strides[random.below(7)];
  for (const char* at = text.sends; *at != 0;) {
    Send s;
    s.thread = *at++ - 'A';
    s.tag = static_cast<int>(strtol(at, const_cast<char**>(&at), 10)) * stride;
    s.bytes = small_size(random);
    for (; *at != 0 && *at != ' '; ++at) {
      if (*at == 'L') s.bytes = 100 << 10;
      if (*at == 'X') s.bytes = 1 << 20;
      if (*at == 's') s.synchronous = true;
    }
    while (*at == ' ') ++at;
    script.sends.push_back(s);
  }
  for (const char* at = text.receives; *at != 0;) {
    Receive r;
    r.thread = *at++ - 'a';
    r.kind = static_cast<Kind>(random.below(kinds));
    if (*at >= 'a') r.kind = kind_of(*at++);
    if (*at == '*') {
      r.tag = MPI_ANY_TAG;
      ++at;
    } else {
      r.tag = static_cast<int>(strtol(at, const_cast<char**>(&at), 10)) * stride;
    }
    for (; *at != 0 && *at != ' '; ++at) {
      if (*at == '?') r.any_source = true;
    }
    while (*at == ' ') ++at;
    script.receives.push_back(r);
  }
  script.text = std::string(text.sends) + " / " + text.receives + ", tags times " + std::to_string(stride);
}

// Gives each message its receive; false when one stays without.
bool match(Script& script) {
  for (Receive& r : script.receives) r.message = -1;
  for (size_t m = 0; m < script.sends.size(); ++m) {
    const int tag = script.sends[m].tag;
    const auto fits = [&](const Receive& r) { return r.message < 0 && (r.tag == MPI_ANY_TAG || r.tag == tag); };
    const auto found = std::find_if(script.receives.begin(), script.receives.end(), fits);
    if (found == script.receives.end()) return false;
    found->message = static_cast<int>(m);
  }
  return true;
}

// A script of chance: the receives are a shuffle of the messages' tags, some of them wildcards.
void make_random(Random& random, Script& script) {
  const int count = 2 + random.below(14), tags = 1 + random.below(count),
            stride = random.one_in(2) ? 1 : random.below(40);
  const bool one_sender = random.one_in(6), one_receiver = random.one_in(6);
  for (int i = 0; i < count; ++i) {
    Send s;
    s.thread = one_sender ? 0 : random.below(Team::members);
    s.tag = random.below(tags) * stride;
    s.bytes = random.one_in(30) ? 1 << 20 : random.one_in(12) ? 100 << 10 : small_size(random);
    s.synchronous = random.one_in(8);
    script.sends.push_back(s);
  }
  const int wild = random.below(4);  // none, some, half, most
  for (int tries = 0; tries < 100; ++tries) {
    script.receives.clear();
    for (const Send& s : script.sends) {
      Receive r;
      r.thread = one_receiver ? 0 : random.below(Team::members);
      r.any_source = random.one_in(3);
      r.kind = static_cast<Kind>(random.below(kinds));
      r.tag = random.below(4) < wild || tries > 90 ? MPI_ANY_TAG : s.tag;
      script.receives.push_back(r);
    }
    const int swaps = random.below(2) * random.below(count);
    for (int i = 0; i < swaps; ++i) {
      std::swap(script.receives[static_cast<size_t>(random.below(count))],
                script.receives[static_cast<size_t>(random.below(count))]);
    }
    if (match(script)) break;
    // A wildcard too early takes what a specific receive needs. Where that cannot be helped all are wildcards.
    if (tries == 98) {
      for (Receive& r : script.receives) r.tag = MPI_ANY_TAG;
    }
  }
  script.text = "chance";
}

// Sends may block where everything the receiver waits for before it posts their receive was sent before.
void choose_blocking_sends(Random& random, Script& script) {
  for (size_t m = 0; m < script.sends.size(); ++m) {
    bool may = true;
    for (const Receive& r : script.receives) {
      if (r.message == static_cast<int>(m)) break;
      if (r.waits() && r.message > static_cast<int>(m)) may = false;
    }
    script.sends[m].blocking = may && random.one_in(2);
  }
}

}  // namespace

const int case_count = sizeof cases / sizeof *cases;

Script script_of(uint64_t seed, int round, int named) {
  Script script;
  script.seed = seed * 1000003 + static_cast<uint64_t>(round);
  Random random(script.seed);
  script.form = static_cast<Form>(random.below(3));
  if (named >= 0) {
    parse(cases[named], random, script);
    if (!match(script)) {
      fprintf(stderr, "\"%s\" leaves a message without a receive\n", script.text.c_str());
      abort();
    }
  } else {
    make_random(random, script);
  }
  if (script.form == Form::receives_first) {
    for (Receive& r : script.receives) {
      if (r.waits()) r.kind = random.one_in(2) ? Kind::irecv : Kind::persistent;
    }
  }
  if (script.form == Form::free) choose_blocking_sends(random, script);
  script.text +=
      std::string(", ") + form_names[static_cast<int>(script.form)] + ", script " + std::to_string(script.seed);
  return script;
}

}  // namespace order
