// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/file/data.hpp"

#include <memory>
#include <new>
#include <string>

#include "core/message/completion.hpp"
#include "datatype/on_device.hpp"
#include "io/collective_access.hpp"
#include "io/operation.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/file/datarep.hpp"
#include "mpi/file/pointer.hpp"
#include "mpi/file/view.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/status.hpp"

namespace weft::mpi {
namespace {

// A checked call.
struct Data {
  io::Memory memory;  // as the file has it
  Type* type = nullptr;
  std::unique_ptr<DataConversion> conversion;  // where the file's form is another one than the program's
  int64_t bytes = 0;                           // in the file
  int64_t etypes = 0;
  int64_t position = 0;  // in the stream of the view
};

// The file's form of the data.
void convert(FileCheck& check, const DataCall& call, Data& data) {
  const Datarep& datarep = *check.file().datarep;
  if (check.failed() || datarep.form == Datarep::DatarepForm::native) return;
  int error = MPI_SUCCESS;
  Type* in_file = type_in_file(*data.type, datarep, error);
  if (in_file == nullptr) {
    check.fail(error, "the datatype has no form in the representation %s: %s", datarep.name.c_str(), error_text(error));
    return;
  }
  const int64_t unit = in_file->size;
  release_type(in_file);
  if (data.memory.on_device && datarep.form == Datarep::DatarepForm::registered && datarep.converts(call.writes)) {
    check.fail(MPI_ERR_UNSUPPORTED_OPERATION,
               "the buffer %p lies on a device, where the conversion functions of the representation %s cannot reach "
               "it: copy the data to the host's memory first",
               call.buffer, datarep.name.c_str());
    return;
  }
  if (__builtin_mul_overflow(call.count, unit, &data.bytes)) {
    check.fail(MPI_ERR_COUNT, "count is %lld, which is more than a file can hold", static_cast<long long>(call.count));
  } else if (datarep.converts(call.writes)) {
    data.conversion = std::make_unique<DataConversion>(datarep, data.memory, unit);
    if (!data.conversion->allocate()) {
      check.fail(MPI_ERR_NO_MEM, "no memory for %lld bytes of converted data", static_cast<long long>(data.bytes));
      return;
    }
    data.memory = data.conversion->converted();
    error = call.writes ? data.conversion->to_file() : MPI_SUCCESS;
    if (error != MPI_SUCCESS)
      check.fail(error, "the data could not be converted to %s: %s", datarep.name.c_str(), error_text(error));
  } else if (unit != data.type->size) {
    check.fail(MPI_ERR_CONVERSION, "the representation %s has no conversion function, and other sizes than memory",
               datarep.name.c_str());
  }
}

Data check_call(FileCheck& check, const DataCall& call) {
  Data data;
  Type* type = data.type = check.data({call.buffer, call.count, call.datatype}, data.bytes);
  if (call.writes) {
    check.writes();
  } else {
    check.reads();
  }
  if (call.pointer != Pointer::shared) check.not_sequential();
  if (call.pointer == Pointer::none) check.offset(call.offset, "offset");
  if (check.failed()) return data;
  const bool on_device = !check.file().host_memory && datatype::are_on_device(*type, call.count, call.buffer);
  data.memory = {call.buffer, call.count, type, on_device};
  convert(check, call, data);
  if (check.failed()) return data;
  const int64_t unit = etype_bytes(check.file());
  data.etypes = data.bytes / unit;
  if (data.bytes % unit != 0) {
    check.fail(MPI_ERR_ARG, "the data have %lld bytes, which are no whole etypes of %lld bytes",
               static_cast<long long>(data.bytes), static_cast<long long>(unit));
  }
  return data;
}

// Turns an offset in etypes into a position.
void place(FileCheck& check, Data& data, int64_t offset) {
  if (check.failed()) return;
  const File& file = check.file();
  if (__builtin_mul_overflow(offset, etype_bytes(file), &data.position) ||
      !file.view.reaches(data.position, data.bytes)) {
    check.fail(MPI_ERR_ARG, "offset is %lld: %lld bytes there are beyond what a file can have",
               static_cast<long long>(offset), static_cast<long long>(data.bytes));
  }
}

// The offset of an independent access; pointers move past the data.
int64_t take_offset(FileCheck& check, const DataCall& call, const Data& data) {
  if (check.failed()) return 0;
  switch (call.pointer) {
    case Pointer::none:
      break;
    case Pointer::individual:
      return check.file().position.fetch_add(data.etypes, std::memory_order_relaxed);
    case Pointer::shared:
      return move_shared_pointer(check.file(), data.etypes);
  }
  return call.offset;
}

}  // namespace

namespace {

// Data that were read get the program's form.
void finish_conversion(FileCheck& check, const DataCall& call, Data& data, int64_t& done) {
  if (data.conversion == nullptr) return;
  if (call.writes) {
    done = call.count * data.type->size;
  } else if (const int error = data.conversion->from_file(done); error != MPI_SUCCESS && !check.failed()) {
    check.fail(error, "the data could not be converted from %s: %s", check.file().datarep->name.c_str(),
               error_text(error));
  }
}

}  // namespace

int run(const DataCall& call, MPI_Status* status) {
  FileCheck check(call.function, call.fh);
  if (check.failed()) return check.error();
  Data data = check_call(check, call);
  place(check, data, take_offset(check, call, data));
  if (check.failed()) return check.error();
  File& file = check.file();
  int64_t done = 0;
  check.take(io::access_at(file, call.writes, file.view, data.position, data.memory, done));
  finish_conversion(check, call, data, done);
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, done, false);
  return check.error();
}

