// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A small deterministic fuzzer: texts are samples that are cut, joined, repeated and altered by a seeded generator. The
// parser must neither crash nor break what the caller checks; a failure prints the text and its seed.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace weft::fuzz {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t next() {  // splitmix64
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  size_t below(size_t n) { return n ? static_cast<size_t>(next() % n) : 0; }

 private:
  uint64_t state_;
};

inline std::string mutate(Random& random, const std::vector<std::string>& samples) {
  std::string text = samples[random.below(samples.size())];
  for (size_t changes = random.below(6); changes > 0; --changes) {
    size_t at = random.below(text.size() + 1);
    switch (random.below(7)) {
      case 0:
        text.insert(at, 1, static_cast<char>(random.next()));
        break;
      case 1:
        text.erase(at, random.below(4));
        break;
      case 2:
        text.insert(at, samples[random.below(samples.size())]);
        break;
      case 3:
        text.resize(at);
        break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(random.next());
        break;
      case 5:
        text.insert(at, std::to_string(random.next() >> random.below(64)));
        break;
      default:
        // Rarely: most runs should be of small texts.
        if (random.below(200) == 0)
          text.insert(at, std::string(random.below(100000), at < text.size() ? text[at] : '9'));
    }
  }
  return text;
}

#define FUZZ_CHECK(condition)                                                 \
  if (!(condition)) {                                                         \
    fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
    ::weft::fuzz::failed = true;                                              \
  }

inline bool failed = false;

// Arguments: seconds, seed. `one` looks at one text; each has a seed of its own, so that a failure can be repeated
// alone.
inline int run(int argc, char** argv, const std::vector<std::string>& samples,
               void (*one)(Random&, const std::string&)) {
  double seconds = argc > 1 ? atof(argv[1]) : 2;
  uint64_t seed = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1;
  uint64_t until = base::now_ns() + static_cast<uint64_t>(seconds * 1e9);
  uint64_t count = 0;
  for (; base::now_ns() < until; ++count) {
    Random random(seed + count);
    std::string text = mutate(random, samples);
    one(random, text);
    if (failed) {
      fprintf(stderr, "seed %llu, text of %zu bytes:\n", static_cast<unsigned long long>(seed + count), text.size());
      fwrite(text.data(), 1, text.size(), stderr);
      return 1;
    }
  }
  printf("%llu texts\n", static_cast<unsigned long long>(count));
  return 0;
}

}  // namespace weft::fuzz
