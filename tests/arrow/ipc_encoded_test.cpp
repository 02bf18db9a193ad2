// SPDX-License-Identifier: Apache-2.0
// src/arrow/import_encoded.cpp, src/arrow/ipc_dictionaries.hpp and compressed buffers: damaged and forged ones.
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "arrow/ipc_dictionaries.hpp"
#include "arrow/ipc_reader.hpp"
#include "arrow/ipc_stream.hpp"
#include "arrow/ipc_writer.hpp"
#include "arrow/random_columns.hpp"
#include "arrow/row_type.hpp"
#include "format/codec/buffer_codec.hpp"

namespace sluice::lib::ipc_encoded_test {
namespace {

using namespace test;
using Catch::Contains;

std::string bytes_of(const std::string& name) {
  std::ifstream in("tests/verbs/data/" + name, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  REQUIRE_FALSE(bytes.empty());
  return bytes.starts_with("ARROW1") ? bytes.substr(8) : bytes;
}

const element_type& row_in(const std::string& bytes) {
  arrow::ipc_schema schema;
  auto m = arrow::read_ipc_message(bytes, bytes.size());
  REQUIRE(arrow::read_ipc_schema(m.metadata, schema).ok());
  return **arrow::row_type_of(schema.get());
}

/// An array whose parts a test can change.
struct parts {
  ArrowSchema s{};
  ArrowArray a{};
  std::vector<const void*> buffers;
  std::vector<ArrowSchema*> under{};
  std::vector<ArrowArray*> children{};

  parts(const char* format, std::int64_t length, std::vector<const void*> b) : buffers(std::move(b)) {
    s.format = format;
    s.name = "value";
    a.length = length;
    a.n_buffers = static_cast<std::int64_t>(buffers.size());
    a.buffers = buffers.data();
  }
  parts(const parts&) = delete;
  parts& operator=(const parts&) = delete;
  void add(parts& child) {
    under.push_back(&child.s);
    children.push_back(&child.a);
    s.n_children = a.n_children = static_cast<std::int64_t>(under.size());
    s.children = under.data();
    a.children = children.data();
  }
};

/// Returns the values as JSON, or the error. No row may be left of an array with an error.
std::string read(const parts& p, const element_type& t) {
  batch_storage b;
  column& to = b.make_rows(t);
  status why = append_arrow(to, p.s, p.a, 0, static_cast<std::size_t>(p.a.length));
  if (why.ok()) return json_of(b, t);
  CHECK(to.rows() == 0);
  return why.to_string();
}

status deflate_half(arrow::ipc_codec codec, std::string_view in, std::string& out) {
  return deflate_buffer(codec == arrow::ipc_codec::lz4 ? compression::lz4 : compression::zstd,
                        in.substr(0, in.size() / 2), out);
}
status deflate_twice(arrow::ipc_codec codec, std::string_view in, std::string& out) {
  return deflate_buffer(codec == arrow::ipc_codec::lz4 ? compression::lz4 : compression::zstd,
                        std::string(in) + std::string(in), out);
}
status deflate_all(arrow::ipc_codec codec, std::string_view in, std::string& out) {
  return deflate_buffer(codec == arrow::ipc_codec::lz4 ? compression::lz4 : compression::zstd, in, out);
}

/// A stream of 1,000 equal numbers.
std::string numbers_by(const arrow::ipc_packing& packing) {
  batched<std::int64_t> b;
  for (int i = 0; i != 1000; ++i) b.push_back(7);
  ArrowSchema schema;
  ArrowArray array;
  REQUIRE(export_schema(type_of<std::int64_t>(), &schema).ok());
  REQUIRE(export_rows(b.storage(), type_of<std::int64_t>(), &array).ok());
  std::string out;
  REQUIRE(arrow::append_ipc_schema(out, schema).ok());
  REQUIRE(arrow::append_ipc_batch(out, schema, array, packing).ok());
  arrow::append_ipc_end(out);
  schema.release(&schema);
  array.release(&array);
  return out;
}

}  // namespace

TEST_CASE("compressed buffers and dictionaries with bits turned over are read, or refused") {
  std::size_t refused = 0, tries = 0;
  for (const char* name : {"arrow_dictionaries.arrow", "arrow_kinds.arrow", "arrow_temporal.arrow", "arrow_lz4.feather",
                           "arrow_zstd.feather"}) {
    std::string bytes = bytes_of(name);
    const element_type& row = row_in(bytes);
    REQUIRE(read_ipc(bytes, row).why.ok());
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
      refused += read_ipc(bytes, row, bit % 2 == 0).why.ok() ? 0 : 1;
      ++tries;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    }
  }
  CHECK(refused > tries / 10);
}

TEST_CASE("schemas with bits turned over have a row type, or an error") {
  std::size_t refused = 0;
  for (const char* name : {"arrow_dictionaries.arrow", "arrow_kinds.arrow", "arrow_unread.arrow"}) {
    std::string bytes = bytes_of(name);
    const std::size_t size = arrow::read_ipc_message(bytes, bytes.size()).size_bytes;
    for (std::size_t bit = 64; bit != size * 8; ++bit) {
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
      arrow::ipc_schema schema;
      auto m = arrow::read_ipc_message(bytes, bytes.size());
      status why = m.why;
      if (why.ok()) why = arrow::read_ipc_schema(m.metadata, schema);
      if (why.ok()) why = arrow::row_type_of(schema.get()).why();
      refused += why.ok() ? 0 : 1;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    }
  }
  CHECK(refused > 100);
}

TEST_CASE("compressed numbers are read as they were written, by lz4 and zstd") {
  const std::string plain = numbers_by({});
  const auto expected = read_ipc(plain, type_of<std::int64_t>()).batches;
  for (auto codec : {arrow::ipc_codec::lz4, arrow::ipc_codec::zstd}) {
    const std::string packed = numbers_by({codec, deflate_all});
    CHECK(packed.size() < plain.size() / 4);
    CHECK(read_ipc(packed, type_of<std::int64_t>()).batches == expected);
  }
}

TEST_CASE("a compressed buffer that has another length than it declares is an error") {
  for (auto codec : {arrow::ipc_codec::lz4, arrow::ipc_codec::zstd}) {
    for (auto deflate : {deflate_half, deflate_twice}) {
      auto read = read_ipc(numbers_by({codec, deflate}), type_of<std::int64_t>());
      CHECK(read.why.code() == status_code::data_loss);
      CHECK_THAT(read.why.to_string(), Contains("column \"value\"") && Contains("frame of a buffer is damaged"));
    }
  }
}

TEST_CASE("a compressed buffer that claims more than its bytes can hold, or than may be held, takes no memory") {
  std::string bytes = numbers_by({arrow::ipc_codec::zstd, deflate_all});
  const std::int64_t actual = 8000;
  const std::size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&actual), sizeof actual));
  REQUIRE(at != bytes.npos);
  auto claiming = [&](std::int64_t claimed) {
    std::memcpy(bytes.data() + at, &claimed, sizeof claimed);
    return read_ipc(bytes, type_of<std::int64_t>()).why;
  };
  CHECK_THAT(claiming(std::int64_t{1} << 50).to_string(), Contains("that claims 1125899906842624"));
  CHECK_THAT(claiming(-2).to_string(), Contains("that claims -2"));
  status large = claiming(std::int64_t{5} << 20);
  CHECK_THAT(large.to_string(), Contains("more than 4194304 bytes"));
  CHECK(large.code() == status_code::resource_exhausted);
  CHECK(claiming(8008).code() == status_code::data_loss);
}

