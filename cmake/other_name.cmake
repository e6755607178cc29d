# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause

# weft_other_name(TARGET FILE): a library FILE beside that of TARGET, without symbols of its own, which loads it. Programs
# know the library by several names. Links would do where they can be packed, but a link and a copy of it are two
# libraries to the dynamic linker.
function(weft_other_name target file)
  string(MAKE_C_IDENTIFIER ${file} name)
  string(REGEX REPLACE "^lib|\\.so.*" "" output ${file})
  string(REGEX MATCH "\\.so.*" suffix ${file})
  get_target_property(folder ${target} LIBRARY_OUTPUT_DIRECTORY)
  if(IS_SYMLINK ${folder}/${file})  # of a build from before there was such a library
    file(REMOVE ${folder}/${file})
  endif()
  add_library(${name} SHARED ${PROJECT_SOURCE_DIR}/cmake/nothing.c)
  target_link_libraries(${name} PRIVATE -Wl,--no-as-needed ${target})
  target_link_options(${name} PRIVATE -Wl,-soname,${file})
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${output} SUFFIX ${suffix} NO_SONAME ON LIBRARY_OUTPUT_DIRECTORY ${folder}
    BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
  get_filename_component(folder ${folder} NAME)
  # Optional: ./demo.sh installs without it.
  install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/${folder} OPTIONAL)
endfunction()
