// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/spec.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <tuple>
#include <vector>

#include "sluice/element/batched.hpp"
#include "support/budget.hpp"
#include "support/random/random_values.hpp"

namespace sluice::lib::spec_test {
namespace {

using namespace test;

struct pictured {
  std::array<std::array<std::uint8_t, 4>, 2> image{};
  std::vector<std::array<float, 3>> boxes{};
  std::optional<std::string> title{};
};
struct described {
  std::int64_t label = 0;
  pictured features{};
  std::vector<labelled> words{};
};

spec read(std::string_view text) {
  auto s = spec_from_text(text);
  CAPTURE(text);
  REQUIRE(s.ok());
  return *s;
}
std::string refusal(std::string_view text) {
  auto s = spec_from_text(text);
  return s.ok() ? "" : std::string(s.why().message());
}
std::string merged(std::string_view a, std::string_view b) {
  auto m = merge(read(a), read(b));
  return m.ok() ? m->text() : std::string(m.why().message());
}
std::string checked(std::string_view expected, const value& v) {
  return std::string(check(read(expected), v).message());
}

/// A spec like `s`, where some lengths are other ones or unknown.
void vary(spec& s, random_numbers& random) {
  if (s.form == spec::form_type::leaf && random.below(12) == 0) s.dtype = random.below(2) ? "any" : "int8";
  for (auto& n : s.shape)
    if (random.below(3) == 0) n = random.below(2) ? spec::kUnknown : static_cast<std::int64_t>(random.below(4));
  if (random.below(12) == 0) {
    s.shape.clear();
    s.any_shape = true;
  } else if (!s.any_shape && random.below(12) == 0) {
    s.shape.push_back(2);
  }
  for (auto& part : s.parts) vary(part, random);
}

}  // namespace

TEST_CASE("a type has a spec") {
  CHECK(
      spec_of(type_of<described>()).text() ==
      "{label: int64, features: {image: uint8[2,4], boxes: float32[?,3], title: string?}, words: {label: int64, text: "
      "string}[?]}");
  CHECK(spec_of(type_of<std::tuple<bool>>()).text() == "tuple(bool)");
  CHECK(spec_of(type_of<std::pair<double, shade_kind>>()).text() == "(float64, uint8)");
  CHECK(spec_of(type_of<std::vector<std::optional<int>>>()).text() == "int32?[?]");
  CHECK(spec_of(type_of<std::optional<std::vector<int>>>()).text() == "int32[?]?");
  CHECK(spec_of(type_of<batched<labelled>>()).text() == "{label: int64[?], text: string[?]}");
  CHECK(spec_of(type_of<batched<std::vector<float>>>()).text() == "float32[?,?]");
}

TEST_CASE("an element's spec has the lengths of its lists") {
  CHECK(spec_of(value::of(std::vector<float>(5))).text() == "float32[5]");
  CHECK(spec_of(value::of(std::vector<std::vector<float>>{{1, 2}, {3, 4}, {5, 6}})).text() == "float32[3,2]");
  CHECK(spec_of(value::of(std::vector<std::vector<float>>{{1, 2}, {3}})).text() == "float32[2,?]");
  CHECK(spec_of(value::of(std::vector<std::vector<float>>{})).text() == "float32[0,?]");
  batched<labelled> b;
  for (int i = 0; i != 3; ++i) b.push_back({i, "x"});
  CHECK(spec_of(value::of(std::move(b))).text() == "{label: int64[3], text: string[3]}");
}

TEST_CASE("specs are read from their text") {
  for (auto text : {"int64", "float32[?,3]", "string[...]", "{label: int64, image: uint8[224,224,3]}", "{}", "tuple()",
                    "(int64, string?)", "tuple(bool)", "int64?[3]", "int64[3]?", "int64??",
                    "{\"image/encoded\": string}[?]", "any[...]"})
    CHECK(read(text).text() == text);
  CHECK(read(" float [ ? , 3 ] ").text() == "float32[?,3]");
  CHECK(read("double[]").text() == "float64");
  CHECK(refusal("") == "the spec, character 1: it ends where a spec should be");
  CHECK(refusal("int64[2][3]") ==
        "the spec, character 9: a second shape: write all dimensions in one, the slowest first");
  CHECK(refusal("int64[x]") == "the spec, character 7: expected a number, got 'x'");
  CHECK(refusal("{a: int64, a: int64}") == "the spec, character 12: a second member a");
  CHECK(refusal("int64, ") == "the spec, character 6: expected the end, got ','");
  CHECK(refusal("(int64)") == "the spec, character 1: one spec in parentheses: a tuple of one is tuple(T)");
  CHECK(refusal(std::string(100, '(')).ends_with("specs within specs, more than 64 deep"));
  CHECK(refusal("int64" + std::string(100, '?')).ends_with("specs within specs, more than 64 deep"));
}

TEST_CASE("the least general spec of both") {
  CHECK(merged("float32[2,3]", "float32[4,3]") == "float32[?,3]");
  CHECK(merged("float32[2,3]", "float32[3]") == "float32[...]");
  CHECK(merged("float32[?]", "float32[3]") == "float32[?]");
  CHECK(merged("float32", "any[3]") == "any[...]");
  CHECK(merged("{a: int8[1], b: (bool, string)}", "{a: int8[2], b: (bool, string)}") ==
        "{a: int8[?], b: (bool, string)}");
  CHECK(merged("{a: {b: int8}}", "{a: {b: int16}}") == "a.b: no spec holds both int8 and int16");
  CHECK(merged("(int8, string?)", "(int8, bool?)") == "[1]: no spec holds both string and bool");
  CHECK(merged("{a: int8}", "{b: int8}") == "no spec holds both {a: int8} and {b: int8}");
}

TEST_CASE("specs are compatible where an element may be of both") {
  CHECK(is_compatible(read("float32[?,3]"), read("float32[5,?]")));
  CHECK_FALSE(is_compatible(read("float32[?,3]"), read("float32[5,2]")));
  CHECK(is_compatible(read("float32[...]"), read("float32[5,2]")));
  CHECK(is_compatible(read("any"), read("string")));
  CHECK_FALSE(is_compatible(read("any"), read("string[2]")));
  CHECK(holds(read("float32[?]"), read("float32[5]")));
  CHECK_FALSE(holds(read("float32[5]"), read("float32[?]")));
  CHECK(check_compatible(read("{features: {image: uint8[224,224,3]}}"), read("{features: {image: uint8[224,224]}}"))
            .message() == "features.image: expected uint8[224,224,3], got uint8[224,224]");
  CHECK(check_compatible(read("{features: {image: uint8[?]}}"), read("{features: {text: string}}")).message() ==
        "features: expected {image: uint8[?]}, got {text: string}");
}

TEST_CASE("an element is checked against a spec") {
  value v = value::of(described{3, {{}, {{1, 2, 3}}, {}}, {{1, "a"}, {2, "b"}}});
  CHECK(check(spec_of(v.type()), v).ok());
  CHECK(checked(
            "{label: int64, features: {image: uint8[2,?], boxes: float32[1,3], title: string?}, words: {label: int64, "
            "text: string}[2]}",
            v) == "");
  CHECK(checked("{label: int64, features: {image: uint8[224,224,3], boxes: float32[?,3], title: string?}, words: "
                "{label: int64, "
                "text: string}[?]}",
                v) == "features.image: expected uint8[224,224,3], got uint8[2,4]");
  CHECK(
      checked("{label: int64, features: {image: any[...], boxes: float32[2,3], title: string?}, words: {label: int64, "
              "text: string}[?]}",
              v) == "features.boxes: expected float32[2,3], got float32[1,3]");
  using lists = std::vector<std::vector<int>>;
  CHECK(checked("int32[2,2]", value::of(lists{{1, 2}, {3}})) == "expected int32[2,2], got int32[2,?]");
  CHECK(checked("int32[0,2]", value::of(lists{})) == "");
  CHECK(checked("int32[1,2]", value::of(lists{})) == "expected int32[1,2], got int32[0,?]");
  CHECK(checked("int32", value()) == "expected int32, got no value");
  CHECK(checked("int32[3]?", value::of(std::optional<std::vector<int>>())) == "");
}

TEST_CASE("specs keep their laws") {
  for (std::uint64_t seed = first_seed(); seed != first_seed() + cases(600); ++seed) {
    CAPTURE(seed);
    random_numbers random(seed);
    const element_type& t = random_type(random);
    value v = random_value(t, random);
    CAPTURE(type_text(t), v.print());
    spec general = spec_of(t), own = spec_of(v);
    CHECK(check(general, v).ok());
    CHECK(is_compatible(general, own));
    CHECK(read(general.text()) == general);

    spec a = own, b = own, c = own;
    vary(a, random), vary(b, random), vary(c, random);
    CAPTURE(a.text(), b.text(), c.text());
    CHECK(read(a.text()) == a);
    CHECK(holds(a, a));
    CHECK(is_compatible(a, b) == is_compatible(b, a));
    if (holds(a, b)) CHECK(is_compatible(a, b));
    if (holds(a, b) && holds(b, a)) CHECK(a == b);
    if (holds(a, b) && holds(b, c)) CHECK(holds(a, c));
    auto ab = merge(a, b), ba = merge(b, a);
    REQUIRE(ab.ok() == ba.ok());
    if (!ab.ok()) continue;
    CHECK(*ab == *ba);
    CHECK(holds(*ab, a));
    CHECK(holds(*ab, b));
    CHECK(*merge(*ab, a) == *ab);
    CHECK(holds(a, b) == (*ab == a));
    if (check(a, v).ok()) CHECK(check(*ab, v).ok());
    auto left = merge(*ab, c);
    auto bc = merge(b, c);
    if (left.ok() && bc.ok()) CHECK(*left == *merge(a, *bc));
  }
}

}  // namespace sluice::lib::spec_test
