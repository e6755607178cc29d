// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Info objects: order, length of what is given back, wrong arguments.
#include <cstring>
#include <string>

#include "expect.hpp"

namespace {

std::string get_string(MPI_Info info, const char* key, int room, int* length) {
  char value[64];
  memset(value, '#', sizeof value);
  int flag = 0;
  *length = room;
  MPI_Info_get_string(info, key, length, value, &flag);
  return !flag ? "(none)" : room == 0 ? "" : value;
}

void values_in_order() {
  MPI_Info info, copy;
  char key[MPI_MAX_INFO_KEY], value[20];
  int count = -1, flag = -1, length = -1;
  MPI_Info_create(&info);
  MPI_Info_set(info, "one", "1");
  MPI_Info_set(info, "two", "22");
  MPI_Info_set(info, "three", "333");
  MPI_Info_set(info, "two", "twice");
  MPI_Info_get_nkeys(info, &count);
  EXPECT(count == 3, "%d keys", count);
  const char* wanted[] = {"one", "two", "three"};
  for (int i = 0; i < 3; ++i) {
    MPI_Info_get_nthkey(info, i, key);
    EXPECT(strcmp(key, wanted[i]) == 0, "key %d is %s", i, key);
  }
  MPI_Info_dup(info, &copy);
  MPI_Info_delete(info, "one");
  MPI_Info_get_nkeys(info, &count);
  EXPECT(count == 2, "%d keys", count);
  MPI_Info_get_nkeys(copy, &count);
  EXPECT(count == 3, "%d keys in the copy", count);
  MPI_Info_get(copy, "two", 2, value, &flag);
  EXPECT(flag == 1 && strcmp(value, "tw") == 0, "shortened to \"%s\"", value);
  MPI_Info_get(copy, "four", 2, value, &flag);
  EXPECT(flag == 0, "found what is not there");
  MPI_Info_get_valuelen(copy, "two", &length, &flag);
  EXPECT(flag == 1 && length == 5, "length %d", length);
  EXPECT(get_string(copy, "two", 3, &length) == "tw" && length == 6, "length %d", length);
  EXPECT(get_string(copy, "two", 0, &length).empty() && length == 6, "length %d", length);
  EXPECT(get_string(copy, "two", 60, &length) == "twice" && length == 6, "length %d", length);
  EXPECT(get_string(copy, "four", 60, &length) == "(none)" && length == 60, "length %d", length);
  MPI_Info_free(&info);
  MPI_Info_free(&copy);
}

void how_the_program_started() {
  int length = 0;
  EXPECT(get_string(MPI_INFO_ENV, "command", 60, &length) != "(none)", "no command");
  char program[] = "prog", first[] = "-x", second[] = "y";
  char* arguments[] = {program, first, second, nullptr};
  MPI_Info info;
  MPI_Info_create_env(3, arguments, &info);
  EXPECT(get_string(info, "command", 60, &length) == "prog", "another command");
  EXPECT(get_string(info, "argv", 60, &length) == "-x y", "other arguments");
  MPI_Info_free(&info);
}

void wrong_arguments() {
  MPI_Info info, freed;
  MPI_Info_create(&info);
  freed = info;
  std::string longer(MPI_MAX_INFO_KEY, 'k'), longest(MPI_MAX_INFO_VAL, 'v');
  char text[20];
  int number = 0, flag = 0;
  EXPECT_CLASS(MPI_Info_set(info, longer.c_str(), "v"), MPI_ERR_INFO_KEY);
  EXPECT_CLASS(MPI_Info_set(info, "", "v"), MPI_ERR_INFO_KEY);
  EXPECT_CLASS(MPI_Info_set(info, "k", longest.c_str()), MPI_ERR_INFO_VALUE);
  EXPECT_CLASS(MPI_Info_set(info, nullptr, "v"), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Info_set(MPI_INFO_ENV, "k", "v"), MPI_ERR_INFO);
  EXPECT_CLASS(MPI_Info_set(MPI_INFO_NULL, "k", "v"), MPI_ERR_INFO);
  EXPECT_CLASS(MPI_Info_delete(info, "k"), MPI_ERR_INFO_NOKEY);
  EXPECT_CLASS(MPI_Info_get_nthkey(info, 0, text), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Info_get(info, "k", -1, text, &flag), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Info_get_string(info, "k", nullptr, text, &flag), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_Info_create(nullptr), MPI_ERR_ARG);
  MPI_Info_free(&info);
  EXPECT_CLASS(MPI_Info_free(&freed), MPI_ERR_INFO);
  EXPECT_CLASS(MPI_Info_get_nkeys(freed, &number), MPI_ERR_INFO);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  values_in_order();
  how_the_program_started();
  wrong_arguments();
  return expect::finish();
}
