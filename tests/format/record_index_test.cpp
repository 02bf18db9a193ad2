// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sluice/base/crc32c.hpp"
#include "sluice/format/record_index.hpp"

namespace sluice::lib::record_index_test {
namespace {

record_index sample_index(std::uint64_t elements, std::uint64_t element_bytes) {
  index_builder builder;
  for (std::uint64_t at = 0; at < elements;) {
    at += builder.until_next(at);
    if (at < elements) builder.add(at, at * element_bytes);
  }
  record_index index;
  index.kind = "tfrecord";
  index.size_bytes = elements * element_bytes;
  index.modified_ns = 1'500'000'000'123'456'789;
  index.version = "\"tag\"";
  builder.finish(elements, index);
  return index;
}

void put_checksum(std::string& bytes) {
  bytes.resize(bytes.size() - 4);
  const std::uint32_t crc = crc32c(bytes);
  bytes.append(reinterpret_cast<const char*>(&crc), sizeof crc);
}

}  // namespace

TEST_CASE("an index is read as it was written, and names every place that its step promises") {
  for (std::uint64_t elements : {0u, 1u, 2u, 3u, 100u, 8191u, 8192u, 8193u, 100'000u, 1'000'000u})
    for (std::uint64_t element_bytes : {1u, 16u, 181u, 50'000u}) {
      CAPTURE(elements, element_bytes);
      const record_index index = sample_index(elements, element_bytes);
      CHECK(index.places.size() == (elements == 0 ? 0 : (elements - 1) / index.step));
      for (std::size_t i = 0; i != index.places.size(); ++i) {
        if (index.places[i] == (i + 1) * index.step * element_bytes) continue;
        FAIL("place " << i << " is " << index.places[i]);
      }
      const std::string bytes = index_bytes(index);
      result<record_index> read = read_index(bytes);
      REQUIRE(read.ok());
      CHECK(*read == index);
      CHECK(bytes.size() < 40'000 + elements * element_bytes / 8'000);
      CHECK((index.step == 1 || index.step * element_bytes < 128 << 10));
    }
}

TEST_CASE("a step that is given stays") {
  index_builder builder(16);
  CHECK(builder.until_next(5) == 11);
  for (std::uint64_t at = 16; at != 1'600'000; at += 16) builder.add(at, at);
  record_index index;
  builder.finish(1'600'000, index);
  CHECK(index.step == 16);
  CHECK(index.places.size() == 99'999);
}

TEST_CASE("an index with any byte changed, or cut off anywhere, is refused") {
  const std::string good = index_bytes(sample_index(300, 20));
  REQUIRE(read_index(good).ok());
  for (std::size_t at = 0; at != good.size(); ++at)
    for (int bit = 0; bit != 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      CAPTURE(at, bit);
      CHECK_FALSE(read_index(bad).ok());
    }
  for (std::size_t size = 0; size != good.size(); ++size) CHECK_FALSE(read_index(good.substr(0, size)).ok());
  CHECK_FALSE(read_index(good + "x").ok());
  CHECK(read_index("sluice index\x02" + good.substr(13)).why().code() == status_code::failed_precondition);
}

TEST_CASE("numbers that do not fit are refused under a right checksum") {
  const std::string good = index_bytes(sample_index(300, 20));
  std::size_t refused = 0, other = 0;
  for (std::size_t at = 13; at + 4 != good.size(); ++at)
    for (char byte : {'\x00', '\x01', '\x7f', '\xff'}) {
      std::string bad = good;
      bad[at] = byte;
      put_checksum(bad);
      result<record_index> read = read_index(bad);
      refused += !read.ok();
      if (!read.ok()) continue;
      ++other;
      std::uint64_t before = 0;
      for (std::uint64_t place : read->places) {
        CHECK(place > before);
        CHECK(place <= read->size_bytes);
        before = place;
      }
    }
  CHECK(refused > 100);
  CHECK(other > 0);
}

TEST_CASE("an index belongs to one state of its file, and to one framing") {
  const record_index index = sample_index(10, 20);
  const file_info same{.size_bytes = 200, .modified_ns = index.modified_ns, .version = "W/\"tag\""};
  CHECK(index.difference_from(same, "tfrecord").empty());
  CHECK(index.difference_from(same, "lines") == "it was built for elements of tfrecord, and the reader wants lines");
  file_info other = same;
  other.size_bytes = 201;
  CHECK(index.difference_from(other, "tfrecord") == "its file had 200 bytes when it was built, and has 201");
  other = same;
  other.version = "\"b\"";
  CHECK(index.difference_from(other, "tfrecord") == "its file was written to since");
  other = same;
  other.version.clear();
  CHECK(index.difference_from(other, "tfrecord").empty());
  other.modified_ns += 1;
  CHECK(index.difference_from(other, "tfrecord") == "its file was written to since");
}

}  // namespace sluice::lib::record_index_test
