// SPDX-License-Identifier: Apache-2.0
// Verbs against loops by hand, which fill the same blocks, as long as each stage has to store what it gives.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "bench/harness.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

using int64 = std::int64_t;
using int64s = std::vector<int64>;

constexpr int64 kElements = 2'000'000;
constexpr std::uint32_t kBlock = 1024;  // what next() asks for

/// What an element adds to the answer.
std::uint64_t worth(int64 x) { return static_cast<std::uint64_t>(x); }
std::uint64_t worth(const std::pair<int64, int64>& x) { return worth(x.first) * 3 + worth(x.second); }
template <class T> std::uint64_t worth(const batched<T>& b) {
  std::uint64_t sum = 0;
  for (auto&& x : b.values()) sum += worth(x);
  return sum;
}

template <class T> task<pass> draining(any_stream s, std::uint32_t block) {
  pass p;
  stopwatch watch(timed::cpu);
  while (auto b = co_await s.next_block({.elements = block})) {
    std::uint64_t sum = 0;
    const T* x = b.template as<T>();
    for (std::uint32_t i = 0; i != b.size(); ++i) sum += worth(x[i]);
    p.answer += sum;
  }
  p.ns = watch.ns();
  auto done = cleanup(std::move(s));
  co_await done;
  co_return p;
}
/// A pass over a plan of any elements.
template <class T> workload drained(const dataset<T>& plan, double elements = kElements, std::uint32_t block = kBlock) {
  return [plan, elements, block] {
    pass p = sync_wait(one_worker(), draining<T>(open_run(one_worker(), plan.plan(), {}), block));
    p.elements = elements;
    return p;
  };
}
workload by_hand(std::uint64_t (*loop)()) {
  return [loop] { return on_worker(loop, kElements); };
}

void fill(int64* p, int64 from, std::uint32_t n) {
  for (std::uint32_t i = 0; i != n; ++i) p[i] = from + i;
  benchmark::ClobberMemory();
}
template <class T> std::uint64_t summed(const T* p, std::size_t n) {
  benchmark::ClobberMemory();
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i != n; ++i) sum += worth(p[i]);
  return sum;
}
/// Calls f(first, how many) for each block of a range.
template <class F> void each_block(int64 n, F f, std::uint32_t block = kBlock) {
  for (int64 at = 0; at < n; at += block) f(at, static_cast<std::uint32_t>(std::min<int64>(block, n - at)));
}

void verb_zip(report& r) {
  auto loop = [] {
    std::array<int64, kBlock> a, b;
    std::array<std::pair<int64, int64>, kBlock> pairs;
    std::uint64_t sum = 0;
    each_block(kElements, [&](int64 at, std::uint32_t n) {
      fill(a.data(), at, n);
      fill(b.data(), at, n);
      for (std::uint32_t i = 0; i != n; ++i) pairs[i] = {a[i], b[i]};
      sum += summed(pairs.data(), n);
    });
    return sum;
  };
  r.at_most("zip of two ranges", "hand loop",
            compare(drained(zip(range(kElements), range(kElements))), by_hand(loop)).ratio(), 1.5, "x");
}
SLUICE_BENCH(verb_zip);

void verb_concatenate(report& r) {
  auto loop = [] {
    std::array<int64, kBlock> a;
    std::uint64_t sum = 0;
    for (int half = 0; half != 2; ++half) {
      each_block(kElements / 2, [&](int64 at, std::uint32_t n) {
        fill(a.data(), at, n);
        sum += summed(a.data(), n);
      });
    }
    return sum;
  };
  auto plan = concatenate(range(kElements / 2), range(kElements / 2));
  r.at_most("concatenate", "hand loop", compare(drained(plan), by_hand(loop)).ratio(), 1.5, "x");
}
SLUICE_BENCH(verb_concatenate);

void verb_enumerate(report& r) {
  auto loop = [] {
    std::array<int64, kBlock> a;
    std::array<std::pair<int64, int64>, kBlock> pairs;
    std::uint64_t sum = 0;
    int64 number = 0;
    each_block(kElements, [&](int64 at, std::uint32_t n) {
      fill(a.data(), at + 7, n);
      for (std::uint32_t i = 0; i != n; ++i) pairs[i] = {number++, a[i]};
      sum += summed(pairs.data(), n);
    });
    return sum;
  };
  auto plan = range(kElements + 7, {.start = 7}) | enumerate();
  r.at_most("enumerate", "hand loop", compare(drained(plan), by_hand(loop)).ratio(), 1.5, "x");
}
SLUICE_BENCH(verb_enumerate);

void verb_scan(report& r) {
  auto loop = [] {
    std::array<int64, kBlock> a;
    std::uint64_t sum = 0;
    int64 state = 0;
    each_block(kElements, [&](int64 at, std::uint32_t n) {
      fill(a.data(), at, n);
      for (std::uint32_t i = 0; i != n; ++i) a[i] = state += a[i];
      sum += summed(a.data(), n);
    });
    return sum;
  };
  auto plan = range(kElements) | scan([](int64& sum, int64 x) noexcept { return sum += x; });
  r.at_most("scan", "hand loop", compare(drained(plan), by_hand(loop)).ratio(), 1.5, "x");
}
SLUICE_BENCH(verb_scan);

