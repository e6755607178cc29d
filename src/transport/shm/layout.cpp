// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/layout.hpp"

#include <algorithm>
#include <bit>

#include "base/bytes.hpp"
#include "base/setting.hpp"
#include "boot/job/notes.hpp"
#include "pages/huge.hpp"
#include "transport/api/memory.hpp"

namespace weft::transport::shm {

namespace {

constinit base::IntSetting ring_bytes{{.name = "WEFT_RING_BYTES",
                                       .help = "size of a rank's receive rings together, rounded up to a power of two",
                                       .unit = base::Unit::bytes,
                                       .subject = base::Subject::memory,
                                       .change = base::Change::before_start,
                                       .alike = true},
                                      256 << 10,
                                      {64 << 10, 64 << 20}};
WEFT_SETTING(ring_bytes);

constexpr int least_staging = 1;
constinit base::IntSetting staging_buffers{
    {.name = "WEFT_STAGING_BUFFERS",
     .help = "staging buffers per rank, for the E1 and R1 paths; with WEFT_MINIMUM_MEMORY of all ranks of a host",
     .unit = base::Unit::count,
     .subject = base::Subject::memory,
     .change = base::Change::before_start,
     .alike = true},
    256,
    {least_staging, max_staging_buffers}};
WEFT_SETTING(staging_buffers);

constinit base::IntSetting staging_bytes{
    {.name = "WEFT_STAGING_BYTES",
     .help = "size of one staging buffer, rounded up to 4K; messages take several in a row",
     .unit = base::Unit::bytes,
     .subject = base::Subject::memory,
     .change = base::Change::before_start,
     .alike = true},
    8 << 10,
    {4 << 10, 4 << 20}};
WEFT_SETTING(staging_bytes);

constinit base::IntSetting heap_bytes{
    {.name = "WEFT_HEAP_BYTES",
     .help = "address space per rank for memory that peers reach directly; when it is set, no piece is larger",
     .unit = base::Unit::bytes,
     .subject = base::Subject::memory,
     .change = base::Change::before_start,
     .alike = true},
    int64_t{16} << 30,
    {0, int64_t{1} << 40}};
WEFT_SETTING(heap_bytes);

constexpr size_t page = 4096;
constexpr size_t to_pages(size_t bytes) {
  return base::to_multiple(bytes, page);
}

// With more ranks on a host, offsets in the file would be used up.
constexpr int most_ranks_with_slots = 2048;
static_assert(Slots{}.total() <= (uint64_t{1} << 62) / most_ranks_with_slots);

// With WEFT_MINIMUM_MEMORY, what nobody has chosen is `least`: the smallest that all paths run with.
size_t value_of(const base::IntSetting& row, int64_t least) {
  const bool chosen = row.source() != base::ValueSource::fallback;
  return static_cast<size_t>(minimum_memory() && !chosen ? least : row.value());
}

// Staging buffers begin in the middle of a page, since large memory of malloc() begins 16 bytes behind one, and
// `rep movsb` is slow where the target lies a little further behind a page than the source does
// (docs/measurements/choices.md, "How data cross cores").
constexpr size_t from_page = 2048;

}  // namespace

SegmentLayout layout_for(int ranks) {
  SegmentLayout layout{};
  const size_t ring = std::bit_ceil(value_of(ring_bytes, 64 << 10));
  layout.ring_cells_log2 = static_cast<uint32_t>(std::countr_zero(ring / cell_bytes));
  const bool shares = minimum_memory();
  layout.staging_buffers = static_cast<int>(value_of(staging_buffers, 32));
  const auto own_buffers = static_cast<size_t>(shares ? 0 : layout.staging_buffers);
  layout.released_offset = base::to_multiple(sizeof(Control), 128);
  layout.rings_offset = to_pages(layout.released_offset + sizeof(uint32_t) * own_buffers);
  layout.staging_offset = layout.rings_offset + std::max(layout.rings(1), layout.rings(max_lanes)) + from_page;
  layout.staging_buffer = to_pages(value_of(staging_bytes, 8 << 10));
  layout.staging = std::max(layout.staging_buffer * own_buffers, to_pages(garbage_bytes));  // behind the last ring
  layout.region = layout.staging_offset + layout.staging;
  // A huge page needs an address and an offset that agree. The gaps are never touched.
  layout.region = base::to_multiple(layout.region, pages::huge_boundary);
  layout.first_region = base::to_multiple(boot::head_bytes(ranks), pages::huge_boundary);
  layout.first_pool = layout.first_region + layout.region * static_cast<size_t>(ranks);
  if (shares) {
    const size_t buffers = static_cast<size_t>(layout.staging_buffers) + static_cast<size_t>(ranks);
    layout.pool_buffers = to_pages(sizeof(uint64_t) * buffers) + from_page;
    layout.pool = to_pages(layout.pool_buffers + layout.staging_buffer * buffers);
  }
  layout.first_heap = base::to_multiple(layout.first_pool + layout.pool, pages::huge_boundary);
  layout.heap = to_pages(static_cast<size_t>(heap_bytes.value()));
  layout.first_slots = layout.first_heap + layout.heap * static_cast<size_t>(ranks);
  if (heap_bytes.source() == base::ValueSource::fallback && ranks <= most_ranks_with_slots) {
    layout.first_slots = base::to_multiple(layout.first_slots, size_t{1} << 30);
    layout.slots = Slots{}.total();
  }
  layout.total = layout.first_slots + layout.slots * static_cast<size_t>(ranks);
  return layout;
}

size_t segment_bytes(int ranks) {
  return layout_for(ranks).total;
}

}  // namespace weft::transport::shm

// The ranks of a host that share endpoints share larger ones than those between each other.
weft::transport::HostBuffers weft::transport::buffers_of_host() {
  const auto value = [](const base::IntSetting& row, int64_t usual, int64_t least) {
    const bool chosen = row.source() != base::ValueSource::fallback;
    return static_cast<size_t>(chosen ? row.value() : minimum_memory() ? least : usual);
  };
  return {static_cast<int>(value(shm::staging_buffers, 64, 32)), value(shm::staging_bytes, 32 << 10, 16 << 10)};
}
