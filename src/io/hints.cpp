// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/hints.hpp"

#include <charconv>

#include "base/setting.hpp"

namespace weft::io {
namespace {

constexpr const char* choices[] = {"automatic", "enable", "disable"};

struct ChoiceRow {
  const char* key;
  HintChoice Hints::*value;
};
constexpr ChoiceRow choice_rows[] = {
    {"romio_cb_read", &Hints::collective_reads},
    {"romio_cb_write", &Hints::collective_writes},
    {"romio_ds_read", &Hints::sieve_reads},
    {"romio_ds_write", &Hints::sieve_writes},
};

struct NumberRow {
  const char* key;
  int64_t Hints::*value;
  int64_t least;
  int64_t most;
  base::Unit unit;
};
constexpr int64_t tib = int64_t{1} << 40;
constexpr NumberRow number_rows[] = {
    {"cb_nodes", &Hints::aggregators, 1, INT32_MAX, base::Unit::none},
    {"cb_buffer_size", &Hints::collective_buffer, 4096, tib, base::Unit::bytes},
    {"ind_rd_buffer_size", &Hints::read_buffer, 512, tib, base::Unit::bytes},
    {"ind_wr_buffer_size", &Hints::write_buffer, 512, tib, base::Unit::bytes},
    {"striping_unit", &Hints::block, 1, tib, base::Unit::bytes},
};

struct StripingRow {
  NumberRow number;
  int64_t Striping::*value;
};
constexpr StripingRow striping_rows[] = {
    {{"striping_factor", nullptr, 1, UINT16_MAX, base::Unit::none}, &Striping::count},
    {{"start_iodevice", nullptr, 0, UINT16_MAX, base::Unit::none}, &Striping::first},
};

bool read_choice(const std::string& text, HintChoice& value) {
  for (int i = 0; i < 3; ++i) {
    if (text == choices[i]) {
      value = static_cast<HintChoice>(i);
      return true;
    }
  }
  return false;
}

bool read_truth(const std::string& text, bool& value) {
  if (text != "true" && text != "false") return false;
  value = text == "true";
  return true;
}

bool read_number(const NumberRow& row, const std::string& text, int64_t& value) {
  int64_t number = 0;
  if (!base::parse_number(text, row.unit, number).empty() || number < row.least || number > row.most) return false;
  value = number;
  return true;
}

// "*:2": so many on each host; "*" and "*:*": any number. Names of hosts are not looked at.
bool read_config(const std::string& text, int64_t& per_host) {
  if (text.empty() || text[0] != '*') return false;
  if (text == "*" || text == "*:*") {
    per_host = INT32_MAX;
    return true;
  }
  int64_t number = 0;
  const char* end = text.data() + text.size();
  if (text.size() < 3 || text[1] != ':') return false;
  const auto [at, wrong] = std::from_chars(text.data() + 2, end, number);
  if (wrong != std::errc() || at != end || number < 1 || number > INT32_MAX) return false;
  per_host = number;
  return true;
}

bool read_permissions(const std::string& text, int64_t& permissions) {
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, wrong] = std::from_chars(text.data(), end, number, 8);
  if (wrong != std::errc() || at != end || number < 0 || number > 07777) return false;
  permissions = number;
  return true;
}

std::string octal(int64_t number) {
  char text[24] = "0";
  const auto [end, wrong] = std::to_chars(text + 1, text + sizeof text - 1, number, 8);
  return {text, end};
}

}  // namespace

std::vector<std::string> take_hints(Hints& hints, const FindHint& find, bool opening) {
  std::vector<std::string> wrong;
  auto take = [&](const char* key, auto&& read) {
    const std::optional<std::string> text = find(key);
    if (text && !read(*text)) wrong.emplace_back(key);
  };
  for (const ChoiceRow& row : choice_rows) {
    take(row.key, [&](const std::string& text) { return read_choice(text, hints.*row.value); });
  }
  for (const NumberRow& row : number_rows) {
    take(row.key, [&](const std::string& text) { return read_number(row, text, hints.*row.value); });
  }
  // The standard's names for what ROMIO has three words for.
  take("collective_buffering", [&](const std::string& text) {
    bool wanted = false;
    if (!read_truth(text, wanted)) return false;
    hints.collective_reads = hints.collective_writes = wanted ? HintChoice::enable : HintChoice::disable;
    return true;
  });
  take("cb_config_list", [&](const std::string& text) { return read_config(text, hints.per_host); });
  take("file_perm", [&](const std::string& text) { return read_permissions(text, hints.permissions); });
  if (!opening) return wrong;
  take("direct_read", [&](const std::string& text) { return read_truth(text, hints.direct_reads); });
  take("direct_write", [&](const std::string& text) { return read_truth(text, hints.direct_writes); });
  for (const StripingRow& row : striping_rows) {
    take(row.number.key,
         [&](const std::string& text) { return read_number(row.number, text, hints.striping.*row.value); });
  }
  return wrong;
}

void show_hints(const Hints& hints, const ShowHint& show) {
  for (const ChoiceRow& row : choice_rows) show(row.key, choices[static_cast<int>(hints.*row.value)]);
  for (const NumberRow& row : number_rows) {
    if (hints.*row.value != 0) show(row.key, std::to_string(hints.*row.value));
  }
  if (hints.per_host == INT32_MAX) {
    show("cb_config_list", "*:*");
  } else if (hints.per_host != 0) {
    show("cb_config_list", "*:" + std::to_string(hints.per_host));
  }
  if (hints.permissions >= 0) show("file_perm", octal(hints.permissions));
  if (hints.direct_reads) show("direct_read", "true");
  if (hints.direct_writes) show("direct_write", "true");
  if (hints.striping.count != 0) show("striping_factor", std::to_string(hints.striping.count));
  if (hints.striping.first >= 0) show("start_iodevice", std::to_string(hints.striping.first));
  if (const std::string outcome = describe(hints.striping); !outcome.empty()) show("weft_striping", outcome);
}

}  // namespace weft::io
