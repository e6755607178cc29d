#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# zig.sh ZIG TRIPLET GLIBC FOLDER: makes a tool chain in FOLDER that compiles for a C library as old as GLIBC (2.28), and for
# the architecture of TRIPLET (x86_64-linux-gnu): scripts cc, c++, ar and ranlib around ZIG, Clang as PyPI's package ziglang
# brings it, and toolchain.cmake, which names them. Headers of libfabric, UCX and hwloc are the machine's.
set -euo pipefail
zig=$1 triplet=$2 glibc=$3 folder=$4
rm -rf "$folder"
mkdir -p "$folder/include/hwloc"
folder=$(cd "$folder" && pwd)
ln -s /usr/include/{rdma,ucm,ucp,ucs,uct,hwloc.h} "$folder/include"
for header in /usr/include/hwloc/*.h; do ln -s "$header" "$folder/include/hwloc"; done
ln -s "/usr/include/$triplet/hwloc/autogen" "$folder/include/hwloc/autogen"
for tool in cc c++; do
  printf '#!/bin/sh\nexec %q %s -target %s.%s "$@" -isystem %q\n' "$zig" $tool "$triplet" "$glibc" "$folder/include" >"$folder/$tool"
done
# A link with --filter, which zig does not pass on, has its objects alone, and is made by the linker itself.
cat >"$folder/filter" <<END
#!/usr/bin/env bash
words=(-shared)
for word; do
  case \$word in
    -Wl,*) IFS=, read -ra parts <<<"\${word#-Wl,}" && words+=("\${parts[@]}") ;;
    -fPIC | -shared | -O* | -g* | -I*) ;;
    *) words+=("\$word") ;;
  esac
done
exec $(printf %q "$zig") ld.lld "\${words[@]}"
END
printf '#!/bin/sh\ncase "$*" in *-Wl,--filter,*) exec %q "$@" ;; esac\n%s\n' "$folder/filter" "$(tail -n 1 "$folder/cc")" >"$folder/cc"
for tool in ar ranlib; do
  printf '#!/bin/sh\nexec %q %s "$@"\n' "$zig" $tool >"$folder/$tool"
done
chmod +x "$folder"/{cc,c++,ar,ranlib,filter}
cat >"$folder/toolchain.cmake" <<END
set(CMAKE_C_COMPILER $folder/cc)
set(CMAKE_CXX_COMPILER $folder/c++)
set(CMAKE_AR $folder/ar CACHE FILEPATH "")
set(CMAKE_RANLIB $folder/ranlib CACHE FILEPATH "")
set(CMAKE_LIBRARY_ARCHITECTURE $triplet)
# Settings and handlers are collected in sections that nothing refers to by name.
set(CMAKE_SHARED_LINKER_FLAGS_INIT -Wl,--no-gc-sections)
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,--no-gc-sections)
END
if [ "${triplet%%-*}" != "$(uname -m)" ]; then
  cat >>"$folder/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
find_program(CMAKE_Fortran_COMPILER $triplet-gfortran)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${triplet%%-*})
set(CMAKE_SYSTEM_PROCESSOR ${triplet%%-*})
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/$triplet/pkgconfig:/usr/lib/$(uname -m)-linux-gnu/pkgconfig:/usr/share/pkgconfig)
END
fi
