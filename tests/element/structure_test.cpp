// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/structure.hpp"

#include <catch2/catch.hpp>

#include <memory>

#include "support/budget.hpp"
#include "support/random/random_values.hpp"

namespace sluice::lib::structure_test {
namespace {

using namespace test;

struct picture {
  std::vector<std::uint8_t> image{};
  float weight = 0;
};
struct nested_sample {
  std::int64_t label = 0;
  picture features{};
  std::pair<std::string, std::tuple<bool, std::int16_t>> rest{};
};
struct with_c_array {
  std::int32_t corners[2][3] = {};
  std::string text{};
};
struct without_default {
  explicit without_default(int n) : number(n) {}
  static constexpr std::string_view sluice_name = "without_default";
  int number;
};
struct holder {
  without_default x;
  std::string text{};
};
struct nothing {};

nested_sample sample_of(int n) {
  return {n, {{1, 2, static_cast<std::uint8_t>(n)}, 0.5f}, {"text " + std::to_string(n), {n % 2 == 0, 7}}};
}

}  // namespace

TEST_CASE("a nest's leaves are references to its members, in their order") {
  nested_sample s = sample_of(3);
  auto [label, image, weight, text, even, last] = structure<nested_sample>::flatten(s);
  static_assert(std::is_same_v<decltype(image), std::vector<std::uint8_t>&>);
  label = 4;
  image.push_back(9);
  CHECK(s.label == 4);
  CHECK(s.features.image == std::vector<std::uint8_t>{1, 2, 3, 9});
  CHECK(&even == &std::get<0>(s.rest.second));
  CHECK(&weight == &s.features.weight);
  CHECK(text == "text 3");
  CHECK(last == 7);
  static_assert(structure<nested_sample>::size == 6);
  static_assert(structure<std::string>::size == 1);
  static_assert(structure<nothing>::size == 0);
  CHECK(structure<nested_sample>::paths() ==
        std::vector<std::string>{"label", "features.image", "features.weight", "rest[0]", "rest[1][0]", "rest[1][1]"});
  CHECK(structure<nested_sample>::names()[1] == "features");
}

TEST_CASE("a nest is packed from its leaves") {
  nested_sample s = sample_of(3);
  CHECK((structure<nested_sample>::compare(structure<nested_sample>::pack(structure<nested_sample>::copy_leaves(s)),
                                           s) == 0));
  auto t = structure<nested_sample>::pack({7, {1, 2}, 1.5f, "x", true, std::int16_t{2}});
  CHECK(t.label == 7);
  CHECK(t.features.weight == 1.5f);
  CHECK(std::get<1>(t.rest.second) == 2);

  with_c_array a{{{1, 2, 3}, {4, 5, 6}}, "t"};
  auto leaves = structure<with_c_array>::copy_leaves(a);
  CHECK(std::get<0>(leaves)[1][2] == 6);
  CHECK((structure<with_c_array>::compare(structure<with_c_array>::pack(leaves), a) == 0));

  holder h = structure<holder>::pack({without_default(5), "five"});
  CHECK(h.x.number == 5);
  CHECK(structure<std::pair<int, std::string>>::pack({1, "one"}) == std::pair<int, std::string>(1, "one"));
}

TEST_CASE("leaves as values") {
  nested_sample s = sample_of(3);
  auto leaves = structure<nested_sample>::values(s);
  CHECK(leaves.size() == 6);
  CHECK(leaves[1].as<std::vector<std::uint8_t>>().size() == 3);
  auto packed = structure<nested_sample>::pack_values(leaves);
  REQUIRE(packed.ok());
  CHECK((structure<nested_sample>::compare(*packed, s) == 0));
  leaves[1] = value::of(std::string("x"));
  CHECK(structure<nested_sample>::pack_values(leaves).why().message() ==
        "features.image: expected uint8[], got string");
  leaves.pop_back();
  CHECK(std::string(structure<nested_sample>::pack_values(leaves).why().message()).ends_with("has 6 leaves, got 5"));
}

TEST_CASE("the first difference of two nests has its path") {
  nested_sample a = sample_of(3), b = a;
  CHECK(structure<nested_sample>::first_difference(a, b) == std::nullopt);
  std::get<1>(b.rest.second) = 1;
  CHECK(structure<nested_sample>::first_difference(a, b) == "rest[1][1]");
  b.features.image[0] = 0;
  CHECK(structure<nested_sample>::first_difference(a, b) == "features.image");
  CHECK((structure<nested_sample>::compare(a, b) > 0));
  CHECK(structure<nested_sample>::spec().text() ==
        "{label: int64, features: {image: uint8[?], weight: float32}, rest: (string, (bool, int16))}");
}

TEST_CASE("nests of every kind are packed from the result of flatten") {
  for (std::uint64_t seed = first_seed(); seed != first_seed() + cases(600); ++seed) {
    CAPTURE(seed);
    random_numbers random(seed);
    const element_type& t = random_type(random);
    value v = random_value(t, random);
    CAPTURE(type_text(t), v.print());
    auto leaves = flatten(v);
    auto paths = leaf_paths(t);
    CHECK(leaves.size() == paths.size());
    auto packed = pack(t, leaves);
    REQUIRE(packed.ok());
    CHECK(*packed == v);
    CHECK(first_difference(t, packed->data(), v.data()) == std::nullopt);
    if (leaves.empty()) continue;
    auto wrong = random.below(leaves.size());
    leaves[wrong] = value::of(std::make_unique<int>(1));
    std::string why(pack(t, std::move(leaves)).why().message());
    CHECK(why.starts_with(paths[wrong].empty() ? "expected " : paths[wrong] + ": expected "));
  }
}

}  // namespace sluice::lib::structure_test
