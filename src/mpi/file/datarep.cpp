// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Data representations (MPI-5.0, 14.5).
#include "mpi/file/datarep.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <mutex>
#include <vector>

#include "datatype/pack.hpp"
#include "mpi/datatype/pack.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/file/file.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {
namespace {

constinit base::Lock registering;

// Under the lock; entries stay where they are.
std::vector<const Datarep*>& all_datareps() {
  static auto* const all = new std::vector<const Datarep*>{
      new Datarep{"native", Datarep::DatarepForm::native},
      new Datarep{"internal", Datarep::DatarepForm::native},
      new Datarep{"external32", Datarep::DatarepForm::external32},
  };
  return *all;
}

const Datarep* find_locked(const char* name) {
  const auto& all = all_datareps();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Datarep* each) { return each->name == name; });
  return at == all.end() ? nullptr : *at;
}

}  // namespace

const Datarep* find_datarep(const char* name) {
  std::lock_guard guard(registering);
  return find_locked(name);
}

const Datarep* native_datarep() {
  static const Datarep* const found = find_datarep("native");
  return found;
}

namespace {

int add_datarep(const char* function, const char* name, Datarep&& datarep) {
  if (!is_running()) return not_running(function);
  if (no_address(name)) return null_argument(&no_file(), function, "datarep");
  if (datarep.extent == nullptr) return null_argument(&no_file(), function, "dtype_file_extent_fn");
  if (strnlen(name, MPI_MAX_DATAREP_STRING) == MPI_MAX_DATAREP_STRING) {
    return fail(&no_file(), function, MPI_ERR_ARG, "datarep is longer than MPI_MAX_DATAREP_STRING - 1 (%d)",
                MPI_MAX_DATAREP_STRING - 1);
  }
  datarep.name = name;
  datarep.form = Datarep::DatarepForm::registered;
  bool there = false;
  {
    std::lock_guard guard(registering);
    there = find_locked(name) != nullptr;
    if (!there) all_datareps().push_back(new Datarep(std::move(datarep)));
  }
  if (!there) return MPI_SUCCESS;
  return fail(&no_file(), function, MPI_ERR_DUP_DATAREP, "there is a data representation \"%s\" already", name);
}

}  // namespace

int register_datarep(const char* datarep, MPI_Datarep_conversion_function* read_conversion_fn,
                     MPI_Datarep_conversion_function* write_conversion_fn,
                     MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  return add_datarep("MPI_Register_datarep", datarep,
                     {.read = read_conversion_fn,
                      .write = write_conversion_fn,
                      .extent = dtype_file_extent_fn,
                      .extra_state = extra_state});
}

int register_datarep_c(const char* datarep, MPI_Datarep_conversion_function_c* read_conversion_fn,
                       MPI_Datarep_conversion_function_c* write_conversion_fn,
                       MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state) {
  return add_datarep("MPI_Register_datarep_c", datarep,
                     {.read_c = read_conversion_fn,
                      .write_c = write_conversion_fn,
                      .extent = dtype_file_extent_fn,
                      .extra_state = extra_state});
}

namespace {

// Makes the layout of a type again, with the sizes that its predefined types have in the file. Displacements in bytes
// stay as they are (MPI-5.0, 14.5.2: such types are not portable).
class InFile {
 public:
  explicit InFile(const Datarep& datarep) : datarep_(datarep) {}
  int error() const { return error_; }

  // With a reference; nullptr: error() says why.
  Type* make(Type& type) {
    if (type.predefined) return basic(type);
    const TypeRecord& record = record_of(type);
    if (record.combiner == MPI_COMBINER_VALUE_INDEX) return refuse(MPI_ERR_UNSUPPORTED_DATAREP);
    std::vector<Type*> parts;
    bool good = true;
    for (Type* part : record.types) {
      parts.push_back(good ? make(*part) : nullptr);
      good &= parts.back() != nullptr;
    }
    Type* made = good ? combine(record, parts) : nullptr;
    for (Type* part : parts) {
      if (part != nullptr) release_type(part);
    }
    if (good && made == nullptr) return refuse(MPI_ERR_NO_MEM);
    if (made != nullptr) made->commit(true);
    return made;
  }

 private:
  Type* refuse(int error) {
    error_ = error;
    return nullptr;
  }

  Type* basic(Type& type) {
    int64_t bytes = 0;
    if (datarep_.form == Datarep::DatarepForm::external32) {
      bytes = external_bytes_of_basic(type);
    } else {
      MPI_Aint extent = 0;
      const int error = datarep_.extent(type_handle(&type), &extent, datarep_.extra_state);
      if (error != MPI_SUCCESS) return refuse(error);
      bytes = extent;
    }
    if (bytes <= 0) return refuse(MPI_ERR_UNSUPPORTED_DATAREP);
    Type* made = datatype::contiguous(bytes, byte_type);
    return made != nullptr ? made : refuse(MPI_ERR_NO_MEM);
  }

  // The arguments of the constructor in order: counts, then displacements.
  static std::vector<int64_t> numbers_of(const TypeRecord& record) {
    if (!record.large_counts.empty()) return {record.large_counts.begin(), record.large_counts.end()};
    std::vector<int64_t> all(record.integers.begin(), record.integers.end());
    all.insert(all.end(), record.addresses.begin(), record.addresses.end());
    return all;
  }

