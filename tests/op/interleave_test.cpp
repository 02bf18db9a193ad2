// SPDX-License-Identifier: Apache-2.0
// sluice/op/flat_map.hpp, sluice/op/interleave.hpp
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "support/process_memory.hpp"
#include "support/verb_case.hpp"

namespace sluice::lib {
namespace {

using namespace test;
using int64 = std::int64_t;

/// x opens x % 4 elements, which tell where they come from.
dataset<int64> some(int64 x) { return range(1000 * x + x % 4, {.start = 1000 * x}); }
SLUICE_FUNCTION(open_some, [](int64 x) { return some(x); });

int64s flattened(const int64s& in) {
  int64s out;
  for (int64 x : in)
    for (int64 i = 0; i < x % 4; ++i) out.push_back(1000 * x + i);
  return out;
}

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

// --- For the random plans: the slot rule over any inner plans. ---

constexpr std::uint64_t kToItsEnd = ~std::uint64_t{0};
int64s by_slots(const verb_lists& l, std::size_t width, std::uint64_t block_length) {
  struct slot {
    bool open = false;
    int64s elements;
    std::size_t given = 0;
  };
  std::vector<slot> slots(width);
  int64s outer = l.in(), out;
  std::size_t next = 0, at = 0;
  std::uint64_t left = block_length;
  auto go_on = [&] {
    at = (at + 1) % width;
    left = block_length;
  };
  auto all_closed = [&] { return std::none_of(slots.begin(), slots.end(), [](const slot& s) { return s.open; }); };
  for (;;) {
    slot& s = slots[at];
    if (!s.open && next == outer.size()) {
      if (all_closed()) return out;
      go_on();
      continue;
    }
    if (!s.open) {
      s = {true, l.inner(outer[next], next), 0};
      ++next;
    }
    if (s.given == s.elements.size()) {
      s.open = false;
      go_on();
      continue;
    }
    out.push_back(s.elements[s.given++]);
    l.check_size(out.size());
    if (--left == 0) go_on();
  }
}
std::uint64_t block_length(const verb_use& use) { return 1 + use.b % 4; }
std::int64_t some_parallelism(const verb_use& use) { return use.knob_or(1 + static_cast<int64>(use.b / 4 % 6)); }
int64s in_turns(const verb_lists& l) { return by_slots(l, static_cast<std::size_t>(l.a), block_length(l)); }
/// In one of the orders that it may have.
int64s one_by_one(const verb_lists& l) { return by_slots(l, 1, kToItsEnd); }

const register_verb flat_map_case("flat_map",
                                  {.inner = 1,
                                   .build = [](const verb_plan& p) { return p.in[0] | flat_map(p.inner[0]); },
                                   .expected = one_by_one});
dataset<int64> taken_in_turns(const verb_plan& p, std::int64_t parallelism) {
  auto visit = static_cast<int64>(block_length(p));
  return p.in[0] | interleave(p.inner[0], {.cycle_length = p.a, .block_length = visit, .parallelism = parallelism});
}
const register_verb interleave_case("interleave",
                                    {.inner = 1,
                                     .has_knob = true,
                                     .build = [](const verb_plan& p) { return taken_in_turns(p, p.knob_or(1)); },
                                     .expected = in_turns,
                                     .resume = {.a = 3, .b = 0, .held = 6}});
const register_verb interleave_parallel_case(
    "interleave parallel", {.inner = 1,
                            .has_knob = true,
                            .build = [](const verb_plan& p) { return taken_in_turns(p, some_parallelism(p)); },
                            .expected = in_turns,
                            .resume = {.a = 3, .b = 4, .held = 12}});
const register_verb interleave_sloppy_case("interleave sloppy",
                                           {.inner = 1,
                                            .ordered = false,
                                            .has_knob = true,
                                            .build =
                                                [](const verb_plan& p) {
                                                  return p.in[0] | interleave(p.inner[0], {.cycle_length = p.a,
                                                                                           .parallelism = p.knob_or(1),
                                                                                           .order = sloppy});
                                                },
                                            .expected = one_by_one,
                                            .resume = {.a = 3, .held = 12}});
const register_verb interleave_sloppy_parallel_case(
    "interleave sloppy parallel",
    {.inner = 1,
     .ordered = false,
     .any_order = true,
     .has_knob = true,
     .build =
         [](const verb_plan& p) {
           return p.in[0] |
                  interleave(p.inner[0], {.cycle_length = p.a, .parallelism = some_parallelism(p), .order = sloppy});
         },
     .expected = one_by_one,
     .resume = {.a = 3, .b = 4, .held = 12}});

}  // namespace

TEST_CASE("flat_map conforms") {
  conforms({.stage = [](const auto& in) { return in | flat_map(some); },
            .expected = flattened,
            .before_error = flattened,
            .needs =
                [](const int64s& in, std::size_t k) {
                  std::size_t opened = 0;
                  for (int64s given; given.size() < k; ++opened) given = flattened(first_of(in, opened + 1));
                  return opened;
                }});
}

TEST_CASE("interleave conforms for every cycle and block length") {
  for (auto [cycle, block] : {std::pair<int64, int64>(1, 1), {2, 1}, {3, 2}, {16, 1}, {4, 7}})
    conforms(
        {.stage = [=](const auto& in) { return in | interleave(some, {.cycle_length = cycle, .block_length = block}); },
         .expected =
             [=](const int64s& in) {
               return interleaved(in, static_cast<std::size_t>(cycle), static_cast<std::size_t>(block));
             }});
}

TEST_CASE("interleave in parallel conforms, and keeps the sequential order") {
  for (int64 parallelism : {2, 5})
    conforms({.stage =
                  [=](const auto& in) {
                    return in | interleave(some, {.cycle_length = 4, .block_length = 2, .parallelism = parallelism});
                  },
              .expected = [](const int64s& in) { return interleaved(in, 4, 2); }});
}

TEST_CASE("a sloppy interleave loses and repeats nothing") {
  for (int64 parallelism : {1, 3})
    conforms({.stage =
                  [=](const auto& in) {
                    return in |
                           interleave(some, {.cycle_length = 3, .parallelism = parallelism, .order = order::sloppy});
                  },
              .expected = flattened,
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

TEST_CASE("what opens a dataset may fail, after the elements before it") {
  auto throwing = [](int64 x) {
    if (x == 2) throw std::runtime_error("cannot open");
    return range(3);
  };
  consumed got = consume(range(5) | flat_map(throwing), {});
  CHECK(got.elements == int64s{0, 1, 2, 0, 1, 2});
  CHECK_THAT(got.why.to_string(), Catch::Contains("cannot open") && Catch::Contains("flat_map"));
}

TEST_CASE("an error inside of one dataset comes after what all gave before it") {
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
  CHECK_NOTHROW(range(3) | interleave(some, {.cycle_length = 65'536}));
  CHECK_THROWS_WITH(range(3) | interleave(some, {.cycle_length = 65'537}),
                    Catch::Contains("interleave: cycle_length must be at most 65536, and is 65537"));
}

TEST_CASE("an interleave of more parallelism than there can be is refused where the plan is made") {
  CHECK_NOTHROW(range(3) | interleave(some, {.parallelism = 65'536}));
  CHECK_NOTHROW(range(3) | interleave(some, {.parallelism = autotune}));
  CHECK_THROWS_WITH(range(3) | interleave(some, {.parallelism = 65'537}),
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

TEST_CASE("flat_map and interleave print as text, and are read again") {
  round_trips(*(range(5) | flat_map(open_some)).plan(), "range(5) | flat_map(open_some)");
  round_trips(*(range(5) | interleave(open_some, {.cycle_length = 3, .order = order::sloppy})).plan(),
              "range(5) | interleave(open_some, cycle_length=3, order=sloppy)");
}

}  // namespace sluice::lib
