// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Files whose data lie on a device: each form of access writes from there and reads to there.
#include <unistd.h>

#include <functional>
#include <string>

#include "on_device.hpp"

namespace {

using namespace on_device;

using Access = std::function<void(MPI_File file, MPI_Offset offset, int* data, int count, MPI_Datatype type)>;

template <class Start>
void complete(Start&& start) {
  MPI_Request request;
  start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

struct Form {
  const char* name;
  Access write;
  Access read;
};

// The offset is that of this rank's data. The individual pointer is there.
const Form forms[] = {
    {"at", [](auto f, auto o, auto d, auto c, auto t) { MPI_File_write_at(f, o, d, c, t, MPI_STATUS_IGNORE); },
     [](auto f, auto o, auto d, auto c, auto t) { MPI_File_read_at(f, o, d, c, t, MPI_STATUS_IGNORE); }},
    {"at_all", [](auto f, auto o, auto d, auto c, auto t) { MPI_File_write_at_all(f, o, d, c, t, MPI_STATUS_IGNORE); },
     [](auto f, auto o, auto d, auto c, auto t) { MPI_File_read_at_all(f, o, d, c, t, MPI_STATUS_IGNORE); }},
    {"all", [](auto f, auto, auto d, auto c, auto t) { MPI_File_write_all(f, d, c, t, MPI_STATUS_IGNORE); },
     [](auto f, auto, auto d, auto c, auto t) { MPI_File_read_all(f, d, c, t, MPI_STATUS_IGNORE); }},
    {"iat",
     [](auto f, auto o, auto d, auto c, auto t) { complete([&](auto r) { MPI_File_iwrite_at(f, o, d, c, t, r); }); },
     [](auto f, auto o, auto d, auto c, auto t) { complete([&](auto r) { MPI_File_iread_at(f, o, d, c, t, r); }); }},
    {"iat_all",
     [](auto f, auto o, auto d, auto c, auto t) {
       complete([&](auto r) { MPI_File_iwrite_at_all(f, o, d, c, t, r); });
     },
     [](auto f, auto o, auto d, auto c, auto t) {
       complete([&](auto r) { MPI_File_iread_at_all(f, o, d, c, t, r); });
     }},
    {"at_all_begin",
     [](auto f, auto o, auto d, auto c, auto t) {
       MPI_File_write_at_all_begin(f, o, d, c, t);
       MPI_File_write_at_all_end(f, d, MPI_STATUS_IGNORE);
     },
     [](auto f, auto o, auto d, auto c, auto t) {
       MPI_File_read_at_all_begin(f, o, d, c, t);
       MPI_File_read_at_all_end(f, d, MPI_STATUS_IGNORE);
     }},
};

// Accesses have `most` elements at most. Data lie with and without gaps in memory, and in the file those of the ranks
// lie behind each other or alternate.
void access(const char* datarep, bool gaps, bool interleaved, MPI_Info info, int most) {
  MPI_File file;
  int number = static_cast<int>(getpid());  // other rows run beside this one
  MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const std::string name = "device_files." + std::to_string(number);
  MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file);
  for (const int count : {1, 100, most}) {
    const auto all = static_cast<size_t>(count) * (gaps ? 2 : 1);
    MPI_Datatype type, turns;
    MPI_Type_vector(count, 1, gaps ? 2 : 1, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_create_resized(MPI_INT, 0, static_cast<MPI_Aint>(sizeof(int)) * expect::size, &turns);
    MPI_Type_commit(&turns);
    if (interleaved) {
      MPI_File_set_view(file, expect::rank * static_cast<MPI_Offset>(sizeof(int)), MPI_INT, turns, datarep,
                        MPI_INFO_NULL);
    } else {
      MPI_File_set_view(file, 0, MPI_INT, MPI_INT, datarep, MPI_INFO_NULL);
    }
    const MPI_Offset offset = interleaved ? 0 : static_cast<MPI_Offset>(count) * expect::rank;
    for (const Form& form : forms) {
      std::vector<int> wanted = numbered(all, expect::rank * 1000);
      Data out(Where::device, wanted), in(Where::device, std::vector<int>(all, -1)), here(Where::host, in.values());
      MPI_File_seek(file, offset, MPI_SEEK_SET);
      form.write(file, offset, out.get(), 1, type);
      for (Data* data : {&in, &here}) {
        MPI_File_seek(file, offset, MPI_SEEK_SET);
        form.read(file, offset, data->get(), 1, type);
      }
      for (size_t i = 0; gaps && i < all; ++i) wanted[i] = i % 2 == 0 ? wanted[i] : -1;
      expect_same((std::string("read of what was written, ") + form.name).c_str(), here.values(), wanted);
      expect_same((std::string("read to the device, ") + form.name).c_str(), in.values(), wanted);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Type_free(&type);
    MPI_Type_free(&turns);
  }
  MPI_File_close(&file);
}

int as_it_is(void* user, MPI_Datatype, int count, void* file, MPI_Offset, void*) {
  std::copy_n(static_cast<int*>(file), count, static_cast<int*>(user));
  return MPI_SUCCESS;
}
int extent_of_int(MPI_Datatype, MPI_Aint* extent, void*) {
  *extent = sizeof(int);
  return MPI_SUCCESS;
}

// A program's conversion functions run on the processor.
void conversions() {
  MPI_Register_datarep("program's", as_it_is, as_it_is, extent_of_int, nullptr);
  MPI_File file;
  MPI_File_open(MPI_COMM_SELF, ("device_files." + std::to_string(expect::rank)).c_str(),
                MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "program's", MPI_INFO_NULL);
  Data data(Where::device, numbered(10, 0));
  EXPECT_CLASS(MPI_File_write(file, data.get(), 10, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
  MPI_File_close(&file);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  if (argc > 1) driver = argv[1];
  MPI_Info together;
  MPI_Info_create(&together);
  MPI_Info_set(together, "romio_cb_write", "enable");
  MPI_Info_set(together, "romio_cb_read", "enable");
  for (const bool gaps : {false, true}) {
    for (const bool interleaved : {false, true}) {
      access("native", gaps, interleaved, MPI_INFO_NULL, 3000);
      access("native", gaps, interleaved, together, 3000);
    }
    access("external32", gaps, false, MPI_INFO_NULL, 3000);
  }
  access("native", false, false, MPI_INFO_NULL, 1200000);  // more than goes through memory of the host at once
  MPI_Info_free(&together);
  conversions();
  return expect::finish();
}
