// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Packing by hand in the representation "external32" (MPI-5.0, 5.3 and 14.5.2). The elements go through a small buffer
// of native bytes without gaps, which the walk over the datatype's history converts basic by basic.

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>
#include <new>

#include "datatype/external32.hpp"
#include "datatype/on_device.hpp"
#include "mpi/datatype/pack.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {
namespace {

using datatype::External32;

// A predefined type of its own basics. Layouts do not tell MPI_LONG from other integers of 8 bytes; handles do.
External32 form_of(const Type& type) {
  const bool c_long = &type == type_of(MPI_LONG) || &type == type_of(MPI_UNSIGNED_LONG);
  return datatype::external32_of(type.basic, c_long);
}

// Whether the type is several others one after another; all other constructors repeat one.
bool has_parts(const Type& type) {
  const int combiner = record_of(type).combiner;
  return combiner == MPI_COMBINER_STRUCT || combiner == MPI_COMBINER_VALUE_INDEX;
}

int64_t block_length(const TypeRecord& record, size_t block) {
  if (record.combiner == MPI_COMBINER_VALUE_INDEX) return 1;
  return record.large_counts.empty() ? record.integers[block + 1] : record.large_counts[block + 1];
}

// Calls visit(form, count) for the runs of basic elements in `count` elements, in the order of the packed data, until
// it returns false. How often a type is repeated follows from the sizes.
template <class Visit>
bool for_each_run(const Type* type, int64_t count, Visit& visit) {
  while (!type->predefined && !has_parts(*type)) {
    if (type->size == 0) return true;
    const Type* old = record_of(*type).types.front();
    count *= type->size / old->size;
    type = old;
  }
  if (type->size == 0) return true;
  if (!has_parts(*type)) return visit(form_of(*type), count);
  const TypeRecord& record = record_of(*type);
  for (int64_t i = 0; i < count; ++i) {
    for (size_t block = 0; block < record.types.size(); ++block) {
      if (!for_each_run(record.types[block], block_length(record, block), visit)) return false;
    }
  }
  return true;
}

// Bytes of one element outside. No product leaves 64 bits: every basic has at most as many bytes outside as inside.
int64_t external_size(const Type* type) {
  int64_t factor = 1;
  while (!type->predefined && !has_parts(*type)) {
    if (type->size == 0) return 0;
    const Type* old = record_of(*type).types.front();
    factor *= type->size / old->size;
    type = old;
  }
  if (!has_parts(*type)) return factor * form_of(*type).external_size();
  const TypeRecord& record = record_of(*type);
  int64_t bytes = 0;
  for (size_t block = 0; block < record.types.size(); ++block) {
    bytes += block_length(record, block) * external_size(record.types[block]);
  }
  return factor * bytes;
}

constexpr int64_t stage_bytes = 8192;

// Native bytes of elements, taken from their layout in order.
class NativeSource {
 public:
  NativeSource(const Type& type, int64_t count, const void* buffer, bool on_device)
      : type_(type), count_(count), buffer_(buffer), pack_(datatype::packing(on_device)), left_(count * type.size) {}

  // The next `bytes`, at most a stage.
  const char* take(int64_t bytes) {
    if (end_ - begin_ < bytes) refill();
    const char* at = stage_ + begin_;
    begin_ += bytes;
    return at;
  }

 private:
  void refill() {
    std::memmove(stage_, stage_ + begin_, static_cast<size_t>(end_ - begin_));
    end_ -= begin_;
    begin_ = 0;
    const int64_t part = std::min(stage_bytes - end_, left_);
    pack_(type_, count_, buffer_, position_, stage_ + end_, part);
    position_ += part;
    left_ -= part;
    end_ += part;
  }

  const Type& type_;
  int64_t count_;
  const void* buffer_;
  decltype(datatype::pack)* pack_;
  int64_t left_;
  int64_t position_ = 0;
  int64_t begin_ = 0;
  int64_t end_ = 0;
  char stage_[stage_bytes];
};

// The reverse; the bytes are in place after flush().
class Sink {
 public:
  Sink(const Type& type, int64_t count, void* buffer, bool on_device)
      : type_(type), count_(count), buffer_(buffer), unpack_(datatype::unpacking(on_device)) {}

