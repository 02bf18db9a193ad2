// SPDX-License-Identifier: Apache-2.0
// The memory that a batch is charged, compared with what the allocator gives back when the batch is destroyed.
#include <malloc.h>

#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

#include "engine/held/held_elements.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"
#include "support/random/random_types.hpp"
#include "support/sanitizers.hpp"

namespace sluice::lib::typed_memory_test {
namespace {

using namespace test;

constexpr const char* kRows = "500";
/// Chunks that glibc keeps for the thread that freed them count as used.
constexpr std::size_t kAllocatorBytes = std::size_t{32} << 10;

std::size_t allocated_bytes() {
  const struct mallinfo2 m = ::mallinfo2();
  return m.uordblks + m.hblkhd;
}

struct memory {
  std::size_t charged = 0, freed = 0;
};

/// Moves the first element of the stream to a slab, and destroys it there.
task<void> measure(any_stream* s, memory* m) {
  auto b = co_await s->next_block(demand{.elements = 1});
  if (!b) co_return;
  slab own(s->type());
  b.move_front(own.reserve(1), 1);
  own.set_live(0, 1);
  m->charged = owned_bytes_of(s->type(), own.view().data(), 1);
  const std::size_t before = allocated_bytes();
  own.clear();
  const std::size_t after = allocated_bytes();
  m->freed = before > after ? before - after : 0;
}

}  // namespace

TEST_CASE("batches of random types are charged for all memory that they own") {
  if (testing::kSanitized) return;  // a sanitizer has an allocator of its own
  std::size_t measured = 0, failed = 0;
  runtime rt({.workers = 1});
  const std::uint64_t first = first_seed();
  for (std::uint64_t seed = first; seed != first + cases(60); ++seed) {
    random_numbers r(seed);
    const std::string rows = std::string("range(") + kRows + ") | map(" + random_typed_expression(r) + ")";
    for (const char* stage : {"batch(", "padded_batch(", "ragged_batch(", "window_batch(", "map([it]) | batch("}) {
      const std::string text = rows + " | " + stage + kRows + ")";
      memory m;
      try {
        any_stream s = open_run(rt, parse_plan(text), {.seed = 1});
        sync_wait(rt, measure(&s, &m));
        sync_wait(rt, cleanup(std::move(s)));
      } catch (const error&) { continue; }  // some stages refuse some types
      ++measured;
      if (m.freed <= m.charged + m.charged / 8 + kAllocatorBytes) continue;
      UNSCOPED_INFO("seed " << seed << ": " << text << "\n  charged " << m.charged << " bytes, freed " << m.freed);
      ++failed;
    }
  }
  INFO(measured << " batches measured");
  CHECK(failed == 0);
  CHECK(measured > cases(60));
}

}  // namespace sluice::lib::typed_memory_test
