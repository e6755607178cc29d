// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/setting.hpp"

#include "base/cpus.hpp"
#include "fuzz.hpp"

using namespace weft;

namespace {

static constinit base::IntSetting bytes{
    {.name = "WEFT_BYTES", .help = "", .unit = base::Unit::bytes}, 64, {0, 1 << 30}};
static constinit base::IntSetting delay{
    {.name = "WEFT_DELAY", .help = "", .unit = base::Unit::microseconds}, 5, {-1, 90000000}};
static constinit base::BoolSetting flag{{.name = "WEFT_FLAG", .help = ""}, true};
constexpr const char* words[] = {"global", "object", "hot"};
static constinit base::ChoiceSetting choice{{.name = "WEFT_CHOICE", .help = ""}, 1, words, 3};

void one_int(base::IntSetting& setting, const std::string& text, int64_t low, int64_t high) {
  int64_t before = setting.value();
  std::string wrong = setting.parse(text);
  FUZZ_CHECK(wrong.size() < 300);
  if (!wrong.empty()) {
    FUZZ_CHECK(setting.value() == before);
    return;
  }
  FUZZ_CHECK(setting.value() >= low && setting.value() <= high);
  int64_t value = setting.value();
  FUZZ_CHECK(setting.parse(setting.shown()).empty() && setting.value() == value);
}

void one(fuzz::Random& random, const std::string& text) {
  one_int(bytes, text, 0, 1 << 30);
  one_int(delay, text, -1, 90000000);
  FUZZ_CHECK(flag.parse(text).size() < 300);
  FUZZ_CHECK(choice.parse(text).size() < 300);
  FUZZ_CHECK(choice.value() >= 0 && choice.value() < 3);
  int64_t number = -77;
  auto unit = static_cast<base::Unit>(random.below(5));
  FUZZ_CHECK(base::parse_number(text, unit, number).empty() || number == -77);
  static const std::vector<base::SettingRow*> rows{&bytes, &delay, &flag, &choice};
  (void)base::nearest_setting(text, rows);
  FUZZ_CHECK(base::quoted(text).size() < 80);
  FUZZ_CHECK(base::quota_cpus(text, "/no/such/folder") == 0);
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::run(argc, argv,
                   {"0", "-1", "4096", "64K", "1G", "9223372036854775807", "250us", "5ms", "2s", "on", "off", "hot",
                    "object", "WEFT_BYTES", "WEFT_FLAG", "0::/a/b\n", "4:cpu,cpuacct:/x\n", ""},
                   one);
}
