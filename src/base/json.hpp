// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A JSON text (RFC 8259) of unknown origin as a tree that knows the lines of its values, for messages. Texts are of at
// most 1 MiB and nest at most 16 deep. Larger ones are heard value by value, without a tree.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::base {

struct Json {
  enum class ValueKind : uint8_t { null, boolean, number, text, list, object };

  ValueKind kind = ValueKind::null;
  bool flag = false;
  int line = 1;                    // where it begins
  std::string text;                // of a text; of a number as it was written
  std::vector<Json> items;         // of a list; of an object the values of its members
  std::vector<std::string> names;  // of the members, as many; none comes twice

  // The member of an object, nullptr when there is none.
  [[nodiscard]] const Json* find(std::string_view name) const;
  // A whole number; false when it is none, or none of 64 bits.
  [[nodiscard]] bool whole(int64_t& value) const;
};

struct JsonProblem {
  int line = 0;
  std::string what;
};

// False: the text is no JSON, and `problem` says what is wrong and in which line.
[[nodiscard]] bool parse_json(std::string_view text, Json& value, JsonProblem& problem);

// A value, or the end of a list or an object.
struct JsonEvent {
  Json::ValueKind kind = Json::ValueKind::null;
  bool end = false;       // of the list or the object
  bool flag = false;      // of a boolean
  int depth = 0;          // lists and objects around it
  int line = 1;           // where it begins; of an end: where it ends
  std::string_view name;  // of the member that it is; none in a list
  std::string_view text;  // of a text; of a number as it was written
};

// Returns the mistake in the value, or an empty text.
using JsonHearer = std::function<std::string(const JsonEvent& event)>;

// Calls `hear` with the values of a text of at most `most_bytes`, in turn. False as above, or when `hear` found a
// mistake.
[[nodiscard]] bool hear_json(std::string_view text, size_t most_bytes, const JsonHearer& hear, JsonProblem& problem);

// A text in quotes, as JSON wants it.
[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace weft::base
