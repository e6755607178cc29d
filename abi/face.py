# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The functions of libweft.so as one table of pointers, which its entry points and the libraries of other ABIs call."""
import hashlib

from build_files import BANNER
from table import HERE


def face_hpp(ready):
    """The functions of libweft.so as one table of pointers: for its entry points, and for other faces."""
    lines = [BANNER + '#pragma once\n\n#include "mpi/object/foreign.hpp"\n#include "mpi/functions.hpp"\n\n'
             "// The functions of libweft.so, for its entry points and for the libraries of other ABIs, which cannot call them\n"
             "// by name: MPI_Send is a name of theirs, too. Statistics put those that count in their places.\nnamespace weft::mpi {\n\nstruct Face {", "  FaceHooks hooks;"]
    lines += [f"  decltype(&mpi::{n}) {n};" for n in face_names(ready)]
    return "\n".join(lines) + "\n};\n\n}  // namespace weft::mpi\n\n" \
        f"// Named after its contents: libraries of another build do not load.\n#define WEFT_FACE {face_symbol(ready)}\n" \
        "extern \"C\" __attribute__((visibility(\"default\"))) weft::mpi::Face WEFT_FACE;\n" \
        "// The same by a name that needs no look-up; in libweft.so alone.\n" \
        "extern \"C\" __attribute__((visibility(\"hidden\"))) weft::mpi::Face weft_calls;\n"


def face_names(ready):
    return list(dict.fromkeys((f.wide or f).inner for f in ready))


def face_symbol(ready):
    hooks = (HERE.parent / "src" / "mpi" / "object" / "foreign.hpp").read_text()
    return "weft_abi_face_" + hashlib.sha256((hooks + " ".join(face_names(ready))).encode()).hexdigest()[:12]


def face_cpp(ready):
    lines = [BANNER + '#include "mpi/face.hpp"\n\nweft::mpi::Face WEFT_FACE = {', "    .hooks = weft::mpi::face_hooks,"]
    lines += [f"    .{n} = weft::mpi::{n}," for n in face_names(ready)]
    return "\n".join(lines) + f"\n}};\n\nextern \"C\" __attribute__((alias(\"{face_symbol(ready)}\"))) weft::mpi::Face weft_calls;\n"


def build_files(ready):
    """Pairs of a name in the build folder and its text."""
    yield "mpi/face.hpp", face_hpp(ready)
    yield "face.cpp", face_cpp(ready)
