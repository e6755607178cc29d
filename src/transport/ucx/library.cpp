// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/library.hpp"

#include <dlfcn.h>

#include <string>

#include "base/library.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "transport/api/failure.hpp"
#include "transport/ucx/ucx_environment.hpp"

namespace weft::transport::ucx {
namespace {

constexpr const char* file_name = "libucp.so.0";

constinit base::TextSetting path{
    {.name = "WEFT_LIBUCP",
     .help = "the libucp of UCX to load for jobs on several hosts: a name for the loader, or a path",
     .subject = base::Subject::start}};
WEFT_SETTING(path);

// The headers' version and newer ones go.
std::string version_trouble(const UcxLibrary& l) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  l.get_version(&major, &minor, &release);
  if (major == UCP_API_MAJOR && minor >= UCP_API_MINOR) return {};
  return std::string("it is version ") + l.get_version_string() + ", and Weft was built for " +
         std::to_string(UCP_API_MAJOR) + "." + std::to_string(UCP_API_MINOR);
}

UcxLibrary loaded;

// The error; nothing when it is there.
std::string load() {
  const char* name = *path.value() != '\0' ? path.value() : file_name;
  const UcxEnvironment environment;
  void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return dlerror();
  UcxLibrary& l = loaded;
  base::FunctionFinder finder(handle);
  finder.find("ucp_get_version", l.get_version);
  finder.find("ucp_get_version_string", l.get_version_string);
  finder.find("ucp_config_read", l.config_read);
  finder.find("ucp_config_modify", l.config_modify);
  finder.find("ucp_config_release", l.config_release);
  finder.find("ucp_init_version", l.init_version);
  finder.find("ucp_context_query", l.context_query);
  finder.find("ucp_cleanup", l.cleanup);
  finder.find("ucp_mem_map", l.mem_map);
  finder.find("ucp_mem_unmap", l.mem_unmap);
  finder.find("ucp_worker_create", l.worker_create);
  finder.find("ucp_worker_destroy", l.worker_destroy);
  finder.find("ucp_worker_query", l.worker_query);
  finder.find("ucp_worker_release_address", l.worker_release_address);
  finder.find("ucp_worker_progress", l.worker_progress);
  finder.find("ucp_worker_get_efd", l.worker_get_efd);
  finder.find("ucp_worker_arm", l.worker_arm);
  finder.find("ucp_worker_set_am_recv_handler", l.worker_set_am_recv_handler);
  finder.find("ucp_am_send_nbx", l.am_send_nbx);
  finder.find("ucp_am_recv_data_nbx", l.am_recv_data_nbx);
  finder.find("ucp_am_data_release", l.am_data_release);
  finder.find("ucp_ep_create", l.ep_create);
  finder.find("ucp_ep_close_nbx", l.ep_close_nbx);
  finder.find("ucp_request_free", l.request_free);
  finder.find("ucs_status_string", l.status_string);
  return finder.problem().empty() ? version_trouble(l) : finder.problem();
}

const std::string& outcome() {
  static const std::string wrong = load();
  return wrong;
}

}  // namespace

void must(const char* call, ucs_status_t status) {
  if (status == UCS_OK) return;
  fail_for_good({.cause = std::string("UCX refused ") + call + ": " + library().status_string(status),
                 .remedy = "see what ucx_info -d lists and what UCX_LOG_LEVEL=info says; or use libfabric with "
                           "WEFT_NETWORK_LIBRARY=ofi"});
}

bool try_library(std::string& why_not) {
  why_not = outcome();
  return why_not.empty();
}

const UcxLibrary& library() {
  if (!outcome().empty()) {
    fail_for_good({.cause = "this job has ranks on several hosts, and UCX, which is to reach them, cannot be loaded: " +
                            outcome(),
                   .remedy = "install UCX (Debian: apt-get install libucx0), name it with "
                             "WEFT_LIBUCP=/path/to/libucp.so.0, or use libfabric with WEFT_NETWORK_LIBRARY=ofi"});
  }
  return loaded;
}

}  // namespace weft::transport::ucx
