# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# A folder is a layer is a target. weft_layer(name) makes the static library weft_<name> of src/<name>'s sources;
# the check of includes against the order of layers runs in every build, and those of copies out of shared memory and of
# types of one name.

function(weft_layer name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/entry\\.cpp$")  # of the library that exports them
  add_library(weft_${name} STATIC ${sources})
  target_link_libraries(weft_${name} PUBLIC weft_flags)
  add_dependencies(weft_${name} weft_abi weft_check_layers)
  weft_together(weft_${name})
endfunction()

# weft_together(target): the sources of each folder of the target are compiled as one, or as several where they are many: headers
# are read once for all of them, which is most of the time. File-local names are then one namespace for the files of a folder.
# WEFT_UNITY=OFF compiles each by itself, as suits who edits them. A source with options of its own is always alone.
option(WEFT_UNITY "Compile the sources of a folder together" ON)
set(weft_together_bytes 150000)
function(weft_together target)
  if(NOT WEFT_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(root ${target} SOURCE_DIR)
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${root} OUTPUT_VARIABLE file)
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    file(SIZE ${file} bytes)
    math(EXPR bytes_${folder} "0${bytes_${folder}} + ${bytes}")
    math(EXPR part "${bytes_${folder}} / ${weft_together_bytes}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # The compiler takes what a source declares for a header's.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# weft_entries_together(target source...): these generated sources of the target are compiled as one for each core.
cmake_host_system_information(RESULT weft_cores QUERY NUMBER_OF_LOGICAL_CORES)
function(weft_entries_together target)
  set(number 0)
  foreach(source ${ARGN})
    math(EXPR part "${number} % ${weft_cores}")
    math(EXPR number "${number} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP entries_${part})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${WEFT_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()

add_custom_target(weft_check_layers
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/check_layers.py ${PROJECT_SOURCE_DIR}
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/check_copies.py ${PROJECT_SOURCE_DIR}
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/check_types.py ${PROJECT_SOURCE_DIR}
  COMMENT "Checking that includes follow the layers, copies go through base::copy, and types have names of their own")
