// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucc/library.hpp"

#include <dlfcn.h>

#include <mutex>

#include "base/library.hpp"
#include "base/setting.hpp"
#include "transport/ucx/ucx_environment.hpp"

namespace weft::transport::ucc {
namespace {

constexpr const char* file_name = "libucc.so.1";

constinit base::TextSetting path{
    {.name = "WEFT_LIBUCC",
     .help = "the libucc of UCC to load with WEFT_OFFLOAD=ucc: a name for the loader, or a path",
     .subject = base::Subject::start}};
WEFT_SETTING(path);

UccLibrary loaded{};

// Before 1.5 ranks may get different sums of floating-point numbers.
std::string version_trouble(const UccLibrary& l) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  l.get_version(&major, &minor, &release);
  if (major == abi::version_major && minor >= abi::version_minor) return {};
  return std::string("it is version ") + l.get_version_string() + ", and Weft needs " +
         std::to_string(abi::version_major) + "." + std::to_string(abi::version_minor) + " or newer";
}

// The error; nothing when it is there.
std::string load() {
  const char* name = *path.value() != '\0' ? path.value() : file_name;
  const ucx::UcxEnvironment environment;
  void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return dlerror();
  UccLibrary& l = loaded;
  base::FunctionFinder finder(handle);
  finder.find("ucc_get_version", l.get_version);
  finder.find("ucc_get_version_string", l.get_version_string);
  finder.find("ucc_status_string", l.status_string);
  finder.find("ucc_lib_config_read", l.read_library_config);
  finder.find("ucc_lib_config_release", l.release_library_config);
  finder.find("ucc_init_version", l.init_version);
  finder.find("ucc_context_config_read", l.context_config_read);
  finder.find("ucc_context_config_release", l.context_config_release);
  finder.find("ucc_context_create", l.context_create);
  finder.find("ucc_context_progress", l.context_progress);
  finder.find("ucc_context_destroy", l.context_destroy);
  finder.find("ucc_team_create_post", l.team_create_post);
  finder.find("ucc_team_create_test", l.team_create_test);
  finder.find("ucc_team_destroy", l.team_destroy);
  finder.find("ucc_collective_init", l.collective_init);
  finder.find("ucc_collective_post", l.collective_post);
  finder.find("ucc_collective_finalize", l.collective_finalize);
  const std::string wrong = finder.problem().empty() ? version_trouble(l) : finder.problem();
  return wrong.empty() ? wrong : std::string(name) + ": " + wrong;
}

// It reads the environment once more, and loads UCX.
std::string start(bool several_threads, abi::Library*& handle) {
  const UccLibrary& l = loaded;
  const ucx::UcxEnvironment environment;
  abi::LibraryConfig* config = nullptr;
  abi::Status status = l.read_library_config(nullptr, nullptr, &config);
  if (status == abi::ok) {
    abi::LibraryParams params = {};
    params.mask = abi::LibraryParams::has_threads;
    params.threads = several_threads ? abi::Threads::multiple : abi::Threads::single;
    status = l.init_version(abi::version_major, abi::version_minor, &params, config, &handle);
    l.release_library_config(config);
  }
  return status == abi::ok ? std::string() : std::string("ucc_init: ") + l.status_string(status);
}

}  // namespace

const UccLibrary* try_library(std::string& why_not) {
  static const std::string wrong = load();
  why_not = wrong;
  return wrong.empty() ? &loaded : nullptr;
}

const UccLibrary& library() {
  return loaded;
}

abi::Library* start_library(bool several_threads, std::string& why_not) {
  static constinit std::mutex mutex;
  static constinit abi::Library* handle = nullptr;
  const std::lock_guard lock(mutex);
  why_not = handle != nullptr ? std::string() : start(several_threads, handle);
  return handle;
}

}  // namespace weft::transport::ucc
