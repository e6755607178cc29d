// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/diagnose/call_site.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <cstring>
#include <initializer_list>

namespace weft::core {
namespace {

// Frames of this library and of those that stand before it (Fortran's, MPICH's) are passed over.
struct FrameSearch {
  const void* own = nullptr;
  CallSite site;
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* context, void* argument) {
  auto& search = *static_cast<FrameSearch*>(argument);
  const auto address = static_cast<uint64_t>(_Unwind_GetIP(context));
  Dl_info info{};
  if (address == 0 || dladdr(reinterpret_cast<void*>(address - 1), &info) == 0) return _URC_END_OF_STACK;
  if (info.dli_fbase == search.own) return _URC_NO_REASON;
  const char* slash = info.dli_fname != nullptr ? strrchr(info.dli_fname, '/') : nullptr;
  const char* file = slash != nullptr ? slash + 1 : info.dli_fname;
  for (const char* ours : {"libmpi.so", "libmpich", "libmpifort", "libweft", "libmpi_abi", "libshmem"}) {
    if (file != nullptr && strncmp(file, ours, strlen(ours)) == 0) return _URC_NO_REASON;
  }
  search.site = {address, static_cast<uint64_t>(_Unwind_GetCFA(context))};
  return _URC_END_OF_STACK;
}

}  // namespace

CallSite call_site() {
  FrameSearch search;
  Dl_info own{};
  if (dladdr(reinterpret_cast<void*>(&call_site), &own) == 0) return {};
  search.own = own.dli_fbase;
  (void)_Unwind_Backtrace(look_at_frame, &search);
  return search.site;
}

}  // namespace weft::core
