// SPDX-License-Identifier: Apache-2.0
// sluice/op/flat_map.hpp, sluice/op/interleave.hpp
#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "op/opened_elements.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/io/memory_files.hpp"
#include "sluice/sluice.hpp"
#include "support/file_case.hpp"
#include "support/op_conformance.hpp"
#include "support/process_memory.hpp"
#include "verbs/interleave_model.hpp"

namespace sluice::lib::interleave_test {
namespace {

using namespace test;
using namespace interleave_case;
using int64 = std::int64_t;

SLUICE_FUNCTION(open_some, [](int64 x) { return opened_for(x); });

/// tf.data's slot rule, once more by hand.
int64s interleaved(const int64s& in, std::size_t cycle, std::size_t block) {
  struct slot {
    int64 at = 0, end = 0;
    bool open = false;
  };
  std::vector<slot> slots(cycle);
  int64s out;
  std::size_t next = 0, closed_in_a_row = 0;
  for (std::size_t k = 0; closed_in_a_row < cycle; k = (k + 1) % cycle) {
    slot& s = slots[k];
    if (!s.open && next < in.size()) {
      int64 x = in[next++];
      s = {1000 * x, 1000 * x + x % 4, true};
    }
    closed_in_a_row = s.open ? 0 : closed_in_a_row + 1;
    for (std::size_t i = 0; s.open && i != block; ++i) {
      if (s.at == s.end) s.open = false;
      else out.push_back(s.at++);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("interleave conforms for every cycle and block length") {
  for (auto [cycle, block] : {std::pair<int64, int64>(1, 1), {2, 1}, {3, 2}, {16, 1}, {4, 7}})
    conforms({.stage =
                  [=](const auto& in) {
                    return in | interleave(opened_for, {.cycle_length = cycle, .block_length = block});
                  },
              .expected =
                  [=](const int64s& in) {
                    return interleaved(in, static_cast<std::size_t>(cycle), static_cast<std::size_t>(block));
                  }});
}

TEST_CASE("interleave in parallel conforms, and keeps the sequential order") {
  for (int64 parallelism : {2, 5})
    conforms({.stage =
                  [=](const auto& in) {
                    return in |
                           interleave(opened_for, {.cycle_length = 4, .block_length = 2, .parallelism = parallelism});
                  },
              .expected = [](const int64s& in) { return interleaved(in, 4, 2); }});
}

TEST_CASE("a sloppy interleave loses and repeats nothing") {
  for (int64 parallelism : {1, 3})
    conforms({.stage =
                  [=](const auto& in) {
                    return in | interleave(opened_for,
                                           {.cycle_length = 3, .parallelism = parallelism, .order = order::sloppy});
                  },
              .expected = one_after_the_other,
              .ordered = false});
}

TEST_CASE("an interleave opens an input only when its turn comes") {
  auto opened = std::make_shared<int64s>();
  auto noting = [opened](int64 x) {
    opened->push_back(x);
    return range(10);
  };
  CHECK(consume(range(100) | interleave(noting, {.cycle_length = 3}) | take(2), {}).elements.size() == 2);
  CHECK(*opened == int64s{0, 1});
}

TEST_CASE("an error inside one dataset follows the elements that all delivered before it") {
  auto broken = [](int64 x) {
    return range(4) | map([x](int64 y) {
             if (x == 1 && y == 2) throw_status(data_loss_error("broken"));
             return 10 * x + y;
           });
  };
  for (int64 parallelism : {1, 3}) {
    consumed got = consume(range(3) | interleave(broken, {.cycle_length = 3, .parallelism = parallelism}), {});
    CHECK(got.elements == int64s{0, 10, 20, 1, 11, 21, 2});
    CHECK(got.why.code() == status_code::data_loss);
  }
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

TEST_CASE("more slots than a cycle may have are refused where the plan is made") {
  CHECK_NOTHROW(range(3) | interleave(opened_for, {.cycle_length = 65'536}));
  CHECK_THROWS_WITH(range(3) | interleave(opened_for, {.cycle_length = 65'537}),
                    Catch::Contains("interleave: cycle_length must be at most 65536, and is 65537"));
}

TEST_CASE("an interleave of more parallelism than there can be is refused where the plan is made") {
  CHECK_NOTHROW(range(3) | interleave(opened_for, {.parallelism = 65'536}));
  CHECK_NOTHROW(range(3) | interleave(opened_for, {.parallelism = autotune}));
  CHECK_THROWS_WITH(range(3) | interleave(opened_for, {.parallelism = 65'537}),
                    Catch::Contains("interleave: parallelism must be at most 65536, and is 65537"));
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

}  // namespace

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

TEST_CASE("interleave prints as text, and is read again") {
  round_trips(*(range(5) | interleave(open_some, {.cycle_length = 3, .order = order::sloppy})).plan(),
              "range(5) | interleave(open_some, cycle_length=3, order=sloppy)");
}

}  // namespace sluice::lib::interleave_test
