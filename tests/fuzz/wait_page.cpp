// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The page on which a process says what it waits for, from a process that is broken or means harm.
#include "boot/job/wait_page.hpp"

#include <cstring>

#include "fuzz.hpp"
#include "why/findings.hpp"

using namespace weft;

namespace {

bool is_rank(int32_t rank, int32_t size) {
  return (rank >= 0 && rank < size) || rank == boot::no_rank || rank == boot::any_rank;
}

bool is_clean(const std::string& text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) return false;
  }
  return true;
}

void check(const why::Page& page) {
  FUZZ_CHECK(page.rank >= 0 && page.rank < page.size);
  FUZZ_CHECK(page.waits.size() <= boot::WaitPage::most_waits);
  for (const why::Wait& wait : page.waits) {
    FUZZ_CHECK(is_rank(wait.target, page.size) && is_clean(wait.call) && is_clean(wait.comm.name));
    FUZZ_CHECK(wait.listed.size() <= boot::PageWait::most);
    for (const why::Message& m : wait.listed) FUZZ_CHECK(is_rank(m.peer, page.size));
    for (const int32_t member : wait.comm.members) FUZZ_CHECK(member >= 0 && member < page.size);
  }
}

// Few numbers are of interest: those at the borders.
void spoil(fuzz::Random& random, std::string& bytes) {
  constexpr uint32_t values[] = {0, 1, 2, 6, 7, 30, 31, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffd};
  for (size_t changes = random.below(8); changes > 0; --changes) {
    const size_t at = random.below(bytes.size() / 4) * 4;
    const uint32_t value = values[random.below(std::size(values))];
    memcpy(bytes.data() + at, &value, sizeof value);
  }
}

void one(fuzz::Random& random, const std::string& text) {
  why::Snapshot snapshot{.job = "job", .host = "host", .size = 4, .now_ns = 1};
  for (int32_t rank = 0; rank < 3; ++rank) {
    std::string bytes = text;
    if (random.below(4) != 0) bytes.resize(sizeof(boot::WaitPage));
    spoil(random, bytes);
    why::Page page;
    if (!read_page(bytes.data(), bytes.size(), page)) continue;
    check(page);
    // The ranks of others are taken as they say.
    if (page.size > 1000) continue;
    snapshot.size = std::max(snapshot.size, page.size);
    snapshot.processes.push_back({.rank = rank, .pid = 1, .state = why::State::waiting, .page = page});
  }
  FUZZ_CHECK(!find_causes(snapshot).empty());
  FUZZ_CHECK(!as_text(snapshot).empty());
  FUZZ_CHECK(as_json(snapshot).front() == '{');
}

// A page with something in all its parts.
std::string sample(boot::WaitKind kind, uint32_t waits = boot::WaitPage::most_waits) {
  boot::WaitPage page{};
  page.magic = boot::wait_magic;
  page.sequence = 2;
  page.bytes = static_cast<uint32_t>(boot::WaitPage::bytes_with(waits));
  page.rank = 1;
  page.size = 4;
  page.arrived_listed = page.open_listed = page.past_listed = page.locks_listed = 2;
  for (boot::PageWait& wait : page.waits) {
    wait.kind = static_cast<uint32_t>(kind);
    strcpy(wait.call, "MPI_Recv");
    wait.target = 2;
    wait.order = 3;
    wait.messages = wait.listed = 3;
    for (boot::PageMessage& m : wait.message) m = {0, 0, 2, 2, 7, 0, 8};
    wait.comm = {.context = 0, .size = 4, .rank = 1, .first = 0, .stride = 1, .listed = 0, .name = "MPI_COMM_WORLD"};
  }
  for (boot::PageMessage& m : page.arrived_messages) m = {4, 0, 2, 2, 8, 0, 8};
  for (boot::PagePast& past : page.past) past = {0, 2, 0, 0, 8, "MPI_Bcast"};
  return {reinterpret_cast<const char*>(&page), page.bytes};
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::run(argc, argv,
                   {sample(boot::WaitKind::all), sample(boot::WaitKind::all, boot::WaitPage::fewer_waits),
                    sample(boot::WaitKind::any), sample(boot::WaitKind::collective), sample(boot::WaitKind::lock),
                    std::string("weftwhy2")},
                   one);
}
