// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/lustre.hpp"

#include <dlfcn.h>

#include <cerrno>

#include "base/library.hpp"

namespace weft::io {
namespace {

struct llapi_layout;  // Lustre's own

struct LustreLibrary {
  llapi_layout* (*alloc)();
  void (*free)(llapi_layout* layout);
  int (*set_count)(llapi_layout* layout, uint64_t count);
  int (*set_size)(llapi_layout* layout, uint64_t bytes);
  int (*set_first)(llapi_layout* layout, int stripe, uint64_t target);
  int (*open)(const char* path, int flags, mode_t mode, const llapi_layout* layout);
  llapi_layout* (*of_file)(int fd, uint32_t flags);
  int (*count)(const llapi_layout* layout, uint64_t* count);
  int (*size)(const llapi_layout* layout, uint64_t* bytes);
};

bool load(LustreLibrary& l) {
  void* handle = dlopen("liblustreapi.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) handle = dlopen("liblustreapi.so", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return false;
  base::FunctionFinder finder(handle);
  finder.find("llapi_layout_alloc", l.alloc);
  finder.find("llapi_layout_free", l.free);
  finder.find("llapi_layout_stripe_count_set", l.set_count);
  finder.find("llapi_layout_stripe_size_set", l.set_size);
  finder.find("llapi_layout_ost_index_set", l.set_first);
  finder.find("llapi_layout_file_open", l.open);
  finder.find("llapi_layout_get_by_fd", l.of_file);
  finder.find("llapi_layout_stripe_count_get", l.count);
  finder.find("llapi_layout_stripe_size_get", l.size);
  return finder.problem().empty();
}

// nullptr: it is not installed, or too old (it has layouts since Lustre 2.7).
const LustreLibrary* library() {
  static constinit LustreLibrary loaded{};
  static const bool there = load(loaded);
  return there ? &loaded : nullptr;
}

}  // namespace

int create_striped(const std::string& path, int flags, mode_t mode, Striping& striping, int64_t unit) {
  const LustreLibrary* l = library();
  if (l == nullptr) {
    striping.outcome = Striping::HintOutcome::no_library;
    return -1;
  }
  llapi_layout* layout = l->alloc();
  bool good = layout != nullptr;
  if (good && striping.count != 0) good = l->set_count(layout, static_cast<uint64_t>(striping.count)) == 0;
  if (good && unit != 0) good = l->set_size(layout, static_cast<uint64_t>(unit)) == 0;
  if (good && striping.first >= 0) good = l->set_first(layout, 0, static_cast<uint64_t>(striping.first)) == 0;
  const int fd = good ? l->open(path.c_str(), flags, mode, layout) : -1;
  if (fd < 0) {
    striping.outcome = Striping::HintOutcome::refused;
    striping.error = errno;
  }
  if (layout != nullptr) l->free(layout);
  return fd;
}

void look_up_striping(int fd, Striping& striping, int64_t& unit) {
  const LustreLibrary* l = library();
  llapi_layout* layout = l != nullptr ? l->of_file(fd, 0) : nullptr;
  if (layout == nullptr) return;
  uint64_t count = 0;
  uint64_t bytes = 0;
  // Values from 2^60 on mean a default or all targets, and sizes that are no block of a file are none.
  constexpr uint64_t most = uint64_t{1} << 40;
  if (l->count(layout, &count) == 0 && count < most) striping.count = static_cast<int64_t>(count);
  if (l->size(layout, &bytes) == 0 && bytes > 0 && bytes < most) unit = static_cast<int64_t>(bytes);
  l->free(layout);
}

std::string describe(const Striping& striping) {
  switch (striping.outcome) {
    case Striping::HintOutcome::none:
      return "";
    case Striping::HintOutcome::not_lustre:
      return "hints not used: the file is not on Lustre";
    case Striping::HintOutcome::no_library:
      return "hints not used: liblustreapi.so.1 is not installed; the file is striped as its folder says";
    case Striping::HintOutcome::exists:
      return "hints not used: the file was there before";
    case Striping::HintOutcome::refused:
      return "hints not used: Lustre refused them (errno " + std::to_string(striping.error) +
             "); the file is striped as its folder says";
  }
  return "";
}

}  // namespace weft::io
