// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "topo/layout.hpp"

#include <algorithm>
#include <map>

namespace weft::topo {
namespace {

using base::CpuSet;

constexpr size_t width = 100;

constexpr size_t columns = 5;
struct LayoutRow {
  std::string cells[columns];
};

size_t cores_in(const Machine& machine, const CpuSet& set) {
  return static_cast<size_t>(std::count_if(machine.cores.begin(), machine.cores.end(), [&](const Core& core) {
    return std::any_of(core.processors.begin(), core.processors.end(), [&](int cpu) { return set.has(cpu); });
  }));
}

// The numbers that `number` gives for cores of the set: "0", "0,1".
std::string numbers_of(const Machine& machine, const CpuSet& set, int Core::*number) {
  CpuSet seen;
  for (const Core& core : machine.cores) {
    for (int cpu : core.processors) {
      if (set.has(cpu)) seen.add(core.*number);
    }
  }
  return base::shown_cpu_list(seen);
}

LayoutRow row_of(const Machine& machine, const std::string& name, const CpuSet& set) {
  if (set.empty()) return {{name, "-", "-", "-", "not bound"}};
  return {{name, std::to_string(cores_in(machine, set)), numbers_of(machine, set, &Core::domain),
           numbers_of(machine, set, &Core::cache), base::shown_cpu_list(set)}};
}

std::string table_of(const std::vector<LayoutRow>& rows) {
  size_t widths[columns] = {};
  for (const LayoutRow& row : rows) {
    for (size_t c = 0; c < columns; ++c) widths[c] = std::max(widths[c], row.cells[c].size());
  }
  std::string text;
  for (const LayoutRow& row : rows) {
    for (size_t c = 0; c + 1 < columns; ++c) {
      text += std::string(widths[c] - row.cells[c].size(), ' ') + row.cells[c] + "  ";
    }
    text += row.cells[columns - 1] + "\n";
  }
  return text;
}

// The text for each processor: its rank, with a plus when it has further ones.
std::map<int, std::string> marks_of(const Machine& machine, const Placement& placement) {
  std::map<int, std::string> marks;
  for (const Core& core : machine.cores) {
    for (int cpu : core.processors) {
      size_t count = 0;
      size_t first = 0;
      for (size_t rank = placement.sets.size(); rank-- > 0;) {
        if (!placement.sets[rank].has(cpu)) continue;
        first = rank;
        ++count;
      }
      std::string& mark = marks[cpu];
      mark = count != 0 ? std::to_string(first) : placement.reserved.has(cpu) ? "R" : ".";
      if (count > 1) mark += '+';
    }
  }
  return marks;
}

std::string cell_of(const Core& core, const std::map<int, std::string>& marks, size_t longest) {
  std::string cell;
  for (int cpu : core.processors) {
    const std::string& mark = marks.at(cpu);
    cell += cell.empty() ? '[' : ' ';
    cell.append(longest - mark.size(), ' ');
    cell += mark;
  }
  return cell + "]";
}

std::string picture_of(const Machine& machine, const std::map<int, std::string>& marks) {
  size_t longest = 1;
  for (const auto& [cpu, mark] : marks) longest = std::max(longest, mark.size());
  std::string text;
  std::string line;
  const Core* before = nullptr;
  const auto flush = [&] {
    if (!line.empty()) text += line + "\n";
    line.clear();
  };
  for (const Core& core : machine.cores) {
    const std::string cell = cell_of(core, marks, longest);
    const bool elsewhere = before == nullptr || before->domain != core.domain || before->cache != core.cache;
    if (elsewhere || line.size() + cell.size() > width) {
      flush();
      const std::string where = "domain " + std::to_string(core.domain) + " cache " + std::to_string(core.cache) + " ";
      line = elsewhere ? where : std::string(where.size(), ' ');
    }
    line += cell;
    before = &core;
  }
  flush();
  return text;
}

}  // namespace

std::string shown_layout(const Machine& machine, const Placement& placement) {
  std::vector<LayoutRow> rows{{{"rank", "cores", "domain", "cache", "processors"}}};
  for (size_t rank = 0; rank < placement.sets.size(); ++rank) {
    rows.push_back(row_of(machine, std::to_string(rank), placement.sets[rank]));
  }
  if (!placement.reserved.empty()) rows.push_back(row_of(machine, "R", placement.reserved));
  std::string text = table_of(rows) + "\n" + picture_of(machine, marks_of(machine, placement));
  text += "\n[ ] is a core with the rank of each of its processors; + further ranks, . none";
  text += placement.reserved.empty() ? "\n" : ", R reserved\n";
  return text;
}

}  // namespace weft::topo
