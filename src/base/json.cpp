// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.hpp"

#include <algorithm>
#include <charconv>

#include "base/setting.hpp"

namespace weft::base {
namespace {

constexpr size_t most_bytes_of_tree = 1 << 20;
constexpr int most_depth = 16;
constexpr size_t most_members = 1000;  // of an object

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

void append_utf8(std::string& text, uint32_t code) {
  const auto add = [&text](uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    add(0xe0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3f));
  } else {
    add(0xf0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3f));
    add(0x80 | (code >> 6 & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

class Parser {
 public:
  Parser(std::string_view text, const JsonHearer& hear, JsonProblem& problem)
      : text_(text), hear_(hear), problem_(problem) {}

  bool whole_text(size_t most_bytes) {
    if (text_.size() > most_bytes) return fail("it has more than " + std::to_string(most_bytes) + " bytes");
    if (!one({}, 0)) return false;
    skip_space();
    return at_ == text_.size() || fail("there is " + next() + " behind the end");
  }

 private:
  bool fail(const std::string& what) {
    problem_ = {line_, what};
    return false;
  }
  std::string next() const { return at_ == text_.size() ? "the end of the text" : quoted(text_.substr(at_, 1)); }

  void skip_space() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return;
    }
  }
  // Takes the next character if it is this one.
  bool take(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool tell(const JsonEvent& event) {
    const std::string wrong = hear_(event);
    return wrong.empty() || fail(wrong);
  }

  bool one(std::string_view name, int depth) {
    if (depth > most_depth) return fail("it nests more than " + std::to_string(most_depth) + " deep");
    skip_space();
    JsonEvent event{.depth = depth, .line = line_, .name = name, .text = {}};
    if (take('{')) return several(Json::ValueKind::object, event);
    if (take('[')) return several(Json::ValueKind::list, event);
    if (take('"')) {
      event.kind = Json::ValueKind::text;
      std::string text;
      if (!rest_of_text(text)) return false;
      event.text = text;
      return tell(event);
    }
    if (at_ < text_.size() && (text_[at_] == '-' || is_digit(text_[at_]))) return number(event);
    event.kind = Json::ValueKind::boolean;
    if (take_word("false")) return tell(event);
    event.flag = take_word("true");
    if (event.flag) return tell(event);
    event.kind = Json::ValueKind::null;
    return take_word("null") ? tell(event) : fail("a value is expected, not " + next());
  }

  // Parses a list or an object behind its first bracket.
  bool several(Json::ValueKind kind, JsonEvent& event) {
    event.kind = kind;
    if (!tell(event)) return false;
    if (!(kind == Json::ValueKind::object ? object(event.depth) : list(event.depth))) return false;
    event.end = true;
    event.line = line_;
    return tell(event);
  }

  bool object(int depth) {
    if (take('}')) return true;
    std::vector<std::string> names;
    do {
      if (!take('"')) return fail("the name of a member, in quotes, is expected, not " + next());
      std::string name;
      if (!rest_of_text(name)) return false;
      if (names.size() == most_members)
        return fail("an object has more than " + std::to_string(most_members) + " members");
      if (std::find(names.begin(), names.end(), name) != names.end()) return fail(quoted(name) + " is there twice");
      if (!take(':')) return fail("a colon is expected behind " + quoted(name) + ", not " + next());
      names.push_back(std::move(name));
      if (!one(names.back(), depth + 1)) return false;
    } while (take(','));
    return take('}') || fail("a comma or } is expected, not " + next());
  }

  bool list(int depth) {
    if (take(']')) return true;
    do {
      if (!one({}, depth + 1)) return false;
    } while (take(','));
    return take(']') || fail("a comma or ] is expected, not " + next());
  }

  bool digits() {
    const size_t from = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > from || fail("a digit is expected, not " + next());
  }

  bool number(JsonEvent& event) {
    event.kind = Json::ValueKind::number;
    const size_t from = at_;
    take_word("-");
    const bool zero = at_ < text_.size() && text_[at_] == '0';
    const size_t first = at_;
    if (!digits()) return false;
    if (zero && at_ - first > 1) return fail("a number begins with 0");
    if (take_word(".") && !digits()) return false;
    if (take_word("e") || take_word("E")) {
      if (!take_word("+")) take_word("-");
      if (!digits()) return false;
    }
    event.text = text_.substr(from, at_ - from);
    return tell(event);
  }

  bool hex4(uint32_t& code) {
    const char* from = text_.data() + at_;
    if (text_.size() - at_ < 4) return fail("\\u needs four hexadecimal digits");
    const auto [end, error] = std::from_chars(from, from + 4, code, 16);
    if (error != std::errc() || end != from + 4) return fail("\\u needs four hexadecimal digits");
    at_ += 4;
    return true;
  }

  bool escape(std::string& text) {
    constexpr std::string_view names = "\"\\/bfnrt";
    constexpr std::string_view meant = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) return fail("a text does not end");
    const char c = text_[at_++];
    if (const size_t i = names.find(c); i != std::string_view::npos) {
      text += meant[i];
      return true;
    }
    if (c != 'u') return fail("\\" + std::string(1, c >= ' ' && c < 127 ? c : '?') + " means nothing in a text");
    uint32_t code = 0;
    if (!hex4(code)) return false;
    if (code >= 0xd800 && code < 0xdc00) {  // the first half of a character beyond 16 bits
      uint32_t low = 0;
      if (!take_word("\\u") || !hex4(low) || low < 0xdc00 || low > 0xdfff) return fail("half a character");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
      return fail("half a character");
    }
    append_utf8(text, code);
    return true;
  }

  // Parses a text behind its first quote.
  bool rest_of_text(std::string& text) {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < ' ')
        return fail("a text does not end in its line, or has a control character");
      if (c != '\\') {
        text += c;
      } else if (!escape(text)) {
        return false;
      }
    }
    return fail("a text does not end");
  }

  std::string_view text_;
  const JsonHearer& hear_;
  JsonProblem& problem_;
  size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

const Json* Json::find(std::string_view name) const {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? nullptr : &items[static_cast<size_t>(at - names.begin())];
}

bool Json::whole(int64_t& value) const {
  if (kind != ValueKind::number) return false;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

bool hear_json(std::string_view text, size_t most_bytes, const JsonHearer& hear, JsonProblem& problem) {
  return Parser(text, hear, problem).whole_text(most_bytes);
}

bool parse_json(std::string_view text, Json& value, JsonProblem& problem) {
  // The lists and objects around the next value. Their addresses in `items` stay valid: a list grows when its last item
  // is complete.
  std::vector<Json*> around;
  const JsonHearer add = [&](const JsonEvent& event) {
    if (event.end) {
      around.pop_back();
      return std::string();
    }
    Json* one = &value;
    if (!around.empty()) {
      if (around.back()->kind == Json::ValueKind::object) around.back()->names.emplace_back(event.name);
      one = &around.back()->items.emplace_back();
    }
    *one = {};
    one->kind = event.kind;
    one->flag = event.flag;
    one->line = event.line;
    one->text = event.text;
    if (event.kind == Json::ValueKind::list || event.kind == Json::ValueKind::object) around.push_back(one);
    return std::string();
  };
  return hear_json(text, most_bytes_of_tree, add, problem);
}

std::string json_text(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < ' ') {
      out += "\\u00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace weft::base
