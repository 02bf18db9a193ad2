// SPDX-License-Identifier: Apache-2.0
// Our side of bench/compare/verbs.py: a verb over 64-bit integers, in batches of 1,000 where it gives such.
//
//   compare_verbs                    the names of all rows, one a line
//   compare_verbs NAME N [--answer]  over N elements; with --answer the sum of all that it gives, too
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#if SLUICE_HAVE_SQLITE
#include "sluice/io/sqlite_rows.hpp"
#endif
#include "sluice/sluice.hpp"

namespace {

using namespace sluice::lib;
using int64 = std::int64_t;
using int64s = std::vector<int64>;

struct outcome {
  std::uint64_t sum = 0;
  double seconds = 0, cpu_seconds = 0;
};
using measured = std::function<outcome(runtime&, int64 n, bool with_answer)>;

std::uint64_t sum_of(int64 x) { return static_cast<std::uint64_t>(x); }
std::uint64_t sum_of(std::string_view x) { return x.size(); }
template <class A, class B> std::uint64_t sum_of(const std::pair<A, B>& p) {
  return sum_of(p.first) + sum_of(p.second);
}
template <class R>
  requires(!std::is_convertible_v<const R&, std::string_view> && requires(const R& r) { r.begin(); })
std::uint64_t sum_of(const R& r) {
  std::uint64_t sum = 0;
  for (auto&& x : r) sum += sum_of(x);
  return sum;
}
std::uint64_t sum_of(const sparse_tensor& s) { return sum_of(s.values.values<int64>()); }
template <class T> std::uint64_t sum_of(batched<T>& b) {
  if constexpr (requires { b.values(); }) return sum_of(b.values());
  else return std::apply([](const auto&... column) { return (sum_of(column) + ...); }, b.columns());
}

template <class T> task<std::uint64_t> consumed(stream<T> s, bool with_answer) {
  std::uint64_t sum = 0;
  while (auto x = co_await s.next())
    if (with_answer) sum += sum_of(*x);
  co_return sum;
}

template <class Make> measured row(Make make) {
  return [make](runtime& rt, int64 n, bool with_answer) {
    auto plan = make(n);
    outcome o;
    if (with_answer) o.sum = sync_wait(rt, consumed(plan.iterate(rt), true));
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu = std::clock();
    sync_wait(rt, consumed(plan.iterate(rt), false));
    o.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    o.cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    return o;
  };
}

int64 tripled(int64 x) { return x * 3 + 1; }
bool is_even(int64 x) { return x % 2 == 0; }
int64 of_seven(int64 x) { return x % 7; }
int64 scattered(int64 x) { return x * 7919 % 100'003; }
void add(int64& sum, int64 x) { sum += x; }
int64s list_of(int64 x) { return int64s(static_cast<std::size_t>(x % 8 + 1), x); }
std::size_t length_of(const int64s& x) { return x.size(); }

struct four {
  int64 a, b, c, d;
};
struct single {
  int64 x;
};

/// That verbs.py wrote.
std::string file(const char* name) {
  const char* folder = std::getenv("COMPARE_FILES");
  return std::string(folder ? folder : ".") + "/" + name;
}

dataset<record> records(const char* name, int64 n) { return tfrecord(file(name)) | repeat() | take(n); }

const std::map<std::string, measured>& rows() {
  static const std::map<std::string, measured> all = {
      {"range", row([](int64 n) { return range(n) | batch(1000); })},
      {"from_tensor_slices", row([](int64 n) {
         int64s all(static_cast<std::size_t>(n));
         for (std::size_t i = 0; i != all.size(); ++i) all[i] = static_cast<int64>(i);
         return from_range(all) | batch(1000);
       })},
      {"counter", row([](int64 n) { return counter() | take(n) | batch(1000); })},
      {"random", row([](int64 n) { return random({.seed = 7, .below = 1}) | take(n) | batch(1000); })},
      {"map", row([](int64 n) { return range(n) | map(tripled) | batch(1000); })},
      {"map, parallel", row([](int64 n) { return range(n) | map(tripled, {.parallelism = autotune}) | batch(1000); })},
      {"filter", row([](int64 n) { return range(n) | filter(is_even) | batch(1000); })},
      {"flat_map",
       row([](int64 n) { return range(n / 100) | flat_map([](int64) { return range(100); }) | batch(1000); })},
      {"interleave", row([](int64 n) {
         return range(n / 1000) | interleave([](int64) { return range(1000); }, {.cycle_length = 16}) | batch(1000);
       })},
      {"shuffle", row([](int64 n) { return range(n) | shuffle(10'000, {.seed = 7}) | batch(1000); })},
      {"repeat", row([](int64 n) { return range(n / 10) | repeat(10) | batch(1000); })},
      {"take", row([](int64 n) { return range(n * 2) | take(n) | batch(1000); })},
      {"skip", row([](int64 n) { return range(n) | skip(n / 2) | batch(1000); })},
      {"take_while", row([](int64 n) { return range(n) | take_while([](int64 x) { return x >= 0; }) | batch(1000); })},
      {"unique", row([](int64 n) { return range(n) | map(scattered) | unique() | batch(1000); })},
      {"shard", row([](int64 n) { return range(n) | shard(4, 1) | batch(1000); })},
      {"prefetch", row([](int64 n) { return range(n) | prefetch(64) | batch(1000); })},
      {"enumerate", row([](int64 n) { return range(n) | enumerate() | batch(1000); })},
      {"scan", row([](int64 n) {
         return range(n) | scan([](int64& sum, int64 x) noexcept { return sum += x; }) | batch(1000);
       })},
      {"reduce", row([](int64 n) { return range(n) | reduce(int64{0}, add); })},
      {"zip", row([](int64 n) { return zip(range(n), range(n)) | batch(1000); })},
      {"concatenate", row([](int64 n) { return concatenate(range(n / 2), range(n / 2)) | batch(1000); })},
      {"choose_from_datasets", row([](int64 n) {
         return choose_from_datasets({range(n), range(n)}, range(n) | map([](int64 x) { return x % 2; })) | batch(1000);
       })},
      {"sample_from_datasets", row([](int64 n) {
         return sample_from_datasets({range(n / 2), range(n / 2)}, {.weights = {0.7, 0.3}, .seed = 1}) | batch(1000);
       })},
      {"window", row([](int64 n) { return range(n) | window(10); })},
      {"lines", row([](int64 n) { return lines(file("lines.txt")) | repeat() | take(n) | batch(1000); })},
      {"tfrecord, 100 B", row([](int64 n) { return records("100.tfrecord", n) | batch(1000); })},
      {"tfrecord, 1 KB", row([](int64 n) { return records("1000.tfrecord", n) | batch(100); })},
      {"tfrecord, 10 KB", row([](int64 n) { return records("10000.tfrecord", n) | batch(32); })},
      {"tfrecord, 150 KB", row([](int64 n) { return records("150000.tfrecord", n) | batch(8); })},
      {"tfrecord, 1 KB, skip", row([](int64 n) { return records("1000.tfrecord", n) | skip(n - 100) | batch(100); })},
      {"batch", row([](int64 n) { return range(n) | batch(10); })},
      {"unbatch", row([](int64 n) { return range(n) | batch(1000) | unbatch() | batch(1000); })},
      {"rebatch", row([](int64 n) { return range(n) | batch(1000) | rebatch(768); })},
      {"padded_batch", row([](int64 n) { return range(n) | map(list_of) | padded_batch(32); })},
      {"bucket_by_sequence_length", row([](int64 n) {
         return range(n) | map(list_of) | bucket_by_sequence_length(length_of, {3, 6}, {32, 32, 32});
       })},
      {"ragged_batch", row([](int64 n) { return range(n) | map(list_of) | ragged_batch(32); })},
      {"sparse_batch", row([](int64 n) { return range(n) | map(list_of) | sparse_batch(32, {8}); })},
      {"group_by_window",
       row([](int64 n) { return range(n) | group_by_window([](int64 x) { return x % 16; }, batch(256), 256); })},
      {"rejection_resample", row([](int64 n) {
         return range(n) |
                rejection_resample([](int64 x) { return x % 2; }, {0.9, 0.1}, {.initial_dist = {0.5, 0.5}, .seed = 1}) |
                map([](const std::pair<int64, int64>&) { return int64{0}; }) | batch(1000);
       })},
      {"ignore_errors", row([](int64 n) { return range(n) | ignore_errors() | batch(1000); })},
      {"assert_cardinality", row([](int64 n) { return range(n) | assert_cardinality(n) | batch(1000); })},
      {"pad_to_cardinality", row([](int64 n) { return range(n) | pad_to_cardinality(n + 1000) | batch(1000); })},
      {"global_shuffle", row([](int64 n) { return range(n) | global_shuffle({.seed = 7}) | batch(1000); })},
      {"map_and_batch", row([](int64 n) { return range(n) | map_and_batch(tripled, 1000); })},
      {"shuffle_and_repeat",
       row([](int64 n) { return range(n / 10) | shuffle_and_repeat(10'000, 10, {.seed = 7}) | batch(1000); })},
      {"parallel_interleave", row([](int64 n) {
         return range(n / 1000) | parallel_interleave([](int64) { return range(1000); }, 16) | batch(1000);
       })},
      {"fixed_length", row([](int64 n) {
         return fixed_length(file("lines.txt"), {.record_bytes = 72}) | repeat() | take(n) | batch(1000);
       })},
      {"csv", row([](int64 n) { return csv<four>(file("numbers.csv")) | repeat() | take(n) | batch(1000); })},
      {"sql", row([](int64 n) {
         return sql<single>(file("numbers.db"), "SELECT x FROM numbers ORDER BY x") | repeat() | take(n) | batch(1000);
       })},
      {"group_by_reducer", row([](int64 n) { return range(n) | group_by_reducer(of_seven, int64{0}, add); })},
  };
  return all;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    for (const auto& [name, measure] : rows()) std::printf("%s\n", name.c_str());
    return 0;
  }
  auto found = rows().find(argv[1]);
  if (found == rows().end()) {
    std::fprintf(stderr, "compare_verbs: no row is called %s\n", argv[1]);
    return 2;
  }
#if SLUICE_HAVE_SQLITE
  register_sqlite();
#endif
  runtime rt;
  outcome o = found->second(rt, std::atoll(argv[2]), argc > 3);
  std::printf("{\"system\": \"sluice\", \"sum\": %llu, \"seconds\": %.6f, \"cpu_seconds\": %.6f}\n",
              static_cast<unsigned long long>(o.sum), o.seconds, o.cpu_seconds);
  return 0;
} catch (const sluice::lib::error& e) {
  std::fprintf(stderr, "compare_verbs: %s\n", e.what());
  return 1;
}
