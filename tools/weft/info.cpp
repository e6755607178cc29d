// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>

#include "base/cpus.hpp"
#include "base/setting.hpp"
#include "core/describe.hpp"
#include "topo/machine.hpp"
#include "weft/commands.hpp"
#include "weft/paths.hpp"

namespace weft::tool {
namespace {

using base::Level;
using base::SettingRow;

const char* name_of(base::Source source) {
  switch (source) {
    case base::Source::environment:
      return "environment";
    case base::Source::program:
      return "program";
    default:
      return "default";
  }
}

std::string or_none(const std::string& text) {
  return text.empty() ? "(none)" : text;
}

void list_settings(bool all) {
  printf("%-32s %-12s %-12s %-12s %s\n", "name", "value", "default", "source", "range");
  for (const SettingRow* row : base::all_settings()) {
    Level level = row->text().level;
    if (level == Level::internal || (level == Level::expert && !all)) continue;
    printf("%-32s %-12s %-12s %-12s %s\n", row->text().name, or_none(row->shown()).c_str(),
           or_none(row->shown_default()).c_str(), name_of(row->source()), row->shown_range().c_str());
    printf("    %s", row->text().help);
    if (row->text().alias) printf(" (also %s)", row->text().alias);
    if (row->text().other_alias) printf(" (also %s)", row->text().other_alias);
    putchar('\n');
  }
  if (!all) puts("\nSettings for experts: weft info --all");
}

// Text as roff shows it unchanged.
std::string roff(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '.' && out.empty())
      out += "\\&.";
    else if (c == '\'')
      out += "\\(aq";
    else
      out += c;
  }
  return out;
}

void write_section(const char* title, Level level) {
  printf(".SH %s\n", title);
  for (const SettingRow* row : base::all_settings()) {
    if (row->text().level != level) continue;
    printf(".TP\n.B %s\n", roff(row->text().name).c_str());
    printf("%s.\n", roff(row->text().help).c_str());
    printf("Range: %s. Default: %s.\n", roff(row->shown_range()).c_str(), roff(or_none(row->shown_default())).c_str());
    if (row->text().alias) printf("Also accepted as %s.\n", roff(row->text().alias).c_str());
    if (row->text().other_alias) printf("Also accepted as %s.\n", roff(row->text().other_alias).c_str());
  }
}

// From the rows as they are compiled in: the environment is not looked at.
void write_manual() {
  puts(".\\\" Written by \"weft info --man\" from the settings' rows.");
  puts(".TH WEFT\\-SETTINGS 7 \"\" \"Weft " WEFT_VERSION "\" \"Weft\"");
  puts(".SH NAME\nweft\\-settings \\- environment variables of the Weft MPI library");
  puts(".SH DESCRIPTION");
  puts("Settings are environment variables, read once when a program starts.");
  puts("Numbers of bytes take the suffixes K, M, G and T; times take us, ms and s.");
  puts("A value out of range ends the program with a message; a name that is not known is warned about.");
  puts("An empty value means the default.");
  puts("The command\n.B weft info\nshows the values in effect.");
  write_section("SETTINGS", Level::basic);
  write_section("SETTINGS FOR EXPERTS", Level::expert);
  puts(".SH SEE ALSO\n.BR mpiexec (1)");
}

void show_machine() {
  topo::Machine machine = topo::this_machine();
  printf("NUMA domains %d, cores %zu, processors %d (%s)\n", machine.domains, machine.cores.size(),
         machine.allowed.count(), base::shown_cpu_list(machine.allowed).c_str());
  if (machine.quota) printf("control groups grant the time of %d processors\n", machine.quota);
  printf("usable at the same time: %d\n", base::usable_cpus());
  for (int domain = 0; domain < machine.domains; ++domain) {
    printf("domain %d:", domain);
    for (const topo::Core& core : machine.cores) {
      if (core.domain != domain) continue;
      base::CpuSet set;
      for (int cpu : core.processors) set.add(cpu);
      printf(" {%s}", base::shown_cpu_list(set).c_str());
    }
    putchar('\n');
  }
}

// The path of each size of message in a job of `ranks` ranks on this host, under the settings in force.
void show_paths(int ranks) {
  printf("Paths of a message between ranks of one host, in a job of %d:\n", ranks);
  for (const core::PathRow& path : core::describe_paths(ranks)) {
    printf("%-11s %s\n            %s: %s\n", path.name.c_str(), path.range.c_str(), path.what.c_str(),
           path.cost.c_str());
  }
  printf("Between hosts, of messages in one piece: %s.\n", core::describe_hosts().c_str());
}

}  // namespace

int info(const Words& words) {
  bool all = false;
  bool paths = false;
  std::string between;
  if (words.size() == 1 && words[0] == "net") return info_net();
  if (words.size() == 1 && words[0] == "files") return info_files();
  if (!words.empty() && words[0] == "coll") return info_coll(Words(words.begin() + 1, words.end()));
  if (!words.empty() && words[0] == "devices") return info_devices(Words(words.begin() + 1, words.end()));
  if (!words.empty() && words[0] == "memory") return info_memory(Words(words.begin() + 1, words.end()));
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--all")
      all = true;
    else if (word == "--between" && i + 1 < words.size())
      between = words[++i];
    else if (word == "--paths")
      paths = true;
    else if (word == "--topo")
      return show_machine(), 0;
    else if (word == "--man")
      return write_manual(), 0;
    else if (word == "--chapter")
      return info_chapter(i + 1 < words.size() ? words[i + 1] : std::string());
    else {
      fprintf(stderr,
              "weft: info does not know %s: it takes --all, --paths [--between A,B], --topo, --man, --chapter [N], "
              "net, coll, "
              "devices, files or memory\n",
              base::quoted(word).c_str());
      return 2;
    }
  }
  base::load_settings();
  if (!between.empty()) {
    base::Problem problem;
    if (show_between(between, problem)) return 0;
    fprintf(stderr, "weft: info: %s\n", base::describe(problem).c_str());
    return 1;
  }
  if (paths) return show_paths(2), 0;
  list_settings(all);
  return 0;
}

}  // namespace weft::tool
