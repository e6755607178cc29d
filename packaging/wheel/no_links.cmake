# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# The last step of an installation for a wheel, which holds no symbolic links. Names of mpiexec become scripts, since that
# is large; other links become copies. The libraries that programs of other MPIs and mpi4py look for in the environment's
# lib lie there, too.
set(prefix $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX})
file(GLOB_RECURSE files LIST_DIRECTORIES false ${prefix}/*)
foreach(file ${files})
  if(NOT IS_SYMLINK ${file})
    continue()
  endif()
  file(READ_SYMLINK ${file} target)
  get_filename_component(folder ${file} DIRECTORY)
  file(REMOVE ${file})
  if(target STREQUAL mpiexec)
    file(WRITE ${file} "#!/bin/sh\nexec \"$(dirname \"$(readlink -f \"$0\")\")/mpiexec\" \"$@\"\n")
    file(CHMOD ${file} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  else()
    file(COPY_FILE ${folder}/${target} ${file})
  endif()
endforeach()
foreach(library mpich-abi/libmpi.so.12 openmpi-abi/libmpi.so.40)
  file(COPY ${prefix}/lib/${library} DESTINATION ${prefix}/lib)
endforeach()
