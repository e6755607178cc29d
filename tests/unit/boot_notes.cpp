// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "boot/job/notes.hpp"

namespace weft::boot {
namespace {

std::string value_in(std::string_view text, std::string_view key) {
  std::string_view value;
  return find_entry(text, key, value) ? std::string(value) : "none";
}

TEST(Notes, EntriesAreFoundByTheirKeys) {
  const std::string text = entry_of("a", "1") + entry_of("ab", "") + entry_of("b", "3:4:x") + entry_of("a", "2");
  EXPECT_EQ(value_in(text, "a"), "2") << "the last one counts";
  EXPECT_EQ(value_in(text, "ab"), "");
  EXPECT_EQ(value_in(text, "b"), "3:4:x");
  EXPECT_EQ(value_in(text, "c"), "none");
  EXPECT_EQ(value_in("", "a"), "none");
}

TEST(Notes, TextThatIsNoneIsRefused) {
  for (const char* text : {"1", "1:", "1:1", "1:1:", "1:1:a", "x:1:ab", "-1:1:ab", "1:99999999999999999999:ab",
                           "2:9:ab", "1:1:ab9", "18446744073709551615:2:abc"}) {
    EXPECT_EQ(value_in(text, "a"), "none") << text;
  }
}

TEST(Notes, ARecordHasANoteOfEachPlace) {
  const std::vector<std::string> notes = {"one", "", "three", "three", "threads", "thr"};
  std::string record;
  for (size_t i = 0; i < notes.size(); ++i) add_note(record, i == 0 ? "" : notes[i - 1], notes[i]);
  EXPECT_EQ(record, "0:3:one0:0:0:5:three5:0:4:3:ads3:0:");
  std::string note;
  for (size_t i = 0; i < notes.size(); ++i) {
    ASSERT_TRUE(find_note(record, static_cast<int>(i), note));
    EXPECT_EQ(note, notes[i]);
  }
  EXPECT_FALSE(find_note(record, 6, note));
  EXPECT_FALSE(find_note("0:6:three", 0, note));
  EXPECT_FALSE(find_note("1:2:ab", 0, note)) << "there is none before it";
  EXPECT_FALSE(find_note("0:2:ab3:0:", 1, note));
}

class NoteSegment : public ::testing::Test {
 protected:
  static constexpr int ranks = 3;
  int fd = memfd_create("notes", 0);
  NoteSegment() { EXPECT_EQ(ftruncate(fd, static_cast<off_t>(head_bytes(ranks))), 0); }
  ~NoteSegment() override { close(fd); }
};

TEST_F(NoteSegment, RanksSeeWhatOthersWroteOnceTheirTurnHasEnded) {
  Notes first;
  Notes last;
  ASSERT_TRUE(first.open(fd, ranks, ranks, 0) && last.open(fd, ranks, ranks, 2));
  ASSERT_TRUE(last.write("for", "us"));
  EXPECT_FALSE(first.has_ended(2, 1));
  last.turn_outward();
  last.end_turn(1);
  ASSERT_TRUE(first.has_ended(2, 1));
  EXPECT_EQ(value_in(first.text(2), "for"), "us");
  ASSERT_TRUE(last.write("for", "all"));
  EXPECT_EQ(value_in(first.text(2), "for"), "us") << "it does not show before the end of the turn";
  last.end_turn(2);
  EXPECT_EQ(first.outward_text(2), entry_of("for", "all"));
  first.close();
  last.close();
}

TEST_F(NoteSegment, ANoteThatIsFullTakesNoMore) {
  Notes notes;
  ASSERT_TRUE(notes.open(fd, ranks, ranks, 1));
  const std::string large(10000, 'x');
  EXPECT_TRUE(notes.write("a", large));
  EXPECT_FALSE(notes.write("b", large));
  EXPECT_EQ(errno, ENOBUFS);
  EXPECT_TRUE(notes.write("c", "small"));
  notes.end_turn(1);
  EXPECT_EQ(value_in(notes.text(1), "c"), "small");
  EXPECT_EQ(value_in(notes.text(1), "b"), "none");
  notes.close();
}

TEST_F(NoteSegment, AReaderNeverSeesHalfATurn) {
  Notes reader;
  ASSERT_TRUE(reader.open(fd, ranks, ranks, 0));
  constexpr uint32_t turns = 200;
  std::thread writer([&] {
    Notes notes;
    ASSERT_TRUE(notes.open(fd, ranks, ranks, 1));
    for (uint32_t turn = 1; turn <= turns; ++turn) {
      ASSERT_TRUE(notes.write("n", std::to_string(turn)));
      notes.end_turn(turn);
    }
    notes.close();
  });
  for (uint32_t turn = 1; turn <= turns; ++turn) {
    while (!reader.has_ended(1, turn)) std::this_thread::yield();
    EXPECT_GE(std::stoul(value_in(reader.text(1), "n")), turn);
  }
  writer.join();
  reader.close();
}

}  // namespace
}  // namespace weft::boot