  static Type* combine(const TypeRecord& record, const std::vector<Type*>& types) {
    const std::vector<int64_t> n = numbers_of(record);
    const Type& old = *types[0];
    switch (record.combiner) {
      case MPI_COMBINER_DUP:
        return datatype::duplicate(old);
      case MPI_COMBINER_CONTIGUOUS:
        return datatype::contiguous(n[0], old);
      case MPI_COMBINER_VECTOR:
        return datatype::vector(n[0], n[1], n[2] * old.extent, old);
      case MPI_COMBINER_HVECTOR:
        return datatype::vector(n[0], n[1], n[2], old);
      case MPI_COMBINER_RESIZED:
        return datatype::resized(old, n[0], n[1]);
      case MPI_COMBINER_SUBARRAY:
        return subarray(record, old);
      case MPI_COMBINER_DARRAY:
        return darray_of(record, old);
      default:
        return structure(record.combiner, n, types);
    }
  }

  static Type* subarray(const TypeRecord& record, const Type& old) {
    const bool large = !record.large_counts.empty();
    const int dims = record.integers[0];
    const std::vector<int64_t> n = large ? std::vector<int64_t>(record.large_counts.begin(), record.large_counts.end())
                                         : std::vector<int64_t>(record.integers.begin() + 1, record.integers.end());
    const int order = record.integers.back();
    return datatype::subarray(dims, n.data(), n.data() + dims, n.data() + 2 * dims, order == MPI_ORDER_FORTRAN, old);
  }

  // Indexed types of all kinds, and structures.
  static Type* structure(int combiner, const std::vector<int64_t>& n, const std::vector<Type*>& types) {
    const bool equal = combiner == MPI_COMBINER_INDEXED_BLOCK || combiner == MPI_COMBINER_HINDEXED_BLOCK;
    const bool scaled = combiner == MPI_COMBINER_INDEXED || combiner == MPI_COMBINER_INDEXED_BLOCK;
    const auto count = static_cast<size_t>(n[0]);
    std::vector<datatype::Part> parts;
    for (size_t i = 0; i < count; ++i) {
      const Type* type = combiner == MPI_COMBINER_STRUCT ? types[i] : types[0];
      const int64_t length = equal ? n[1] : n[1 + i];
      const int64_t displacement = equal ? n[2 + i] : n[1 + count + i];
      parts.push_back({scaled ? displacement * type->extent : displacement, length, type});
    }
    return datatype::structure(parts.data(), n[0]);
  }

  const Datarep& datarep_;
  int error_ = MPI_SUCCESS;
};

}  // namespace

Type* type_in_file(Type& type, const Datarep& datarep, int& error) {
  error = MPI_SUCCESS;
  if (datarep.form == Datarep::DatarepForm::native) return hold_type(&type);
  InFile in_file(datarep);
  Type* made = in_file.make(type);
  error = in_file.error();
  if (made == nullptr) return nullptr;
  made->commit(true);
  return made;
}

bool DataConversion::allocate() {
  int64_t bytes = 0;
  if (__builtin_mul_overflow(memory_.count, unit_, &bytes)) return false;
  stage_ = io::allocate(bytes);
  return stage_ != nullptr;
}

int DataConversion::to_file() {
  if (memory_.count == 0) return MPI_SUCCESS;
  if (datarep_.form == Datarep::DatarepForm::external32) {
    if (!put_external(*memory_.type, memory_.count, memory_.buffer, memory_.on_device, stage_.get()))
      return MPI_ERR_CONVERSION;
    return memory_.copy_failed() ? MPI_ERR_OTHER : MPI_SUCCESS;
  }
  MPI_Datatype datatype = type_handle(memory_.type);
  if (datarep_.write_c != nullptr)
    return datarep_.write_c(memory_.buffer, datatype, memory_.count, stage_.get(), 0, datarep_.extra_state);
  for (int64_t at = 0; at < memory_.count; at += INT_MAX) {
    const int part = static_cast<int>(std::min<int64_t>(INT_MAX, memory_.count - at));
    if (int error = datarep_.write(memory_.buffer, datatype, part, stage_.get() + at * unit_, at, datarep_.extra_state))
      return error;
  }
  return MPI_SUCCESS;
}

int DataConversion::from_file(int64_t& bytes) {
  const int64_t count = unit_ > 0 ? bytes / unit_ : 0;
  bytes = count * memory_.type->size;
  if (count == 0) return MPI_SUCCESS;
  if (datarep_.form == Datarep::DatarepForm::external32) {
    get_external(*memory_.type, count, memory_.buffer, memory_.on_device, stage_.get());
    return memory_.copy_failed() ? MPI_ERR_OTHER : MPI_SUCCESS;
  }
  MPI_Datatype datatype = type_handle(memory_.type);
  if (datarep_.read_c != nullptr)
    return datarep_.read_c(memory_.buffer, datatype, count, stage_.get(), 0, datarep_.extra_state);
  for (int64_t at = 0; at < count; at += INT_MAX) {
    const int part = static_cast<int>(std::min<int64_t>(INT_MAX, count - at));
    if (int error = datarep_.read(memory_.buffer, datatype, part, stage_.get() + at * unit_, at, datarep_.extra_state))
      return error;
  }
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
