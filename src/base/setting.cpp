// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/setting.hpp"

#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/message.hpp"

// The linker's names for the two ends of the section; weak, since a program may have no row at all.
extern "C" {
[[gnu::weak, gnu::visibility("hidden")]] extern weft::base::SettingRow* const __start_weft_settings[];
[[gnu::weak, gnu::visibility("hidden")]] extern weft::base::SettingRow* const __stop_weft_settings[];
}

namespace weft::base {
namespace {

struct Suffix {
  const char* text;
  int64_t factor;
};

constexpr Suffix byte_suffixes[] = {{"T", int64_t{1} << 40}, {"G", int64_t{1} << 30}, {"M", 1 << 20}, {"K", 1 << 10}};
constexpr Suffix time_suffixes[] = {{"s", 1000000}, {"ms", 1000}, {"us", 1}};  // in microseconds

const char* form_of(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return "a number of bytes such as 4096, 64K, 2M, 1G or 1T";
    case Unit::microseconds:
      return "a time such as 250 (microseconds), 250us, 5ms or 2s";
    case Unit::seconds:
      return "a time such as 10 (seconds), 10s or 3000ms";
    default:
      return "a whole number";
  }
}

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

// The value with the largest suffix that loses nothing.
std::string shown_number(int64_t value, Unit unit) {
  if (unit == Unit::bytes && value != 0) {
    for (const Suffix& s : byte_suffixes) {
      if (value % s.factor == 0) return std::to_string(value / s.factor) + s.text;
    }
  }
  if (unit == Unit::microseconds && value != 0) {
    for (const Suffix& s : time_suffixes) {
      if (value % s.factor == 0) return std::to_string(value / s.factor) + s.text;
    }
  }
  if (unit == Unit::microseconds) return "0us";
  if (unit == Unit::seconds) return std::to_string(value) + "s";
  return std::to_string(value);
}

// Edit distance, row by row; names longer than the bound are no setting's misspelling.
constexpr size_t longest_name = 63;

size_t edit_distance(std::string_view a, std::string_view b) {
  if (a.size() > longest_name || b.size() > longest_name) return longest_name;
  size_t row[longest_name + 1] = {};
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// Most often all ranks have the same value, and the end of rank 0 ends the job before the others say so too.
constexpr unsigned others_wait_seconds = 3;

void take(SettingRow* row, const char* name, const char* text) {
  if (!*text) return;
  std::string wrong = row->parse(text);
  if (wrong.empty()) {
    row->mark(ValueSource::environment);
    return;
  }
  if (!speaks_for_job()) sleep(others_wait_seconds);
  die({.cause = std::string("the environment variable ") + name + " cannot be used: " + wrong,
       .remedy = std::string("give ") + name + " a value in its range (" + row->shown_range() +
                 ") or unset it; \"weft info --all\" lists all settings"});
}

// Returns what is wrong with it, or an empty text.
std::string take_alias(SettingRow* row, const char* alias, std::string_view text) {
  for (const AliasWord& word : row->text().alias_words) {
    if (!same_word(text, word.word)) continue;
    text = word.ours;
    break;
  }
  std::string wrong = row->text().wrong != nullptr ? row->text().wrong(text) : std::string();
  if (wrong.empty()) wrong = row->parse(text);
  if (wrong.empty()) row->mark(ValueSource::environment, alias);
  return wrong;
}

void warn_of_alias(const SettingRow* row, const char* alias, const std::string& wrong) {
  warn_for_job(alias, {.cause = std::string("the environment variable ") + alias + " has no effect: " + wrong,
                       .remedy = std::string("unset it, or set ") + row->text().name +
                                 ", which counts instead where both are set"});
}

void warn_unknown(std::string_view name, const std::vector<SettingRow*>& rows) {
  const char* near = nearest_setting(name, rows);
  std::string shown(name.substr(0, longest_name));
  warn({.cause = "the environment variable " + shown + " is no setting of Weft and has no effect" +
                 (near ? std::string("; did you mean ") + near + "?" : std::string()),
        .remedy = near ? "correct or unset it; \"weft info --all\" lists all settings"
                       : "unset it; \"weft info --all\" lists all settings"});
}

}  // namespace

std::string quoted(std::string_view text) {
  constexpr size_t most = 60;
  std::string out = "\"";
  for (char c : text.substr(0, most)) out += (c >= 32 && c < 127) ? c : '?';
  out += text.size() > most ? "...\"" : "\"";
  return out;
}

size_t whole_characters(std::string_view text, size_t most) {
  if (text.size() <= most) return text.size();
  constexpr size_t longest = 4;  // bytes of a character
  size_t length = most;
  while (length > 0 && most - length < longest && (text[length] & 0xc0) == 0x80) --length;
  return length;
}

std::string quoted_path(std::string_view path) {
  constexpr size_t most = 256;
  constexpr size_t from_begin = 60;
  constexpr size_t from_end = 190;
  std::string shown{path};
  if (path.size() > most) {
    const size_t end = whole_characters(path, path.size() - from_end);
    shown = std::string(path.substr(0, whole_characters(path, from_begin))) + "..." + std::string(path.substr(end));
  }
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < 32 || c == 127; }, '?');
  return "\"" + shown + "\"";
}

