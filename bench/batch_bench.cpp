// SPDX-License-Identifier: Apache-2.0
// Rows into columns: batches of 1,024 against one copy of their bytes.
#include <array>
#include <cstring>
#include <vector>

#include "bench/harness.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr std::size_t kRows = 1024, kRowsAtOnce = 256, kBatches = 200;

struct wide {
  std::array<float, 64> v;
};

std::vector<wide> made_rows() {
  std::vector<wide> rows(kRows);
  for (std::size_t i = 0; i != kRows; ++i) rows[i].v.fill(static_cast<float>(i));
  return rows;
}

void batch_of_floats(report& r) {
  std::vector<wide> rows = made_rows();
  workload ours = [&] {
    pass p{.elements = kBatches * kRows};
    auto& t = type_of<wide>();
    stopwatch watch(timed::cpu);
    for (std::size_t k = 0; k != kBatches; ++k) {
      batched<wide> b;
      column& c = b.storage().make_rows(t);
      for (std::size_t i = 0; i != kRows; i += kRowsAtOnce) {
        c.growth(&rows[i], kRowsAtOnce, sizeof(wide), kRows);
        c.append(&rows[i], kRowsAtOnce, sizeof(wide));  // bytes: the rows stay what they are
      }
      p.answer += static_cast<std::uint64_t>(b[&wide::v][k].back());
    }
    p.ns = watch.ns();
    return p;
  };
  std::vector<wide> to(kRows);
  workload by_memcpy = [&] {
    pass p{.elements = kBatches * kRows};
    stopwatch watch(timed::cpu);
    for (std::size_t k = 0; k != kBatches; ++k) {
      std::memcpy(to.data(), rows.data(), kRows * sizeof(wide));
      p.answer += static_cast<std::uint64_t>(to[k].v.back());
    }
    p.ns = watch.ns();
    return p;
  };
  r.at_least("batch of 1,024 structs of 64 floats", "memcpy", compare(ours, by_memcpy).speedup(), 0.8, "of its speed");
}
SLUICE_BENCH(batch_of_floats);

/// Images of 150,528 bytes: batches of 32 tensors, each of which has a buffer of its own. Batches of more than 8 MiB (55 of
/// them) take fresh pages each time, which costs more than the copy (base/memory/pages.hpp).
void batch_of_images(report& r) {
  constexpr std::size_t kImages = 32, kPasses = 80;
  std::vector<tensor> images;
  for (std::size_t i = 0; i != kImages; ++i) {
    images.push_back(tensor::make(dtype::uint8, {224, 224, 3}));
    std::memset(images[i].writable_data(), static_cast<int>(i), images[i].size_bytes());
  }
  const std::size_t each = images[0].size_bytes();
  auto& t = type_of<tensor>();
  slab rows(t);
  workload ours = [&] {
    pass p{.elements = kPasses * kImages};
    stopwatch watch(timed::cpu);
    for (std::size_t k = 0; k != kPasses; ++k) {
      char* to = rows.reserve(kImages);
      t.copy(t, to, images.data(), kImages, sizeof(tensor), sizeof(tensor));
      batched<tensor> b;
      column& c = b.storage().make_rows(t);
      c.growth(to, kImages, sizeof(tensor), kImages);
      c.append(to, kImages, sizeof(tensor));
      p.answer += static_cast<unsigned char>(b.stacked().data()[(k % kImages + 1) * each - 1]);
    }
    p.ns = watch.ns();
    return p;
  };
  std::vector<char> to(kImages * each);
  workload by_memcpy = [&] {
    pass p{.elements = kPasses * kImages};
    stopwatch watch(timed::cpu);
    for (std::size_t k = 0; k != kPasses; ++k) {
      for (std::size_t i = 0; i != kImages; ++i) std::memcpy(to.data() + i * each, images[i].data(), each);
      p.answer += static_cast<unsigned char>(to[(k % kImages + 1) * each - 1]);
    }
    p.ns = watch.ns();
    return p;
  };
  r.at_least("batch of 32 tensors uint8[224,224,3]", "memcpy", compare(ours, by_memcpy).speedup(), 0.8, "of its speed");
}
SLUICE_BENCH(batch_of_images);

}  // namespace
}  // namespace sluice::lib::bench
