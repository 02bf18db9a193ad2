// SPDX-License-Identifier: Apache-2.0
// Our side of the comparison with tf.data: what it does and prints is fixed in bench/compare/README.md.
//
//   compare_main_job [--skip-answer] FILES…
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include <isa-l/crc.h>

#include "sluice/sluice.hpp"

namespace {

using namespace sluice::lib;

struct sample {
  std::string text;
  std::int64_t label = 0;
  std::array<float, 16> values{};
};

dataset<batched<sample>> main_job(const std::vector<std::string>& files) {
  return from_elements(files) | interleave(tfrecord, {.cycle_length = 16}) | shuffle(10'000, {.seed = 7}) | batch(1024) |
         parse_example<sample>({.parallelism = autotune}) | prefetch(autotune);
}

std::uint64_t row_digest(std::string_view text, std::int64_t label, const std::array<float, 16>& values) {
  std::uint64_t bits = 0;
  for (float v : values) bits += std::bit_cast<std::uint32_t>(v);
  std::uint64_t h = crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  h += static_cast<std::uint64_t>(label) << 32;
  h = h * 0x9E3779B97F4A7C15u + bits;
  h = (h ^ (h >> 29)) * 0xBF58476D1CE4E5B9u;
  return h ^ (h >> 32);
}

struct answer {
  std::uint64_t elements = 0, batches = 0, label_sum = 0, digest = 0;
};

task<answer> digested(stream<batched<sample>> s) {
  answer a;
  while (auto b = co_await s.next()) {
    auto [texts, labels, values] = b->columns();
    ++a.batches;
    a.elements += static_cast<std::uint64_t>(b->size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      a.label_sum += static_cast<std::uint64_t>(labels[i]);
      a.digest += row_digest(texts[i], labels[i], values[i]);
    }
  }
  co_return a;
}

task<answer> counted(stream<batched<sample>> s) {
  answer a;
  while (auto b = co_await s.next()) {
    ++a.batches;
    a.elements += static_cast<std::uint64_t>(b->size());
  }
  co_return a;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

int main(int argc, char** argv) try {
  bool with_answer = argc < 2 || std::strcmp(argv[1], "--skip-answer") != 0;
  std::vector<std::string> files(argv + (with_answer ? 1 : 2), argv + argc);
  if (files.empty()) {
    std::fprintf(stderr, "usage: compare_main_job [--skip-answer] FILES...\n");
    return 2;
  }
  runtime rt;
  auto job = main_job(files);
  std::string said;
  if (with_answer) {
    answer a = sync_wait(rt, digested(job.iterate(rt)));
    char text[128];
    std::snprintf(text, sizeof text, "\"label_sum\": %llu, \"digest\": \"%016llx\", ",
                  static_cast<unsigned long long>(a.label_sum), static_cast<unsigned long long>(a.digest));
    said = text;
  }
  auto start = std::chrono::steady_clock::now();
  double cpu = cpu_seconds();
  answer a = sync_wait(rt, counted(job.iterate(rt)));
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  cpu = cpu_seconds() - cpu;
  std::printf(
      "{\"system\": \"sluice\", \"elements\": %llu, \"batches\": %llu, %s\"seconds\": %.6f, \"cpu_seconds\": %.6f, "
      "\"versions\": {\"compiler\": \"" __VERSION__ "\", \"workers\": %u}}\n",
      static_cast<unsigned long long>(a.elements), static_cast<unsigned long long>(a.batches), said.c_str(),
      seconds.count(), cpu, rt.workers());
  return 0;
} catch (const sluice::lib::error& e) {
  std::fprintf(stderr, "compare_main_job: %s\n", e.what());
  return 1;
}
