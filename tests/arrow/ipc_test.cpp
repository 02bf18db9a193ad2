// SPDX-License-Identifier: Apache-2.0
// src/arrow/ipc_writer.hpp, src/arrow/ipc_reader.hpp
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "arrow/ipc_reader.hpp"
#include "arrow/ipc_stream.hpp"
#include "arrow/ipc_writer.hpp"
#include "arrow/random_columns.hpp"

namespace sluice::lib::ipc_test {
namespace {

using namespace test;
using Catch::Contains;

struct entry {
  std::string text;
  std::int64_t label = 0;
  std::vector<std::int32_t> tags;
  std::optional<double> weight;
  bool flag = false;
};

std::vector<batch_storage> two_batches() {
  batched<entry> a, b;
  a.push_back({"one", 1, {10}, 0.5, true});
  a.push_back({"", 2, {}, std::nullopt, false});
  a.push_back({"three", 3, {30, 31, 32}, 1.5, true});
  b.push_back({"four", 4, {40, 41}, 2.5, false});
  std::vector<batch_storage> both;
  both.push_back(std::move(a.storage()));
  both.push_back(std::move(b.storage()));
  return both;
}

/// A stream of `entry`, and what its batches are.
struct small_stream {
  std::vector<batch_storage> batches = two_batches();
  std::string bytes = ipc_of(batches, type_of<entry>());
  std::vector<std::string> json() const {
    std::vector<std::string> all;
    for (auto& b : batches) all.push_back(json_of(b, type_of<entry>()));
    return all;
  }
};

bool is_prefix(const std::vector<std::string>& front, const std::vector<std::string>& of) {
  return front.size() <= of.size() && std::equal(front.begin(), front.end(), of.begin());
}

void replace(std::string& in, std::size_t at, std::uint32_t with) { std::memcpy(in.data() + at, &with, sizeof with); }

}  // namespace

TEST_CASE("an IPC stream is read as it was written") {
  const small_stream s;
  CHECK(s.bytes.size() % 64 == 8);  // messages of 64, and the end
  for (bool left_known : {true, false}) {
    auto read = read_ipc(s.bytes, type_of<entry>(), left_known);
    CHECK(read.why.to_string() == status().to_string());
    CHECK(read.batches == s.json());
    CHECK(read.has_end);
  }
}

TEST_CASE("IPC streams of random schemas and batches are read as they were written") {
  std::size_t rows = 0, cut = 0;
  for (std::uint64_t seed = 0; seed != 2000; ++seed) {
    const element_type* row = nullptr;
    auto batches = random_batches(seed, row);
    const std::string bytes = ipc_of(batches, *row);
    auto read = read_ipc(bytes, *row, seed % 2 == 0);
    CAPTURE(seed, row->name, read.why.to_string());
    REQUIRE(read.batches.size() == batches.size());
    for (std::size_t i = 0; i != batches.size(); ++i) {
      REQUIRE(read.batches[i] == json_of(batches[i], *row));
      rows += static_cast<std::size_t>(batches[i].rows());
      cut += batches[i].has_column() && batches[i].rows_column().gone_in_front() % 8 != 0 ? 1 : 0;
    }
    REQUIRE(read.has_end);
  }
  CHECK(rows > 10'000);
  CHECK(cut > 500);  // validities were shifted
}

TEST_CASE("an array with offsets of its own, at any depth, is written from there on") {
  const std::int32_t values[] = {9, 9, 1, 2, 3, 4, 9};
  const std::int64_t offsets[] = {0, 2, 3, 3, 6};  // lists of large offsets: {9,9} {1} {} {2,3,4}
  const std::uint8_t validity[] = {0b1011'1111, 0b0000'0001};
  const void* value_buffers[] = {validity, values};
  const void* list_buffers[] = {nullptr, offsets};
  const void* root_buffers[] = {nullptr};
  ArrowArray ints{}, lists{}, root{};
  ints.length = 6, ints.offset = 1, ints.null_count = -1, ints.n_buffers = 2, ints.buffers = value_buffers;
  ArrowArray *in_list[] = {&ints}, *in_root[] = {&lists};
  lists.length = 3, lists.offset = 0, lists.n_buffers = 2, lists.buffers = list_buffers;
  lists.n_children = 1, lists.children = in_list;
  root.length = 3, root.offset = 1, root.n_buffers = 1, root.buffers = root_buffers;
  lists.length = 4;
  root.n_children = 1, root.children = in_root;
  ArrowSchema int_schema{}, list_schema{}, root_schema{};
  int_schema.format = "i", int_schema.name = "item", int_schema.flags = ARROW_FLAG_NULLABLE;
  ArrowSchema *under_list[] = {&int_schema}, *under_root[] = {&list_schema};
  list_schema.format = "+L", list_schema.name = "value", list_schema.n_children = 1, list_schema.children = under_list;
  root_schema.format = "+s", root_schema.n_children = 1, root_schema.children = under_root;
  std::string bytes;
  REQUIRE(arrow::append_ipc_schema(bytes, root_schema).ok());
  REQUIRE(arrow::append_ipc_batch(bytes, root_schema, root).ok());
  auto read = read_ipc(bytes, type_of<std::vector<std::optional<std::int32_t>>>());
  CHECK(read.why.to_string() == status().to_string());
  CHECK(read.batches == std::vector<std::string>{"[[2],[],[3,4,null]]"});
}

TEST_CASE("an IPC stream that is cut anywhere gives the batches before the cut, then an error or the end") {
  const small_stream s;
  std::size_t ends = 0;
  for (std::size_t size = 0; size != s.bytes.size(); ++size) {
    for (bool left_known : {true, false}) {
      auto read = read_ipc(std::string_view(s.bytes).substr(0, size), type_of<entry>(), left_known);
      CAPTURE(size, left_known);
      REQUIRE(is_prefix(read.batches, s.json()));
      REQUIRE_FALSE(read.has_end);
      REQUIRE(read.why.ok() == (read.read_bytes == size));
      if (!read.why.ok()) REQUIRE(read.why.code() == status_code::data_loss);
      ends += read.why.ok() ? 1 : 0;
    }
  }
  CHECK(ends == 2 * 4);  // nothing; a schema; a batch; all but the end
}

TEST_CASE("an IPC stream with bits turned over is read, or refused") {
  std::size_t refused = 0, tries = 0;
  auto turned = [&](const std::string& bytes, const element_type& row, bool left_known) {
    auto read = read_ipc(bytes, row, left_known);
    refused += read.why.ok() ? 0 : 1;
    ++tries;
  };
  small_stream s;
  for (std::size_t bit = 0; bit != s.bytes.size() * 8; ++bit) {  // each alone
    s.bytes[bit / 8] = static_cast<char>(s.bytes[bit / 8] ^ (1 << (bit % 8)));
    turned(s.bytes, type_of<entry>(), bit % 2 == 0);
    s.bytes[bit / 8] = static_cast<char>(s.bytes[bit / 8] ^ (1 << (bit % 8)));
  }
  CHECK(refused > tries / 20);
  for (std::uint64_t seed = 0; seed != 500; ++seed) {  // some in streams of random types
    const element_type* row = nullptr;
    auto batches = random_batches(seed, row);
    std::string bytes = ipc_of(batches, *row);
    random_columns random(seed + 77);
    for (int i = 0; i != 10; ++i) {
      std::string copy = bytes;
      for (std::size_t n = 1 + random.below(4); n != 0; --n) {
        auto bit = random.below(copy.size() * 8);
        copy[bit / 8] = static_cast<char>(copy[bit / 8] ^ (1 << (bit % 8)));
      }
      turned(copy, *row, i % 2 == 0);
    }
  }
  CHECK(tries > 10'000);
}

TEST_CASE("lengths that are made up allocate nothing") {
  small_stream s;
  const std::string good = s.bytes;
  replace(s.bytes, 4, 0x7FFF'FFF8);  // metadata of 2 GiB
  CHECK_THAT(read_ipc(s.bytes, type_of<entry>()).why.to_string(),
             Contains("the metadata of a message would end 2147483648 bytes on") && Contains("the file has"));
  auto first = arrow::read_ipc_message(s.bytes, arrow::kIpcUnknown);
  CHECK(first.is == arrow::ipc_message::kind::incomplete);
  CHECK(first.needed_bytes <= 2 * s.bytes.size() + (1 << 16));
  replace(s.bytes, 4, 0x8000'0000);
  CHECK_THAT(read_ipc(s.bytes, type_of<entry>()).why.to_string(), Contains("2147483648 bytes of metadata"));
  s.bytes = good;
  replace(s.bytes, 0, 17);
  CHECK_THAT(read_ipc(s.bytes, type_of<entry>()).why.to_string(), Contains("before 0.15"));
}

TEST_CASE("a batch of columns of nulls may have many rows, but not any number") {
  for (std::int64_t rows : {std::int64_t{1} << 22, (std::int64_t{1} << 22) + 1, std::int64_t{1} << 60}) {
    ArrowArray nulls{}, root{};
    ArrowArray* in_root[] = {&nulls};
    const void* none[] = {nullptr};
    nulls.length = rows, nulls.null_count = rows;
    root.length = rows, root.n_buffers = 1, root.buffers = none, root.n_children = 1, root.children = in_root;
    ArrowSchema null_schema{}, root_schema{};
    null_schema.format = "n", null_schema.name = "value";
    ArrowSchema* under_root[] = {&null_schema};
    root_schema.format = "+s", root_schema.n_children = 1, root_schema.children = under_root;
    std::string bytes;
    REQUIRE(arrow::append_ipc_schema(bytes, root_schema).ok());
    REQUIRE(arrow::append_ipc_batch(bytes, root_schema, root).ok());
    auto schema_message = arrow::read_ipc_message(bytes, bytes.size());
    arrow::ipc_schema schema;
    REQUIRE(arrow::read_ipc_schema(schema_message.metadata, schema).ok());
    auto left = std::string_view(bytes).substr(schema_message.size_bytes);
    auto m = arrow::read_ipc_message(left, left.size());
    arrow::ipc_batch batch;
    status why = arrow::read_ipc_batch(m.metadata, m.body, schema, batch);
    CHECK(why.ok() == (rows == std::int64_t{1} << 22));
  }
}

TEST_CASE("a column that IPC streams cannot contain is refused by its name") {
  ArrowSchema date{}, root{};
  ArrowSchema* under_root[] = {&date};
  root.format = "+s", root.n_children = 1, root.children = under_root;
  date.name = "day", date.format = "d:9,2";
  std::string bytes = "as before";
  CHECK_THAT(arrow::append_ipc_schema(bytes, root).to_string(), Contains("column \"day\"") && Contains("d:9,2"));
  date.format = "l", date.dictionary = &root;
  CHECK_THAT(arrow::append_ipc_schema(bytes, root).to_string(), Contains("column \"day\"") && Contains("dictionary"));
  CHECK(bytes == "as before");
}

}  // namespace sluice::lib::ipc_test
