// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// Our declarations of PMIx against its own header, where that is installed (libpmix-dev).

#include <gtest/gtest.h>

#include <type_traits>

#include "boot/pmi/pmix_library.hpp"

#if __has_include(<pmix.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#include <pmix.h>
#pragma GCC diagnostic pop
#define HAVE_HEADER 1
#endif

namespace weft::boot {
namespace {

TEST(PmixLibrary, AgreesWithItsHeader) {
#if !HAVE_HEADER
  GTEST_SKIP() << "no pmix.h here";
#else
  static_assert(sizeof(pmix::Process) == sizeof(pmix_proc_t) && alignof(pmix::Process) == alignof(pmix_proc_t));
  static_assert(offsetof(pmix::Process, rank) == offsetof(pmix_proc_t, rank));
  static_assert(sizeof(pmix::PmixValue) == sizeof(pmix_value_t) && alignof(pmix::PmixValue) == alignof(pmix_value_t));
  static_assert(offsetof(pmix::PmixValue, data) == offsetof(pmix_value_t, data));
  static_assert(offsetof(pmix::PmixValue, data.bytes.size) == offsetof(pmix_value_t, data.bo.size));
  static_assert(sizeof(pmix::PmixInfo) == sizeof(pmix_info_t) && alignof(pmix::PmixInfo) == alignof(pmix_info_t));
  static_assert(offsetof(pmix::PmixInfo, flags) == offsetof(pmix_info_t, flags));
  static_assert(offsetof(pmix::PmixInfo, value) == offsetof(pmix_info_t, value));
  static_assert(std::is_same_v<pmix_status_t, int> && std::is_same_v<pmix_scope_t, uint8_t>);
  static_assert(std::is_same_v<decltype(&PMIx_Commit), int (*)()>);
  EXPECT_EQ(pmix::success, PMIX_SUCCESS);
  EXPECT_EQ(pmix::operation_succeeded, PMIX_OPERATION_SUCCEEDED);
  EXPECT_EQ(pmix::rank_wildcard, PMIX_RANK_WILDCARD);
  EXPECT_EQ(pmix::scope_global, PMIX_GLOBAL);
  EXPECT_EQ(pmix::type_bool, PMIX_BOOL);
  EXPECT_EQ(pmix::type_string, PMIX_STRING);
  EXPECT_EQ(pmix::type_size, PMIX_SIZE);
  EXPECT_EQ(pmix::type_int, PMIX_INT);
  EXPECT_EQ(pmix::type_int32, PMIX_INT32);
  EXPECT_EQ(pmix::type_uint, PMIX_UINT);
  EXPECT_EQ(pmix::type_uint16, PMIX_UINT16);
  EXPECT_EQ(pmix::type_uint32, PMIX_UINT32);
  EXPECT_EQ(pmix::type_uint64, PMIX_UINT64);
  EXPECT_EQ(pmix::type_bytes, PMIX_BYTE_OBJECT);
  EXPECT_STREQ(pmix::key::job_size, PMIX_JOB_SIZE);
  EXPECT_STREQ(pmix::key::app_number, PMIX_APPNUM);
  EXPECT_STREQ(pmix::key::universe_size, PMIX_UNIV_SIZE);
  EXPECT_STREQ(pmix::key::local_peers, PMIX_LOCAL_PEERS);
  EXPECT_STREQ(pmix::key::collect_data, PMIX_COLLECT_DATA);
  EXPECT_STREQ(pmix::key::optional, PMIX_OPTIONAL);
#endif
}

TEST(PmixLibrary, IsLoadedOrSaysWhyNot) {
  std::string problem;
  const pmix::PmixFunctions* library = pmix::load(&problem);
  EXPECT_EQ(library == nullptr, !problem.empty()) << problem;
  EXPECT_EQ(pmix::load(nullptr), library);
}

}  // namespace
}  // namespace weft::boot