namespace {

// The types that an access in the background uses are kept.
template <class Access>
void release_types(const Access& access) {
  release_type(access.filetype());
  release_type(access.memory_type());
}

void hold_types(const File& file, const Data& data) {
  hold_type(file.view.filetype);
  hold_type(data.memory.type);
}

void end_operation(Request& request) {
  auto* operation = static_cast<io::FileOperation*>(request.owner);
  release_types(*operation);
  delete operation;
}

void end_collectively(Request& request) {
  auto* access = static_cast<io::CollectiveAccess*>(request.owner);
  release_types(*access);
  delete access;
}

// An access whose data are converted: the program's thread does that when it looks for the end of the access.
struct Converted {
  Request* access;
  std::unique_ptr<DataConversion> conversion;
  Type* type;     // of the program's memory, held
  int64_t bytes;  // there
  bool writes;
  std::string failure;
};

void end_converted(Request& request) {
  auto* converted = static_cast<Converted*>(request.owner);
  release(*converted->access);
  release_type(converted->type);
  delete converted;
}

void poll_converted(Request& request) {
  auto& converted = *static_cast<Converted*>(request.owner);
  const Request& access = *converted.access;
  if (!core::is_done(access)) return;
  request.error = access.error;
  request.received = converted.writes ? converted.bytes : access.received;
  if (request.error != MPI_SUCCESS) {
    converted.failure = text_of_file_access(access);
  } else if (!converted.writes) {
    request.error = converted.conversion->from_file(request.received);
    converted.failure = "the data could not be converted from the form that the file has";
  }
  core::mark_done(request);
}

// Makes the request that the program gets of an access that has begun.
Request* with_conversion(File& file, const DataCall& call, Data& data, Request* access) {
  if (data.conversion == nullptr || access == nullptr) return access;
  Request* r = coll::new_composite(*file.comm);
  if (r == nullptr) {  // the access must end before its memory goes
    wait_for(*access, "an access to a file");
    access->error = MPI_ERR_NO_MEM;
    return access;
  }
  r->owner = new Converted{
      access, std::move(data.conversion), hold_type(data.type), call.count * data.type->size, call.writes, {}};
  r->on_free = end_converted;
  r->on_poll = poll_converted;
  return r;
}

}  // namespace

bool is_file_access(const Request& request) {
  return request.on_free == end_operation || request.on_free == end_collectively || request.on_free == end_converted;
}

const char* text_of_file_access(const Request& request) {
  static thread_local std::string text;
  if (request.on_free == end_converted) return static_cast<Converted*>(request.owner)->failure.c_str();
  if (request.on_free == end_operation) {
    const auto& operation = *static_cast<io::FileOperation*>(request.owner);
    text = text_of(operation.result(), operation.path());
  } else {
    const auto& access = *static_cast<io::CollectiveAccess*>(request.owner);
    text = text_of(access.result(), access.path());
  }
  return text.c_str();
}

int start(const DataCall& call, MPI_Request* request) {
  FileCheck check(call.function, call.fh);
  if (check.failed()) return check.error();
  check.pointer(request, "request");
  Data data = check_call(check, call);
  if (check.failed()) return check.error();
  File& file = check.file();
  Request* r = coll::new_composite(*file.comm);
  if (r == nullptr) return no_memory(&file, call.function, "a request");
  place(check, data, take_offset(check, call, data));
  auto* operation = check.failed() ? nullptr
                                   : new (std::nothrow)
                                         io::FileOperation(file, *r, call.writes, data.position, data.memory);
  if (operation == nullptr) {
    core::free_request(r);
    return check.failed() ? check.error() : no_memory(&file, call.function, "an access");
  }
  hold_types(file, data);
  r->owner = operation;
  r->on_free = end_operation;
  Request* given = with_conversion(file, call, data, r);
  *request = handle_of<MPI_Request>(given);
  operation->start();
  return MPI_SUCCESS;
}

