// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The kinds of handles of Fortran's modules, each by the word that names of procedures have for it.
#pragma once

// DO(kind) for each of them.
#define WEFT_EACH_HANDLE(DO) \
  DO(comm)                   \
  DO(datatype)               \
  DO(errhandler)             \
  DO(file)                   \
  DO(group)                  \
  DO(info)                   \
  DO(message)                \
  DO(op)                     \
  DO(request)                \
  DO(session)                \
  DO(win)