std::string parse_number(std::string_view text, Unit unit, int64_t& value) {
  std::string wrong = quoted(text) + " is not " + form_of(unit);
  std::string too_large = quoted(text) + " is too large";
  bool negative = !text.empty() && text[0] == '-';
  size_t at = negative ? 1 : 0;
  size_t digits_from = at;
  int64_t number = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    if (__builtin_mul_overflow(number, int64_t{10}, &number) ||
        __builtin_add_overflow(number, int64_t{text[at] - '0'}, &number)) {
      return too_large;
    }
  }
  if (at == digits_from) return wrong;
  std::string_view suffix = text.substr(at);
  int64_t factor = 1;
  int64_t divisor = 1;
  if (!suffix.empty()) {
    const Suffix* found = nullptr;
    if (unit == Unit::bytes) {
      for (const Suffix& s : byte_suffixes) {
        if (same_word(suffix, s.text)) found = &s;
      }
    } else if (unit == Unit::microseconds || unit == Unit::seconds) {
      for (const Suffix& s : time_suffixes) {
        if (suffix == s.text) found = &s;
      }
      if (unit == Unit::seconds) divisor = 1000000;
    }
    if (!found) return wrong;
    factor = found->factor;
    if (factor % divisor == 0) {
      factor /= divisor;
      divisor = 1;
    }
  }
  if (__builtin_mul_overflow(number, factor, &number)) return too_large;
  if (number % divisor != 0) return quoted(text) + " is not a whole number of seconds";
  number /= divisor;
  value = negative ? -number : number;
  return {};
}

std::string IntSetting::shown() const {
  return shown_number(value(), text().unit);
}
std::string IntSetting::shown_default() const {
  return shown_number(default_, text().unit);
}
std::string IntSetting::shown_range() const {
  return shown_number(range_.low, text().unit) + " to " + shown_number(range_.high, text().unit);
}
std::string IntSetting::parse(std::string_view text_given) {
  int64_t number = 0;
  std::string wrong = parse_number(text_given, text().unit, number);
  if (!wrong.empty()) return wrong;
  if (number < range_.low || number > range_.high) return quoted(text_given) + " is out of range: " + shown_range();
  value_.store(number, std::memory_order_relaxed);
  return {};
}
bool IntSetting::set_number(int64_t number) {
  if (number < range_.low || number > range_.high) return false;
  set(number);
  return true;
}

std::string BoolSetting::shown() const {
  return value() ? "on" : "off";
}
std::string BoolSetting::shown_default() const {
  return default_ ? "on" : "off";
}
std::string BoolSetting::shown_range() const {
  return "on or off";
}
std::string BoolSetting::parse(std::string_view text_given) {
  for (const char* word : {"on", "1", "yes", "true"}) {
    if (same_word(text_given, word)) {
      value_.store(true, std::memory_order_relaxed);
      return {};
    }
  }
  for (const char* word : {"off", "0", "no", "false"}) {
    if (same_word(text_given, word)) {
      value_.store(false, std::memory_order_relaxed);
      return {};
    }
  }
  return quoted(text_given) + " is not on or off";
}
std::span<const char* const> BoolSetting::words() const {
  static constexpr const char* off_on[] = {"off", "on"};
  return off_on;
}
bool BoolSetting::set_number(int64_t number) {
  if (number != 0 && number != 1) return false;
  value_.store(number == 1, std::memory_order_relaxed);
  mark(ValueSource::program);
  return true;
}

