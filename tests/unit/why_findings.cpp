// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>

#include "why/findings.hpp"

using namespace weft;
using why::Cause;
using why::Finding;
using why::Message;
using why::MessageKind;
using why::Process;
using why::Snapshot;
using why::State;
using why::Wait;
using why::WaitKind;

namespace {

why::Comm world(int32_t size, int32_t rank) {
  why::Comm comm{0, size, rank, "MPI_COMM_WORLD", {}};
  for (int32_t i = 0; i < size; ++i) comm.members.push_back(i);
  return comm;
}

// A job in which all compute.
Snapshot job(int32_t size) {
  Snapshot s{.job = "job", .host = "here", .size = size, .now_ns = 9000000000};
  for (int32_t r = 0; r < size; ++r) s.processes.push_back({.rank = r, .pid = 100 + r, .state = State::running});
  return s;
}

Wait& add_wait(Snapshot& s, int32_t rank, WaitKind kind, const char* call) {
  Process& p = s.processes[static_cast<size_t>(rank)];
  p.state = State::waiting;
  Wait wait{.kind = kind, .thread = 1, .number = 1, .since_ns = 1000000000, .call = call, .comm = world(s.size, rank)};
  return p.page.waits.emplace_back(std::move(wait));
}

Message message(MessageKind kind, int32_t peer, int32_t tag, uint32_t context = 0) {
  return {kind, context, peer, peer, tag, 4};
}

void receive(Snapshot& s, int32_t rank, int32_t from, int32_t tag) {
  Wait& wait = add_wait(s, rank, WaitKind::all, "MPI_Recv");
  wait.listed.push_back(message(MessageKind::receive, from, tag));
  wait.messages = 1;
}

void send(Snapshot& s, int32_t rank, int32_t to) {
  Wait& wait = add_wait(s, rank, WaitKind::all, "MPI_Send");
  wait.listed.push_back(message(MessageKind::send, to, 0));
  wait.messages = 1;
}

Wait& collective(Snapshot& s, int32_t rank, const char* call, uint32_t order, int32_t waits_for) {
  Wait& wait = add_wait(s, rank, WaitKind::collective, call);
  wait.order = order;
  wait.target = waits_for;
  return wait;
}

bool has(const std::vector<Finding>& findings, Cause cause) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.cause == cause; });
}

bool any_certain(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return is_certain(f.cause); });
}

bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST(Findings, TwoRanksThatReceiveFromEachOtherAreADeadlock) {
  Snapshot s = job(3);
  receive(s, 0, 1, 3);
  receive(s, 1, 0, 3);
  const auto found = find_causes(s);
  EXPECT_EQ(found[0].cause, Cause::deadlock);
  EXPECT_TRUE(says(found[0].text, "rank 0 waits for a message from rank 1")) << found[0].text;
  EXPECT_EQ(found[0].ranks, (std::vector<int32_t>{0, 1}));
}

TEST(Findings, ACircleAfterMessagesWereTurnedAwayIsNotBlamedOnTheProgram) {
  Snapshot s = job(3);
  receive(s, 0, 1, 3);
  receive(s, 1, 0, 3);
  s.processes[1].page.turned_away = 2;
  const auto found = find_causes(s);
  EXPECT_EQ(found[0].cause, Cause::turned_away);
  EXPECT_TRUE(says(found[0].text,
                   "rank 1 (pid 101) has turned away 2. If they were changed on their way, ranks 0 and 1 wait for"))
      << found[0].text;
  EXPECT_TRUE(any_certain(found));
  EXPECT_FALSE(has(found, Cause::deadlock));
}

TEST(Findings, WhatWasTurnedAwayIsToldWithAnyOtherFinding) {
  Snapshot s = job(2);
  receive(s, 0, 1, 3);
  s.processes[0].page.turned_away = 1;
  const auto found = find_causes(s);
  EXPECT_EQ(found[0].cause, Cause::computes);
  EXPECT_TRUE(says(found[0].lines.back(), "rank 0 (pid 100) has turned away 1")) << found[0].lines.back();
}

