// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/report_matrix.hpp"

#include <gtest/gtest.h>

namespace weft::tool {
namespace {

Traffic of(int32_t ranks, std::vector<Sent> sends) {
  Traffic traffic;
  traffic.ranks = ranks;
  traffic.sends = std::move(sends);
  return traffic;
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

bool has(const std::string& text, const std::string& part) {
  return count(text, part) > 0;
}

TEST(ReportMatrix, DirectionsOfAPairAreApartAndSendsOfAPairAreAddedUp) {
  const SentMatrix matrix = sent_matrix(of(4, {{0, 1, 100, 2}, {1, 0, 7, 1}, {0, 1, 50, 3}, {2, 2, 1 << 20, 9}}));
  EXPECT_EQ(matrix.side, 4);
  EXPECT_EQ(matrix.at(0, 1).bytes, 150);
  EXPECT_EQ(matrix.at(0, 1).messages, 5);
  EXPECT_EQ(matrix.at(1, 0).bytes, 7);
  EXPECT_EQ(matrix.at(2, 2).bytes, 0) << "a rank's messages to itself are left out";
  EXPECT_EQ(matrix.least, 7);
  EXPECT_EQ(matrix.most, 150);
  const std::string picture = matrix_picture(matrix);
  EXPECT_EQ(count(picture, "<path"), 2) << "cells without bytes are not drawn";
  EXPECT_TRUE(
      has(picture, "<path d=\"M1 0h1v1h-1z\" fill=\"hsl(220,50%,15%)\"><title>rank 0 to rank 1: 150 B in 5 messages<"));
  EXPECT_TRUE(
      has(picture, "<path d=\"M0 1h1v1h-1z\" fill=\"hsl(220,50%,92%)\"><title>rank 1 to rank 0: 7 B in 1 message<"));
}

TEST(ReportMatrix, ManyRanksAreGroupedSoThatASideHasABound) {
  for (const int32_t ranks : {1, 63, 64, 65, 128, 129, 10000, 1 << 20}) {
    const SentMatrix matrix = sent_matrix(of(ranks, {{0, ranks - 1, 1}, {ranks - 1, 0, 1}}));
    EXPECT_LE(matrix.side, most_matrix_cells);
    EXPECT_GE(int64_t{matrix.side} * matrix.each, ranks);
    EXPECT_LT(int64_t{matrix.side - 1} * matrix.each, ranks) << "each group has a rank";
    EXPECT_EQ(matrix.each > 1, ranks > most_matrix_cells);
  }
  const SentMatrix matrix = sent_matrix(of(129, {{0, 128, 10}, {1, 128, 20}, {2, 128, 40}, {0, 1, 80}}));
  EXPECT_EQ(matrix.each, 3);
  EXPECT_EQ(matrix.at(0, 42).bytes, 70);
  EXPECT_EQ(matrix.at(0, 0).bytes, 80) << "between ranks of a group";
  EXPECT_TRUE(has(matrix_picture(matrix), "<title>ranks 0-2 to ranks 126-128: 70 B</title>"))
      << "messages are not known";
}

TEST(ReportMatrix, TheScaleIsLogarithmicFromTheLeastToTheMost) {
  const SentMatrix matrix = sent_matrix(of(4, {{0, 1, 1 << 10}, {1, 2, 1 << 20}, {2, 3, 1 << 30}}));
  EXPECT_DOUBLE_EQ(place_on_scale(matrix, 1 << 10), 0);
  EXPECT_DOUBLE_EQ(place_on_scale(matrix, 1 << 20), 0.5);
  EXPECT_DOUBLE_EQ(place_on_scale(matrix, 1 << 30), 1);
  const std::string picture = matrix_picture(matrix);
  for (const char* label :
       {">1.0 KiB<", ">32.0 KiB<", ">1.0 MiB<", ">32.0 MiB<", ">1.0 GiB<", ">sender<", ">receiver<"}) {
    EXPECT_EQ(count(picture, label), 1) << label;
  }
}

TEST(ReportMatrix, CellsOfOneSizeAreOfOneColour) {
  constexpr int64_t large = int64_t{1} << 60;
  for (const int64_t bytes : {int64_t{1}, large}) {
    const std::string picture = matrix_picture(sent_matrix(of(2, {{0, 1, bytes}, {1, 0, bytes}})));
    EXPECT_EQ(count(picture, "hsl(220,50%,15%)"), 3) << "two cells and the scale";
    EXPECT_EQ(count(picture, "hsl("), 3);
  }
  // They differ by less than a double has digits.
  EXPECT_FALSE(has(matrix_picture(sent_matrix(of(2, {{0, 1, large}, {1, 0, large + 1}}))), "nan"));
}

TEST(ReportMatrix, WithoutBytesThereIsNothing) {
  EXPECT_EQ(sent_matrix({}).most, 0);
  EXPECT_EQ(sent_matrix(of(3, {{0, 0, 5}, {0, 1, 0, 4}})).most, 0);
}

TEST(ReportMatrix, TheTableHasTheCellsWithTheMostBytes) {
  std::vector<Sent> sends;
  for (int32_t from = 0; from < 11; ++from) {
    for (int32_t to = 0; to < 11; ++to) sends.push_back({from, to, 1 + from * 11 + to, 1});
  }
  const std::string table = matrix_table(sent_matrix(of(11, sends)));
  EXPECT_EQ(count(table, "<tr><td>"), 100);
  EXPECT_TRUE(has(table, "</th></tr>\n<tr><td>rank 10</td><td>rank 9</td><td>120</td><td>1</td></tr>\n"));
  EXPECT_TRUE(has(table, "<p>10 more sent less.</p>")) << "of 110 pairs";
  EXPECT_TRUE(has(matrix_table(sent_matrix(of(2, {{0, 1, 5}}))), "<td>5</td><td></td></tr>"));
}

}  // namespace
}  // namespace weft::tool
