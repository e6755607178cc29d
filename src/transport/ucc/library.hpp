// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// UCC, loaded when a job asks for its collective operations and not before.

#include <string>

#include "transport/ucc/abi.hpp"

namespace weft::transport::ucc {

struct UccLibrary {
  abi::GetVersion* get_version;
  abi::GetVersionString* get_version_string;
  abi::StatusString* status_string;
  abi::LibraryConfigRead* read_library_config;
  abi::LibraryConfigRelease* release_library_config;
  abi::InitVersion* init_version;
  abi::ContextConfigRead* context_config_read;
  abi::ContextConfigRelease* context_config_release;
  abi::ContextCreate* context_create;
  abi::ContextProgress* context_progress;
  abi::ContextDestroy* context_destroy;
  abi::TeamCreatePost* team_create_post;
  abi::TeamCreateTest* team_create_test;
  abi::TeamDestroy* team_destroy;
  abi::CollectiveInit* collective_init;
  abi::CollectivePost* collective_post;
  abi::CollectiveFinalize* collective_finalize;
};

// The library, or nullptr and why it cannot be used. Not for several threads at once.
const UccLibrary* try_library(std::string& why_not);

// The library, which is there.
const UccLibrary& library();

// Its handle, made by the first caller; nullptr: `why_not`. For any thread.
[[nodiscard]] abi::Library* start_library(bool several_threads, std::string& why_not);

}  // namespace weft::transport::ucc