TEST_CASE("an index outside of its dictionary is an error, and so is a dictionary that does not exist") {
  const std::int32_t numbers[] = {10, 20};
  const std::int8_t indices[] = {1, 0, 1};
  std::uint8_t validity[] = {0b111};
  parts values("i", 2, {nullptr, numbers}), p("c", 3, {validity, indices});
  p.s.dictionary = &values.s;
  p.a.dictionary = &values.a;
  const element_type& maybe = type_of<std::optional<std::int32_t>>();
  CHECK(read(p, maybe) == "[20,10,20]");
  CHECK(read(p, type_of<std::int32_t>()) == "[20,10,20]");
  for (std::int8_t wrong : {2, 127, -1, -128}) {
    const std::int8_t changed[] = {1, wrong, 1};
    p.buffers[1] = changed;
    CHECK_THAT(read(p, maybe), Contains("the index " + std::to_string(wrong) + " is outside of its dictionary of 2"));
    validity[0] = 0b101;  // the index of an absent value may be anything
    CHECK(read(p, maybe) == "[20,null,20]");
    CHECK_THAT(read(p, type_of<std::int32_t>()), Contains("is null, and the program has no optional there"));
    validity[0] = 0b111;
  }
  p.a.dictionary = nullptr;
  CHECK_THAT(read(p, maybe), Contains("has no dictionary"));
  validity[0] = 0;
  CHECK(read(p, maybe) == "[null,null,null]");
}

