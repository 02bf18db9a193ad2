// SPDX-License-Identifier: Apache-2.0
// format/example/packed_rows.hpp: examples that are checked and packed, and built as rows later.
#include "format/example/packed_rows.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/example/packed_reader.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/type_of.hpp"
#include "sluice/format/example.hpp"
#include "sluice/format/example_parser.hpp"
#include "support/random/random_numbers.hpp"

namespace sluice::lib::packed_rows_test {
namespace {

using test::random_numbers;

struct row {
  std::string text;
  std::array<float, 3> values{};
  std::vector<std::int64_t> numbers;
  std::optional<std::vector<std::string>> tags;
  std::optional<std::int64_t> label;
};

/// An example with features in any order. Some have another length or lack a feature.
std::string random_example(random_numbers& random) {
  example_writer w;
  const float values[] = {0.5f, -1, 3e10f, 7};
  const std::int64_t numbers[] = {1, -5, 1 << 20, 0};
  for (std::size_t left = 7, at = random.below(7); left-- != 0; at = (at + 1) % 7) {
    if (at == 0 && random.below(20)) w.bytes("text", std::string(random.below(300), 't'));
    if (at == 1) w.floats("values", values, random.below(30) ? 3 : 4);
    if (at == 2) w.int64s("numbers", numbers, random.below(5));
    if (at == 3 && random.below(2)) w.bytes("tags", random.below(2) ? "" : "tag");
    if (at == 4 && random.below(2)) w.int64("label", numbers[random.below(4)]);
    if (at == 5 && random.below(3) == 0) w.bytes("unread", std::string(random.below(50), 'u'));
    if (at == 6 && random.below(9) == 0) w.bytes("text", "the last entry counts");
  }
  std::string bytes(w.finish());
  if (random.below(8) == 0) bytes.resize(random.below(bytes.size() + 1));
  return bytes;
}

template <class T> std::string printed(const T& value) {
  std::string text;
  print(type_of<T>(), &value, text);
  return text;
}

}  // namespace

TEST_CASE("a packed row builds the row of its example, and examples that are no rows have the same errors") {
  random_numbers random(5);
  example_parser direct(example_schema_of<row>()), packs(example_schema_of<row>());
  const packed_layout layout(example_schema_of<row>());
  const packed_reader reader(example_schema_of<row>());
  batched<row> expected, made;
  column& expected_rows = expected.storage().make_rows(type_of<row>());
  column& made_rows = made.storage().make_rows(type_of<row>());
  packed_rows packed(layout);
  std::vector<std::string_view> texts;
  auto build_all = [&] {
    texts.clear();
    for (std::size_t i = 0; i != packed.rows(); ++i) texts.push_back(packed.row(i));
    const packed_reader::built b = reader.append_to(made_rows, texts);
    REQUIRE(b.why.ok());
    REQUIRE(b.rows == texts.size());
  };
  std::size_t bad = 0;
  for (int i = 0; i != 2000; ++i) {
    const std::string example = random_example(random);
    const std::size_t before = packed.rows();
    const status written = direct.append_to(expected_rows, example), checked = packs.pack(example, packed);
    REQUIRE(checked.to_string() == written.to_string());
    REQUIRE(packed.rows() == before + (written.ok() ? 1 : 0));
    bad += !written.ok();
    if (written.ok()) {
      row parsed, unpacked;
      REQUIRE(direct.parse(example, &parsed).ok());
      REQUIRE(reader.unpack(packed.row(before), &unpacked).ok());
      CHECK(printed(unpacked) == printed(parsed));
    }
    if (packed.bytes() <= 20'000) continue;
    build_all();
    packed.clear();
  }
  build_all();
  CHECK(bad > 100);
  CHECK(bad < 1000);
  CHECK(printed(made) == printed(expected));
}

TEST_CASE("numbers that are too large for the fixed part follow it, and examples without them keep their error") {
  auto slot = [](const char* name, std::size_t length) {
    feature_slot s;
    s.name = name;
    s.kind = feature_kind::int64s;
    s.length = length;
    s.form = field_form::array;
    return s;
  };
  const example_schema schema({slot("a", 8000), slot("b", 1000), slot("c", std::size_t{1} << 40)});
  const packed_layout layout(schema);
  CHECK(layout[0].how == packed_layout::way::inside);
  CHECK(layout[1].how == packed_layout::way::values);
  CHECK(layout[2].how == packed_layout::way::values);
  CHECK(layout.fixed_bytes() == 64'016);
  packed_rows packed(layout);
  example_parser parser(schema);
  example_writer w;
  const std::int64_t one = 1;
  const status why = parser.pack(w.int64s("a", &one, 1).finish(), packed);
  CHECK(std::string(why.message()) == "feature \"a\" has 1 value, expected 8000");
  CHECK(packed.rows() == 0);
}

TEST_CASE("bytes that are no packed row are an error, and leave the column as it was") {
  example_parser parser(example_schema_of<row>());
  const packed_layout layout(example_schema_of<row>());
  const packed_reader reader(example_schema_of<row>());
  packed_rows packed(layout);
  example_writer w;
  const float values[] = {1, 2, 3};
  const std::int64_t numbers[] = {4, 5};
  const std::string example(
      w.bytes("text", "some").floats("values", values, 3).int64s("numbers", numbers, 2).bytes("tags", "a").finish());
  REQUIRE(parser.pack(example, packed).ok());
  const std::string whole(packed.row(0));
  batched<row> made;
  column& rows = made.storage().make_rows(type_of<row>());
  auto append = [&](std::string_view text) { return reader.append_to(rows, {&text, 1}).why; };
  REQUIRE(append(whole).ok());
  for (std::size_t size = 0; size != whole.size(); ++size) {
    CHECK(append(std::string_view(whole).substr(0, size)).code() == status_code::data_loss);
    CHECK(rows.rows() == 1);
  }
  CHECK(append(whole + whole).code() == status_code::data_loss);
  CHECK(rows.rows() == 1);
  const std::string_view some[] = {whole, whole, "no row", whole};
  const packed_reader::built b = reader.append_to(rows, some);
  CHECK(b.rows == 2);
  CHECK(b.why.code() == status_code::data_loss);
  CHECK(rows.rows() == 3);
  std::size_t refused = 0;
  for (std::size_t at = 0; at != whole.size(); ++at) {
    for (unsigned char flipped : {0x01, 0x80, 0xff}) {
      std::string other = whole;
      other[at] = static_cast<char>(static_cast<unsigned char>(other[at]) ^ flipped);
      const std::size_t before = rows.rows();
      const bool is_row = append(other).ok();
      row unpacked;
      CHECK(reader.unpack(other, &unpacked).ok() == is_row);
      refused += !is_row;
      CHECK(rows.rows() == before + (is_row ? 1 : 0));
      CHECK(rows.is_whole());
    }
  }
  CHECK(refused > 50);
}

}  // namespace sluice::lib::packed_rows_test
