// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>

#include "base/cpus.hpp"
#include "base/setting.hpp"
#include "core/diagnose/describe.hpp"
#include "core/message/path.hpp"
#include "topo/machine.hpp"
#include "weft/commands.hpp"
#include "weft/json_object.hpp"
#include "weft/paths.hpp"

namespace weft::tool {
namespace {

using base::SettingLevel;
using base::SettingRow;

const char* name_of(base::ValueSource source) {
  switch (source) {
    case base::ValueSource::environment:
      return "environment";
    case base::ValueSource::program:
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
    SettingLevel level = row->text().level;
    if (level == SettingLevel::internal || (level == SettingLevel::expert && !all)) continue;
    printf("%-32s %-12s %-12s %-12s %s\n", row->text().name, or_none(row->shown()).c_str(),
           or_none(row->shown_default()).c_str(), name_of(row->source()), row->shown_range().c_str());
    printf("    %s", row->text().help);
    if (row->text().alias) printf(" (also %s)", row->text().alias);
    if (row->text().other_alias) printf(" (also %s)", row->text().other_alias);
    putchar('\n');
  }
  if (!all) puts("\nSettings for experts: weft info --all");
}

void write_settings(bool all) {
  std::vector<std::string> settings;
  for (const SettingRow* row : base::all_settings()) {
    const base::SettingText& text = row->text();
    if (text.level == SettingLevel::internal || (text.level == SettingLevel::expert && !all)) continue;
    std::vector<std::string> others;
    for (const char* other : {text.alias, text.other_alias}) {
      if (other != nullptr) others.emplace_back(other);
    }
    settings.push_back(JsonObject()
                           .text("name", text.name)
                           .text("value", row->shown())
                           .text("default", row->shown_default())
                           .text("source", name_of(row->source()))
                           .text("range", row->shown_range())
                           .text("help", text.help)
                           .texts("also", others)
                           .flag("expert", text.level == SettingLevel::expert)
                           .json());
  }
  puts(json_list(settings).c_str());
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

void write_section(const char* title, SettingLevel level) {
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
  write_section("SETTINGS", SettingLevel::basic);
  write_section("SETTINGS FOR EXPERTS", SettingLevel::expert);
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

void write_machine() {
  const topo::Machine machine = topo::this_machine();
  std::vector<std::string> cores;
  for (const topo::Core& core : machine.cores) {
    std::vector<std::string> processors;
    for (const int cpu : core.processors) processors.push_back(std::to_string(cpu));
    cores.push_back(JsonObject().whole("domain", core.domain).value("processors", json_list(processors, ", ")).json());
  }
  puts(JsonObject()
           .whole("domains", machine.domains)
           .text("processors", base::shown_cpu_list(machine.allowed))
           .whole("quota", machine.quota)
           .whole("usable", base::usable_cpus())
           .list("cores", cores)
           .json()
           .c_str());
}

// The path of each size of message in a job of `ranks` ranks on this host, under the settings in force.
void show_paths(int ranks) {
  printf("Paths of a message between ranks of one host, in a job of %d:\n", ranks);
  for (const core::PathRow& path : core::describe_paths(ranks)) {
    printf("%-11s %s\n            %s: %s\n", path.name.c_str(), path.range.c_str(), path.what.c_str(),
           path.cost.c_str());
  }
  printf("Between hosts, of messages in one piece: %s.\n", core::describe_hosts().c_str());
  puts("The data of a message above E1 come by the first of these methods whose condition holds:");
  for (const core::GetMethod& method : core::get_methods) {
    printf("  %-19s  %s: %s\n", method.name, method.condition, method.cost);
  }
}

void write_paths(int ranks) {
  std::vector<std::string> rows, methods;
  for (const core::PathRow& path : core::describe_paths(ranks)) {
    rows.push_back(JsonObject()
                       .text("path", path.name)
                       .text("sizes", path.range)
                       .text("what", path.what)
                       .text("cost", path.cost)
                       .json());
  }
  for (const core::GetMethod& method : core::get_methods) {
    methods.push_back(
        JsonObject().text("method", method.name).text("condition", method.condition).text("cost", method.cost).json());
  }
  puts(JsonObject()
           .whole("ranks", ranks)
           .list("paths", rows)
           .text("between_hosts", core::describe_hosts())
           .list("methods", methods)
           .json()
           .c_str());
}

}  // namespace

int info(const Words& given) {
  constexpr const char* info_usage =
      "usage: weft info [--all] [--json]\n"
      "       weft info --paths | --between A,B | --topo | --man | --chapter [N] [--json]\n"
      "       weft info net | files | devices [--json]\n"
      "       weft info coll | memory [options]\n\n"
      "Shows the settings with the values in effect, and what follows from them.\n\n"
      "  --all          settings for experts too\n"
      "  --paths        which path a message of which size takes\n"
      "  --between A,B  these paths, measured between two processors\n"
      "  --topo         the cores and NUMA domains that programs may use here\n"
      "  --man          the settings as a manual page\n"
      "  --chapter N    functions of a chapter of the standard, and which of them there are\n"
      "  net            networks to other hosts\n"
      "  files          how files are read and written here\n"
      "  devices        accelerators\n"
      "  coll, memory   algorithms of collective operations, memory of NUMA nodes; --help says more\n"
      "  --json         as JSON, all but --man\n";
  bool all = false;
  bool paths = false;
  std::string between;
  Words words = given;
  const bool json = std::erase(words, "--json") > 0;
  const bool has_own_help = !words.empty() && (words[0] == "coll" || words[0] == "memory");
  const auto asks = [](const std::string& word) { return word == "--help" || word == "-h"; };
  if (!has_own_help && std::any_of(words.begin(), words.end(), asks)) return fputs(info_usage, stdout) < 0 ? 1 : 0;
  const auto rest = [&] { return Words(words.begin() + 1, words.end()); };
  if (words.size() == 1 && words[0] == "net") return info_net(json);
  if (words.size() == 1 && words[0] == "files") return info_files(json);
  if (!words.empty() && words[0] == "coll") return info_coll(rest(), json);
  if (!words.empty() && words[0] == "devices") return info_devices(rest(), json);
  if (!words.empty() && words[0] == "memory") return info_memory(rest(), json);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--all")
      all = true;
    else if (word == "--between" && i + 1 < words.size())
      between = words[++i];
    else if (word == "--paths")
      paths = true;
    else if (word == "--topo")
      return json ? write_machine() : show_machine(), 0;
    else if (word == "--man" && !json)
      return write_manual(), 0;
    else if (word == "--chapter")
      return info_chapter(i + 1 < words.size() ? words[i + 1] : std::string(), json);
    else {
      fprintf(stderr,
              "weft: info does not know %s: it takes --all, --paths [--between A,B], --topo, --man, --chapter [N], "
              "net, coll, "
              "devices, files or memory, and --json with all but --man\n",
              base::quoted(word).c_str());
      return 2;
    }
  }
  base::load_settings();
  if (!between.empty()) {
    base::Problem problem;
    if (show_between(between, json, problem)) return 0;
    fprintf(stderr, "weft: info: %s\n", base::describe(problem).c_str());
    return 1;
  }
  if (paths) return json ? write_paths(2) : show_paths(2), 0;
  json ? write_settings(all) : list_settings(all);
  return 0;
}

}  // namespace weft::tool