TEST(Findings, AChainToARankThatComputesIsNoDeadlock) {
  Snapshot s = job(3);
  receive(s, 0, 1, 3);
  receive(s, 1, 2, 3);
  const auto found = find_causes(s);
  EXPECT_FALSE(any_certain(found));
  EXPECT_EQ(found[0].cause, Cause::computes);
  EXPECT_EQ(found[0].ranks, std::vector<int32_t>{2});
}

TEST(Findings, ARankThatWaitsForAnySourceIsStuckOnlyWhenAllAre) {
  Snapshot s = job(3);
  receive(s, 0, boot::any_rank, 3);
  receive(s, 1, 0, 3);
  EXPECT_FALSE(any_certain(find_causes(s)));
  receive(s, 2, 0, 3);
  EXPECT_EQ(find_causes(s)[0].cause, Cause::deadlock);
}

TEST(Findings, AWaitForAllIsStuckWithOneThatNeverComes) {
  Snapshot s = job(3);
  receive(s, 0, 1, 3);
  Wait& wait = s.processes[0].page.waits[0];
  wait.listed.push_back(message(MessageKind::receive, 2, 3));
  wait.messages = 2;
  receive(s, 1, 0, 3);
  EXPECT_EQ(find_causes(s)[0].cause, Cause::deadlock);
  wait.kind = WaitKind::any;
  EXPECT_FALSE(any_certain(find_causes(s)));
}

TEST(Findings, AWaitForAnyOfMoreThanAreListedIsNoDeadlock) {
  Snapshot s = job(2);
  receive(s, 0, 1, 3);
  s.processes[0].page.waits[0].kind = WaitKind::any;
  s.processes[0].page.waits[0].messages = 9;
  receive(s, 1, 0, 3);
  EXPECT_FALSE(any_certain(find_causes(s)));
}

TEST(Findings, AMessageWithAnotherTagIsNamedFirst) {
  Snapshot s = job(2);
  receive(s, 0, 1, 7);
  s.processes[0].page.arrived_messages.push_back(message(MessageKind::arrived, 1, 8));
  collective(s, 1, "MPI_Finalize", 1, 0);
  const auto found = find_causes(s);
  EXPECT_EQ(found[0].cause, Cause::near_miss);
  EXPECT_EQ(found[0].text, "wrong tag: rank 0 waits for tag 7 from rank 1, and rank 1 has sent it tag 8");
  EXPECT_TRUE(has(found, Cause::deadlock));
}

TEST(Findings, AMessageInAnotherCommunicatorIsNamed) {
  Snapshot s = job(2);
  receive(s, 0, 1, 7);
  s.processes[0].page.arrived_messages.push_back(message(MessageKind::arrived, 1, 7, 14));
  collective(s, 1, "MPI_Finalize", 1, 0);
  EXPECT_TRUE(says(find_causes(s)[0].text, "wrong communicator")) << find_causes(s)[0].text;
}

TEST(Findings, AMessageOfAnotherRankIsNamed) {
  Snapshot s = job(3);
  receive(s, 0, 2, 7);
  s.processes[0].page.arrived_messages.push_back(message(MessageKind::arrived, 1, 7));
  collective(s, 1, "MPI_Finalize", 1, 0);
  collective(s, 2, "MPI_Finalize", 1, 0);
  EXPECT_TRUE(says(find_causes(s)[0].text, "wrong source")) << find_causes(s)[0].text;
}

TEST(Findings, MessagesThatLieAroundAreNoNearMissWhileSomeoneComputes) {
  Snapshot s = job(2);
  receive(s, 0, 1, 7);
  s.processes[0].page.arrived_messages.push_back(message(MessageKind::arrived, 1, 8));
  EXPECT_FALSE(any_certain(find_causes(s)));
}

TEST(Findings, SendsInACircleAreTold) {
  Snapshot s = job(3);
  for (int32_t r = 0; r < 3; ++r) send(s, r, (r + 1) % 3);
  const auto found = find_causes(s);
  EXPECT_EQ(found[0].cause, Cause::deadlock);
  EXPECT_TRUE(says(found[0].text, "rank 1 to receive")) << found[0].text;
  EXPECT_TRUE(says(found[0].lines.back(), "MPI_Sendrecv")) << found[0].lines.back();
}

