// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// weft info --chapter [N]: the functions of MPI-5.0 that are there, by chapter, as abi/implemented.txt has them.
#include <charconv>
#include <cstdio>
#include <map>
#include <sstream>
#include <string_view>

#include "base/setting.hpp"
#include "weft/commands.hpp"
#include "weft/json_object.hpp"

namespace weft::tool {

extern const char* const implemented_functions;

namespace {

struct Chapter {
  std::string titles;
  Words functions;
};

constexpr std::string_view head = "# Chapter ";

// Lines are names, below lines `# Chapter N: title`; a chapter may have several of these.
std::map<int, Chapter> read_chapters() {
  std::map<int, Chapter> found;
  Chapter* current = nullptr;
  std::istringstream text(implemented_functions);
  for (std::string line; std::getline(text, line);) {
    if (line.rfind(head, 0) == 0) {
      int number = 0;
      const char* const end = std::from_chars(line.data() + head.size(), line.data() + line.size(), number).ptr;
      current = &found[number];
      if (!current->titles.empty()) current->titles.append("; ");
      current->titles.append(line, static_cast<size_t>(end - line.data()) + 2);
    } else if (current != nullptr && line.rfind("MPI_", 0) == 0) {
      current->functions.push_back(line);
    }
  }
  return found;
}

std::string as_json(int number, const Chapter& chapter) {
  return JsonObject()
      .whole("chapter", number)
      .text("title", chapter.titles)
      .texts("functions", chapter.functions)
      .json();
}

}  // namespace

int info_chapter(const std::string& word, bool json) {
  const std::map<int, Chapter> chapters = read_chapters();
  if (json && word.empty()) {
    std::vector<std::string> all;
    all.reserve(chapters.size());
    for (const auto& [number, chapter] : chapters) all.push_back(as_json(number, chapter));
    return puts(json_list(all).c_str()) < 0 ? 1 : 0;
  }
  if (word.empty()) {
    puts("Functions of MPI-5.0 that are there, by the chapters that define them:");
    size_t all = 0;
    for (const auto& [number, chapter] : chapters) {
      printf("%4d  %3zu  %s\n", number, chapter.functions.size(), chapter.titles.c_str());
      all += chapter.functions.size();
    }
    printf("      %3zu  in all; weft info --chapter N names them\n", all);
    return 0;
  }
  for (const auto& [number, chapter] : chapters) {
    if (std::to_string(number) != word) continue;
    if (json) return puts(as_json(number, chapter).c_str()) < 0 ? 1 : 0;
    printf("Chapter %d, %s: %zu functions\n", number, chapter.titles.c_str(), chapter.functions.size());
    for (const std::string& name : chapter.functions) printf("  %s\n", name.c_str());
    return 0;
  }
  fprintf(stderr,
          "weft: info: no functions are defined by chapter %s; weft info --chapter lists those that define some\n",
          base::quoted(word).c_str());
  return 2;
}

}  // namespace weft::tool
