// SPDX-License-Identifier: Apache-2.0
// The index of a TFRecord file of two million records: building it, skipping by it, and elements in any order.
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/harness.hpp"
#include "bench/record_file.hpp"
#include "sluice/pipeline/index_file.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr std::int64_t kIndexedRecords = 2'000'000;
constexpr std::int64_t kSkippedRecords = 1'900'000;
constexpr std::size_t kIndexedRecordBytes = 48;
constexpr std::uint64_t kShuffledFiles = 16;

/// Record i begins with the number i.
void write_number(std::string& data, std::uint64_t i) { std::memcpy(data.data(), &i, sizeof i); }

std::uint64_t number_of(const record& r) {
  std::uint64_t n = 0;
  std::memcpy(&n, r.view().data(), sizeof n);
  return n;
}

task<pass> summed_numbers(any_stream s, timed by) {
  pass p;
  stopwatch watch(by);
  while (auto b = co_await s.next_block({.elements = 256})) {
    const record* r = b.as<record>();
    for (std::uint32_t i = 0; i != b.size(); ++i) p.answer += number_of(r[i]);
  }
  p.ns = watch.ns();
  co_return p;
}

/// Skips all records, as `sluice count` does.
task<pass> counted_records(any_stream s) {
  pass p;
  stopwatch watch(timed::wall);
  for (;;) {
    demand d;
    d.skip = (std::uint64_t{1} << 20) - 1;
    auto got = co_await s.try_next_block(d);
    if (!got.why.ok()) throw_status(got.why);
    if (!got.view) break;
    p.answer += d.skip + got.view.size();
  }
  p.answer += (std::uint64_t{1} << 20) - 1 - detail::engine_access::of(s).skip_left();
  p.ns = watch.ns();
  co_return p;
}

task<pass> built_index(runtime* rt, node_ptr reader) {
  pass p;
  stopwatch watch(timed::wall);
  auto writing = write_index(*rt, std::move(reader));
  const written_index w = co_await writing;
  p.answer = w.elements;
  p.ns = watch.ns();
  co_return p;
}

task<pass> picked_records(runtime* rt, dataset<record> ds) {
  pass p;
  stopwatch watch(timed::wall);
  for (std::int64_t i = 0; i != 100; ++i) {
    const std::int64_t at = i * 7919 * 997 % kIndexedRecords;
    auto asking = ds.at(*rt, at);
    const record r = co_await asking;
    if (number_of(r) != static_cast<std::uint64_t>(at)) throw std::runtime_error("a wrong record");
  }
  p.ns = watch.ns();
  co_return p;
}

void record_index_of_two_million(report& r) {
  record_file file(kIndexedRecords, kIndexedRecordBytes, write_number);
  runtime& rt = one_worker();
  const double all = static_cast<double>(kIndexedRecords);
  auto plain = tfrecord(file.path(), {.index = file_index::none});
  workload scanned = [&] {
    pass p = sync_wait(rt, counted_records(open_run(rt, plain.plan(), {})));
    p.elements = all;
    return p;
  };
  workload built = [&] {
    pass p = sync_wait(rt, built_index(&rt, plain.plan()));
    p.elements = all;
    return p;
  };
  r.at_least("index, built", "skipping all records without one", compare(built, scanned).speedup(), 0.9,
             "of its speed");
  auto last = tfrecord(file.path()) | skip(kSkippedRecords) | take(1);
  r.at_most("skip(1,900,000) of 2 M records with an index", "-", measure([&] {
              pass p = sync_wait(rt, summed_numbers(open_run(rt, last.plan(), {}), timed::wall));
              if (p.answer != static_cast<std::uint64_t>(kSkippedRecords)) throw std::runtime_error("a wrong record");
              p.ns /= 1e6;
              return p;
            }),
            5, "ms");
  auto required = tfrecord(file.path(), {.index = file_index::required});
  r.at_most("at(i) of 2 M records with an index, hot", "-", measure([&] {
              pass p = sync_wait(rt, picked_records(&rt, required));
              p.elements = 100;
              p.ns /= 1e3;
              return p;
            }),
            100, "us");
}
SLUICE_BENCH(record_index_of_two_million);

/// All records, read in order, and in a random order by the indexes of their files.
void shuffled_index_of_sixteen_files(report& r) {
  runtime& rt = one_worker();
  std::vector<std::unique_ptr<record_file>> files;
  std::string inputs;
  for (std::uint64_t n = 0; n != kShuffledFiles; ++n) {
    files.push_back(std::make_unique<record_file>(
        kIndexedRecords / kShuffledFiles, kIndexedRecordBytes,
        [n](std::string& data, std::uint64_t i) { write_number(data, n * (kIndexedRecords / kShuffledFiles) + i); }));
    sync_wait(rt, write_index(rt, tfrecord(files.back()->path()).plan(), {.every = 16}));
    inputs += (n ? ", " : "") + ("tfrecord(\"" + files.back()->path() + "\", index=required)");
  }
  const std::string all = "concatenate(" + inputs + ")";
  const dataset<record> plain(parse_plan(all)), shuffled(parse_plan(all + " | global_shuffle(seed=1)"));
  const auto of = [&](const dataset<record>& ds) -> workload {
    return [&rt, ds] {
      pass p = sync_wait(rt, summed_numbers(open_run(rt, ds.plan(), {}), timed::cpu));
      p.elements = static_cast<double>(kIndexedRecords);
      return p;
    };
  };
  r.at_least("global_shuffle of 2 M records in 16 files with an index, hot", "reading them in order",
             compare(of(shuffled), of(plain), 3).speedup(), 0.1, "of its speed");
}
SLUICE_BENCH(shuffled_index_of_sixteen_files);

}  // namespace
}  // namespace sluice::lib::bench