void verb_take_while(report& r) {
  auto loop = [] {
    std::array<int64, kBlock> a;
    std::uint64_t sum = 0;
    each_block(kElements, [&](int64 at, std::uint32_t n) {
      fill(a.data(), at, n);
      std::uint32_t kept = 0;
      while (kept != n && a[kept] < kElements) ++kept;
      sum += summed(a.data(), kept);
    });
    return sum;
  };
  auto plan = range(kElements * 2) | take_while([](int64 x) { return x < kElements; });
  r.at_most("take_while", "hand loop", compare(drained(plan), by_hand(loop)).ratio(), 1.5, "x");
}
SLUICE_BENCH(verb_take_while);

// Batches are their receiver's, in ours as in the loops: each has memory of its own.
constexpr std::uint32_t kRows = 1000;

void verb_unbatch(report& r) {
  auto loop = [] {
    std::array<int64, kBlock> a, out;
    std::uint64_t sum = 0;
    for (int64 first = 0; first < kElements; first += kRows) {
      int64s batch;
      batch.reserve(kRows);
      each_block(kRows, [&](int64 at, std::uint32_t n) {
        fill(a.data(), first + at, n);
        batch.insert(batch.end(), a.data(), a.data() + n);
      });
      each_block(kRows, [&](int64 at, std::uint32_t n) {
        std::copy_n(batch.data() + at, n, out.data());
        sum += summed(out.data(), n);
      });
    }
    return sum;
  };
  r.at_most("batch(1000) | unbatch", "hand loop",
            compare(drained(range(kElements) | batch(kRows) | unbatch()), by_hand(loop)).ratio(), 1.5, "x");
}
SLUICE_BENCH(verb_unbatch);

void verb_rebatch(report& r) {
  auto loop = [] {
    constexpr std::size_t kTo = 768;
    std::array<int64, kBlock> a;
    int64s other;
    other.reserve(kTo);
    std::uint64_t sum = 0;
    for (int64 first = 0; first < kElements; first += kRows) {
      int64s batch;
      batch.reserve(kRows);
      each_block(kRows, [&](int64 at, std::uint32_t n) {
        fill(a.data(), first + at, n);
        batch.insert(batch.end(), a.data(), a.data() + n);
      });
      for (std::size_t at = 0; at != kRows;) {
        std::size_t n = std::min(kRows - at, kTo - other.size());
        other.insert(other.end(), batch.data() + at, batch.data() + at + n);
        at += n;
        if (other.size() != kTo) continue;
        int64s given = std::exchange(other, {});
        other.reserve(kTo);
        sum += summed(given.data(), kTo);
      }
    }
    return sum + summed(other.data(), other.size());
  };
  auto plan = range(kElements) | batch(kRows) | rebatch(768);
  r.at_most("batch(1000) | rebatch(768)", "hand loop", compare(drained(plan, kElements, 1), by_hand(loop)).ratio(), 1.5,
            "x");
}
SLUICE_BENCH(verb_rebatch);

void verb_group_by_window(report& r) {
  constexpr std::size_t kWindow = 256;
  static constexpr int64 kKeys = 16;
  static constexpr auto kKey = [](int64 x) { return x * 7 / 3 % kKeys; };
  auto loop = [] {
    std::array<int64, kBlock> a;
    std::array<int64s, kKeys> groups;
    std::uint64_t sum = 0;
    each_block(kElements, [&](int64 at, std::uint32_t n) {
      fill(a.data(), at, n);
      for (std::uint32_t i = 0; i != n; ++i) {
        int64s& group = groups[static_cast<std::size_t>(kKey(a[i]))];
        group.push_back(a[i]);
        if (group.size() != kWindow) continue;
        int64s given = std::exchange(group, {});
        group.reserve(kWindow);
        sum += summed(given.data(), kWindow);
      }
    });
    for (const int64s& group : groups) sum += summed(group.data(), group.size());
    return sum;
  };
  auto plan = range(kElements) | group_by_window(kKey, batch(kWindow), kWindow);
  r.at_most("group_by_window of 16 keys, batch(256)", "hand loop",
            compare(drained(plan, kElements, 1), by_hand(loop)).ratio(), 2, "x");
}
SLUICE_BENCH(verb_group_by_window);

// --- sequences of 1 to 256 numbers, of which both sides make one at a time ---

constexpr int64 kLists = 50'000;

