// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// mpi4py's wheel has a module for each of several ABIs. It opens a library of MPI first, and takes the module that
// fits: MPI4PY_LIBMPI names the library, otherwise the one of Python's own folder comes first.

#include <string>

#include "abi/face.hpp"

namespace weft::abi {

// The ABI, among those that an option of --abi allows, whose library mpi4py should open; nullptr: it has no module of
// one, or only a module that was built for the library that it needs. `python`: the interpreter's file, empty: not
// known. `path` is PYTHONPATH. Where no mpi4py is found, it is taken for one of MPICH's ABI, which all wheels have.
[[nodiscard]] const Face* face_of_mpi4py(const std::string& python, const std::string& path, const std::string& option);

}  // namespace weft::abi
