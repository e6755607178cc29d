// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Data representations of files (MPI-5.0, 14.5): the form of data in the file, and the way there from memory.

#include <string>

#include "io/memory.hpp"
#include "io/result.hpp"
#include "mpi/object/object.hpp"

namespace weft::mpi {

// A data representation never changes after its registration, and is kept until the process ends.
struct Datarep {
  enum class DatarepForm : uint8_t { native, external32, registered };

  std::string name;
  DatarepForm form = DatarepForm::native;
  // The members from here on belong to registered representations. If a conversion function is null, the data in the
  // file are as in memory.
  MPI_Datarep_conversion_function* read = nullptr;
  MPI_Datarep_conversion_function* write = nullptr;
  MPI_Datarep_conversion_function_c* read_c = nullptr;
  MPI_Datarep_conversion_function_c* write_c = nullptr;
  MPI_Datarep_extent_function* extent = nullptr;
  void* extra_state = nullptr;

  [[nodiscard]] bool converts(bool writes) const {
    if (form != DatarepForm::registered) return form == DatarepForm::external32;
    return writes ? write != nullptr || write_c != nullptr : read != nullptr || read_c != nullptr;
  }
};

[[nodiscard]] const Datarep* native_datarep();
// The representation of this name; nullptr: there is none.
[[nodiscard]] const Datarep* find_datarep(const char* name);

// The layout of a type's elements in a file of this representation, with a reference for the caller: the type itself
// where it is the same. nullptr, with an error class, where it has none.
[[nodiscard]] Type* type_in_file(Type& type, const Datarep& datarep, int& error);

// The data of an access in the file's representation.
class DataConversion {
 public:
  // `unit`: bytes of an element in the file.
  DataConversion(const Datarep& datarep, const io::Memory& memory, int64_t unit)
      : datarep_(datarep), memory_(memory), unit_(unit) {}

  // Memory for the converted data; false: there is none.
  [[nodiscard]] bool allocate();
  [[nodiscard]] io::Memory converted() const { return {stage_.get(), memory_.count * unit_}; }

  // Both return an error class.
  [[nodiscard]] int to_file();
  // The first `bytes` of the converted data have been read; then what MPI_Get_count counts.
  [[nodiscard]] int from_file(int64_t& bytes);

 private:
  const Datarep& datarep_;
  const io::Memory memory_;
  const int64_t unit_;
  io::Bytes stage_;
};

}  // namespace weft::mpi