int64s list_of(int64 x) { return int64s(static_cast<std::size_t>(x * 37 % 256 + 1), x); }
workload lists_by_hand(std::uint64_t (*loop)()) {
  return [loop] { return on_worker(loop, kLists); };
}
/// Stacked as a rectangle, with zeros behind the short ones.
std::uint64_t padded(const std::vector<int64s>& rows) {
  std::size_t longest = 0;
  for (const int64s& row : rows) longest = std::max(longest, row.size());
  int64s all(longest * rows.size());
  for (std::size_t i = 0; i != rows.size(); ++i) std::copy(rows[i].begin(), rows[i].end(), all.begin() + i * longest);
  return summed(all.data(), all.size());
}
task<pass> draining_lists(any_stream s) {
  pass p;
  stopwatch watch(timed::cpu);
  while (auto b = co_await s.next_block({.elements = 1})) {
    tensor all = b.as<batched<int64s>>()->stacked();
    p.answer += summed(all.values<int64>().data(), all.values<int64>().size());
  }
  p.ns = watch.ns();
  auto done = cleanup(std::move(s));
  co_await done;
  co_return p;
}
workload lists_drained(const dataset<batched<int64s>>& plan) {
  return [plan] {
    pass p = sync_wait(one_worker(), draining_lists(open_run(one_worker(), plan.plan(), {})));
    p.elements = kLists;
    return p;
  };
}

void verb_padded_batch(report& r) {
  auto loop = [] {
    std::vector<int64s> rows;
    std::uint64_t sum = 0;
    for (int64 x = 0; x != kLists; ++x) {
      rows.push_back(list_of(x));
      if (rows.size() != 32 && x + 1 != kLists) continue;
      sum += padded(rows);
      rows.clear();
    }
    return sum;
  };
  r.at_most("sequences | padded_batch(32)", "hand loop",
            compare(lists_drained(range(kLists) | map(list_of) | padded_batch(32)), lists_by_hand(loop)).ratio(), 2,
            "x");
}
SLUICE_BENCH(verb_padded_batch);

void verb_bucket_by_sequence_length(report& r) {
  auto loop = [] {
    std::array<std::vector<int64s>, 3> buckets;
    std::uint64_t sum = 0;
    for (int64 x = 0; x != kLists; ++x) {
      int64s list = list_of(x);
      std::vector<int64s>& rows = buckets[list.size() < 64 ? 0 : list.size() < 128 ? 1 : 2];
      rows.push_back(std::move(list));
      if (rows.size() != 32) continue;
      sum += padded(rows);
      rows.clear();
    }
    for (const auto& rows : buckets)
      if (!rows.empty()) sum += padded(rows);
    return sum;
  };
  auto plan = range(kLists) | map(list_of) |
              bucket_by_sequence_length([](const int64s& x) { return x.size(); }, {64, 128}, {32, 32, 32});
  r.at_most("sequences | bucket_by_sequence_length", "hand loop",
            compare(lists_drained(plan), lists_by_hand(loop)).ratio(), 2, "x");
}
SLUICE_BENCH(verb_bucket_by_sequence_length);

// Of endless datasets so many elements; the loop draws as the stage does, a number for each place.
void verb_sample_from_datasets(report& r) {
  auto loop = [] {
    std::array<std::array<int64, kBlock>, 2> from;
    std::array<std::uint32_t, 2> at{kBlock, kBlock};
    std::array<int64, 2> next{0, 0};
    std::array<int64, kBlock> out;
    std::uint64_t sum = 0;
    each_block(kElements, [&](int64 first, std::uint32_t n) {
      for (std::uint32_t i = 0; i != n; ++i) {
        const auto place = static_cast<std::uint64_t>(first) + i;
        const std::size_t k = random_source(derive(1, place)).uniform() < 0.7 ? 0 : 1;
        if (at[k] == kBlock) {
          fill(from[k].data(), next[k], kBlock);
          next[k] += kBlock;
          at[k] = 0;
        }
        out[i] = from[k][at[k]++];
      }
      sum += summed(out.data(), n);
    });
    benchmark::DoNotOptimize(sum);
    return static_cast<std::uint64_t>(kElements);
  };
  auto plan = sample_from_datasets({counter(), counter()}, {.weights = {0.7, 0.3}, .seed = 1}) | take(kElements);
  workload ours = [drain = drained(plan)] {
    pass p = drain();
    p.answer = kElements;  // which of them is a matter of the draws
    return p;
  };
  r.at_most("sample_from_datasets of two", "hand loop", compare(ours, by_hand(loop)).ratio(), 2, "x");
}
SLUICE_BENCH(verb_sample_from_datasets);

int64 half_again(int64 x) { return static_cast<int64>(static_cast<std::uint64_t>(x) * 0x9E3779B97F4A7C15u % 500'000); }

void verb_unique(report& r) {
  auto loop = [] {
    absl::flat_hash_set<int64> seen;
    std::array<int64, kBlock> a;
    std::uint64_t sum = 0;
    each_block(kElements, [&](int64 at, std::uint32_t n) {
      fill(a.data(), at, n);
      for (std::uint32_t i = 0; i != n; ++i) a[i] = half_again(a[i]);
      std::uint32_t kept = 0;
      for (std::uint32_t i = 0; i != n; ++i)
        if (seen.insert(a[i]).second) a[kept++] = a[i];
      sum += summed(a.data(), kept);
    });
    return sum;
  };
  r.at_most("unique of 2,000,000, a quarter of them new", "absl::flat_hash_set",
            compare(drained(range(kElements) | map(half_again) | unique()), by_hand(loop)).ratio(), 2, "x");
}
SLUICE_BENCH(verb_unique);

}  // namespace
}  // namespace sluice::lib::bench
