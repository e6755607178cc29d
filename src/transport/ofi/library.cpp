// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/library.hpp"

#include <dlfcn.h>

#include <string>

#include "base/message.hpp"
#include "base/setting.hpp"

namespace weft::transport::ofi {
namespace {

constexpr const char* file_name = "libfabric.so.1";

constinit base::TextSetting path{
    {.name = "WEFT_LIBFABRIC",
     .help = "the libfabric to load for jobs on several hosts: a name for the loader, or a path",
     .subject = base::Subject::start}};
WEFT_SETTING(path);

[[noreturn]] void die_of_loading(const std::string& why) {
  base::die(
      {.cause = "this job has ranks on several hosts, and libfabric, which reaches them, cannot be loaded: " + why,
       .remedy = "install libfabric 1.17 or newer (Debian: apt-get install libfabric1), or name it with "
                 "WEFT_LIBFABRIC=/path/to/libfabric.so.1"});
}

template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr) die_of_loading(std::string("it has no ") + name);
}

Library load() {
  const char* name = *path.value() != '\0' ? path.value() : file_name;
  void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) die_of_loading(dlerror());
  Library l;
  find(handle, "fi_version", l.version);
  find(handle, "fi_getinfo", l.getinfo);
  find(handle, "fi_freeinfo", l.freeinfo);
  find(handle, "fi_dupinfo", l.dupinfo);
  find(handle, "fi_fabric", l.fabric);
  find(handle, "fi_strerror", l.strerror);
  return l;
}

}  // namespace

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

const char* error_text(int64_t error) {
  return library().strerror(static_cast<int>(error < 0 ? -error : error));
}

}  // namespace weft::transport::ofi
