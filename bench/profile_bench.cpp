// SPDX-License-Identifier: Apache-2.0
// The cost of measuring, and of the tuner: runs with statistics, and with statistics and a tuner, against runs without.
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr int kPassPairs = 21;  // the differences are about as large as the noise of one pair
constexpr std::size_t kElementBytes = 165;
constexpr double kMost = 1.01, kMostNs = 5;

std::uint64_t digest(std::int64_t x) { return static_cast<std::uint64_t>(x); }
std::uint64_t digest(const record& r) { return r.size() + static_cast<unsigned char>(r.view().front()); }
std::uint64_t digest(const std::string& s) { return s.size() + static_cast<unsigned char>(s.front()); }

template <class T> task<pass> draining(any_stream s, std::uint32_t block) {
  pass p;
  stopwatch watch(timed::cpu);
  while (auto b = co_await s.next_block({.elements = block})) {
    const T* x = b.template as<T>();
    for (std::uint32_t i = 0; i != b.size(); ++i) p.answer += digest(x[i]);
  }
  p.ns = watch.ns();
  auto done = cleanup(std::move(s));
  co_await done;
  co_return p;
}

template <class T>
workload drained(const dataset<T>& ds, std::uint32_t block, double elements, const iterate_options& options) {
  return [ds, block, elements, options] {
    pass p = sync_wait(one_worker(), draining<T>(open_run(one_worker(), ds.plan(), options), block));
    p.elements = elements;
    return p;
  };
}

template <class T> void in_blocks(report& r, const std::string& what, const dataset<T>& ds, double elements) {
  const workload without = drained<T>(ds, 256, elements, {.statistics = false});
  r.at_most("statistics: " + what + " in blocks of 256", "without statistics",
            compare(drained<T>(ds, 256, elements, {}), without, kPassPairs).ratio(), kMost, "x");
  r.at_most("statistics and tuner: " + what + " in blocks of 256", "without statistics",
            compare(drained<T>(ds, 256, elements, {.tune = true}), without, kPassPairs).ratio(), kMost, "x");
}

template <class T> void one_by_one(report& r, const std::string& what, const dataset<T>& ds, double elements) {
  const workload without = drained<T>(ds, 1, elements, {.statistics = false});
  for (const bool is_tuned : {false, true}) {
    iterate_options options;
    if (is_tuned) options.tune = true;
    const comparison c = compare(drained<T>(ds, 1, elements, options), without, kPassPairs);
    std::vector<double> more;
    for (std::size_t i = 0; i != c.ours.size(); ++i) more.push_back(c.ours[i] - c.theirs[i]);
    r.at_most((is_tuned ? "statistics and tuner: " : "statistics: ") + what + " in blocks of one", "without statistics",
              samples(std::move(more)), kMostNs, "ns more an element");
  }
}

class record_file {
 public:
  explicit record_file(std::int64_t records)
      : path_((std::filesystem::temp_directory_path() / ("sluice_bench_" + std::to_string(getpid()) + ".tfrecord"))
                  .string()) {
    std::ofstream out(path_, std::ios::binary);
    std::string framed;
    for (std::int64_t i = 0; i != records; ++i) {
      framed.clear();
      append_tfrecord(framed, std::string(kElementBytes, static_cast<char>('a' + i % 26)));
      out << framed;
    }
    if (!out.flush()) throw std::runtime_error("cannot write " + path_);
  }
  ~record_file() { std::remove(path_.c_str()); }
  record_file(const record_file&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string text_of(std::int64_t i) { return std::string(kElementBytes, static_cast<char>('a' + i % 26)); }

void statistics(report& r) {
  const dataset<std::int64_t> three(parse_plan("range(16000000) | filter(it % 3 != 0) | map(it * 2) | skip(5)"));
  in_blocks(r, "three stages of numbers", three, 16'000'000);
  one_by_one(r, "numbers", dataset<std::int64_t>(parse_plan("range(1000000) | map(it * 2)")), 1'000'000);
  const record_file file(300'000);
  in_blocks(r, "records of 165 bytes", tfrecord(file.path()), 300'000);
  one_by_one(r, "records of 165 bytes", tfrecord(file.path()), 300'000);
  in_blocks(r, "strings of 165 bytes", range(500'000) | map(text_of), 500'000);
  one_by_one(r, "strings of 165 bytes", range(500'000) | map(text_of), 500'000);
}
SLUICE_BENCH(statistics);

}  // namespace
}  // namespace sluice::lib::bench