  // Memory for the next `bytes`, which are at most stage_bytes.
  char* give(int64_t bytes) {
    if (stage_bytes - end_ < bytes) flush();
    char* at = stage_ + end_;
    end_ += bytes;
    return at;
  }
  void flush() {
    unpack_(type_, count_, buffer_, position_, stage_, end_);
    position_ += end_;
    end_ = 0;
  }

 private:
  const Type& type_;
  int64_t count_;
  void* buffer_;
  decltype(datatype::unpack)* unpack_;
  int64_t position_ = 0;
  int64_t end_ = 0;
  char stage_[stage_bytes];
};

// Their type, and the bytes that the elements take outside.
int check_elements(const char* function, const char* datarep, MPI_Count count, MPI_Datatype datatype, const Type*& type,
                   int64_t& bytes) {
  if (no_address(datarep)) return null_argument(nullptr, function, "datarep");
  if (strcmp(datarep, "external32") != 0) {
    return fail(nullptr, function, MPI_ERR_UNSUPPORTED_DATAREP, "datarep is \"%.40s\": it must be \"external32\"",
                datarep);
  }
  if (!good_elements(count, datatype, type, bytes)) return explain_elements(nullptr, function, count, datatype);
  bytes = count * external_size(type);
  return MPI_SUCCESS;
}

int check(const Packing& p, const char* datarep, const Type*& type, int64_t& bytes) {
  const int error = check_elements(p.function, datarep, p.count, p.datatype, type, bytes);
  if (error != MPI_SUCCESS || type == nullptr) return error;
  return good_packing(p, *type, bytes) ? MPI_SUCCESS : explain_packing(nullptr, p, *type, bytes);
}

}  // namespace

int64_t external_bytes(const Type& type) {
  return external_size(&type);
}

int64_t external_bytes_of_basic(const Type& type) {
  return form_of(type).external_size();
}

bool put_external(const Type& type, int64_t count, const void* elements, bool on_device, void* packed) {
  NativeSource source(type, count, elements, on_device);
  char* to = static_cast<char*>(packed);
  auto convert = [&](const External32& form, int64_t values) {
    for (int64_t part; values > 0; values -= part) {
      part = std::min(values, stage_bytes / form.native_size());
      if (!datatype::to_external32(form, source.take(part * form.native_size()), to, part)) return false;
      to += part * form.external_size();
    }
    return true;
  };
  return for_each_run(&type, count, convert);
}

void get_external(const Type& type, int64_t count, void* elements, bool on_device, const void* packed) {
  Sink sink(type, count, elements, on_device);
  const char* from = static_cast<const char*>(packed);
  auto convert = [&](const External32& form, int64_t values) {
    for (int64_t part; values > 0; values -= part) {
      part = std::min(values, stage_bytes / form.native_size());
      datatype::from_external32(form, from, sink.give(part * form.native_size()), part);
      from += part * form.external_size();
    }
    return true;
  };
  (void)for_each_run(&type, count, convert);
  sink.flush();
}

namespace {

// External bytes where the processor reaches them: in their place, or in memory that stands for it.
class Outside {
 public:
  Outside(char* place, int64_t bytes) : place_(place), bytes_(bytes) {
    const bool on_device = bytes > 0 && device::owns(place);
    if (on_device) stand_.reset(new (std::nothrow) char[static_cast<size_t>(bytes)]);
    at_ = on_device ? stand_.get() : place;
  }
  bool has_memory() const { return at_ != nullptr || place_ == nullptr; }
  char* get() const { return at_; }
  void fetch() const {
    if (stand_ != nullptr) datatype::pack(byte_type, bytes_, place_, 0, at_, bytes_);
  }
  void store() const {
    if (stand_ != nullptr) datatype::unpack(byte_type, bytes_, place_, 0, at_, bytes_);
  }

