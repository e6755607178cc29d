// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Settings: one typed row per setting, written beside the code that uses it. The row gives the parser, `weft info`,
// the manual page and MPI_T's control variables; there is no second list. A row is a constant-initialised object that
// the linker collects.
//
//   static constinit base::IntSetting eager_limit{
//       {.name = "WEFT_EAGER_LIMIT", .help = "largest message sent without asking the receiver first",
//        .unit = base::Unit::bytes, .level = base::SettingLevel::basic}, 8192, {0, 131072}};
//   WEFT_SETTING(eager_limit);
//
// Values are read with value(), which is one load. Text accepts suffixes K, M, G, T for bytes; us, ms, s for times. An
// empty value means the default, as if the variable were not set. Numbers, switches and choices may be set by a tool
// while other threads read them.

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::base {

enum class Unit : uint8_t { none, bytes, microseconds, seconds, count };
enum class SettingLevel : uint8_t { basic, expert, internal };  // internal: from the launcher to ranks, not listed
enum class ValueSource : uint8_t { fallback, environment, program };  // where the value came from

enum class Change : uint8_t { never, before_start, always };  // until when a tool may set it, so that it acts

// Its subject: variables and events of tools are grouped the same way.
enum class Subject : uint8_t { general, start, messages, lanes, memory, waiting };
inline constexpr int subject_count = 6;

// The form of the value.
enum class SettingForm : uint8_t { number, on_off, choice, text };

// A value that an alias has in the library that it comes from, and ours for it.
struct AliasWord {
  const char* word;
  const char* ours;
};

struct SettingText {
  const char* name;  // WEFT_...
  const char* help;  // one line
  Unit unit = Unit::none;
  SettingLevel level = SettingLevel::expert;
  const char* alias = nullptr;  // a name other libraries use for it, accepted too
  const char* other_alias = nullptr;
  Subject subject = Subject::general;
  Change change = Change::never;
  bool alike = false;                                // all ranks of a job must have the same value
  std::span<const AliasWord> alias_words = {};       // where the two differ
  std::string (*wrong)(std::string_view) = nullptr;  // of a text: why it cannot be used, or nothing
};

class SettingRow {
 public:
  constexpr explicit SettingRow(const SettingText& text) : text_(text) {}
  const SettingText& text() const { return text_; }
  ValueSource source() const { return source_; }
  // The environment variable that gave the value, which may be an alias; otherwise the setting's name.
  const char* variable() const { return variable_ != nullptr ? variable_ : text_.name; }
  bool by_alias() const { return variable_ != nullptr; }
  virtual std::string shown() const = 0;  // the value as a user would write it
  virtual std::string shown_default() const = 0;
  virtual std::string shown_range() const = 0;  // "0 to 131072", "on or off", "global, object or hot"
  // Takes the value from text; an empty result means taken, otherwise it is the reason why not.
  [[nodiscard]] virtual std::string parse(std::string_view text) = 0;
  void mark(ValueSource source, const char* alias = nullptr) {
    source_ = source;
    variable_ = alias;
  }

  // The value without its type: a number, 1 and 0 for on and off, the place of a choice among the words(). Texts have
  // none of these.
  virtual SettingForm form() const = 0;
  virtual int64_t number() const { return 0; }
  virtual std::span<const char* const> words() const { return {}; }
  // Takes such a value from the program; false when it is none of this row.
  [[nodiscard]] virtual bool set_number(int64_t) { return false; }

 protected:
  ~SettingRow() = default;

 private:
  SettingText text_;
  ValueSource source_ = ValueSource::fallback;
  const char* variable_ = nullptr;  // an alias, where that gave the value
};

struct Range {
  int64_t low;
  int64_t high;
};

// Integers, byte counts and times.
class IntSetting final : public SettingRow {
 public:
  constexpr IntSetting(const SettingText& text, int64_t fallback, Range range)
      : SettingRow(text), value_(fallback), default_(fallback), range_(range) {}
  int64_t value() const { return value_.load(std::memory_order_relaxed); }
  void set(int64_t value) {
    value_.store(value, std::memory_order_relaxed);
    mark(ValueSource::program);
  }
  SettingForm form() const override { return SettingForm::number; }
  int64_t number() const override { return value(); }
  [[nodiscard]] bool set_number(int64_t number) override;
  std::string shown() const override;
  std::string shown_default() const override;
  std::string shown_range() const override;
  [[nodiscard]] std::string parse(std::string_view text) override;

 private:
  std::atomic<int64_t> value_;
  int64_t default_;
  Range range_;
};

class BoolSetting final : public SettingRow {
 public:
  constexpr BoolSetting(const SettingText& text, bool fallback)
      : SettingRow(text), value_(fallback), default_(fallback) {}
  bool value() const { return value_.load(std::memory_order_relaxed); }
  SettingForm form() const override { return SettingForm::on_off; }
  int64_t number() const override { return value() ? 1 : 0; }
  std::span<const char* const> words() const override;
  [[nodiscard]] bool set_number(int64_t number) override;
  std::string shown() const override;
  std::string shown_default() const override;
  std::string shown_range() const override;
  [[nodiscard]] std::string parse(std::string_view text) override;

 private:
  std::atomic<bool> value_;
  bool default_;
};

// One of a few words; value() is the index in `choices`.
class ChoiceSetting final : public SettingRow {
 public:
  constexpr ChoiceSetting(const SettingText& text, int fallback, const char* const* choices, int count)
      : SettingRow(text), value_(fallback), default_(fallback), choices_(choices), count_(count) {}
  int value() const { return value_.load(std::memory_order_relaxed); }
  SettingForm form() const override { return SettingForm::choice; }
  int64_t number() const override { return value(); }
  std::span<const char* const> words() const override { return {choices_, static_cast<size_t>(count_)}; }
  [[nodiscard]] bool set_number(int64_t number) override;
  std::string shown() const override;
  std::string shown_default() const override;
  std::string shown_range() const override;
  [[nodiscard]] std::string parse(std::string_view text) override;

 private:
  std::atomic<int> value_;
  int default_;
  const char* const* choices_;
  int count_;
};

// Free text (a list of cores, a fault plan); its user checks it.
class TextSetting final : public SettingRow {
 public:
  constexpr explicit TextSetting(const SettingText& text) : SettingRow(text) {}
  const char* value() const { return value_; }  // "" when not given
  SettingForm form() const override { return SettingForm::text; }
  std::string shown() const override;
  std::string shown_default() const override;
  std::string shown_range() const override;
  [[nodiscard]] std::string parse(std::string_view text) override;

 private:
  const char* value_ = "";
};

// Collects a row at link time.
#define WEFT_SETTING(row) \
  [[gnu::used, gnu::section("weft_settings")]] static constinit ::weft::base::SettingRow* const row##_entry = &row

// A whole number as a user writes it, in the unit's own measure: "64K" bytes, "5ms" as 5000 microseconds. Returns what
// is wrong, or an empty text when `value` was set.
[[nodiscard]] std::string parse_number(std::string_view text, Unit unit, int64_t& value);

// Text of unknown origin as it may be printed: in quotes, shortened, without control characters.
std::string quoted(std::string_view text);

// Returns a file's path as a person knows it: in quotes, in its UTF-8, without control characters. A path that is
// longer than 256 bytes loses its middle, as the last part says which file it is.
std::string quoted_path(std::string_view path);

// How many bytes of a text in UTF-8, at most `most`, are whole characters.
size_t whole_characters(std::string_view text, size_t most);

// All rows of this binary, sorted by name.
std::vector<SettingRow*> all_settings();

// Reads the environment once (later calls do nothing; threads may call at the same time). A value out of range or not
// understood ends the program with a message that prints the range; an unknown WEFT_ name warns and suggests the
// nearest. An alias is meant for another library too: one that cannot be used warns, and the default stays.
void load_settings();

// Reads it likewise for programs that have only some of the rows, such as mpiexec: they do not judge names that they do
// not know.
void load_known_settings();

// The name of `rows` nearest to `name` by edit distance; nullptr when none is near enough to be meant.
const char* nearest_setting(std::string_view name, const std::vector<SettingRow*>& rows);

}  // namespace weft::base