TEST(Findings, ARankThatWaitsForItselfIsADeadlock) {
  Snapshot s = job(2);
  send(s, 0, 0);
  const auto found = find_causes(s);
  EXPECT_EQ(found[0].text, "deadlock: rank 0 waits for itself");
}

TEST(Findings, CollectivesInOtherOrdersAreNamedBeforeTheDeadlock) {
  Snapshot s = job(2);
  collective(s, 0, "MPI_Barrier", 4, 1);
  collective(s, 1, "MPI_Allreduce", 4, 0);
  const auto found = find_causes(s);
  EXPECT_EQ(found[0].cause, Cause::mismatch);
  EXPECT_TRUE(says(found[0].text, "rank 1 calls MPI_Allreduce, rank 0 calls MPI_Barrier as operation 4"))
      << found[0].text;
}

TEST(Findings, OtherRootsAreNamed) {
  Snapshot s = job(2);
  collective(s, 0, "MPI_Bcast", 4, 1).root = 1;
  collective(s, 1, "MPI_Bcast", 4, 0).root = 0;
  EXPECT_TRUE(says(find_causes(s)[0].text, "different roots")) << find_causes(s)[0].text;
}

TEST(Findings, OtherSizesAreNamedWhereAllMustBeAlike) {
  Snapshot s = job(2);
  collective(s, 0, "MPI_Allreduce", 4, 1).bytes = 8;
  collective(s, 1, "MPI_Allreduce", 4, 0).bytes = 16;
  EXPECT_TRUE(says(find_causes(s)[0].text, "different sizes")) << find_causes(s)[0].text;
  for (Process& p : s.processes) p.page.waits[0].call = "MPI_Allgatherv";
  EXPECT_FALSE(has(find_causes(s), Cause::mismatch));
}

TEST(Findings, OperationsOfDisjointCommunicatorsAreNotCompared) {
  Snapshot s = job(4);
  for (int32_t r = 0; r < 4; ++r) {
    Wait& wait = collective(s, r, r < 2 ? "MPI_Barrier" : "MPI_Bcast", 1, r ^ 1);
    wait.comm = {8, 2, r % 2, "", r < 2 ? std::vector<int32_t>{0, 1} : std::vector<int32_t>{2, 3}};
  }
  EXPECT_FALSE(has(find_causes(s), Cause::mismatch));
}

TEST(Findings, ARankThatHasBeenThroughAnotherOperationIsNamed) {
  Snapshot s = job(2);
  collective(s, 0, "MPI_Bcast", 4, 1).root = 1;
  Wait& wait = collective(s, 1, "MPI_Finalize", 5, 0);
  wait.listed.clear();
  s.processes[1].page.past.push_back({0, 4, 0, -1, "MPI_Bcast"});
  EXPECT_TRUE(says(find_causes(s)[0].text, "different roots")) << find_causes(s)[0].text;
}

TEST(Findings, AStoppedRankIsTheCause) {
  Snapshot s = job(3);
  collective(s, 0, "MPI_Barrier", 1, 1);
  collective(s, 2, "MPI_Barrier", 1, 0);
  s.processes[1].state = State::stopped;
  const auto found = find_causes(s);
  EXPECT_EQ(found[0].cause, Cause::stopped);
  EXPECT_TRUE(says(found[0].text, "rank 1 (pid 101) is stopped")) << found[0].text;
  EXPECT_TRUE(says(found[0].lines[0], "kill -CONT 101"));
}

TEST(Findings, ARankThatHasEndedIsTheCause) {
  Snapshot s = job(2);
  receive(s, 0, 1, 7);
  s.processes[1].state = State::ended;
  EXPECT_EQ(find_causes(s)[0].cause, Cause::ended);
}

TEST(Findings, RanksThatAreNotKnownMayAct) {
  Snapshot s = job(2);
  s.size = 4;
  receive(s, 0, 3, 7);
  receive(s, 1, 0, 7);
  const auto found = find_causes(s);
  EXPECT_FALSE(any_certain(found));
  EXPECT_EQ(found[0].cause, Cause::elsewhere);
}