 private:
  char* place_;
  int64_t bytes_;
  char* at_ = nullptr;
  std::unique_ptr<char[]> stand_;
};

template <class Position>
int pack_at(const Packing& p, const char* datarep, void* packed, Position* position) {
  const Type* type = nullptr;
  int64_t bytes = 0;
  const int error = check(p, datarep, type, bytes);
  if (error != MPI_SUCCESS || type == nullptr) return error;
  const Outside there(static_cast<char*>(packed) + p.position, bytes);
  if (!there.has_memory()) return no_memory(nullptr, p.function, "converted data");
  if (!put_external(*type, p.count, p.elements, datatype::are_on_device(*type, p.count, p.elements), there.get())) {
    return fail(nullptr, p.function, MPI_ERR_CONVERSION,
                "a value does not fit external32, where MPI_LONG and MPI_UNSIGNED_LONG have 4 bytes and MPI_WCHAR has "
                "2: pack it as MPI_INT64_T, MPI_UINT64_T or MPI_INT32_T");
  }
  there.store();
  *position = static_cast<Position>(p.position + bytes);
  return copied(nullptr, p.function);
}

template <class Position>
int unpack_at(const Packing& p, const char* datarep, void* elements, Position* position) {
  const Type* type = nullptr;
  int64_t bytes = 0;
  const int error = check(p, datarep, type, bytes);
  if (error != MPI_SUCCESS || type == nullptr) return error;
  const Outside there(const_cast<char*>(static_cast<const char*>(p.packed)) + p.position, bytes);
  if (!there.has_memory()) return no_memory(nullptr, p.function, "converted data");
  there.fetch();
  get_external(*type, p.count, elements, datatype::are_on_device(*type, p.count, elements), there.get());
  *position = static_cast<Position>(p.position + bytes);
  return copied(nullptr, p.function);
}

template <class Size>
int find_size(const char* function, const char* datarep, MPI_Count count, MPI_Datatype datatype, Size* size) {
  if (no_address(size)) return null_argument(nullptr, function, "size");
  const Type* type = nullptr;
  int64_t bytes = 0;
  if (int error = check_elements(function, datarep, count, datatype, type, bytes)) return error;
  *size = static_cast<Size>(bytes);
  return MPI_SUCCESS;
}

}  // namespace

int pack_external(const char* datarep, const void* inbuf, int incount, MPI_Datatype datatype, void* outbuf,
                  MPI_Aint outsize, MPI_Aint* position) {
  if (no_address(position)) return null_argument(nullptr, "MPI_Pack_external", "position");
  return pack_at({"MPI_Pack_external", inbuf, incount, datatype, outbuf, outsize, *position}, datarep, outbuf,
                 position);
}

int pack_external_c(const char* datarep, const void* inbuf, MPI_Count incount, MPI_Datatype datatype, void* outbuf,
                    MPI_Count outsize, MPI_Count* position) {
  if (no_address(position)) return null_argument(nullptr, "MPI_Pack_external_c", "position");
  return pack_at({"MPI_Pack_external_c", inbuf, incount, datatype, outbuf, outsize, *position}, datarep, outbuf,
                 position);
}

int unpack_external(const char datarep[], const void* inbuf, MPI_Aint insize, MPI_Aint* position, void* outbuf,
                    int outcount, MPI_Datatype datatype) {
  if (no_address(position)) return null_argument(nullptr, "MPI_Unpack_external", "position");
  return unpack_at({"MPI_Unpack_external", outbuf, outcount, datatype, inbuf, insize, *position}, datarep, outbuf,
                   position);
}

int unpack_external_c(const char datarep[], const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
                      MPI_Count outcount, MPI_Datatype datatype) {
  if (no_address(position)) return null_argument(nullptr, "MPI_Unpack_external_c", "position");
  return unpack_at({"MPI_Unpack_external_c", outbuf, outcount, datatype, inbuf, insize, *position}, datarep, outbuf,
                   position);
}

int pack_external_size(const char* datarep, int incount, MPI_Datatype datatype, MPI_Aint* size) {
  return find_size("MPI_Pack_external_size", datarep, incount, datatype, size);
}

int pack_external_size_c(const char* datarep, MPI_Count incount, MPI_Datatype datatype, MPI_Count* size) {
  return find_size("MPI_Pack_external_size_c", datarep, incount, datatype, size);
}

}  // namespace weft::mpi