TEST_CASE("runs whose ends do not rise, or that end early, are errors") {
  const std::int64_t numbers[] = {10, 20};
  const std::uint8_t validity[] = {0b01};
  for (auto [first, second, says] :
       {std::tuple(2, 3, "[10,10,null]"), std::tuple(2, 2, "do not rise"), std::tuple(0, 3, "do not rise"),
        std::tuple(3, 1, "do not rise"), std::tuple(-5, 3, "do not rise"), std::tuple(1, 2, "end before row 2")}) {
    const std::int32_t ends[] = {first, second};
    parts run_ends("i", 2, {nullptr, ends}), values("l", 2, {validity, numbers}), p("+r", 3, {});
    p.add(run_ends);
    p.add(values);
    CHECK_THAT(read(p, type_of<std::optional<std::int64_t>>()), Contains(says));
    values.a.length = 1;
    CHECK_THAT(read(p, type_of<std::optional<std::int64_t>>()), Contains("fewer values than runs"));
  }
}

TEST_CASE("views that leave their buffer are errors") {
  const std::string bytes = "a text of more than twelve bytes";
  const std::int64_t lengths[] = {static_cast<std::int64_t>(bytes.size())};
  struct view {
    std::int32_t size, prefix, which, offset;
  };
  for (auto [v, says] :
       {std::pair(view{32, 0, 0, 0}, "a text of more"), std::pair(view{33, 0, 0, 0}, "leaves"),
        std::pair(view{32, 0, 0, 1}, "leaves"), std::pair(view{13, 0, 1, 0}, "leaves"),
        std::pair(view{13, 0, -1, 0}, "leaves"), std::pair(view{13, 0, 0, -1}, "leaves"),
        std::pair(view{-1, 0, 0, 0}, "negative"), std::pair(view{0x7fffffff, 0, 0, 0x7fffffff}, "leaves")}) {
    parts p("vu", 1, {nullptr, &v, bytes.data(), lengths});
    CHECK_THAT(read(p, type_of<std::string>()), Contains(says));
  }
}

TEST_CASE("list views that leave their elements are errors") {
  const std::int16_t numbers[] = {1, 2, 3};
  for (auto [offset, size, says] :
       {std::tuple(1, 2, "[[2,3]]"), std::tuple(1, 3, "leaves"), std::tuple(-1, 1, "leaves"),
        std::tuple(0, -1, "leaves"), std::tuple(4, 0, "leaves")}) {
    const std::int32_t offsets[] = {offset}, sizes[] = {size};
    parts items("s", 3, {nullptr, numbers}), p("+vl", 1, {nullptr, offsets, sizes});
    p.add(items);
    CHECK_THAT(read(p, type_of<std::vector<std::int16_t>>()), Contains(says));
  }
}

TEST_CASE("a stream whose dictionaries are missing or damaged gives no value of them") {
  const std::string bytes = bytes_of("arrow_dictionaries.arrow");
  const element_type& row = row_in(bytes);
  std::string without;
  std::string_view left = bytes;
  for (;;) {
    auto m = arrow::read_ipc_message(left, left.size());
    if (m.is == arrow::ipc_message::kind::end) break;
    if (m.is != arrow::ipc_message::kind::dictionary) without += left.substr(0, m.size_bytes);
    left.remove_prefix(m.size_bytes);
  }
  auto read = read_ipc(without, row);
  CHECK(read.batches.empty());
  CHECK_THAT(read.why.to_string(), Contains("column \"d\"") && Contains("which the stream has not defined before"));
}

}  // namespace sluice::lib::ipc_encoded_test
