// SPDX-License-Identifier: Apache-2.0
// global_shuffle over files with an index, which reads elements ahead in the order of the files.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/pipeline/index_file.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::shuffled_index_test {
namespace {

using namespace testing;

constexpr std::int64_t kRecords = 6000;

/// Two files with an index. Every 100th record is longer than those that share buffers.
struct indexed_files {
  temporary_folder folder;
  runtime rt;
  texts records;

  explicit indexed_files(unsigned workers = 1, std::size_t budget = 0)
      : rt({.workers = workers, .memory_budget_bytes = budget}) {
    for (std::int64_t i = 0; i != kRecords; ++i)
      records.push_back(std::to_string(i) + std::string(i % 100 == 7 ? 900 : static_cast<std::size_t>(i % 13), '.'));
    write("a", texts(records.begin(), records.begin() + 2500));
    write("b", texts(records.begin() + 2500, records.end()));
  }
  void write(const char* name, const texts& some) { write_bytes(name, framed(some)); }
  void write_bytes(const char* name, const std::string& bytes) {
    const std::string path = folder.write(name, bytes);
    sync_wait(rt, write_index(rt, tfrecord(path, {.index = file_index::none}).plan(), {.every = 16}));
  }
  dataset<record> file(const char* name) const { return tfrecord(folder.path(name), {.index = file_index::required}); }
  dataset<record> both() const { return concatenate(file("a"), file("b")); }
};

/// The numbers in the order in which a global_shuffle delivers them.
std::vector<std::int64_t> shuffled_numbers(runtime& rt, std::int64_t n) {
  std::vector<std::int64_t> order;
  for (const std::string& s : run(rt, range(n) | global_shuffle({.seed = 5})).elements) order.push_back(std::stoll(s));
  return order;
}

}  // namespace

TEST_CASE("records of two files come in the drawn order, also after a resume and with little memory") {
  for (std::size_t budget : {std::size_t{0}, std::size_t{4} << 20}) {
    for (unsigned workers : {1u, 2u}) {
      indexed_files f(workers, budget);
      texts expected;
      for (std::int64_t i : shuffled_numbers(f.rt, kRecords))
        expected.push_back(f.records[static_cast<std::size_t>(i)]);
      const auto ds = f.both() | global_shuffle({.seed = 5});
      const outcome whole = run(f.rt, ds);
      CHECK(whole.why.ok());
      CHECK((whole.elements == expected));
      for (std::size_t at : {1u, 700u, 3000u, 5999u}) {
        const outcome rest = run(f.rt, ds, {.from = whole.places[at]});
        CHECK((rest.elements == texts(expected.begin() + static_cast<std::ptrdiff_t>(at), expected.end())));
      }
      CHECK(
          (run(f.rt, ds | skip(4000) | take(50)).elements == texts(expected.begin() + 4000, expected.begin() + 4050)));
      CHECK((run(f.rt, ds | prefetch(10) | batch(7)).elements.size() == 858));
    }
  }
}

TEST_CASE("a damaged record is dropped at its place in the drawn order, and stops a run there") {
  // The second one lies between records that are requested together before it is.
  for (const std::size_t bad : {std::size_t{3100}, std::size_t{5900}}) {  // its place in the drawn order
    indexed_files f;
    std::string bytes = framed(f.records);
    f.write_bytes("c", bytes);
    const auto ds = f.file("c") | global_shuffle({.seed = 5});
    texts expected;
    for (std::int64_t i : shuffled_numbers(f.rt, kRecords)) expected.push_back(f.records[static_cast<std::size_t>(i)]);
    std::size_t number = 0;
    while (f.records[number] != expected[bad]) ++number;
    bytes = flipped(std::move(bytes), frame_of(f.records, number) + 12);
    f.write_bytes("c", bytes);
    const outcome stopped = run(f.rt, ds);
    CHECK(stopped.why.code() == status_code::data_loss);
    CHECK((stopped.elements == first_of(expected, bad)));
    iterate_options o;
    o.on_error = error_policy::skip;
    const outcome skipped = run(f.rt, ds, o);
    CHECK(skipped.why.ok());
    CHECK(skipped.report.errors == 1);
    CHECK((skipped.elements == without(expected, {bad})));
  }
}

TEST_CASE("a consumer of few elements causes few reads, and functions are called for requested elements only") {
  indexed_files f;
  outcome few = run(f.rt, f.file("a") | global_shuffle({.seed = 5}) | take(3));
  CHECK(few.elements.size() == 3);
  std::uint64_t read = 0;
  for (const site_report& s : few.report.sites) read += s.read_bytes;
  CHECK(read < 40'000);  // a window of 4 KiB for each, instead of 256 KiB
  int called = 0;
  auto counted = [&called](const record& r) {
    ++called;
    return std::string(r.view());
  };
  outcome mapped = run(f.rt, f.file("a") | map(counted) | global_shuffle({.seed = 5}) | take(30));
  CHECK(mapped.elements.size() == 30);
  CHECK(called == 30);
}

}  // namespace sluice::lib::shuffled_index_test