TEST(Findings, AHeldLockIsNamed) {
  Snapshot s = job(3);
  add_wait(s, 1, WaitKind::lock, "MPI_Win_lock").target = 0;
  receive(s, 2, 1, 7);
  s.processes[2].page.locks.push_back({0, 0, true});
  const auto found = find_causes(s);
  EXPECT_EQ(found[0].cause, Cause::lock);
  EXPECT_TRUE(says(found[0].text, "rank 1 waits for a lock that rank 2 holds")) << found[0].text;
}

TEST(Findings, ALockThatARankMayHoldThatComputesIsNoDeadlock) {
  Snapshot s = job(2);
  add_wait(s, 1, WaitKind::lock, "MPI_Win_lock").target = 0;
  const auto found = find_causes(s);
  EXPECT_EQ(found[0].cause, Cause::computes);
  EXPECT_FALSE(any_certain(found));
}

TEST(Findings, OneThreadThatMayGoOnSavesItsProcess) {
  Snapshot s = job(3);
  receive(s, 0, 1, 11);
  receive(s, 0, 2, 12);
  receive(s, 1, 0, 11);
  EXPECT_FALSE(any_certain(find_causes(s)));
  receive(s, 2, 0, 13);
  EXPECT_EQ(find_causes(s)[0].cause, Cause::deadlock);
  s.processes[1].threads_act = true;
  EXPECT_FALSE(any_certain(find_causes(s)));
  EXPECT_EQ(find_causes(s)[0].cause, Cause::threads);
}

TEST(Findings, ARankWhoseThreadsWaitForEachOtherIsTheCause) {
  Snapshot s = job(2);
  receive(s, 1, 0, 7);
  s.processes[0].state = State::locked;
  s.processes[0].thread_waits = {{5, "pthread_cond_wait", "work (pool.c:7)"}, {6, "", ""}};
  const auto found = why::find_causes(s);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause, Cause::threads_locked);
  EXPECT_TRUE(is_certain(found[0].cause));
  ASSERT_EQ(found[0].lines.size(), 2U);
  EXPECT_EQ(found[0].lines[0],
            "rank 0 (pid 100), thread 5, is in pthread_cond_wait at work (pool.c:7), and no thread is left to wake it");
  EXPECT_NE(found[0].lines[1].find("rank 1 (pid 101) is in MPI_Recv"), std::string::npos);
}

TEST(Findings, AThreadThatNobodyWakesIsNamedFirstInADeadlock) {
  Snapshot s = job(2);
  receive(s, 0, 1, 7);
  receive(s, 1, 0, 7);
  s.processes[1].page.concurrent = true;
  for (const uint32_t thread : {8, 9}) s.processes[1].thread_waits.push_back({thread, "pthread_cond_wait", "pool.c:7"});
  const auto found = why::find_causes(s);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].cause, Cause::deadlock);
  ASSERT_EQ(found[0].lines.size(), 3U);
  EXPECT_NE(found[0].lines[0].find("rank 1 (pid 101), 2 threads, such as 8, are in pthread_cond_wait at pool.c:7"),
            std::string::npos)
      << found[0].lines[0];
}

TEST(Findings, AWaitOfWhichNothingIsKnownIsNoDeadlock) {
  Snapshot s = job(1);
  add_wait(s, 0, WaitKind::memory, "shmem_wait_until");
  const auto found = find_causes(s);
  EXPECT_EQ(found[0].cause, Cause::unknown);
}

TEST(Findings, ARankThatHasNotStartedIsNamed) {
  Snapshot s = job(2);
  receive(s, 0, 1, 7);
  s.processes[1].state = State::starting;
  EXPECT_EQ(find_causes(s)[0].cause, Cause::starting);
}

TEST(Text, AlikeRanksShareALine) {
  Snapshot s = job(6);
  for (int32_t r = 1; r < 6; ++r) collective(s, r, "MPI_Barrier", 1, 0);
  const auto lines = describe_ranks(s);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(says(lines[0], "rank 0: computing")) << lines[0];
  EXPECT_TRUE(says(lines[1], "ranks 1-5: in MPI_Barrier")) << lines[1];
}

TEST(Text, SaysThatOtherHostsWereNotRead) {
  Snapshot s = job(2);
  s.size = 8;
  EXPECT_TRUE(says(as_text(s), "8 ranks, of which 2 on this host"));
}
