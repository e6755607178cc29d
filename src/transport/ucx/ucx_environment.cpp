// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/ucx_environment.hpp"

#include <unistd.h>

#include <cstdlib>
#include <list>
#include <string>
#include <string_view>
#include <vector>

namespace weft::transport::ucx {
namespace {

constexpr std::string_view additions[] = {"UCX_HANDLE_ERRORS=none",    "UCX_MEM_EVENTS=n",    "UCX_MEMTYPE_CACHE=n",
                                          "UCX_VFS_ENABLE=n",          "UCX_LOG_LEVEL=fatal", "UCC_LOG_LEVEL=fatal",
                                          "UCX_WARN_UNUSED_ENV_VARS=n"};

}  // namespace

UcxEnvironment::UcxEnvironment() : of_program_(environ) {
  static std::list<std::vector<char*>> all;  // they stay: somebody may be reading them for long
  std::vector<char*>& variables = all.emplace_back();
  for (char** one = of_program_; one != nullptr && *one != nullptr; ++one) variables.push_back(*one);
  for (const std::string_view text : additions) {
    const std::string variable(text.substr(0, text.find('=')));
    if (std::getenv(variable.c_str()) == nullptr) variables.push_back(const_cast<char*>(text.data()));
  }
  variables.push_back(nullptr);
  environ = variables.data();
}

UcxEnvironment::~UcxEnvironment() {
  environ = of_program_;
}

}  // namespace weft::transport::ucx
