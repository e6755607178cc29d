# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# A folder is a layer is a target. weft_layer(name) makes the static library weft_<name> of src/<name>'s sources;
# the check of includes against the order of layers runs in every build, and that of copies out of shared memory.

function(weft_layer name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/entry\\.cpp$")  # of the library that exports them
  add_library(weft_${name} STATIC ${sources})
  target_link_libraries(weft_${name} PUBLIC weft_flags)
  add_dependencies(weft_${name} weft_abi weft_check_layers)
  weft_precompile(weft_${name} PRIVATE ${weft_standard_headers})
endfunction()

# weft_precompile(target PRIVATE header...): these headers are compiled once for the target, half of whose time they would take.
# With g++ alone: clang's result names files of this clone, so that no other clone could take from ccache what includes it.
function(weft_precompile target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_precompile_headers(${target} ${ARGN})
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # for ccache
  endif()
endfunction()

# Those of the standard library that most sources of layers and tools include.
set(weft_standard_headers <algorithm> <array> <atomic> <bit> <charconv> <cstring> <functional> <map> <memory> <mutex> <new>
  <optional> <span> <string> <string_view> <utility> <vector>)

add_custom_target(weft_check_layers
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/check_layers.py ${PROJECT_SOURCE_DIR}
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/check_copies.py ${PROJECT_SOURCE_DIR}
  COMMENT "Checking that includes follow the layers, and copies go through base::copy")
