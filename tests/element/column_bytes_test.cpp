// SPDX-License-Identifier: Apache-2.0
#include "element/batches/column_bytes.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "sluice/element/batched.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/element/slice.hpp"
#include "support/budget.hpp"
#include "support/random/random_values.hpp"

namespace sluice::lib::column_bytes_test {
namespace {

using namespace test;

std::string printed(const column& rows, std::size_t first, std::size_t n) {
  const element_type& t = rows.type();
  slab made(t);
  rows.make(first, n, made.reserve(n), t.size);
  made.set_live(0, n);
  std::string text;
  for (std::size_t i = 0; i != n; ++i) print(t, made.begin() + i * t.size, text);
  return text;
}

TEST_CASE("rows of random types are read as they were written, and damaged bytes are an error") {
  std::size_t written = 0;
  for (std::uint64_t seed = first_seed(); seed != first_seed() + cases(400); ++seed) {
    CAPTURE(seed);
    random_numbers random(seed);
    const element_type& t = random_type(random, {});
    const std::size_t n = 1 + random.below(20);
    if (!can_write_rows(t)) continue;
    slab some(t);
    for (std::size_t i = 0; i != n; ++i) {
      const value v = random_value(t, random);
      t.copy(t, some.extend(1), v.data(), 1, t.size, t.size);
      some.add_live(1);
    }
    batch_storage from;
    column& rows = from.make_rows(t);
    rows.append_copies_of(some.begin(), n, t.size);
    std::string expected;
    for (std::size_t i = 0; i != n; ++i) print(t, some.begin() + i * t.size, expected);
    CHECK(printed(rows, 0, n) == expected);

    const std::size_t first = random.below(n);
    byte_parts written_rows;
    write_rows(rows, first, n - first, written_rows);
    const std::string bytes = written_rows.joined();
    CHECK(bytes.size() == written_bytes(rows, first, n - first));
    batch_storage to;
    REQUIRE(read_rows(bytes, n - first, to.make_rows(t)).ok());
    CHECK(to.rows_column().is_whole());
    CHECK(printed(to.rows_column(), 0, n - first) == printed(rows, first, n - first));
    for (std::size_t cut = 0; cut != bytes.size(); ++cut) {
      batch_storage part;
      CHECK_FALSE(read_rows(bytes.substr(0, cut), n - first, part.make_rows(t)).ok());
    }
    batch_storage more;
    CHECK_FALSE(read_rows(bytes + '\0', n - first, more.make_rows(t)).ok());
    for (int change = 0; change != 20; ++change) {  // right or wrong rows, or an error, and no more
      std::string damaged = bytes;
      damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
      batch_storage read;
      if (read_rows(damaged, n - first, read.make_rows(t)).ok()) CHECK(read.rows_column().is_whole());
    }
    ++written;
  }
  CHECK(written != 0);
}

TEST_CASE("records that are made of a column share its bytes") {
  batch_storage from;
  column& rows = from.make_rows(type_of<record>());
  rows.append_text("first");
  rows.append_text("");
  rows.append_text("third");
  byte_parts bytes;
  write_rows(rows, 0, 3, bytes);
  CHECK(bytes.size() == 3 * 4 + 10);
  batch_storage to;
  REQUIRE(read_rows(bytes.joined(), 3, to.make_rows(type_of<record>())).ok());
  slab made(type_of<record>());
  to.rows_column().make(0, 3, made.reserve(3), sizeof(record));
  made.set_live(0, 3);
  const auto* records = reinterpret_cast<const record*>(made.begin());
  CHECK(records[2].view() == "third");
  CHECK(records[2].data() == records[0].data() + 5);
  CHECK(records[0].owner() == to.rows_column().bytes_buffer());
}

TEST_CASE("a bool of damaged bytes is refused") {
  batch_storage to;
  const status why = read_rows(std::string_view("\x01\x02", 2), 2, to.make_rows(type_of<bool>()));
  CHECK(why.code() == status_code::data_loss);
  CHECK(why.message().find("neither 0 nor 1") != std::string_view::npos);
}

}  // namespace
}  // namespace sluice::lib::column_bytes_test
