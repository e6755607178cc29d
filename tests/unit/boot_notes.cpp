// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "boot/notes.hpp"

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
  const std::string record = "3:one0:5:three";
  std::string_view note;
  ASSERT_TRUE(find_note(record, 0, note));
  EXPECT_EQ(note, "one");
  ASSERT_TRUE(find_note(record, 1, note));
  EXPECT_EQ(note, "");
  ASSERT_TRUE(find_note(record, 2, note));
  EXPECT_EQ(note, "three");
  EXPECT_FALSE(find_note(record, 3, note));
  EXPECT_FALSE(find_note("6:three", 0, note));
}

class Segment : public ::testing::Test {
 protected:
  static constexpr int ranks = 3;
  int fd = memfd_create("notes", 0);
  Segment() { EXPECT_EQ(ftruncate(fd, static_cast<off_t>(head_bytes(ranks))), 0); }
  ~Segment() override { close(fd); }
};

TEST_F(Segment, RanksSeeWhatOthersWroteOnceTheirTurnHasEnded) {
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

TEST_F(Segment, ANoteThatIsFullTakesNoMore) {
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

TEST_F(Segment, AReaderNeverSeesHalfATurn) {
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
