// SPDX-License-Identifier: Apache-2.0
// What is dropped under error_policy::skip where one element does not fit:
// docs/internals/decisions/dropped_elements.md.
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/consumption.hpp"

namespace sluice::lib::dropped_rows_test {
namespace {

using namespace test;
using Catch::Contains;

/// A plan that meets bad elements. Its elements are rows once `rows` stands behind it; `lengths` says how many are in each batch.
struct dropping {
  std::string plan, rows, lengths;
  int64s expected_rows, expected_lengths;
  std::uint64_t errors = 0;
  std::string first;  ///< of the message, where the policy is stop
};

const std::string kLists = "range(8) | map([it, it, it][:int64(it % 4)])";
const std::string kTensors = "range(8) | map(to_tensor([it, it][:int64(1 + it % 2)]))";
const std::string kRanks = "range(8) | map(if(it % 2 == 0, to_tensor([it]), reshape(to_tensor([it]), [1, 1])))";
const std::string kSum = " | unbatch | map(int64(sum(it)))", kLength = " | map(length(it))";

const std::vector<dropping>& droppings() {
  static const std::vector<dropping> all{
      {kLists + " | padded_batch(2, shapes={it=[2]}", kSum, kLength, {0, 1, 4, 0, 5, 12}, {2, 2, 2}, 2, "element 3"},
      {kTensors + " | padded_batch(3, shapes={it=[1]}", kSum, kLength, {0, 2, 4, 6}, {3, 1}, 4, "element 1"},
      {kRanks + " | padded_batch(3", kSum, kLength, {0, 2, 4, 5, 7}, {3, 2}, 3, "element 1"},
      {kTensors + " | batch(3", kSum, kLength, {0, 2, 4, 10, 14}, {3, 2}, 3, "row 1"},
      {kTensors + " | map({x: it, n: length(it)}) | batch(3",
       " | unbatch | map(int64(sum(it.x)))",
       " | map(length(it.n))",
       {0, 2, 4, 10, 14},
       {3, 2},
       3,
       "row 1"},
      {kTensors + " | batch(3, timeout=1h", kSum, kLength, {0, 2, 4, 10, 14}, {3, 2}, 3, "element 1"},
      {kTensors + " | batch(1) | rebatch(3", kSum, kLength, {0, 2, 4, 10, 14}, {3, 2}, 3, "element 1"},
      {kTensors + " | batch_by_bytes(24", kSum, kLength, {0, 2, 6, 10, 14}, {2, 1, 1, 1}, 3, "element 1"},
      {kTensors + " | window_batch(3, shift=2", kSum, kLength, {0, 2, 2, 4, 4, 6, 6}, {2, 2, 2, 1}, 4, "row 1"},
      {kRanks + " | ragged_batch(3",
       " | map(int64(sum(it.values)))",
       " | map(length(it.values))",
       {6, 12},
       {3, 2},
       3,
       "element 1"},
      {kLists + " | sparse_batch(2, [2]",
       " | map(int64(sum(it.values)))",
       " | map(length(it.values))",
       {1, 4, 17},
       {1, 2, 3},
       2,
       "element 3"},
      {kLists + " | bucket_by_sequence_length(length(it), [2], [2, 2], pad_to_bucket_boundary=true",
       kSum,
       kLength,
       {0, 1, 0, 5},
       {2, 2},
       4,
       "element 2"},
      {kLists + " | bucket_by_sequence_length(length(it), [2], [2, 2], shapes={it=[2]}",
       kSum,
       kLength,
       {0, 1, 0, 5, 4, 12},
       {2, 2, 2},
       2,
       "element 3"},
      {"range(4) | map([it]) | bucket_by_sequence_length(it[0] - 1, [2], [2, 2]",
       kSum,
       kLength,
       {1, 2, 3},
       {2, 1},
       1,
       "element 0"},
      {"choose_from_datasets([range(5), range(9, start=5)], range(8) | map(it % 3)",
       "",
       "",
       {0, 5, 1, 6, 2, 7},
       {},
       2,
       "element 2"},
      {"sample_from_datasets([range(3), range(3, start=10)], weights_at=[double(it % 2) * 2.0 - 1.0, 0.0], "
       "stop_on_empty_dataset=true",
       "",
       "",
       {0, 1, 2},
       {},
       4,
       "weights are finite"},
  };
  return all;
}

dataset<std::int64_t> read(const std::string& text) { return dataset<std::int64_t>(parse_plan(text)); }

consumption skipping() {
  consumption how;
  how.on_error = error_policy::skip;
  return how;
}

}  // namespace

TEST_CASE("an element that does not fit is dropped and counted, and its batch continues without it") {
  for (const dropping& d : droppings()) {
    INFO(d.plan);
    for (std::uint32_t ask : {0u, 1u, 7u}) {
      consumption how = skipping();
      how.ask_max = ask;
      consumed rows = consume(read(d.plan + ")" + d.rows), how);
      CHECK(rows.complaint() == "");
      CHECK(rows.elements == d.expected_rows);
      CHECK(rows.errors.back() == d.errors);
    }
    if (!d.lengths.empty()) CHECK(consume(read(d.plan + ")" + d.lengths), skipping()).elements == d.expected_lengths);
  }
}

TEST_CASE("a run that is saved at any element drops and counts the same ones after it is resumed") {
  for (const dropping& d : droppings()) {
    consumption how = skipping();
    how.save = true;
    const auto ds = read(d.plan + ")" + d.rows);
    consumed whole = consume(ds, how);
    INFO(d.plan);
    REQUIRE(whole.places.size() > d.expected_rows.size());
    for (std::size_t i = 0; i <= d.expected_rows.size(); ++i) {
      INFO(d.plan << ") resumed at " << i);
      how.from = whole.places[i];
      consumed rest = consume(ds, how);
      CHECK(rest.complaint() == "");
      CHECK(rest.elements == int64s(d.expected_rows.begin() + static_cast<std::ptrdiff_t>(i), d.expected_rows.end()));
      // Each run counts its own: at least those that are still to come, and no more than there are.
      CHECK(rest.errors.back() <= d.errors);
      CHECK(rest.errors.back() + (i == 0 ? 0 : whole.errors[i - 1]) >= d.errors);
    }
  }
}

}  // namespace sluice::lib::dropped_rows_test
