// SPDX-License-Identifier: Apache-2.0
// format/example/packed_rows.hpp: examples that are checked and packed, and built as rows later.
#include "format/example/packed_rows.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

std::string printed(const batched<row>& b) {
  std::string text;
  print(type_of<batched<row>>(), &b, text);
  return text;
}

}  // namespace

TEST_CASE("a packed row builds the row of its example, and examples that are no rows have the same errors") {
  random_numbers random(5);
  example_parser direct(example_schema_of<row>()), packs(example_schema_of<row>()), unpacks(example_schema_of<row>());
  batched<row> expected, made;
  column& expected_rows = expected.storage().make_rows(type_of<row>());
  column& made_rows = made.storage().make_rows(type_of<row>());
  packed_rows packed;
  std::size_t bad = 0;
  for (int i = 0; i != 2000; ++i) {
    const std::string example = random_example(random);
    const std::size_t before = packed.rows();
    const status written = direct.append_to(expected_rows, example), checked = packs.pack(example, packed);
    REQUIRE(checked.to_string() == written.to_string());
    REQUIRE(packed.rows() == before + (written.ok() ? 1 : 0));
    bad += !written.ok();
    if (written.ok()) REQUIRE(unpacks.append_packed(made_rows, packed.row(before)).ok());
    if (packed.bytes() > 20'000) packed.clear();
  }
  CHECK(bad > 100);
  CHECK(bad < 1000);
  CHECK(printed(made) == printed(expected));
}

TEST_CASE("bytes that are no packed row are an error, and leave the column as it was") {
  example_parser parser(example_schema_of<row>());
  packed_rows packed;
  example_writer w;
  const float values[] = {1, 2, 3};
  const std::int64_t numbers[] = {4, 5};
  const std::string example(
      w.bytes("text", "some").floats("values", values, 3).int64s("numbers", numbers, 2).bytes("tags", "a").finish());
  REQUIRE(parser.pack(example, packed).ok());
  const std::string whole(packed.row(0));
  batched<row> made;
  column& rows = made.storage().make_rows(type_of<row>());
  REQUIRE(parser.append_packed(rows, whole).ok());
  for (std::size_t size = 0; size != whole.size(); ++size) {
    CHECK(parser.append_packed(rows, std::string_view(whole).substr(0, size)).code() == status_code::data_loss);
    CHECK(rows.rows() == 1);
  }
  CHECK(parser.append_packed(rows, whole + whole).code() == status_code::data_loss);
  CHECK(rows.rows() == 1);
  std::size_t refused = 0;
  for (std::size_t at = 0; at != whole.size(); ++at) {
    for (unsigned char flipped : {0x01, 0x80, 0xff}) {
      std::string other = whole;
      other[at] = static_cast<char>(static_cast<unsigned char>(other[at]) ^ flipped);
      const std::size_t before = rows.rows();
      const bool is_row = parser.append_packed(rows, other).ok();
      refused += !is_row;
      CHECK(rows.rows() == before + (is_row ? 1 : 0));
      CHECK(rows.is_whole());
    }
  }
  CHECK(refused > 50);
}

}  // namespace sluice::lib::packed_rows_test
