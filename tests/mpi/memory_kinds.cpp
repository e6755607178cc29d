// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Memory allocation kinds as the launcher, sessions and communicators are asked for them and tell them, and the
// alignment of MPI_Alloc_mem. The request to the launcher comes as the first argument, if there was one. With
// TEST_KIND a driver is in use whose memory is of that kind, cuda, rocm or level_zero, or what stands for it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "expect.hpp"

namespace {

constexpr const char* kinds_key = "mpi_memory_alloc_kinds";
constexpr const char* assert_key = "mpi_assert_memory_alloc_kinds";

const bool devices = std::getenv("TEST_KIND") != nullptr;
const bool level_zero = devices && std::string(std::getenv("TEST_KIND")) == "level_zero";

// The kinds of a text, where DEV stands for that of the devices. Level Zero calls managed memory shared.
std::string kinds(std::string text) {
  for (size_t at = text.find("managed"); level_zero && at != std::string::npos; at = text.find("managed"))
    text.replace(at, 7, "shared");
  for (size_t at = text.find("DEV"); at != std::string::npos; at = text.find("DEV"))
    text.replace(at, 3, devices ? std::getenv("TEST_KIND") : "cuda");
  return text;
}

std::string value_of(MPI_Info info, const char* key) {
  char text[MPI_MAX_INFO_VAL] = "";
  int length = sizeof text, flag = 0;
  MPI_Info_get_string(info, key, &length, text, &flag);
  return flag != 0 ? text : "(none)";
}

std::string of_comm(MPI_Comm comm, const char* key) {
  MPI_Info info;
  MPI_Comm_get_info(comm, &info);
  std::string value = value_of(info, key);
  MPI_Info_free(&info);
  return value;
}

MPI_Info info_with(const char* key, const char* value) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  return info;
}

void supported(const std::string& expected, const std::string& requested) {
  EXPECT(of_comm(MPI_COMM_WORLD, kinds_key) == expected, "world: %s", of_comm(MPI_COMM_WORLD, kinds_key).c_str());
  EXPECT(of_comm(MPI_COMM_SELF, kinds_key) == expected, "self: %s", of_comm(MPI_COMM_SELF, kinds_key).c_str());
  EXPECT(value_of(MPI_INFO_ENV, kinds_key) == requested, "env: %s", value_of(MPI_INFO_ENV, kinds_key).c_str());
  const struct {
    const char* asked;
    const std::string told;
  } rows[] = {
      {nullptr, expected},
      {"", "mpi,system"},
      {"system", "mpi,system"},
      {"mpi:win_allocate:alloc_mem,DEV:device",
       kinds(devices ? "mpi,system,mpi:win_allocate:alloc_mem,DEV:device" : "mpi,system,mpi:win_allocate:alloc_mem")},
      {level_zero ? "other:device,rocm:device,level_zero:other" : "other:device,level_zero:shared,DEV:shared",
       "mpi,system"},
      {"mpi:nonsense,system:x,,mpi:alloc_mem,mpi:alloc_mem", "mpi,system,mpi:alloc_mem"}};
  for (const auto& row : rows) {
    MPI_Info info = row.asked == nullptr ? MPI_INFO_NULL : info_with(kinds_key, kinds(row.asked).c_str());
    MPI_Info used;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_get_info(session, &used);
    EXPECT(value_of(used, kinds_key) == row.told, "session: %s", value_of(used, kinds_key).c_str());
    MPI_Info_free(&used);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "kinds", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    EXPECT(of_comm(comm, kinds_key) == row.told, "of a session: %s", of_comm(comm, kinds_key).c_str());
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  }
}

void asserted() {
  MPI_Comm comm, dup, other;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  EXPECT(of_comm(comm, assert_key) == "(none)", "asserted without cause");
  for (const char* kinds : {"system", "mpi:alloc_mem,system", ""}) {
    MPI_Info info = info_with(assert_key, kinds);
    MPI_Comm_set_info(comm, info);
    EXPECT(of_comm(comm, assert_key) == kinds, "asserted: %s", of_comm(comm, assert_key).c_str());
    MPI_Comm_dup(comm, &dup);
    EXPECT(of_comm(dup, assert_key) == "(none)", "hints are not inherited: %s", of_comm(dup, assert_key).c_str());
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &other);
    EXPECT(of_comm(other, assert_key) == kinds, "with info: %s", of_comm(other, assert_key).c_str());
    MPI_Comm_free(&other);
    MPI_Comm_free(&dup);
    MPI_Info_free(&info);
  }
  MPI_Info unknown = info_with(assert_key, kinds("DEV").c_str());
  MPI_Comm_dup_with_info(comm, unknown, &dup);
  EXPECT(of_comm(dup, assert_key) == "(none)", "took %s", of_comm(dup, assert_key).c_str());
  MPI_Info_free(&unknown);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&comm);
}

