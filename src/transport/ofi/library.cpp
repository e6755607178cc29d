// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/library.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/library.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "transport/api/failure.hpp"
#include "transport/api/memory.hpp"
#include "transport/net/frame.hpp"

namespace weft::transport::ofi {
namespace {

constexpr const char* file_name = "libfabric.so.1";

constinit base::TextSetting path{
    {.name = "WEFT_LIBFABRIC",
     .help = "the libfabric to load for jobs on several hosts: a name for the loader, or a path",
     .subject = base::Subject::start}};
WEFT_SETTING(path);

// The provider ofi_rxm is told by the environment alone how large its messages are. Variables set there already stay.
//
// Above its eager limit of 16 KiB a receiver fetches a message from its sender, which for our frames costs more than to
// copy them; over tcp the limit may be above the size of its buffers, with adapters it may not. The buffers, one for
// each of the many messages that it is ready for, are 70 MiB in all. Its queue of completions over tcp has 1024 places
// for each of so many peers as FI_UNIVERSE_SIZE says, 256 usually: 12 MiB, which are touched one after the other as
// frames pass, however few are in flight. More than there are places for wait in a list; those of adapters must not.
constinit bool small_buffers = false;
void set_up_rxm() {
  const bool has_adapters = access("/sys/class/infiniband", F_OK) == 0;
  if (minimum_memory() || small_buffers) {
    setenv("FI_OFI_RXM_BUFFER_SIZE", "2048", 0);
    setenv("FI_OFI_RXM_MSG_RX_SIZE", "16", 0);
    if (!has_adapters) setenv("FI_UNIVERSE_SIZE", "4", 0);
  }
  const std::string one_frame = std::to_string((net::frame_most + 255) / 256 * 256);
  if (!has_adapters) setenv("FI_OFI_RXM_EAGER_LIMIT", one_frame.c_str(), 0);
}

bool load(OfiLibrary& l, std::string& why_not) {
  set_up_rxm();
  void* handle = dlopen(library_name(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    why_not = dlerror();
    return false;
  }
  base::FunctionFinder finder(handle);
  finder.find("fi_version", l.version);
  finder.find("fi_getinfo", l.getinfo);
  finder.find("fi_freeinfo", l.freeinfo);
  finder.find("fi_dupinfo", l.dupinfo);
  finder.find("fi_fabric", l.fabric);
  finder.find("fi_strerror", l.strerror);
  if (finder.problem().empty()) return true;
  why_not = std::string(library_name()) + ": " + finder.problem();
  return false;
}

}  // namespace

void ask_for_small_buffers() {
  small_buffers = true;
}

const char* library_name() {
  return *path.value() != '\0' ? path.value() : file_name;
}

const OfiLibrary* try_library(std::string& why_not) {
  static constinit OfiLibrary loaded{};
  static constinit bool there = false;
  if (!there) there = load(loaded, why_not);
  return there ? &loaded : nullptr;
}

const OfiLibrary& library() {
  std::string why_not;
  const OfiLibrary* loaded = try_library(why_not);
  if (loaded != nullptr) return *loaded;
  fail_for_good(
      {.cause = "this job has ranks on several hosts, and libfabric, which reaches them, cannot be loaded: " + why_not,
       .remedy = "install libfabric 1.17 or newer (Debian: apt-get install libfabric1), or name it with "
                 "WEFT_LIBFABRIC=/path/to/libfabric.so.1"});
}

const char* error_text(int64_t error) {
  return library().strerror(static_cast<int>(error < 0 ? -error : error));
}

}  // namespace weft::transport::ofi
