// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Views of files (MPI-5.0, 14.3).
#include "mpi/file/view.hpp"

#include <cstring>

#include "io/collective_access.hpp"
#include "io/disk.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/env/info.hpp"
#include "mpi/file/datarep.hpp"
#include "mpi/file/hints.hpp"
#include "mpi/file/pointer.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {

void set_default_view(File& file) {
  file.etype = file.filetype = &byte_type;
  file.datarep = native_datarep();
  file.view = {};
}

void drop_view(File& file) {
  release_type(file.etype);
  release_type(file.filetype);
  release_type(file.view.etype);
  release_type(file.view.filetype);
  file.view.etype = file.view.filetype = &byte_type;
  file.etype = file.filetype = &byte_type;
}

namespace {

// A view as a call gives it.
struct NewView {
  MPI_Offset displacement;
  Type* etype = nullptr;
  Type* filetype = nullptr;
  const Datarep* datarep = nullptr;
  io::View view = {};
};

// A filetype consists of etypes: so much can be told of their sizes and basics.
void check_types(FileCheck& check, NewView& wanted, MPI_Datatype etype, MPI_Datatype filetype) {
  wanted.etype = check.type(etype, "etype: ");
  wanted.filetype = check.type(filetype, "filetype: ");
  if (check.failed() || no_address(wanted.etype) || no_address(wanted.filetype)) return;
  if (wanted.etype->size == 0) {
    check.fail(MPI_ERR_TYPE, "etype has no data: positions in the file are counted in etypes");
  } else if (wanted.filetype->size % wanted.etype->size != 0) {
    check.fail(MPI_ERR_TYPE, "filetype has %lld bytes of data, which are no whole etypes of %lld bytes",
               static_cast<long long>(wanted.filetype->size), static_cast<long long>(wanted.etype->size));
  }
  for (const Type* type : {wanted.etype, wanted.filetype}) {
    if (check.failed()) return;
    const char* name = type == wanted.etype ? "etype" : "filetype";
    const io::Order order = io::order_of(*type);
    if (order.negative) {
      check.fail(MPI_ERR_IO, "%s has data at negative displacements, which no file has", name);
    } else if (order.falling) {
      check.fail(MPI_ERR_IO, "the displacements of %s fall: they must be in rising order", name);
    } else if (order.overlaps && check.file().mode.writes) {
      check.fail(MPI_ERR_IO, "%s has overlapping data, and the file was opened for writing", name);
    }
    if (type == wanted.filetype) wanted.view.rising = !order.overlaps && type->true_extent <= type->extent;
  }
}

void check_displacement(FileCheck& check, MPI_Offset disp) {
  if (check.failed()) return;
  const bool sequential = (check.file().amode & MPI_MODE_SEQUENTIAL) != 0;
  if (disp == MPI_DISPLACEMENT_CURRENT && sequential) return;
  if (disp == MPI_DISPLACEMENT_CURRENT) {
    check.fail(MPI_ERR_ARG, "disp is MPI_DISPLACEMENT_CURRENT, which is for files opened with MPI_MODE_SEQUENTIAL");
  } else if (sequential) {
    check.fail(MPI_ERR_ARG, "disp must be MPI_DISPLACEMENT_CURRENT: the file was opened with MPI_MODE_SEQUENTIAL");
  } else {
    check.offset(disp, "disp");
  }
}

// The types as the file has them.
void lay_out(FileCheck& check, NewView& wanted, MPI_Offset disp) {
  if (check.failed() || wanted.etype == nullptr || wanted.filetype == nullptr || wanted.datarep == nullptr) return;
  int error = MPI_SUCCESS;
  Type* etype = type_in_file(*wanted.etype, *wanted.datarep, error);
  Type* filetype = etype == nullptr ? nullptr : type_in_file(*wanted.filetype, *wanted.datarep, error);
  if (filetype == nullptr) {
    if (etype != nullptr) release_type(etype);
    check.fail(error, "a type of the view has no form in the representation %s: %s", wanted.datarep->name.c_str(),
               error_text(error));
    return;
  }
  wanted.view.displacement = disp;
  wanted.view.etype = etype;
  wanted.view.filetype = filetype;
}

// MPI_DISPLACEMENT_CURRENT: the byte at which the shared pointer is.
io::Result find_current(File& file, int64_t& displacement) {
  int64_t offset = 0;
  if (file.comm->rank == 0) offset = file.view.offset_of(move_shared_pointer(file, 0) * etype_bytes(file));
  const int32_t error = coll::bcast(*file.comm, &offset, sizeof offset, byte_type, 0);
  displacement = offset;
  return error == core::no_error ? io::Result{} : io::failure(error, io::Act::exchange);
}

void give_back(const NewView& wanted) {
  release_type(wanted.view.etype);
  release_type(wanted.view.filetype);
}

}  // namespace