// On a communicator of a session that supports some kinds of devices: those, and others that are not supported.
void asserted_of_devices() {
  MPI_Info wish = info_with(kinds_key, kinds("DEV:device,DEV:host:managed").c_str());
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(wish, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  MPI_Comm_create_from_group(group, "devices", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  const struct {
    const char* asserted;
    bool taken;
  } rows[] = {{"DEV", false},           {"DEV:host", false},         {"DEV:device", true},
              {"system,mpi", true},     {"DEV:device,other", false}, {"DEV:managed:host", true},
              {"mpi,DEV:device", true}, {"DEV:devices", false}};
  std::string before = "(none)";
  for (const auto& row : rows) {
    MPI_Info info = info_with(assert_key, kinds(row.asserted).c_str());
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    if (row.taken) before = kinds(row.asserted);
    EXPECT(of_comm(comm, assert_key) == before, "%s: %s", row.asserted, of_comm(comm, assert_key).c_str());
  }
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  MPI_Info_free(&wish);
}

void alignment() {
  std::vector<char*> kept;
  for (const char* wanted : {"1", "64", "4096", "65536", "2097152"}) {
    MPI_Info info = info_with("mpi_minimum_memory_alignment", wanted);
    for (MPI_Aint bytes : {1, 5000, 100000}) {
      char* memory = nullptr;
      MPI_Alloc_mem(bytes, info, &memory);
      EXPECT(reinterpret_cast<uintptr_t>(memory) % std::stoul(wanted) == 0, "%p for %s", static_cast<void*>(memory),
             wanted);
      for (MPI_Aint i = 0; i < bytes; ++i) memory[i] = static_cast<char>(kept.size());
      kept.push_back(memory);
    }
    MPI_Info_free(&info);
  }
  size_t number = 0;
  for (MPI_Aint round = 0; round < 5; ++round) {
    for (MPI_Aint bytes : {1, 5000, 100000}) {
      char* memory = kept[number];
      for (MPI_Aint i = 0; i < bytes; ++i) {
        if (memory[i] == static_cast<char>(number)) continue;
        EXPECT(false, "piece %zu shares memory with another", number);
        break;
      }
      MPI_Free_mem(memory);
      ++number;
    }
  }
  void* none = nullptr;
  for (const char* wrong : {"0", "3", "-8", "x", "", "9223372036854775807"}) {
    MPI_Info info = info_with("mpi_minimum_memory_alignment", wrong);
    EXPECT_CLASS(MPI_Alloc_mem(8, info, &none), MPI_ERR_INFO_VALUE);
    MPI_Info_free(&info);
  }
  MPI_Info huge = info_with("mpi_minimum_memory_alignment", "4611686018427387904");
  EXPECT_CLASS(MPI_Alloc_mem(8, huge, &none), MPI_ERR_NO_MEM);
  EXPECT(none == nullptr, "memory was given");
  MPI_Info_free(&huge);
}

// MPI_INFO_ENV tells how this program was started.
void started(int argc, char** argv) {
  EXPECT(value_of(MPI_INFO_ENV, "command") == argv[0], "command %s", value_of(MPI_INFO_ENV, "command").c_str());
  const std::string rest = argc > 1 ? argv[1] : "";
  EXPECT(value_of(MPI_INFO_ENV, "argv") == rest, "argv %s", value_of(MPI_INFO_ENV, "argv").c_str());
  EXPECT(value_of(MPI_INFO_ENV, "maxprocs") == std::to_string(expect::size), "maxprocs %s",
         value_of(MPI_INFO_ENV, "maxprocs").c_str());
  EXPECT(value_of(MPI_INFO_ENV, "thread_level") == "(none)", "a thread level nobody asked for");
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const std::string requested = argc > 1 ? argv[1] : "(none)";
  supported(requested == "mpi:alloc_mem,rocm"              ? "mpi,system,mpi:alloc_mem"
            : devices && requested == kinds("DEV:managed") ? kinds("mpi,system,DEV:managed")
                                                           : "mpi,system",
            requested);
  asserted();
  if (devices) asserted_of_devices();
  alignment();
  started(argc, argv);
  return expect::finish();
}
