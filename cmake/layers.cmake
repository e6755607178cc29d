# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# A folder is a layer is a target. weft_layer(name) makes the static library weft_<name> of src/<name>'s sources;
# the check of includes against the order of layers runs in every build.

function(weft_layer name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/entry\\.cpp$")  # of the library that exports them
  add_library(weft_${name} STATIC ${sources})
  target_link_libraries(weft_${name} PUBLIC weft_flags)
  add_dependencies(weft_${name} weft_abi weft_check_layers)
  weft_precompile(weft_${name})
endfunction()

# weft_precompile(target): the headers of the standard library that most sources include take longer to read than the sources do, so
# they are compiled once for the target.
function(weft_precompile target)
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <bit> <charconv> <cstring> <functional> <map> <memory>
    <mutex> <new> <optional> <span> <string> <string_view> <utility> <vector>)
  # For ccache.
  target_compile_options(${target} PRIVATE $<IF:$<CXX_COMPILER_ID:Clang>,SHELL:-Xclang -fno-pch-timestamp,-fpch-preprocess>)
endfunction()

add_custom_target(weft_check_layers
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/check_layers.py ${PROJECT_SOURCE_DIR}
  COMMENT "Checking that includes follow the layers")
