// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The tool interface with whatever names, indices, lengths, handles and values.
#include <mpi.h>

#include <cstring>

#include "fuzz.hpp"

using namespace weft;

namespace {

MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;

// A name is found exactly when it is the name of what is found.
template <class Find, class Show>
void check_name(const std::string& text, Find find, Show show) {
  int index = -1;
  const int error = find(&index);
  FUZZ_CHECK(error == MPI_SUCCESS || error == MPI_T_ERR_INVALID_NAME);
  if (error != MPI_SUCCESS) return;
  char name[200];
  int length = sizeof name;
  FUZZ_CHECK(show(index, name, &length) == MPI_SUCCESS && strcmp(text.c_str(), name) == 0);
}

int show_control(int index, char* name, int* length) {
  return MPI_T_cvar_get_info(index, name, length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
}
int show_performance(int index, char* name, int* length) {
  return MPI_T_pvar_get_info(index, name, length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                             nullptr, nullptr, nullptr);
}
int show_category(int index, char* name, int* length) {
  return MPI_T_category_get_info(index, name, length, nullptr, nullptr, nullptr, nullptr, nullptr);
}
int show_event(int index, char* name, int* length) {
  return MPI_T_event_get_info(index, name, length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                              nullptr, nullptr);
}
int show_source(int index, char* name, int* length) {
  return MPI_T_source_get_info(index, name, length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
}

void check_names(fuzz::Random& random, const std::string& text) {
  const char* name = text.c_str();
  const int variable_class = static_cast<int>(random.below(12));
  check_name(
      text, [&](int* at) { return MPI_T_cvar_get_index(name, at); }, show_control);
  check_name(
      text, [&](int* at) { return MPI_T_pvar_get_index(name, variable_class, at); }, show_performance);
  check_name(
      text, [&](int* at) { return MPI_T_category_get_index(name, at); }, show_category);
  check_name(
      text, [&](int* at) { return MPI_T_event_get_index(name, at); }, show_event);
}

// No name is written beyond the length that is given.
void check_lengths(fuzz::Random& random) {
  constexpr size_t most = 60;
  char name[most + 1];
  memset(name, 'x', sizeof name);
  const size_t room = random.below(most);
  int length = static_cast<int>(room) - (random.below(20) == 0 ? 100 : 0);
  const int given = length;
  const int index = static_cast<int>(random.below(40)) - 2;
  int (*const show[])(int, char*, int*) = {show_control, show_performance, show_category, show_event, show_source};
  const int error = show[random.below(5)](index, name, &length);
  FUZZ_CHECK(error == MPI_SUCCESS || error == MPI_T_ERR_INVALID_INDEX || (error == MPI_T_ERR_INVALID && given < 0));
  for (size_t i = room; i <= most; ++i) FUZZ_CHECK(name[i] == 'x');
  FUZZ_CHECK(error != MPI_SUCCESS || length > 1);
}

// No value is taken for a handle.
void check_handles(fuzz::Random& random) {
  const uint64_t value = random.next() >> random.below(64);
  void* const handle = reinterpret_cast<void*>(value == 1 ? 2 : value);
  double room[64];
  int number = 0;
  MPI_Count ticks = 0;
  FUZZ_CHECK(MPI_T_cvar_read(static_cast<MPI_T_cvar_handle>(handle), room) == MPI_T_ERR_INVALID_HANDLE);
  FUZZ_CHECK(MPI_T_pvar_read(session, static_cast<MPI_T_pvar_handle>(handle), room) == MPI_T_ERR_INVALID_HANDLE);
  FUZZ_CHECK(MPI_T_pvar_start(static_cast<MPI_T_pvar_session>(handle), MPI_T_PVAR_ALL_HANDLES) ==
             MPI_T_ERR_INVALID_SESSION);
  FUZZ_CHECK(MPI_T_enum_get_info(static_cast<MPI_T_enum>(handle), &number, nullptr, nullptr) ==
             MPI_T_ERR_INVALID_HANDLE);
  FUZZ_CHECK(MPI_T_event_read(static_cast<MPI_T_event_instance>(handle), 0, room) == MPI_T_ERR_INVALID_HANDLE);
  FUZZ_CHECK(MPI_T_event_get_timestamp(static_cast<MPI_T_event_instance>(handle), &ticks) == MPI_T_ERR_INVALID_HANDLE);
  FUZZ_CHECK(MPI_T_event_handle_free(static_cast<MPI_T_event_registration>(handle), nullptr, nullptr) ==
             MPI_T_ERR_INVALID_HANDLE);
}

// A setting takes a value or keeps its own.
void check_write(fuzz::Random& random) {
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  MPI_T_cvar_get_num(&count);
  const int index = static_cast<int>(random.below(static_cast<size_t>(count)));
  MPI_T_cvar_get_info(index, nullptr, nullptr, nullptr, &type, nullptr, nullptr, nullptr, nullptr, nullptr);
  if (type == MPI_CHAR) return;
  FUZZ_CHECK(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS && count == 1);
  MPI_Count before = 0, wanted = 0, after = 0;
  wanted = static_cast<MPI_Count>(random.next() >> random.below(64));
  if (type == MPI_INT) wanted &= 0x7fffffff;  // an int lies in the low half
  FUZZ_CHECK(MPI_T_cvar_read(handle, &before) == MPI_SUCCESS);
  const int error = MPI_T_cvar_write(handle, &wanted);
  FUZZ_CHECK(error == MPI_SUCCESS || error == MPI_T_ERR_INVALID || error == MPI_T_ERR_CVAR_SET_NEVER ||
             error == MPI_T_ERR_CVAR_SET_NOT_NOW);
  FUZZ_CHECK(MPI_T_cvar_read(handle, &after) == MPI_SUCCESS);
  FUZZ_CHECK(after == (error == MPI_SUCCESS ? wanted : before));
  FUZZ_CHECK(MPI_T_cvar_write(handle, &before) == error || error == MPI_T_ERR_INVALID);
  MPI_T_cvar_handle_free(&handle);
}

void one(fuzz::Random& random, const std::string& text) {
  check_names(random, text);
  check_lengths(random);
  check_handles(random);
  check_write(random);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_pvar_session_create(&session);
  const int status =
      fuzz::run(argc, argv,
                {"WEFT_SPIN", "WEFT_EAGER_LIMIT", "WEFT_RANK", "weft_e0_messages", "weft_r1_bytes", "weft_flow",
                 "weft_sleep", "weft_wake", "weft_message_unexpected", "weft", "weft_messages", "weft_memory", ""},
                one);
  MPI_T_finalize();
  return status;
}
