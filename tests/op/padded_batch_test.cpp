// SPDX-License-Identifier: Apache-2.0
// sluice/op/padded_batch.hpp
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/counting_element.hpp"
#include "support/trials/plan_texts.hpp"
#include "verbs/padded_batch_model.hpp"

namespace sluice::lib::padded_batch_test {
namespace {

using namespace test;
using namespace padded_batch_case;
using int64 = std::int64_t;

struct sentence {
  std::string text;
  std::vector<std::int32_t> ids;
  std::vector<std::vector<std::string>> words;
  tensor image;
};

sentence some_sentence(int64 n) {
  sentence s{"s" + std::to_string(n), {}, {}, tensor::zeros(dtype::uint8, {n, 2})};
  for (int64 i = 0; i != n; ++i) s.ids.push_back(static_cast<std::int32_t>(n));
  for (int64 i = 0; i != n; ++i) s.words.emplace_back(static_cast<std::size_t>(i), "w");
  return s;
}

template <class T> std::string refused_with(const dataset<T>& ds) {
  try {
    return elements(ds);
  } catch (const error& e) { return e.why().to_string(); }
}

}  // namespace

TEST_CASE("padded_batch pads lists, lists of lists and tensors to the longest of each batch") {
  auto ds = range(4, {.start = 1}) | map(some_sentence);
  CHECK(
      elements(ds | padded_batch(2)) ==
      R"({"text":["s1","s2"],"ids":[[1,0],[2,2]],"words":[[[""],[""]],[[""],["w"]]],"image":[[[0,0],[0,0]],[[0,0],[0,0]]]} )"
      R"({"text":["s3"],"ids":[[3,3,3]],"words":[[["",""],["w",""],["w","w"]]],"image":[[[0,0],[0,0],[0,0]]]})");
  CHECK(elements(ds | padded_batch(2, {.shapes = {{"ids", {3}}, {"words", {2, -1}}, {"image", {-1, 3}}},
                                       .values = {{"ids", -1}, {"words", "-"}, {"image", 9}},
                                       .drop_remainder = true})) ==
        R"({"text":["s1","s2"],"ids":[[1,-1,-1],[2,2,-1]],"words":[[["-"],["-"]],[["-"],["w"]]],)"
        R"("image":[[[0,0,9],[9,9,9]],[[0,0,9],[0,0,9]]]})");
  CHECK(elements(range(0) | map(some_of) | padded_batch(3)) == "");
  CHECK(elements(from_elements(std::vector<int64s>{{}, {}}) | padded_batch(2, {.shapes = {{"it", {2}}}})) ==
        "[[0,0],[0,0]]");
  CHECK(elements(from_elements(std::vector<std::vector<double>>{{1.5}, {}}) |
                 padded_batch(2, {.values = {{"it", -0.5}}})) == "[[1.5],[-0.5]]");
}

TEST_CASE("the result of padded_batch stacks into tensors without a copy") {
  runtime rt({.workers = 1});
  auto ds = from_elements(std::vector<int64s>{{1}, {2, 3}, {}}) | padded_batch(3);
  auto all = sync_wait(rt, [](auto s) -> task<std::string> {
    auto b = co_await s.next();
    co_return b->stacked().spec_text() + b->stacked().to_json();
  }(ds.iterate(rt)));
  CHECK(all == "int64[3,2][[1,0],[2,3],[0,0]]");
}

TEST_CASE("padded_batch names an element that is too long, or another tensor, and the members") {
  auto ds = range(9, {.start = 1}) | map(some_sentence);
  CHECK_THAT(
      refused_with(ds | padded_batch(2, {.shapes = {{"ids", {3}}}})),
      Catch::Contains("padded_batch at element 3") && Catch::Contains("ids has 4 items, more than shapes says: [3]"));
  CHECK_THAT(refused_with(ds | padded_batch(4, {.shapes = {{"words", {-1, 2}}}})),
             Catch::Contains("element 3") && Catch::Contains("words has 3 items"));
  CHECK_THAT(refused_with(ds | padded_batch(4, {.shapes = {{"image", {2, 2}}}})),
             Catch::Contains("element 2") && Catch::Contains("image is uint8[3,2], longer than shapes says: [2,2]"));
  CHECK_THAT(
      refused_with(range(3) | map([](int64 n) { return tensor::zeros(n == 2 ? dtype::int8 : dtype::uint8, {n}); }) |
                   padded_batch(3)),
      Catch::Contains("element 2") && Catch::Contains("int8[2], and that of the batch's first element uint8[0]"));
  CHECK_THAT(refused_with(ds | padded_batch(4, {.values = {{"image", 300}}})),
             Catch::Contains("its padding 300 is not a value"));
  CHECK_THROWS_WITH(ds | padded_batch(2, {.shapes = {{"idds", {3}}}}),
                    Catch::Contains("names idds, and what is padded is ids, words, image"));
  CHECK_THROWS_WITH(ds | padded_batch(2, {.shapes = {{"words", {3}}}}), Catch::Contains("has 1 lengths for words"));
  CHECK_THROWS_WITH(ds | padded_batch(2, {.shapes = {{"ids", {-2}}}}), Catch::Contains("at least 0, or -1"));
  CHECK_THROWS_WITH(ds | padded_batch(2, {.values = {{"ids", 0.5}}}), Catch::Contains("0.5 is no int32"));
  CHECK_THROWS_WITH(ds | padded_batch(2, {.values = {{"ids", "x"}}}), Catch::Contains("\"x\" is no int32"));
}

namespace {

/// A row with a member that pads and objects that do not, before and after it.
struct owning_row {
  counting_element before;
  std::vector<int64> ids;
  std::vector<tensor> tensors;
  std::optional<tensor> maybe;
  std::pair<counting_element, std::vector<int64>> inner;
};

owning_row some_owning_row(int64 n) {
  owning_row r{
      counting_element(n), int64s(static_cast<std::size_t>(n % 3), n), {}, {}, {counting_element(-n), int64s{n}}};
  for (int64 i = 0; i != n % 4; ++i) r.tensors.push_back(tensor::zeros(dtype::int64, {n, 300}));
  if (n % 2) r.maybe = tensor::zeros(dtype::int64, {n, 200});
  return r;
}

}  // namespace

TEST_CASE("padded_batch destroys each object beside a padded list once") {
  lifetimes watched;
  {
    auto rows = range(13) | map(some_owning_row);
    auto numbers = [](const dataset<batched<owning_row>>& ds) {
      return elements(ds | unbatch() | map([](owning_row r) {
                        return r.before.number() * 10 + static_cast<int64>(r.ids.size() + r.tensors.size());
                      }));
    };
    CHECK(numbers(rows | padded_batch(5)) == "2 13 24 35 42 53 64 75 82 93 104 115 122");
    CHECK(numbers(rows | padded_batch(5, {.drop_remainder = true})) == "2 13 24 35 42 53 64 75 82 93");
    CHECK(numbers(rows | batch_by_tokens([](const owning_row&) { return 1; }, 4, {.padded = true})) ==
          "2 13 24 35 42 53 64 75 82 93 104 115 120");
    CHECK(numbers(rows | bucket_by_sequence_length([](const owning_row&) { return 1; }, {2}, {4, 4})) ==
          "2 13 24 35 42 53 64 75 82 93 104 115 120");
    // The lists of `inner` are looked at after `before`, `tensors` and `maybe` have left the batch.
    CHECK_THAT(refused_with(rows | padded_batch(4, {.shapes = {{"inner.second", {0}}}})),
               Catch::Contains("inner.second has 1 items"));
  }
  CHECK(watched.complaint() == "");
}

}  // namespace sluice::lib::padded_batch_test
