// SPDX-License-Identifier: Apache-2.0
// sluice/op/concatenate.hpp
#include <cstdint>
#include <memory>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "verbs/concatenate_model.hpp"

namespace sluice::lib::concatenate_test {
using namespace test;
using namespace concatenate_case;
using int64 = std::int64_t;

namespace {

/// The state of a stage that counts how often it is written to a position.
struct counted_state {
  static inline std::size_t writes = 0;
  void save(position_writer&) const { ++writes; }
  void load(position_reader&) {}
};
stream<int64> passing(saved<counted_state> state, stream<int64> in) {
  while (auto x = co_await in.next()) co_yield *x;
}
stream<int64> with_counted_state(stream<int64> in) { return passing(saved<counted_state>(), std::move(in)); }

/// The first input of each concatenate is a concatenate.
dataset<int64> nested(const dataset<int64>& innermost, int depth) {
  dataset<int64> all = innermost;
  for (int i = 0; i != depth; ++i) all = concatenate(all, range(1));
  return all;
}

}  // namespace

TEST_CASE("concatenate conforms") {
  conforms({.stage = [](const auto& in) { return concatenate(in, range(1007, {.start = 1000})); },
            .expected = [](const int64s& in) { return joined(in, {1000, 1001, 1002, 1003, 1004, 1005, 1006}); },
            .before_error = [](const int64s& in) { return in; }});
  conforms({.stage = [](const auto& in) { return concatenate(range(0), range(3), in, range(0)); },
            .expected = [](const int64s& in) { return joined({0, 1, 2}, in); },
            .before_error = [](const int64s& in) { return joined({0, 1, 2}, in); }});
}

TEST_CASE("an input of concatenate is not used before the earlier ones have ended") {
  auto made = std::make_shared<int64>(0);
  auto second = range(10) | map([made](int64 x) {
                  ++*made;
                  return x;
                });
  CHECK(consume(concatenate(range(5), second) | take(5), {}).elements.size() == 5);
  CHECK(*made == 0);
  CHECK(consume(concatenate(range(5), second) | take(6), {}).elements.size() == 6);
  CHECK(*made == 1);
}

TEST_CASE("the same plan twice in a concatenate, shuffled, comes in two orders") {
  auto one = range(30) | shuffle(30);
  int64s got = consume(concatenate(one, one), {}).elements;
  REQUIRE(got.size() == 60);
  CHECK(int64s(got.begin(), got.begin() + 30) != int64s(got.begin() + 30, got.end()));
}

TEST_CASE("concatenate adds up its inputs' sizes") {
  std::int64_t most = cardinality::kMost;
  CHECK(cardinality_of(*concatenate(range(most), range(3)).plan()).is_most());
}

TEST_CASE("concatenate prints as text, and is read again; its inputs have one type") {
  round_trips(*concatenate(range(4), range(5) | take(2), range(6)).plan(),
              "concatenate(range(4), range(5) | take(2), range(6))");
  CHECK_THROWS_WITH(parse_plan("concatenate(range(4), range(5) | batch(2))"),
                    Catch::Matchers::Contains("input 2 gives batch<int64> where the first gives int64"));
  // A reader of two formats: each gets the path.
  node_ptr over = parse_plan("list_files(\"x\") | flat_map(concatenate(lines, lines))");
  CHECK(plan_text(*with_path(over->as<flat_map_arguments>().inner.plan, "f")) ==
        "concatenate(lines(\"f\"), lines(\"f\"))");
}

TEST_CASE("a mark of nested concatenates writes the state of each stage once, however deep they are") {
  auto writes_at = [](int depth) {
    counted_state::writes = 0;
    consumption how;
    how.ask_max = 1;
    how.marks_every = 5;
    const consumed got = consume(nested(range(200) | transform(with_counted_state), depth), how);
    CHECK(got.complaint() == "");
    CHECK(got.elements.size() == 200 + static_cast<std::size_t>(depth));
    return counted_state::writes;
  };
  const std::size_t few = writes_at(3), many = writes_at(150);
  CAPTURE(few, many);
  CHECK(few != 0);
  CHECK(many < 4 * few);
}

TEST_CASE("nested concatenates resume from every element") {
  const auto ds = nested(range(6) | shuffle(4, {.seed = 3}), 20);
  consumption how;
  how.save = true;
  const consumed whole = consume(ds, how);
  REQUIRE(whole.elements.size() == 26);
  for (std::size_t at = 0; at != whole.places.size(); ++at) {
    CAPTURE(at);
    how.from = whole.places[at];
    const consumed rest = consume(ds, how);
    CHECK(rest.complaint() == "");
    CHECK(rest.elements == without_first(whole.elements, at));
  }
}

}  // namespace sluice::lib::concatenate_test
