// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sluice/base/crc32c.hpp"
#include "sluice/format/record_index.hpp"

namespace sluice::lib::record_index_test {
namespace {

record_index sample_index(std::uint64_t elements, std::uint64_t element_bytes) {
  index_builder builder;
  builder.begin(elements * element_bytes);
  for (std::uint64_t at = 0; at < elements;) {
    at = std::min(elements, at + builder.until_next(at));
    builder.add(at, at * element_bytes);
  }
  record_index index;
  index.kind = "tfrecord";
  index.size_bytes = elements * element_bytes;
  index.modified_ns = 1'500'000'000'123'456'789;
  index.version = "\"tag\"";
  builder.finish(elements, index);
  return index;
}

/// With seek points of both kinds.
record_index packed_index() {
  record_index index = sample_index(300, 20);
  index.kind = kind_in("lines", compression::gzip);
  index.size_bytes = 2'000;
  index.plain_bytes = 6'000;
  seek_point member, within;
  member.in_bytes = 700;
  member.out_bytes = 2'100;
  within.in_bytes = 1'500;
  within.out_bytes = 4'000;
  within.used_bits = 5;
  within.is_within_member = true;
  within.checksum = 0xdeadbeef;
  within.member_bytes = 1'900;
  within.window = "window";
  index.points = {member, within};
  return index;
}

void put_checksum(std::string& bytes) {
  bytes.resize(bytes.size() - 4);
  const std::uint32_t crc = crc32c(bytes);
  bytes.append(reinterpret_cast<const char*>(&crc), sizeof crc);
}

}  // namespace

TEST_CASE("an index is read as it was written, and has a place for each 32 KiB") {
  for (std::uint64_t elements : {0u, 1u, 2u, 3u, 100u, 8191u, 8192u, 8193u, 100'000u, 1'000'000u})
    for (std::uint64_t element_bytes : {1u, 16u, 181u, 50'000u}) {
      CAPTURE(elements, element_bytes);
      const record_index index = sample_index(elements, element_bytes);
      index_place before;
      std::uint64_t farthest = 0;
      for (const index_place& place : index.places) {
        if (place.offset != place.element * element_bytes || place.element <= before.element)
          FAIL("place of element " << place.element << " is " << place.offset);
        farthest = std::max(farthest, place.offset - before.offset);
        before = place;
      }
      const std::uint64_t all = elements * element_bytes;
      farthest = std::max(farthest, all - before.offset);
      const std::uint64_t wanted = std::min<std::uint64_t>(32 << 10, std::max<std::uint64_t>(256, all / 8192));
      CHECK(farthest <= 2 * wanted + 2 * element_bytes);
      const std::string bytes = index_bytes(index);
      result<record_index> read = read_index(bytes);
      REQUIRE(read.ok());
      CHECK(*read == index);
      CHECK(bytes.size() < 41'000 + all / 5'000);
    }
  const record_index packed = packed_index();
  result<record_index> read = read_index(index_bytes(packed));
  REQUIRE(read.ok());
  CHECK(*read == packed);
}

TEST_CASE("elements that become longer have places of their own") {
  index_builder builder;
  builder.begin(std::uint64_t{1} << 40);
  std::uint64_t at = 0, offset = 0, calls = 0;
  auto size_of = [](std::uint64_t i) { return i < 100'000 ? std::uint64_t{10} : std::uint64_t{1} << 20; };
  for (; at < 101'000; ++calls) {
    const std::uint64_t n = std::min<std::uint64_t>(101'000 - at, builder.until_next(at));
    // A reader stops at the end of its window.
    for (std::uint64_t i = 0, from = offset; i != n && offset - from < 256 << 10; ++i) offset += size_of(at++);
    builder.add(at, offset);
  }
  record_index index;
  builder.finish(101'000, index);
  CHECK(calls < 1'200);
  std::size_t of_large = 0;
  for (const index_place& p : index.places) of_large += p.element > 100'000;
  CHECK(of_large > 990);
}

TEST_CASE("a number of elements between two places that is given stays") {
  index_builder builder(16);
  builder.begin(1'600'000);
  CHECK(builder.until_next(5) == 11);
  for (std::uint64_t at = 16; at <= 1'600'000; at += 16) builder.add(at, at);
  record_index index;
  builder.finish(1'600'000, index);
  CHECK(index.places.size() == 99'999);
  CHECK(index.places[4] == index_place{80, 80});
}

TEST_CASE("an index with any byte changed, or cut off anywhere, is refused") {
  for (const record_index& index : {sample_index(300, 20), packed_index()}) {
    const std::string good = index_bytes(index);
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
    CHECK(read_index("sluice index\x01" + good.substr(13)).why().code() == status_code::failed_precondition);
  }
}

TEST_CASE("numbers that do not fit are refused under a right checksum") {
  const std::string good = index_bytes(packed_index());
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
      index_place before;
      for (const index_place& place : read->places) {
        CHECK((place.offset > before.offset && place.element > before.element));
        CHECK((place.offset <= read->plain_bytes && place.element < read->elements));
        before = place;
      }
      for (const seek_point& p : read->points)
        CHECK((p.in_bytes <= read->size_bytes && p.out_bytes <= read->plain_bytes && p.used_bits < 8));
    }
  CHECK(refused > 50);
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
