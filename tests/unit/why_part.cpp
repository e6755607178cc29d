// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Jobs on several hosts: each host knows its own ranks, and looks at a time of its own.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "why/findings.hpp"
#include "why/part.hpp"

namespace weft::why {
namespace {

using boot::WaitPage;

// The page of a rank of two that waits in MPI_Recv for the other one.
std::string page_of(int32_t rank, uint64_t number) {
  WaitPage page{};
  page.magic = boot::wait_magic;
  page.sequence = 2;
  page.bytes = WaitPage::bytes_with(WaitPage::fewer_waits);
  page.pid = 100 + static_cast<uint32_t>(rank);
  page.rank = rank;
  page.size = 2;
  strcpy(page.job, "kvs_1");
  boot::PageWait& wait = page.waits[0];
  wait.kind = static_cast<uint32_t>(WaitKind::all);
  wait.thread = page.pid;
  wait.number = number;
  wait.since_ns = 1000000000;
  strcpy(wait.call, "MPI_Recv");
  wait.target = boot::no_rank;
  wait.root = -1;
  wait.messages = wait.listed = 1;
  wait.message[0] = {.kind = 0, .context = 2, .peer = 1 - rank, .rank = 1 - rank, .tag = 7, .reserved = 0, .bytes = 8};
  wait.comm.context = 2;
  wait.comm.size = 2;
  wait.comm.rank = rank;
  wait.comm.stride = 1;
  return {reinterpret_cast<const char*>(&page), page.bytes};
}

Snapshot host_of(int32_t rank, uint64_t number = 5, State state = State::waiting) {
  Snapshot part{.job = "kvs_1", .host = "h" + std::to_string(rank + 1), .size = 2, .now_ns = 4000000000};
  Process& p = part.processes.emplace_back();
  p.rank = rank;
  p.pid = 100 + rank;
  p.state = state;
  p.raw_page = page_of(rank, number);
  EXPECT_TRUE(read_page(p.raw_page.data(), p.raw_page.size(), p.page));
  if (state != State::waiting) p.page.waits.clear();
  for (Wait& wait : p.page.waits) wait.place = "main (wrong.c:" + std::to_string(rank) + ")";
  return part;
}

std::vector<Snapshot> travelled(const std::vector<Snapshot>& hosts) {
  std::vector<Snapshot> parts;
  std::string text = "a line that mpiexec prints\n";
  for (const Snapshot& host : hosts) text += as_part(host);
  EXPECT_TRUE(read_parts(text, parts));
  return parts;
}

Snapshot joined(const std::vector<Snapshot>& earlier, const std::vector<Snapshot>& later) {
  const std::vector<Snapshot> jobs = join_parts(travelled(earlier), travelled(later));
  EXPECT_EQ(jobs.size(), 1U);
  return jobs.empty() ? Snapshot{} : jobs[0];
}

TEST(WhyPart, a_deadlock_between_hosts_is_found_by_both_together) {
  const std::vector<Snapshot> hosts = {host_of(0), host_of(1)};
  for (const Snapshot& alone : hosts) EXPECT_FALSE(is_certain(find_causes(alone)[0].cause));
  const Snapshot job = joined(hosts, hosts);
  EXPECT_EQ(job.host, "h1, h2");
  ASSERT_EQ(job.processes.size(), 2U);
  EXPECT_EQ(job.processes[1].page.waits[0].place, "main (wrong.c:1)");
  const Finding first = find_causes(job)[0];
  EXPECT_EQ(first.cause, Cause::deadlock);
  EXPECT_NE(first.lines[1].find("rank 1 (pid 101 on h2)"), std::string::npos) << first.lines[1];
  // Three seconds, by the host's clock.
  EXPECT_NEAR(static_cast<double>(job.now_ns - job.processes[0].page.waits[0].since_ns), 3e9, 1e6);
}

TEST(WhyPart, a_wait_that_began_between_the_looks_tells_nothing) {
  const Snapshot job = joined({host_of(0), host_of(1, 4)}, {host_of(0), host_of(1, 5)});
  EXPECT_EQ(job.processes[0].state, State::waiting);
  EXPECT_EQ(job.processes[1].state, State::running);
  EXPECT_FALSE(is_certain(find_causes(job)[0].cause));
}

TEST(WhyPart, a_rank_that_did_not_wait_at_first_may_have_acted) {
  const Snapshot job = joined({host_of(0), host_of(1, 5, State::running)}, {host_of(0), host_of(1)});
  EXPECT_EQ(job.processes[1].state, State::running);
  EXPECT_FALSE(is_certain(find_causes(job)[0].cause));
}

TEST(WhyPart, a_host_that_was_not_asked_is_missed) {
  const Snapshot job = joined({host_of(0)}, {host_of(0)});
  const Finding first = find_causes(job)[0];
  EXPECT_EQ(first.cause, Cause::elsewhere);
  EXPECT_NE(as_text(job).find("of which 1 on h1"), std::string::npos);
}

TEST(WhyPart, jobs_are_kept_apart) {
  Snapshot other = host_of(1);
  other.job = "kvs_2";
  EXPECT_EQ(join_parts({}, travelled({host_of(0), other})).size(), 2U);
}

TEST(WhyPart, a_part_without_a_name_is_of_the_job_that_lacks_its_ranks) {
  Snapshot nameless = host_of(1, 5, State::running);
  nameless.job.clear();
  Snapshot job = joined({host_of(0), nameless}, {host_of(0), nameless});
  ASSERT_EQ(job.processes.size(), 2U);
  EXPECT_EQ(find_causes(job)[0].cause, Cause::computes);
  Snapshot other = host_of(0);
  other.job = "kvs_2";
  EXPECT_EQ(join_parts({}, travelled({host_of(0), other, nameless})).size(), 3U);
  Snapshot another = nameless;
  another.processes[0].pid = 7;
  EXPECT_EQ(join_parts({}, travelled({host_of(0), host_of(1), another})).size(), 2U);
  Snapshot again = nameless;  // hosts that share processes
  again.host = "h3";
  job = joined({host_of(0), nameless, again}, {host_of(0), nameless, again});
  EXPECT_EQ(find_causes(job)[0].cause, Cause::computes);
}

TEST(WhyPart, hosts_that_share_processes_count_each_once) {
  Snapshot again = host_of(0);
  again.host = "h3";
  const std::vector<Snapshot> hosts = {host_of(0), again, host_of(1)};
  EXPECT_EQ(joined(hosts, hosts).processes.size(), 2U);
}

TEST(WhyPart, waits_of_threads_travel) {
  Snapshot host = host_of(0, 5, State::locked);
  host.processes[0].thread_waits = {{7, "pthread_cond_wait", "work (pool.c:7)"}, {8, "", ""}};
  const std::vector<Snapshot> parts = travelled({host});
  ASSERT_EQ(parts.size(), 1U);
  const Process& p = parts[0].processes.at(0);
  EXPECT_EQ(p.state, State::locked);
  ASSERT_EQ(p.thread_waits.size(), 2U);
  EXPECT_EQ(p.thread_waits[0].thread, 7U);
  EXPECT_EQ(p.thread_waits[0].call, "pthread_cond_wait");
  EXPECT_EQ(p.thread_waits[0].place, "work (pool.c:7)");
  EXPECT_EQ(p.thread_waits[1].place, "");
}

TEST(WhyPart, damaged_answers_are_refused_or_read_as_less) {
  const std::string text = as_part(host_of(0)) + as_part(host_of(1));
  std::vector<Snapshot> parts;
  EXPECT_FALSE(read_parts(text.substr(0, text.size() - 4), parts));
  EXPECT_FALSE(read_parts("weft-why-part 0 1 - -\nend\n", parts));
  EXPECT_FALSE(read_parts("weft-why-part 2 1 - -\nprocess 2 5 4 0 -\nend\n", parts));
  EXPECT_FALSE(read_parts("weft-why-part 2 1 - -\nprocess 1 5 99 0 -\nend\n", parts));
  EXPECT_FALSE(read_parts("weft-why-part 2 1 - -\nwait 1 -\nend\n", parts));
  EXPECT_FALSE(read_parts("weft-why-part 2 1 - -\nprocess 1 5 4 0 00ff\nend\n", parts));
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string broken = text;
    for (int k = 0; k < 3; ++k) broken[random() % broken.size()] = static_cast<char>(random());
    parts.clear();
    if (!read_parts(broken, parts)) continue;
    for (const Snapshot& job : join_parts(parts, parts)) (void)as_text(job);
  }
}

}  // namespace
}  // namespace weft::why
