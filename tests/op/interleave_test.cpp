// SPDX-License-Identifier: Apache-2.0
// sluice/op/flat_map.hpp, sluice/op/interleave.hpp
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <memory>

#include <catch2/catch.hpp>

#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/io/memory_files.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/sanitizers.hpp"
#include "verbs/interleave_model.hpp"

namespace sluice::lib::interleave_test {
using namespace test;
using namespace interleave_case;
using int64 = std::int64_t;

TEST_CASE("an interleave opens an input only when its turn comes") {
  auto opened = std::make_shared<int64s>();
  auto noting = [opened](int64 x) {
    opened->push_back(x);
    return range(10);
  };
  CHECK(consume(range(100) | interleave(noting, {.cycle_length = 3}) | take(2), {}).elements.size() == 2);
  CHECK(*opened == int64s{0, 1});
}

namespace {

dataset<int64> nested(int64 levels) {
  if (levels == 0) return range(3);
  return range(1) | flat_map([levels](int64) { return nested(levels - 1); });
}

}  // namespace

TEST_CASE("an error of a stage inside of a reader names the file") {
  runtime rt({.workers = 2});
  memory_files files = add_memory_files(rt);
  files.put("mem://a.txt", "1\n2\n");
  files.put("mem://b.txt", "3\nfour\n");
  auto why = [&rt](const std::string& inner) {
    auto ds = dataset<int64>(parse_plan("list_files(\"mem://*.txt\") | interleave(" + inner + ")"));
    return consume_on(rt, ds, {}).why.to_string();
  };
  for (const char* inner : {"lines | map(to_integer(it))", "lines | map(to_integer(it)), cycle_length=2, parallelism=2",
                            "lines | map(to_integer(it)) | prefetch(2)"})
    CHECK_THAT(why(inner),
               Catch::Contains("b.txt") && Catch::Contains("map(to_integer(it))") && !Catch::Contains("a.txt"));
  auto by_function = list_files("mem://*.txt") | interleave([](const std::string& path) {
                       return lines(path) | map(expr<int64>("to_integer(it)"));
                     });
  CHECK_THAT(consume_on(rt, by_function, {}).why.to_string(), Catch::Contains("b.txt"));
}

TEST_CASE("plans may open plans that open plans, until they are as deep as a plan may be") {
  CHECK(consume(nested(400), {}).elements == int64s{0, 1, 2});
  for (int64 levels : {600, 1'000'000}) {
    consumed got = consume(nested(levels), {});
    CHECK(got.elements.empty());
    CHECK(got.why.code() == status_code::invalid_argument);
    CHECK_THAT(got.why.to_string(),
               Catch::Contains("more than 1000 stages below each other") && Catch::Contains("flat_map"));
  }
}

namespace {

double cpu_seconds() {
  timespec t;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// CPU seconds, the least of three, for each element of an interleave of `width` inputs of 30. In real time, because marks
/// are taken as often as 1 % of the time pays for, and a simulation's time stands still.
double cost_per_element(int64 width, order o) {
  auto ds = range(width) | interleave([](int64) { return range(30); }, {.cycle_length = width, .order = o});
  double least = 1e9;
  for (int i = 0; i != 3; ++i) {
    consumption how;
    how.ask_max = 256;
    runtime rt({.workers = 1});
    double start = cpu_seconds();
    consumed got = consume_on(rt, ds, how);
    least = std::min(least, (cpu_seconds() - start) / static_cast<double>(got.elements.size()));
    CHECK(got.elements.size() == static_cast<std::size_t>(width) * 30);
  }
  return least;
}

task<std::uint32_t> largest_block(any_stream s) {
  std::uint32_t most = 0;
  while (auto b = co_await s.next_block({.elements = 256})) most = std::max(most, b.size());
  auto done = cleanup(std::move(s));
  co_await done;
  co_return most;
}

}  // namespace

TEST_CASE("an interleave gathers large elements only up to what a core's cache holds") {
  simulation world(1);
  runtime rt(world);
  auto opening = [](int64) { return range(64 * 8192) | batch(8192); };  // batches of 64 KiB
  const auto batches = (range(4) | interleave(opening, {.cycle_length = 2})).plan();
  const auto numbers = (range(4) | interleave([](int64) { return range(5000); }, {.cycle_length = 2})).plan();
  std::uint32_t of_batches = sync_wait(rt, largest_block(open_run(rt, batches, {})));
  std::uint32_t of_numbers = sync_wait(rt, largest_block(open_run(rt, numbers, {})));
  CHECK((of_batches > 1 && of_batches <= 4));
  CHECK(of_numbers == 256);
}

// Opening, visiting and closing all the inputs. Anything that looks at all slots for one of them costs some twenty times
// as much in the wide cycle; what is left is memory that the caches do not hold.
TEST_CASE("an element of an interleave costs the same among many inputs as among few") {
  for (order o : {order::deterministic, order::sloppy}) {
    const int64 wide =
        testing::kSanitized ? 4'000 : 20'000;  // sanitizers are slow, and shadow memory has costs of its own
    double few = cost_per_element(wide / 20, o), many = cost_per_element(wide, o);
    INFO(wide / 20 << " inputs: " << few * 1e9 << " ns, " << wide << ": " << many * 1e9 << " ns");
    CHECK(many < 4 * few);
  }
}

TEST_CASE("a restored cycle of many inputs is opened again in time that is linear in them") {
  auto opening = [](int64 width) {
    auto ds = range(width) | interleave([](int64) { return range(3); }, {.cycle_length = width});
    consumption first;
    first.elements_max = static_cast<std::size_t>(width) + 10;
    first.ask_max = 97;
    first.save = true;
    consumed whole = consume(ds, first);
    double least = 1e9;
    for (int i = 0; i != 3; ++i) {
      consumption rest;
      rest.from = whole.places.back();
      rest.elements_max = 1;
      rest.ask_max = 1;
      double start = cpu_seconds();
      CHECK(consume(ds, rest).elements.size() == 1);
      least = std::min(least, cpu_seconds() - start);
    }
    return least;
  };
  double few = opening(1'000), many = opening(16'000);
  INFO("1,000 inputs: " << few * 1e3 << " ms, 16,000: " << many * 1e3 << " ms");
  CHECK(many < 64 * few);  // 16 times would be linear, 256 quadratic
}

}  // namespace sluice::lib::interleave_test