namespace {

// The offset of a collective access. A rank whose arguments are wrong takes part: the shared pointer moves past the
// data of all, unless one of them failed.
int64_t take_offset_collectively(FileCheck& check, const DataCall& call, const Data& data) {
  if (call.pointer != Pointer::shared) return take_offset(check, call, data);
  int64_t offset = 0;
  const io::Result result = order_by_rank(check.file(), check.failed() ? 0 : data.etypes, check.told(), offset);
  check.take(result);
  return offset;
}

// The checks of all collective forms.
Data check_collectively(FileCheck& check, const DataCall& call) {
  Data data = check_call(check, call);
  const int64_t offset = take_offset_collectively(check, call, data);
  place(check, data, offset);
  return data;
}

}  // namespace

int run_all(const DataCall& call, MPI_Status* status) {
  FileCheck check(call.function, call.fh);
  if (check.failed()) return check.error();
  File& file = check.file();
  Data data = check_collectively(check, call);
  if (call.pointer == Pointer::shared && check.failed()) return check.error();  // all ranks know
  io::CollectiveAccess access(file, call.writes, data.position, data.memory, check.told(), nullptr);
  access.perform();
  check.take(access.result());
  int64_t done = access.done();
  if (!check.failed()) finish_conversion(check, call, data, done);
  if (!check.failed()) set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, done, false);
  return check.error();
}

namespace {

// The request of a collective access that has begun; nullptr with the error raised.
Request* launch(FileCheck& check, const DataCall& call) {
  File& file = check.file();
  Data data = check_collectively(check, call);
  if (call.pointer == Pointer::shared && check.failed()) return nullptr;
  Request* r = coll::new_composite(*file.comm);
  auto* access = r == nullptr
                     ? nullptr
                     : new (std::nothrow)
                           io::CollectiveAccess(file, call.writes, data.position, data.memory, check.told(), r);
  if (access == nullptr) {
    if (r != nullptr) core::free_request(r);
    check.fail(MPI_ERR_NO_MEM, "no memory for an access");
    return nullptr;
  }
  hold_type(file.view.filetype);
  hold_type(access->memory_type());
  r->owner = access;
  r->on_free = end_collectively;
  access->start();
  return with_conversion(file, call, data, r);
}

}  // namespace

// A rank whose arguments are wrong has a request too, which its error ends: the others wait for it.
int start_all(const DataCall& call, MPI_Request* request) {
  FileCheck check(call.function, call.fh);
  if (!check.failed() && no_address(request)) return null_argument(&check.file(), call.function, "request");
  if (check.failed()) return check.error();
  Request* r = launch(check, call);
  if (r == nullptr) return check.error();
  *request = handle_of<MPI_Request>(r);
  if (!check.failed()) return MPI_SUCCESS;
  wait_for(*r, "an access to a file");
  (void)retire(request, *r, MPI_STATUS_IGNORE);
  return check.error();
}

int begin_split(const DataCall& call) {
  FileCheck check(call.function, call.fh);
  if (check.failed()) return check.error();
  File& file = check.file();
  if (file.split != nullptr) {
    check.fail(MPI_ERR_OTHER, "a split collective access to %s has begun and not ended: a file has one at a time",
               file_text(file).c_str());
    return check.error();
  }
  Request* r = launch(check, call);
  if (r == nullptr) return check.error();
  if (check.failed()) {
    wait_for(*r, "an access to a file");
    release(*r);
    return check.error();
  }
  file.split = r;
  file.split_writes = call.writes;
  file.split_pointer = static_cast<uint8_t>(call.pointer);
  return MPI_SUCCESS;
}

int end_split(const char* function, MPI_File fh, bool writes, Pointer pointer, MPI_Status* status) {
  FileCheck check(function, fh);
  if (check.failed()) return check.error();
  File& file = check.file();
  if (file.split == nullptr || file.split_writes != writes || file.split_pointer != static_cast<uint8_t>(pointer)) {
    check.fail(MPI_ERR_OTHER, "%s",
               file.split == nullptr ? "no split collective access has begun"
                                     : "the split collective access that has begun is of another kind");
    return check.error();
  }
  Request* r = file.split;
  file.split = nullptr;
  MPI_Request handle = handle_of<MPI_Request>(r);
  wait_for(*r, "an access to a file");
  return finish(function, &handle, *r, status);
}

}  // namespace weft::mpi
