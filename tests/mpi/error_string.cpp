// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Error_string has the message of the last error of the class: of this thread, or else of any (MPI-5.0, 9.4). Codes
// are classes all the same.
#include <atomic>
#include <thread>
#include <vector>

#include "error_texts.hpp"

using error_texts::has;
using error_texts::text_of;

namespace {

const std::string no_key = "MPI_ERR_INFO_NOKEY: the info object has no such key";

// Raises an error whose message has the key.
int raise(const std::string& key) {
  MPI_Info info;
  MPI_Info_create(&info);
  const int code = MPI_Info_delete(info, key.c_str());
  MPI_Info_free(&info);
  return code;
}

void class_alone_before_any_error() {
  EXPECT(text_of(MPI_ERR_INFO_NOKEY) == no_key, "\"%s\"", text_of(MPI_ERR_INFO_NOKEY).c_str());
}

void message_of_the_last_error() {
  EXPECT_TEXT(raise("first"), MPI_ERR_INFO_NOKEY, no_key + ". MPI_Info_delete: ", "\"first\"");
  EXPECT_TEXT(raise("second"), MPI_ERR_INFO_NOKEY, no_key, "\"second\"");
  EXPECT(!has(text_of(MPI_ERR_INFO_NOKEY), "first"), "the message before");
  // Errors of other classes between change nothing.
  EXPECT_TEXT(MPI_Info_free(nullptr), MPI_ERR_ARG, "MPI_Info_free", "info is a null pointer");
  EXPECT_TEXT(MPI_ERR_INFO_NOKEY, MPI_ERR_INFO_NOKEY, "\"second\"");
  int to = 0;
  EXPECT_TEXT(MPI_Send(&to, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD), MPI_ERR_RANK, "MPI_Send", "1000",
              "(on MPI_COMM_WORLD)");
}

void each_thread_has_its_own() {
  (void)raise("main");
  std::thread([] { EXPECT_TEXT(raise("other"), MPI_ERR_INFO_NOKEY, "\"other\""); }).join();
  EXPECT_TEXT(MPI_ERR_INFO_NOKEY, MPI_ERR_INFO_NOKEY, "\"main\"");
  // A thread without an error of the class gets the last one of all threads.
  std::thread([] { EXPECT_TEXT(MPI_ERR_INFO_NOKEY, MPI_ERR_INFO_NOKEY, "\"other\""); }).join();
}

// Threads raise and ask at once: each text is whole, of one of them.
void threads_at_once() {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (char name = 'a'; name < 'e'; ++name) {
    threads.emplace_back([name] {
      for (int i = 0; i < 500; ++i) {
        const std::string text = text_of(raise(std::string(100, name)));
        const size_t at = text.find('"');
        EXPECT(at != std::string::npos && text.size() == at + 102 &&
                   text.find_first_not_of(text[at + 1], at + 1) == at + 101,
               "\"%s\"", text.c_str());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void old_messages_are_forgotten() {
  (void)raise("old");
  for (int i = 0; i < 200; ++i) (void)MPI_Info_free(nullptr);
  class_alone_before_any_error();
}

// The last 64 are kept.
void enough_messages_are_kept() {
  (void)raise("kept");
  for (int i = 0; i < 63; ++i) (void)MPI_Info_free(nullptr);
  EXPECT_TEXT(MPI_ERR_INFO_NOKEY, MPI_ERR_INFO_NOKEY, "\"kept\"");
}

std::string text_in_handler;
void ask(MPI_Comm*, int* code, ...) {
  text_in_handler = text_of(*code);
}

void asked_in_a_handler() {
  MPI_Errhandler asking;
  MPI_Comm_create_errhandler(ask, &asking);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, asking);
  (void)raise("handled");
  EXPECT(has(text_in_handler, "\"handled\""), "\"%s\"", text_in_handler.c_str());
  // A program that hands a code on to a handler adds no message.
  MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_INFO_NOKEY);
  EXPECT(has(text_in_handler, "\"handled\""), "\"%s\"", text_in_handler.c_str());
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&asking);
}

void codes_of_the_program_are_bare() {
  int added = 0, code = 0;
  MPI_Add_error_class(&added);
  MPI_Add_error_code(MPI_ERR_INFO_NOKEY, &code);
  MPI_Add_error_string(code, "the pump is dry");
  (void)raise("pump");
  EXPECT(text_of(code) == "the pump is dry" && text_of(added).empty(), "\"%s\"", text_of(code).c_str());
  MPI_Comm_call_errhandler(MPI_COMM_SELF, code);
  EXPECT(text_of(code) == "the pump is dry", "\"%s\"", text_of(code).c_str());
}

// Two receives of four that are too short: each status has its code, and the message of the last one is kept.
void errors_of_several_requests() {
  const int sent[4] = {};
  int room[4] = {};
  MPI_Request requests[4];
  MPI_Status statuses[4];
  for (int i = 0; i < 4; ++i) MPI_Irecv(&room[i], 1, MPI_INT, 0, 70 + i, MPI_COMM_SELF, &requests[i]);
  for (int i = 0; i < 4; ++i) MPI_Send(sent, i % 2 == 0 ? 1 : 4, MPI_INT, 0, 70 + i, MPI_COMM_SELF);
  const int code = MPI_Waitall(4, requests, statuses);
  EXPECT(
      code == MPI_ERR_IN_STATUS && text_of(code) == "MPI_ERR_IN_STATUS: the error of each operation is in its status",
      "%d, \"%s\"", code, text_of(code).c_str());
  EXPECT_TEXT(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE: ", "request 3: ", "tag 73 has 16 bytes");
  EXPECT(statuses[0].MPI_ERROR == MPI_SUCCESS && text_of(MPI_SUCCESS) == "MPI_SUCCESS: no error", "%d",
         statuses[0].MPI_ERROR);
  MPI_Irecv(room, 1, MPI_INT, 0, 80, MPI_COMM_SELF, &requests[0]);
  MPI_Send(sent, 3, MPI_INT, 0, 80, MPI_COMM_SELF);
  EXPECT_TEXT(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE, "MPI_Wait: ", "tag 80 has 12 bytes");
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &expect::rank);
  counters_start();
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  class_alone_before_any_error();
  message_of_the_last_error();
  each_thread_has_its_own();
  threads_at_once();
  enough_messages_are_kept();
  old_messages_are_forgotten();
  asked_in_a_handler();
  codes_of_the_program_are_bare();
  errors_of_several_requests();
  return expect::finish();
}