std::string ChoiceSetting::shown() const {
  return choices_[value()];
}
std::string ChoiceSetting::shown_default() const {
  return choices_[default_];
}
std::string ChoiceSetting::shown_range() const {
  std::string list;
  for (int i = 0; i < count_; ++i) {
    if (i) list += i + 1 == count_ ? " or " : ", ";
    list += choices_[i];
  }
  return list;
}
std::string ChoiceSetting::parse(std::string_view text_given) {
  const auto take = [&](std::string_view word) {
    int i = 0;
    while (i < count_ && !same_word(word, choices_[i])) ++i;
    if (i < count_) value_.store(i, std::memory_order_relaxed);
    return i < count_;
  };
  if (take(text_given)) return {};
  // "on" and "off" among the words are said in other ways too, as those of a switch.
  for (const char* on : {"1", "yes", "true"}) {
    if (same_word(text_given, on) && take("on")) return {};
  }
  for (const char* off : {"0", "no", "false"}) {
    if (same_word(text_given, off) && take("off")) return {};
  }
  return quoted(text_given) + " is not " + shown_range();
}
bool ChoiceSetting::set_number(int64_t number) {
  if (number < 0 || number >= count_) return false;
  value_.store(static_cast<int>(number), std::memory_order_relaxed);
  mark(ValueSource::program);
  return true;
}

std::string TextSetting::shown() const {
  return value_;
}
std::string TextSetting::shown_default() const {
  return "";
}
std::string TextSetting::shown_range() const {
  return "text";
}
std::string TextSetting::parse(std::string_view text_given) {
  constexpr size_t most = 64 << 10;
  if (text_given.size() > most) return quoted(text_given) + " is longer than " + std::to_string(most) + " characters";
  char* copy = static_cast<char*>(malloc(text_given.size() + 1));
  if (!copy) return "there is no memory for it";
  memcpy(copy, text_given.data(), text_given.size());
  copy[text_given.size()] = 0;
  value_ = copy;  // kept for the life of the process: settings are read once
  return {};
}

std::vector<SettingRow*> all_settings() {
  std::vector<SettingRow*> rows(__start_weft_settings, __stop_weft_settings);
  std::sort(rows.begin(), rows.end(),
            [](SettingRow* a, SettingRow* b) { return strcmp(a->text().name, b->text().name) < 0; });
  return rows;
}

const char* nearest_setting(std::string_view name, const std::vector<SettingRow*>& rows) {
  if (name.size() > longest_name) return nullptr;
  const char* best = nullptr;
  size_t best_distance = std::max<size_t>(2, name.size() / 4) + 1;
  for (SettingRow* row : rows) {
    if (row->text().level == SettingLevel::internal) continue;
    size_t distance = edit_distance(name, row->text().name);
    if (distance < best_distance) {
      best_distance = distance;
      best = row->text().name;
    }
  }
  return best;
}

namespace {

enum class Unknown { warn, leave };

// nullptr: the variable is not set, or empty.
const char* variable(const char* name) {
  const char* text = name != nullptr ? getenv(name) : nullptr;
  return text != nullptr && *text != '\0' ? text : nullptr;
}

void read_environment(Unknown unknown) {
  std::vector<SettingRow*> rows = all_settings();
  for (SettingRow* row : rows) {
    if (variable(row->text().name) != nullptr) continue;  // our own name wins
    for (const char* alias : {row->text().other_alias, row->text().alias}) {
      const char* text = variable(alias);
      if (text == nullptr) continue;
      const std::string wrong = take_alias(row, alias, text);
      if (!wrong.empty() && unknown == Unknown::warn) warn_of_alias(row, alias, wrong);
    }
  }
  constexpr std::string_view prefix = "WEFT_";
  for (char** entry = environ; entry && *entry; ++entry) {
    if (strncmp(*entry, prefix.data(), prefix.size()) != 0) continue;
    const char* equals = strchr(*entry, '=');
    if (!equals) continue;
    std::string name(*entry, static_cast<size_t>(equals - *entry));
    auto row = std::lower_bound(rows.begin(), rows.end(), name,
                                [](SettingRow* a, const std::string& b) { return a->text().name < b; });
    if (row != rows.end() && name == (*row)->text().name)
      take(*row, (*row)->text().name, equals + 1);
    else if (unknown == Unknown::warn && speaks_for_job())
      warn_unknown(name, rows);
  }
}

constinit std::once_flag loaded;

}  // namespace

void load_settings() {
  std::call_once(loaded, read_environment, Unknown::warn);
}

void load_known_settings() {
  std::call_once(loaded, read_environment, Unknown::leave);
}

}  // namespace weft::base
