// SPDX-License-Identifier: Apache-2.0
#include "format/example/example_elements.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <optional>

#include "sluice/element/batched.hpp"

#ifdef SLUICE_HAVE_PROTOBUF
#include "example.pb.h"
#endif

namespace sluice::lib::example_elements_test {

namespace {

enum class colour : std::uint8_t { red, green };
struct inner {
  double weight = 0;
  std::array<std::array<float, 2>, 2> box{};
};
struct sample {
  std::string text;
  std::int64_t label = 0;
  bool is_new = false;
  colour paint = colour::red;
  inner parts;
  std::vector<std::string> tags;
  std::vector<std::int32_t> ids;
  std::optional<std::int64_t> age;
  std::optional<std::vector<float>> scores;
  tensor image;
  std::uint64_t big = 0;
};

sample some_sample() {
  return {.text = std::string("a\0\xff", 3),
          .label = -3,
          .is_new = true,
          .paint = colour::green,
          .parts = {.weight = 0.5, .box = {{{1, 2}, {3, 4}}}},
          .tags = {"x", "", "z"},
          .ids = {},
          .age = 7,
          .scores = {},
          .image = tensor::of(std::vector<std::uint8_t>{1, 2, 250, 4}, {2, 2}),
          .big = 9};
}

using features = std::map<std::string, feature_values, std::less<>>;

features expected_of_sample() {
  features f;
  auto ints = [](std::vector<std::int64_t> v) { return feature_values{.kind = feature_kind::int64s, .int64s = v}; };
  auto floats = [](std::vector<float> v) { return feature_values{.kind = feature_kind::floats, .floats = v}; };
  auto texts = [](std::vector<std::string> v) { return feature_values{.kind = feature_kind::bytes, .bytes = v}; };
  f["text"] = texts({std::string("a\0\xff", 3)});
  f["label"] = ints({-3});
  f["is_new"] = ints({1});
  f["paint"] = ints({1});
  f["parts.weight"] = floats({0.5f});
  f["parts.box"] = floats({1, 2, 3, 4});
  f["tags"] = texts({"x", "", "z"});
  f["ids"] = ints({});
  f["age"] = ints({7});
  f["image"] = ints({1, 2, 250, 4});
  f["big"] = ints({9});
  return f;
}

template <class T> std::string refusal() {
  auto examples = example_elements::of(type_of<T>());
  return examples.ok() ? "" : std::string(examples.why().message());
}

}  // namespace

TEST_CASE("a structure is a tf.Example with a feature for each member") {
  auto examples = example_elements::of(type_of<sample>()).value();
  sample s = some_sample();
  for (int again = 0; again != 2; ++again) {
    auto bytes = examples.bytes_of(&s);
    REQUIRE(bytes.ok());
    CHECK(read_example(*bytes).value() == expected_of_sample());
  }
  std::int64_t number = 5;
  auto values = example_elements::of(type_of<std::int64_t>()).value();
  CHECK(example_to_json(values.bytes_of(&number).value()).value() == R"({"value":5})");
}

#ifdef SLUICE_HAVE_PROTOBUF
TEST_CASE("protobuf reads the tf.Example of a structure") {
  auto examples = example_elements::of(type_of<sample>()).value();
  sample s = some_sample();
  sluice_test::Example e;
  REQUIRE(e.ParseFromString(std::string(examples.bytes_of(&s).value())));
  features found;
  for (auto& [name, f] : e.features().feature()) {
    feature_values v;
    v.kind = static_cast<feature_kind>(f.kind_case());
    v.bytes.assign(f.bytes_list().value().begin(), f.bytes_list().value().end());
    v.floats.assign(f.float_list().value().begin(), f.float_list().value().end());
    v.int64s.assign(f.int64_list().value().begin(), f.int64_list().value().end());
    found[name] = v;
  }
  CHECK(found == expected_of_sample());
}
#endif

TEST_CASE("a value that a tf.Example cannot hold is refused by its path and leaves no part behind") {
  CHECK_THAT((refusal<std::pair<int, std::vector<std::vector<int>>>>()), Catch::Contains("second is int32[][]"));
  CHECK_THAT((refusal<std::vector<std::pair<int, int>>>()), Catch::Contains("value is (int32, int32)[]"));
  CHECK_THAT(refusal<batched<int>>(), Catch::Contains("| unbatch"));
  auto examples = example_elements::of(type_of<std::pair<std::uint64_t, int>>()).value();
  std::pair<std::uint64_t, int> big(std::numeric_limits<std::uint64_t>::max(), 1), small(3, 4);
  auto refused = examples.bytes_of(&big);
  CHECK(refused.why().code() == status_code::out_of_range);
  CHECK_THAT(std::string(refused.why().message()), Catch::Contains("feature first: 18446744073709551615"));
  CHECK(example_to_json(examples.bytes_of(&small).value()).value() == R"({"first":3,"second":4})");
}

TEST_CASE("tensors of floating point of any width are floats") {
  auto examples = example_elements::of(type_of<tensor>()).value();
  for (const tensor& t : {tensor::of(std::vector<float>{1, 2.5f}), tensor::of(std::vector<double>{1, 2.5}),
                          tensor::of(std::vector<float16>{float16(1), float16(2.5f)}),
                          tensor::of(std::vector<bfloat16>{bfloat16(1), bfloat16(2.5f)})})
    CHECK(example_to_json(examples.bytes_of(&t).value()).value() == R"({"value":[1.0,2.5]})");
  tensor texts = tensor::of(std::vector<std::string>{"a", "b"}, {2}), none = tensor::make(dtype::int16, {0, 3});
  CHECK(example_to_json(examples.bytes_of(&texts).value()).value() == R"({"value":["a","b"]})");
  CHECK(example_to_json(examples.bytes_of(&none).value()).value() == R"({"value":[]})");
}

}  // namespace sluice::lib::example_elements_test
