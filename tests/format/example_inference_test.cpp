// SPDX-License-Identifier: Apache-2.0
#include "format/example/example_inference.hpp"

#include <catch2/catch.hpp>

#include "sluice/format/example.hpp"
#include "sluice/format/example_layout.hpp"

namespace sluice::lib::example_inference_test {

namespace {

std::string schema_of_all(const std::vector<std::string>& records) {
  example_inference inference;
  for (const std::string& r : records) REQUIRE(inference.add(r).ok());
  CHECK(inference.examples() == records.size());
  return inference.schema_text();
}

}  // namespace

TEST_CASE("a schema is guessed from tf.Examples, and reads them") {
  example_writer w;
  const float three[] = {1, 2, 3};
  const std::int64_t two[] = {1, 2};
  std::vector<std::string> records;
  records.emplace_back(
      w.int64("label", 1).bytes("text", "a").floats("values", three, 3).int64s("ids", two, 2).finish());
  records.emplace_back(
      w.int64("label", 1).floats("values", three, 3).int64s("ids", two, 0).bytes_list("tags", {"x", "y"}).finish());
  const std::string text = schema_of_all(records);
  CHECK(text == "ids: int64[], label: int64, tags: bytes[2]?, text: bytes?, values: float[3]");
  auto layout = layout_of(text).value();
  for (const std::string& r : records) {
    std::vector<char> memory(layout.type->size + layout.type->align);
    void* at = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(memory.data()) + layout.type->align - 1) /
                                       layout.type->align * layout.type->align);
    layout.type->construct(*layout.type, at, 1, layout.type->size);
    CHECK(layout.schema.parse(r, at).ok());
    layout.type->destroy(*layout.type, at, 1);
  }
}

TEST_CASE("a guessed schema has names of any bytes, and can be read") {
  for (const char* name :
       {"image/encoded", "a b", "a,b", "a: b", "it's", "back\\slash", "tab\t", "", "é", "x=1", "q?"}) {
    example_writer w;
    const std::string text = schema_of_all({std::string(w.int64(name, 1).finish())});
    INFO(text);
    auto layout = layout_of(text);
    REQUIRE(layout.ok());
    CHECK(layout->schema.slots()[0].name == name);
    CHECK(layout->type->members[0].name == name);
    CHECK(schema_text(layout->schema) == text);
  }
}

TEST_CASE("feature lists are guessed as sequences") {
  // SequenceExample { context { feature { "n": [2] } } feature_lists { "t": [[1,2],[3]] } }
  auto field = [](int number, const std::string& bytes) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
  };
  auto step = [&](const std::string& packed) { return field(1, field(3, field(1, packed))); };
  const std::string list = field(1, "t") + field(2, step("\x01\x02") + step("\x03"));
  example_writer w;
  const std::string record = std::string(w.int64("n", 2).finish()) + field(2, field(1, list));
  example_inference inference;
  REQUIRE(inference.add(record).ok());
  CHECK(inference.has_feature_lists());
  CHECK(inference.schema_text() == "n: int64");
  CHECK(inference.sequence_text().value() == "t: int64[]");
  CHECK(example_to_json(record).value() == R"({"context":{"n":2},"sequence":{"t":[[1,2],[3]]}})");
  REQUIRE(inference.add(w.int64("n", 2).finish()).ok());
  CHECK(inference.sequence_text().value() == "t: int64[]?");
}

TEST_CASE("records of TensorFlow Ranking are no tf.Examples") {
  example_writer w;
  const std::string inner(w.int64("q", 1).finish());
  auto field = [](int number, const std::string& bytes) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
  };
  const std::string elwc = field(1, inner) + field(1, inner);
  CHECK_FALSE(may_be_example(elwc));
  CHECK(may_be_example(inner));
  CHECK(may_be_example(""));
  CHECK(example_inference().add(elwc).code() == status_code::data_loss);
}

TEST_CASE("what is no tf.Example, or changes its kind, is told; a feature without a kind is missing") {
  example_inference inference;
  example_writer w;
  CHECK(inference.add("no example").code() == status_code::data_loss);
  CHECK(inference.add(w.int64("a", 1).finish()).ok());
  CHECK(inference.add(w.bytes("a", "1").finish()).code() == status_code::invalid_argument);
  CHECK(schema_of_all({std::string("\x0a\x07\x0a\x05\x0a\x01\x61\x12\x00", 9),
                       std::string(w.int64("a", 1).finish())}) == "a: int64?");
}

}  // namespace sluice::lib::example_inference_test
