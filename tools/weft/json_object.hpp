// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// JSON that commands print with --json, put together member by member.

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace weft::tool {

// JSON values as a list, each in a line of its own unless `between` says otherwise.
[[nodiscard]] inline std::string json_list(const std::vector<std::string>& values, const char* between = ",\n ") {
  std::string text = "[";
  for (const std::string& value : values) text.append(text.size() > 1 ? between : "").append(value);
  return text + "]";
}

[[nodiscard]] inline std::string json_texts(const std::vector<std::string>& texts) {
  std::vector<std::string> values;
  values.reserve(texts.size());
  for (const std::string& text : texts) values.push_back(base::json_text(text));
  return json_list(values);
}

class JsonObject {
 public:
  // A value that is JSON already.
  JsonObject& value(const char* name, const std::string& json) {
    text_.append(text_.empty() ? "{\"" : ", \"").append(name).append("\": ").append(json);
    return *this;
  }
  JsonObject& text(const char* name, const std::string& text) { return value(name, base::json_text(text)); }
  JsonObject& whole(const char* name, int64_t number) { return value(name, std::to_string(number)); }
  JsonObject& flag(const char* name, bool is_set) { return value(name, is_set ? "true" : "false"); }
  JsonObject& list(const char* name, const std::vector<std::string>& values) { return value(name, json_list(values)); }
  JsonObject& texts(const char* name, const std::vector<std::string>& texts) { return value(name, json_texts(texts)); }

  [[nodiscard]] std::string json() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  std::string text_;
};

}  // namespace weft::tool
