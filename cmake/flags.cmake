# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# Flags of all our targets: warnings are errors in CI; nothing throws past the C ABI, so nothing throws.

add_library(weft_flags INTERFACE)
target_compile_options(weft_flags INTERFACE -Wall -Wextra -Wpedantic $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow> -Wno-missing-field-initializers
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -Wnon-virtual-dtor>)
target_compile_definitions(weft_flags INTERFACE _GNU_SOURCE WEFT_VERSION="${PROJECT_VERSION}")
target_include_directories(weft_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
                                                ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(weft_flags INTERFACE Threads::Threads)
# Compilers that are newer than a release warn about more: warnings are errors in a checkout, and not in an archive.
set(weft_checkout OFF)
if(EXISTS ${PROJECT_SOURCE_DIR}/.git)
  set(weft_checkout ON)
endif()
option(WEFT_WERROR "Treat warnings as errors" ${weft_checkout})
if(WEFT_WERROR)
  target_compile_options(weft_flags INTERFACE -Werror)
endif()
if(WEFT_SANITIZE)
  # Reports need the lines of debug information; the rest takes a quarter of the time to compile. Optimised, tests take
  # half the time; gcc would take twice as long to compile.
  add_compile_options(-fsanitize=${WEFT_SANITIZE} -fno-omit-frame-pointer -g1 $<$<CXX_COMPILER_ID:Clang>:-O1>)
  add_link_options(-fsanitize=${WEFT_SANITIZE})
  if(WEFT_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=all)
  endif()
  # For code that tells them something; compilers have different names for this.
  if(WEFT_SANITIZE MATCHES "address")
    add_compile_definitions(WEFT_ASAN)
  elseif(WEFT_SANITIZE MATCHES "thread")
    add_compile_definitions(WEFT_TSAN)
  endif()
endif()

# Shared libraries of ours have the C++ runtime inside. Libraries without a list of their exports hide the names of archives.
# Functions of a library call its own ones, whatever functions of these names the program has. The linker of zig knows neither
# option: a list hides the names of C++, no library of ours calls functions that it exports, and scripts of names, which it
# takes by -T alone, leave its own layout as it is.
set(weft_runtime_inside -static-libstdc++ -static-libgcc -Wl,-z,defs)
include(CheckLinkerFlag)
check_linker_flag(CXX -Wl,-Bsymbolic-functions,--exclude-libs,ALL WEFT_LINKER_HIDES_NAMES)
if(WEFT_LINKER_HIDES_NAMES)
  set(weft_archives_hidden -Wl,--exclude-libs,ALL)
  set(weft_own_functions -Wl,-Bsymbolic-functions)
  set(weft_names_option "")
else()
  set(weft_archives_hidden -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/no_cxx_names.map)
  set(weft_names_option -Wl,-T,)
endif()
