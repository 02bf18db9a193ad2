// SPDX-License-Identifier: Apache-2.0
// sluice/op/bucket_by_sequence_length.hpp
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "support/plan_texts.hpp"
#include "support/verb_case.hpp"

namespace sluice::lib::bucket_by_sequence_length_test {
namespace {

using namespace test;
using int64 = std::int64_t;

std::size_t length_for(int64 x) { return static_cast<std::size_t>(static_cast<std::uint64_t>(x) % 5); }
int64s list_of_length(int64 x) { return int64s(length_for(x), x); }
/// What tells of a row which it was and how it is padded; of an empty one only its length.
int64 row_number(int64s row) {
  int64 sum = static_cast<int64>(row.size());
  for (int64 x : row) sum = static_cast<int64>(static_cast<std::uint64_t>(sum) * 31 + static_cast<std::uint64_t>(x));
  return sum;
}

void add_batch(int64s& out, int64s& bucket) {
  std::size_t longest = 0;
  for (int64 x : bucket) longest = std::max(longest, length_for(x));
  for (int64 x : bucket) {
    int64s row = list_of_length(x);
    row.resize(longest, -1);
    out.push_back(row_number(row));
  }
  bucket.clear();
}

int64s bucketed(const int64s& in, std::size_t size) {
  int64s out;
  std::vector<int64s> buckets(3);
  for (int64 x : in) {
    std::size_t b = length_for(x) < 1 ? 0 : length_for(x) < 3 ? 1 : 2;
    buckets[b].push_back(x);
    if (buckets[b].size() == size + 2 - b) add_batch(out, buckets[b]);
  }
  for (int64s& b : buckets)
    if (!b.empty()) add_batch(out, b);
  return out;
}

dataset<int64> in_length_buckets(const dataset<int64>& in, int64 size) {
  return in | map(list_of_length) |
         bucket_by_sequence_length([](const int64s& x) { return x.size(); }, {1, 3}, {size + 2, size + 1, size},
                                   {.values = {{"it", -1}}}) |
         unbatch() | map(row_number);
}

const register_verb bucket_case(
    "bucket_by_sequence_length",
    {.build = [](const verb_plan& p) { return in_length_buckets(p.in[0], p.a); },
     .expected = [](const verb_lists& l) { return bucketed(l.in(), static_cast<std::size_t>(l.a)); },
     .resume = {.takes = 0}});

std::string bucketed_lists(bucket_by_sequence_length_options o) {
  return elements(from_elements(std::vector<int64s>{{1}, {2, 2}, {3}, {4, 4, 4}, {}, {5, 5}}) |
                  bucket_by_sequence_length(expr("length(it)"), {2, 3}, {2, 1, 2}, std::move(o)));
}

}  // namespace

TEST_CASE("bucket_by_sequence_length pads within a bucket, and gives what is left the shortest first") {
  CHECK(bucketed_lists({}) == "[[2,2]] [[1],[3]] [[5,5]] [[]] [[4,4,4]]");
  CHECK(bucketed_lists({.drop_remainder = true}) == "[[2,2]] [[1],[3]] [[5,5]]");
  CHECK(elements(from_elements(std::vector<int64s>{{1}, {2, 2}, {3}, {}}) |
                 bucket_by_sequence_length(expr("length(it)"), {3, 4}, {2, 1, 2},
                                           {.values = {{"it", -1}}, .pad_to_bucket_boundary = true})) ==
        "[[1,-1],[2,2]] [[3,-1],[-1,-1]]");
  CHECK_THROWS_WITH(
      bucketed_lists({.pad_to_bucket_boundary = true}),
      Catch::Contains("at element 3") && Catch::Contains("its length, 3, is not below the last boundary"));
  CHECK(bucketed_lists({.shapes = {{"it", {4}}}}) ==
        "[[2,2,0,0]] [[1,0,0,0],[3,0,0,0]] [[5,5,0,0]] [[0,0,0,0]] [[4,4,4,0]]");
  CHECK(elements(from_elements(std::vector<int64s>{{1}, {}}) |
                 bucket_by_sequence_length(expr("length(it)"), {2}, {2, 2}, {.no_padding = true})) == "[[1],[]]");
}

TEST_CASE("bucket_by_sequence_length refuses what does not fit, and says which element") {
  auto lists = range(9) | map(list_of_length);
  auto length = [](const int64s& x) { return static_cast<int>(x.size()); };
  CHECK_THROWS_WITH(lists | bucket_by_sequence_length(length, {3, 3}, {1, 1, 1}), Catch::Contains("3 stands behind 3"));
  CHECK_THROWS_WITH(lists | bucket_by_sequence_length(length, {3}, {1}), Catch::Contains("2 of them, and not 1"));
  CHECK_THROWS_WITH(lists | bucket_by_sequence_length(length, {3}, {1, 1}, {.shapes = {{"x", {1}}}}),
                    Catch::Contains("shapes names x"));
  CHECK_THROWS_WITH(
      range(9) | map([](int64) { return tensor(); }) |
          bucket_by_sequence_length([](const tensor&) { return 1; }, {3}, {1, 1}, {.pad_to_bucket_boundary = true}),
      Catch::Contains("needs a shape of it"));
  CHECK_THROWS_WITH(elements(lists | bucket_by_sequence_length(length, {3}, {9, 9}, {.shapes = {{"it", {3}}}})),
                    Catch::Contains("has 4 items"));
  auto ds = range(9) | bucket_by_sequence_length([](int64 x) { return 5 - x; }, {3}, {9, 9});
  CHECK_THROWS_WITH(elements(ds), Catch::Contains("this one is -1"));
}

TEST_CASE("bucket_by_sequence_length prints as text, and is read again") {
  round_trips(
      *(range(10) | bucket_by_sequence_length(expr("it % 4"), {1, 3}, {4, 2, 1}, {.drop_remainder = true})).plan(),
      "range(10) | bucket_by_sequence_length(it % 4, [1, 3], [4, 2, 1], drop_remainder=true)");
}

}  // namespace sluice::lib::bucket_by_sequence_length_test
