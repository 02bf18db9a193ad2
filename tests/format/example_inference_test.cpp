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
  }
}

TEST_CASE(
    "bytes that are no tf.Example, and a feature that changes its kind, are reported; a feature without a kind is "
    "missing") {
  example_inference inference;
  example_writer w;
  CHECK(inference.add("no example").code() == status_code::data_loss);
  CHECK(inference.add(w.int64("a", 1).finish()).ok());
  CHECK(inference.add(w.bytes("a", "1").finish()).code() == status_code::invalid_argument);
  CHECK(schema_of_all({std::string("\x0a\x07\x0a\x05\x0a\x01\x61\x12\x00", 9),
                       std::string(w.int64("a", 1).finish())}) == "a: int64?");
}

}  // namespace sluice::lib::example_inference_test
