# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# Configures, builds and runs the consumer project against an installed prefix, finding MPI in one of three ways.
file(REMOVE_RECURSE ${BUILD})
set(ENV{PKG_CONFIG_PATH} ${PREFIX}/lib/pkgconfig)
set(ENV{PATH} "${PREFIX}/bin:$ENV{PATH}")
foreach(name MPI_HOME WEFT_CC WEFT_CXX MPICH_CC MPICH_CXX OMPI_CC OMPI_CXX LD_LIBRARY_PATH)
  unset(ENV{${name}})
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE} -B ${BUILD} -DWAY=${WAY} -DCMAKE_PREFIX_PATH=${PREFIX}
                -DPREFIX=${PREFIX} -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} COMMAND_ERROR_IS_FATAL ANY)
foreach(program hello_c hello_cxx)
  execute_process(COMMAND ${BUILD}/${program} OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
  if(NOT said MATCHES "Weft.* rank 0")
    message(FATAL_ERROR "${program} said: ${said}")
  endif()
  execute_process(COMMAND readelf -d ${BUILD}/${program} OUTPUT_VARIABLE needed COMMAND_ERROR_IS_FATAL ANY)
  if(NOT needed MATCHES "NEEDED[^\n]*libmpi_abi.so.1" OR needed MATCHES "NEEDED[^\n]*libweft")
    message(FATAL_ERROR "${program} must depend on libmpi_abi.so.1 and not on libweft.so:\n${needed}")
  endif()
endforeach()
