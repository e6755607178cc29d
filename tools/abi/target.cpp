// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "abi/target.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "abi/elf.hpp"
#include "abi/program.hpp"

namespace weft::abi {
namespace {

using CommandWords = std::vector<std::string>;
constexpr int most_starters = 16;  // in front of each other

// A program that starts the one that its words name. Options begin with a dash; those of `valued` take the next word.
// Afterwards come `skipped` words of its own.
struct Starter {
  std::string_view name;
  std::string_view valued;  // between blanks
  size_t skipped = 0;
  bool assigns = false;       // words with "=" are variables
  bool subcommand = false;    // its first word is one, before the options
  std::string_view end = {};  // the option before the program, if it is given
};

constexpr Starter starters[] = {
    {.name = "env", .valued = " -u --unset -C --chdir ", .assigns = true},
    {.name = "nice", .valued = " -n --adjustment "},
    {.name = "ionice", .valued = " -c -n --class --classdata "},
    {.name = "nohup", .valued = ""},
    {.name = "setsid", .valued = ""},
    {.name = "stdbuf", .valued = " -i -o -e --input --output --error "},
    {.name = "timeout", .valued = " -k -s --kill-after --signal ", .skipped = 1},
    {.name = "time", .valued = " -f -o --format --output "},
    {.name = "taskset", .valued = "", .skipped = 1},
    {.name = "chrt", .valued = " -T -P -D ", .skipped = 1},
    {.name = "numactl", .valued = " -i -w -p -P -m -N -C --interleave --membind --cpunodebind --physcpubind "},
    {.name = "hwloc-bind", .valued = " --mempolicy ", .skipped = 1},
    {.name = "prlimit", .valued = ""},
    {.name = "setarch", .valued = "", .skipped = 1},
    {.name = "gdb", .valued = " -x -ex -ix -iex -d -cd -s -e -c --command --eval-command ", .end = "--args"},
    {.name = "gdbserver", .valued = "", .skipped = 1},
    {.name = "lldb", .valued = " -o -O -s -S -k -K "},
    {.name = "rr", .valued = "", .subcommand = true},
    {.name = "valgrind", .valued = ""},
    {.name = "heaptrack", .valued = " -o --output "},
    {.name = "strace", .valued = " -a -b -e -E -I -o -O -p -P -s -S -u -U -X "},
    {.name = "ltrace", .valued = " -a -A -D -e -F -l -n -o -p -s -u -w -x "},
    {.name = "perf",
     .valued = " -e -o -F -c -C -m -p -t -G -k -D -I -x -r --event --output --freq --count --cpu ",
     .subcommand = true},
};

std::string_view last_part(const std::string& path) {
  return std::string_view(path).substr(path.rfind('/') + 1);
}

bool is_shell(std::string_view name) {
  constexpr std::string_view shells[] = {"sh", "bash", "dash", "zsh", "ksh", "mksh", "csh", "tcsh", "fish", "busybox"};
  return std::find(std::begin(shells), std::end(shells), name) != std::end(shells);
}

// python, python3, python3.13t, pypy3.10
bool is_python(std::string_view name) {
  const bool is_pypy = name.starts_with("pypy");
  if (!is_pypy && !name.starts_with("python")) return false;
  return name.substr(is_pypy ? 4 : 6).find_first_not_of("0123456789.t") == std::string_view::npos;
}

bool is_assignment(const std::string& word) {
  const size_t equals = word.find('=');
  return equals != std::string::npos && equals != 0;
}

// The kernel hands the rest of "#!/usr/bin/env -S python3 -u" to env as one word.
void split_option_of_env(CommandWords& words) {
  if (words.size() < 2 || !words[1].starts_with("-S")) return;
  std::istringstream text(words[1].substr(2));
  const CommandWords split{std::istream_iterator<std::string>(text), {}};
  words.erase(words.begin() + 1);
  words.insert(words.begin() + 1, split.begin(), split.end());
}

// Only regular files are read: the shell would not get again what a pipe has given.
std::string text_of_file(const std::string& path) {
  constexpr size_t longest = 64 << 10;
  struct stat s;
  if (stat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) return {};
  std::string text(longest, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

// The words of a shell: its options, and then a text behind -c, or the file of a script.
std::string text_of_shell(const CommandWords& words, const std::string& folder) {
  bool is_text = false;
  for (size_t at = 1; at < words.size(); ++at) {
    const std::string& word = words[at];
    const bool is_option = word.size() > 1 && (word[0] == '-' || word[0] == '+');
    if (is_option && word[1] != '-' && word.find('c') != std::string::npos) is_text = true;
    if (is_option && word[1] != '-' && (word.back() == 'o' || word.back() == 'O')) ++at;  // bash -eo pipefail
    if (is_option) continue;
    if (is_text) return word;
    std::string in_folder = folder;
    in_folder.append(in_folder.empty() ? "" : "/").append(word);
    std::string text = text_of_file(in_folder);
    return text.empty() ? text_of_file(word) : text;  // target_of() has put the folder before the file of a script
  }
  return {};
}

// The words behind a starter and its own; empty: it starts none.
CommandWords behind(const Starter& starter, const CommandWords& words) {
  size_t at = starter.subcommand ? 2 : 1;
  const auto end = starter.end.empty() ? words.end() : std::find(words.begin(), words.end(), starter.end);
  if (end != words.end()) at = static_cast<size_t>(end - words.begin()) + 1;
  while (at < words.size() && words[at].size() > 1 && words[at][0] == '-') {
    const std::string& option = words[at++];
    if (option == "--") break;
    if (starter.valued.find(" " + option + " ") != std::string_view::npos) ++at;
  }
  while (starter.assigns && at < words.size() && is_assignment(words[at])) ++at;
  at += starter.skipped;
  return at < words.size() ? CommandWords(words.begin() + static_cast<std::ptrdiff_t>(at), words.end())
                           : CommandWords();
}

}  // namespace

Target target_of(std::vector<std::string> words, const std::string& folder) {
  for (int turn = 0; turn < most_starters && !words.empty(); ++turn) {
    const std::string file = file_of_program(words[0], folder);
    const std::string_view name = last_part(words[0]);
    if (file.empty()) return {Runs::unknown, file, {}};
    if (is_shell(name)) return {Runs::unknown, file, words};
    if (is_python(name)) return {Runs::python, file, {}};
    const auto* const starter =
        std::find_if(std::begin(starters), std::end(starters), [&](const Starter& s) { return s.name == name; });
    if (starter != std::end(starters)) {
      if (name == "env") split_option_of_env(words);
      CommandWords rest = behind(*starter, words);
      if (rest.empty()) return {Runs::unknown, file, {}};
      words = std::move(rest);
      continue;
    }
    bool script = false;
    CommandWords line = interpreter_of(file, script);
    if (!script) return {Runs::program, file, {}};
    if (line.empty()) return {Runs::unknown, file, {"sh", file}};  // as execvp() does
    words[0] = file;
    words.insert(words.begin(), line.begin(), line.end());
  }
  return {};
}

std::vector<std::string> programs_of_shell(const std::vector<std::string>& shell, const std::string& folder) {
  constexpr size_t most = 64;
  constexpr std::string_view separators(" \t\r\n;|&()<>{}`'\"\0", 17);
  const std::string text = text_of_shell(shell, folder);
  std::vector<std::string> files;
  for (size_t begin = 0, end = 0; begin < text.size() && files.size() < most; begin = end + 1) {
    end = std::min(text.find_first_of(separators, begin), text.size());
    if (end == begin) continue;
    const std::string file = file_of_program(text.substr(begin, end - begin), folder);
    if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  }
  return files;
}

}  // namespace weft::abi