int file_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char* datarep,
                  MPI_Info info) {
  FileCheck check("MPI_File_set_view", fh);
  if (check.failed()) return check.error();
  File& file = check.file();
  NewView wanted{.displacement = disp};
  io::drain(file);
  check_displacement(check, disp);
  check_types(check, wanted, etype, filetype);
  check.pointer(datarep, "datarep");
  if (!check.failed()) {
    wanted.datarep = find_datarep(datarep);
    if (wanted.datarep == nullptr) {
      check.fail(MPI_ERR_UNSUPPORTED_DATAREP,
                 "datarep is \"%.60s\": it must be native, internal, external32 or the name of one that "
                 "MPI_Register_datarep made",
                 datarep);
    }
  }
  if (!check.failed() && info != MPI_INFO_NULL && info_of(info) == nullptr)
    check.fail(MPI_ERR_INFO, "info is no info object");
  lay_out(check, wanted, disp);
  check.take(io::agree(*file.comm, check.told()));
  if (check.failed()) {
    give_back(wanted);
    return check.error();
  }
  take_hints(file, static_cast<const Comm&>(*file.comm), info_of(info));
  if (disp == MPI_DISPLACEMENT_CURRENT) check.take(find_current(file, wanted.view.displacement));
  if (file.comm->rank == 0) set_shared_pointer(file, 0);  // all ranks have come, and none goes on before the next line
  check.take(io::share_hints(file));
  if (check.failed()) {
    give_back(wanted);
    return check.error();
  }
  hold_type(wanted.etype);
  hold_type(wanted.filetype);
  drop_view(file);
  file.etype = wanted.etype;
  file.filetype = wanted.filetype;
  file.datarep = wanted.datarep;
  file.view = wanted.view;
  file.position.store(0, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

namespace {

// The types that MPI_File_get_view gives are the program's to free, unless they are predefined: with handles of their
// own, as the program may still have those that it gave. MPI_DATATYPE_NULL when there is no memory.
MPI_Datatype handle_for_program(Type* type) {
  Type* given = type->predefined ? type : twin(*type);
  return given != nullptr ? type_handle(given) : MPI_DATATYPE_NULL;
}

}  // namespace

int file_get_view(MPI_File fh, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype, char* datarep) {
  FileCheck check("MPI_File_get_view", fh);
  check.pointer(disp, "disp");
  check.pointer(etype, "etype");
  check.pointer(filetype, "filetype");
  check.pointer(datarep, "datarep");
  if (check.failed()) return check.error();
  const File& file = check.file();
  *disp = file.view.displacement;
  *etype = handle_for_program(file.etype);
  *filetype = handle_for_program(file.filetype);
  if (*etype == MPI_DATATYPE_NULL || *filetype == MPI_DATATYPE_NULL)
    return no_memory(&check.file(), check.function(), "a datatype");
  strcpy(datarep, file.datarep->name.c_str());
  return MPI_SUCCESS;
}

int file_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset* disp) {
  FileCheck check("MPI_File_get_byte_offset", fh);
  check.offset(offset, "offset");
  check.pointer(disp, "disp");
  check.not_sequential();
  if (check.failed()) return check.error();
  const File& file = check.file();
  int64_t position = 0;
  if (__builtin_mul_overflow(offset, etype_bytes(file), &position) || !file.view.reaches(position, 1)) {
    check.fail(MPI_ERR_ARG, "offset is %lld, which is beyond what a file can have", static_cast<long long>(offset));
    return check.error();
  }
  *disp = file.view.offset_of(position);
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
