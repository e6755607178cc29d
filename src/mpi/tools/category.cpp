// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Categories (MPI-5.0, 15.3.9): one for each subject that settings, performance variables and events are about, and one
// above them. They do not change while a program runs.
#include <algorithm>
#include <cstring>

#include "mpi/functions.hpp"
#include "mpi/tools/tool.hpp"

namespace weft::mpi {

namespace tool {
namespace {

using base::Subject;

struct Category {
  const char* name;
  const char* help;
  std::vector<int> controls = {};
  std::vector<int> performance = {};
  std::vector<int> event_types = {};
  std::vector<int> categories = {};
};

constexpr int root = 0;

size_t category_of(Subject subject) {
  return 1 + static_cast<size_t>(subject);
}

template <class Rows, class SubjectOf>
void sort_in(std::vector<Category>& all, std::vector<int> Category::*list, const Rows& rows, SubjectOf subject_of) {
  int index = 0;
  for (const auto& row : rows) (all[category_of(subject_of(row))].*list).push_back(index++);
}

const std::vector<Category>& categories() {
  static const auto* const all = [] {
    // In the order of base::Subject.
    auto* made = new std::vector<Category>{{"weft", "everything"},
                                           {"weft_general", "settings of no other category"},
                                           {"weft_start", "how ranks find each other"},
                                           {"weft_messages", "point-to-point messages and the paths they take"},
                                           {"weft_lanes", "lanes, and the threads that use them"},
                                           {"weft_memory", "memory shared with other ranks, and for messages"},
                                           {"weft_waiting", "waiting threads"}};
    for (int i = 0; i < base::subject_count; ++i) (*made)[root].categories.push_back(1 + i);
    sort_in(*made, &Category::controls, control_variables(), [](const auto* row) { return row->text().subject; });
    sort_in(*made, &Category::performance, performance_variables(), [](const auto& row) { return row.subject; });
    sort_in(*made, &Category::event_types, events(), [](const auto& row) { return row.subject; });
    return made;
  }();
  return *all;
}

const Category* category_at(int index) {
  return index >= 0 && static_cast<size_t>(index) < categories().size() ? &categories()[static_cast<size_t>(index)]
                                                                        : nullptr;
}

int size_of(const std::vector<int>& list) {
  return static_cast<int>(list.size());
}

// At most `length` of a category's members.
int list(int index, const std::vector<int> Category::*members, int length, int* indices) {
  if (!is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  const Category* category = category_at(index);
  if (no_address(category)) return MPI_T_ERR_INVALID_INDEX;
  if (length < 0 || (length > 0 && no_address(indices))) return MPI_T_ERR_INVALID;
  const std::vector<int>& all = category->*members;
  std::copy_n(all.begin(), std::min(all.size(), static_cast<size_t>(length)), indices);
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace tool

int t_category_get_num(int* num_cat) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (no_address(num_cat)) return MPI_T_ERR_INVALID;
  *num_cat = static_cast<int>(tool::categories().size());
  return MPI_SUCCESS;
}

int t_category_get_info(int cat_index, char* name, int* name_len, char* desc, int* desc_len, int* num_cvars,
                        int* num_pvars, int* num_categories) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  const tool::Category* category = tool::category_at(cat_index);
  if (no_address(category)) return MPI_T_ERR_INVALID_INDEX;
  if (!tool::can_give(name, name_len) || !tool::can_give(desc, desc_len)) return MPI_T_ERR_INVALID;
  tool::give(category->name, name, name_len);
  tool::give(category->help, desc, desc_len);
  tool::give(num_cvars, tool::size_of(category->controls));
  tool::give(num_pvars, tool::size_of(category->performance));
  tool::give(num_categories, tool::size_of(category->categories));
  return MPI_SUCCESS;
}

int t_category_get_num_events(int cat_index, int* num_events) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  const tool::Category* category = tool::category_at(cat_index);
  if (no_address(category)) return MPI_T_ERR_INVALID_INDEX;
  if (no_address(num_events)) return MPI_T_ERR_INVALID;
  *num_events = tool::size_of(category->event_types);
  return MPI_SUCCESS;
}

int t_category_get_index(const char* name, int* cat_index) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (no_address(name) || no_address(cat_index)) return MPI_T_ERR_INVALID;
  const std::vector<tool::Category>& all = tool::categories();
  for (size_t i = 0; i < all.size(); ++i) {
    if (strcmp(all[i].name, name) != 0) continue;
    *cat_index = static_cast<int>(i);
    return MPI_SUCCESS;
  }
  return MPI_T_ERR_INVALID_NAME;
}

int t_category_get_cvars(int cat_index, int len, int indices[]) {
  return tool::list(cat_index, &tool::Category::controls, len, indices);
}

int t_category_get_pvars(int cat_index, int len, int indices[]) {
  return tool::list(cat_index, &tool::Category::performance, len, indices);
}

int t_category_get_events(int cat_index, int len, int indices[]) {
  return tool::list(cat_index, &tool::Category::event_types, len, indices);
}

int t_category_get_categories(int cat_index, int len, int indices[]) {
  return tool::list(cat_index, &tool::Category::categories, len, indices);
}

int t_category_changed(int* update_number) {
  if (!tool::is_open()) return MPI_T_ERR_NOT_INITIALIZED;
  if (no_address(update_number)) return MPI_T_ERR_INVALID;
  *update_number = 1;
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
