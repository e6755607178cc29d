// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A setting for tests alone: builds without tests (WEFT_TESTS) do not know it, and its value is the default. Sources
// that have one are named with WEFT_TEST_SETTINGS in src/CMakeLists.txt.

#include "base/setting.hpp"

#ifdef WEFT_TEST_SETTINGS
#define WEFT_TEST_SETTING(row) WEFT_SETTING(row)
#else
#define WEFT_TEST_SETTING(row) static_assert(true)
#endif
