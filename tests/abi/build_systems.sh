#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# build_systems.sh PREFIX meson|autoconf: a project of that build system finds the installation for C, C++ and Fortran by
# what it knows of MPI (the dependency 'mpi', AX_MPI), compiles with it and runs. Status 77: the build system is not here.
set -euo pipefail
prefix=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export PATH=$prefix/bin:$PATH
here=$(cd "$(dirname "$0")" && pwd)
cp "$here"/consumer/hello.* "$place"
cd "$place"
sed -i "1i #define INTERFACE_mpi_f08" hello.F90

if [ "$2" = meson ]; then
  command -v meson >/dev/null || { echo "skipped: there is no meson (apt-get install meson)"; exit 77; }
  cat >meson.build <<'END'
project('hello', 'c', 'cpp', 'fortran')
foreach language, source : {'c': 'hello.c', 'cpp': 'hello.cpp', 'fortran': 'hello.F90'}
  executable('hello_' + language, source, dependencies: dependency('mpi', language: language))
endforeach
END
  meson setup build && meson compile -C build
  programs=(build/hello_c build/hello_cpp build/hello_fortran)
else
  { command -v autoconf && [ -f /usr/share/aclocal/ax_mpi.m4 ]; } >/dev/null ||
    { echo "skipped: there is no AX_MPI (apt-get install autoconf automake autoconf-archive)"; exit 77; }
  {
    printf 'AC_INIT([hello], [1])\nAC_PROG_CC\nAC_PROG_CXX\nAC_PROG_FC\n'
    for language in C C++ Fortran; do
      printf 'AC_LANG_PUSH([%s])\nAX_MPI([], [AC_MSG_ERROR([no MPI for %s])])\nAC_LANG_POP\n' $language $language
    done
    printf 'AC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n'
  } >configure.ac
  printf 'all:\n\t@MPICC@ hello.c -o hello_c\n\t@MPICXX@ hello.cpp -o hello_cpp\n\t@MPIFC@ hello.F90 -o hello_fortran\n' >Makefile.in
  { aclocal && autoconf; } 2>messages || { cat messages; exit 1; }
  ./configure && make
  programs=(hello_c hello_cpp hello_fortran)
fi
for program in "${programs[@]}"; do
  [ "$(readlink -f "$(ldd "$program" | sed -n 's/.*libmpi_abi.so.1 => \(.*\) (.*/\1/p')")" = "$(readlink -f "$prefix/lib/libmpi_abi.so.1")" ]
  mpiexec --oversubscribe -n 2 "./$program"
done
