// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <random>
#include <vector>

#include "sluice/base/crc32c.hpp"
#include "sluice/format/tfrecord_frames.hpp"

namespace sluice::lib::tfrecord_test {

namespace {

std::vector<std::string> random_records(unsigned seed, std::size_t count, std::size_t size_max) {
  std::mt19937_64 random(seed);
  std::vector<std::string> records(count);
  for (auto& r : records) {
    r.resize(random() % (size_max + 1));
    for (auto& c : r) c = static_cast<char>(random());
  }
  return records;
}

std::string file_of(const std::vector<std::string>& records) {
  std::string bytes;
  for (auto& r : records) append_tfrecord(bytes, r);
  return bytes;
}

tfrecord_window whole_file(std::string_view bytes) {
  tfrecord_window w;
  w.bytes = bytes;
  w.end = bytes.size();
  w.last = true;
  return w;
}

/// One record as written, then `edit`ed; scanned as a whole file.
template <class Edit> tfrecord_scan scan_edited(std::string data, Edit edit) {
  std::string bytes;
  append_tfrecord(bytes, "first");
  append_tfrecord(bytes, data);
  edit(bytes);
  std::string_view out[4];
  auto scan = scan_tfrecords(whole_file(bytes), out, 4);
  CHECK(scan.records == 1);
  CHECK(scan.used_bytes == 21);
  return scan;
}

void store_length(std::string& bytes, std::size_t at, std::uint64_t length) {
  auto header = tfrecord_header(length);
  bytes.replace(at, header.size(), header.data(), header.size());
}

/// Slow, plain CRC-32C, bit by bit.
std::uint32_t reference_crc(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (unsigned char b : bytes) {
    crc ^= b;
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
  }
  return ~crc;
}

}  // namespace

TEST_CASE("CRC-32C agrees with RFC 3720's vectors and with the bitwise definition at every length") {
  CHECK(crc32c("") == 0);
  CHECK(crc32c("123456789") == 0xe3069283);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  std::string bytes = file_of(random_records(1, 20, 100));
  for (std::size_t n = 0; n <= 700; ++n)
    REQUIRE(crc32c({bytes.data() + n % 5, n}) == reference_crc({bytes.data() + n % 5, n}));
}

TEST_CASE("a CRC continues over pieces and a mask comes off again") {
  std::string bytes(1000, 'x');
  for (std::size_t cut : {0u, 1u, 8u, 255u, 256u, 999u, 1000u})
    CHECK(crc32c(std::string_view(bytes).substr(cut), crc32c({bytes.data(), cut})) == crc32c(bytes));
  CHECK(unmask_crc(mask_crc(0x12345678)) == 0x12345678);
}

TEST_CASE("records are read with any windows") {
  auto records = random_records(2, 200, 400);
  records[7].clear();
  std::string bytes = file_of(records);
  for (std::size_t window_bytes : {16u, 17u, 100u, 416u, 4096u, 1u << 20}) {
    CAPTURE(window_bytes);
    std::vector<std::string> got;
    std::size_t at = 0, have = window_bytes;
    while (true) {
      tfrecord_window w;
      w.bytes = std::string_view(bytes).substr(at, have);
      w.offset = at;
      w.last = at + have >= bytes.size();
      std::string_view out[3];
      auto scan = scan_tfrecords(w, out, 3);
      REQUIRE(scan.why.ok());
      for (std::size_t i = 0; i < scan.records; ++i) got.emplace_back(out[i]);
      at += scan.used_bytes;
      have = std::max(window_bytes, scan.needed_bytes);
      if (scan.records < 3 && scan.needed_bytes == 0) break;
    }
    REQUIRE(got == records);
    REQUIRE(at == bytes.size());
  }
}

TEST_CASE("records cut from a buffer share its bytes and count one reference each") {
  auto records = random_records(3, 50, 100);
  std::string bytes = file_of(records);
  buffer_ref owner(buffer::make(bytes.size()));
  bytes.copy(owner->data(), bytes.size());
  {
    alignas(record) char room[64 * sizeof(record)];
    auto* out = reinterpret_cast<record*>(room);
    auto scan = scan_tfrecords(whole_file({owner->data(), bytes.size()}), *owner.get(), out, 64);
    REQUIRE(scan.records == 50);
    CHECK_FALSE(owner->unshared());
    for (std::size_t i = 0; i < 50; ++i) CHECK(out[i].view() == records[i]);
    record::sluice_destroy(out, 50);
  }
  CHECK(owner->unshared());
}

TEST_CASE("skipping records reads headers only and moves beyond the window") {
  auto records = random_records(4, 30, 400);
  std::string bytes = file_of(records);
  std::size_t tenth = 0;
  for (std::size_t i = 0; i < 10; ++i) tenth += records[i].size() + kTfrecordFramingBytes;
  bytes[12] ^= 1;  // data that are not looked at
  auto scan = pass_over_tfrecords(whole_file(bytes), 10);
  CHECK(scan.records == 10);
  CHECK(scan.used_bytes == tenth);

  tfrecord_window header_only;
  header_only.bytes = std::string_view(bytes).substr(0, kTfrecordHeaderBytes);
  header_only.end = bytes.size();
  auto leap = pass_over_tfrecords(header_only, 10);
  CHECK(leap.records == 1);
  CHECK(leap.used_bytes == records[0].size() + kTfrecordFramingBytes);
  CHECK(leap.needed_bytes == kTfrecordHeaderBytes);

  header_only.end = provenance::kUnknown;  // a compressed stream cannot be leapt in
  auto stay = pass_over_tfrecords(header_only, 10);
  CHECK(stay.records == 0);
  CHECK(stay.needed_bytes == records[0].size() + kTfrecordFramingBytes);
}

TEST_CASE("an empty file has no records and no error") {
  std::string_view out[1];
  auto scan = scan_tfrecords(whole_file(""), out, 1);
  CHECK(scan.records == 0);
  CHECK(scan.needed_bytes == 0);
  CHECK(scan.why.ok());
}

TEST_CASE(
    "kinds of damage are distinguished: truncated header, truncated data, crc of the length, crc of the data, absurd "
    "length") {
  auto cut_header = scan_edited("second", [](std::string& b) { b.resize(21 + 5); });
  CHECK(cut_header.why.to_string() == "data_loss: the file ends 5 bytes into a record's header of 12: it is truncated");
  auto cut_data = scan_edited("second", [](std::string& b) { b.resize(21 + 12 + 4); });
  CHECK(cut_data.why.to_string() ==
        "data_loss: the record claims 6 bytes of data and a crc of 4, but the file ends 4 bytes after its header: it "
        "is truncated");
  auto cut_footer = scan_edited("second", [](std::string& b) { b.pop_back(); });
  CHECK(cut_footer.why.message().find("the file ends 9 bytes after its header") != std::string_view::npos);
  auto bad_length = scan_edited("second", [](std::string& b) { b[21] ^= 1; });
  CHECK(bad_length.why.to_string() ==
        "data_loss: the crc of the length is 0x7671b78e, but 0x3f4dcaa9 was stored: the record is damaged");
  CHECK(bad_length.damaged_bytes == 0);
  auto bad_data = scan_edited("second", [](std::string& b) { b[21 + 12] ^= 0x40; });
  CHECK(bad_data.why.message().substr(0, 24) == "the crc of the data is 0");
  CHECK(bad_data.damaged_bytes == 22);
  auto absurd = scan_edited("second", [](std::string& b) { store_length(b, 21, 1ull << 63); });
  CHECK(absurd.why.to_string() ==
        "data_loss: the record claims 9223372036854775808 bytes of data and a crc of 4, but the "
        "file ends 10 bytes after its header: it is truncated");
}

TEST_CASE("a length over the limit is refused even where the end of the file is unknown") {
  std::string bytes;
  append_tfrecord(bytes, "x");
  for (std::uint64_t length : {(1ull << 31) + 1, 1ull << 63, ~0ull}) {
    store_length(bytes, 0, length);
    tfrecord_window w;
    w.bytes = bytes;
    std::string_view out[1];
    auto scan = scan_tfrecords(w, out, 1);
    CHECK(scan.needed_bytes == 0);
    CHECK(scan.why.message() ==
          "the record claims " + std::to_string(length) + " bytes of data, more than the limit of 2147483648");
  }
}

TEST_CASE(
    "a file cut at any byte gives the whole records before the cut, then an error unless the cut is between records") {
  auto records = random_records(5, 12, 60);
  std::string bytes = file_of(records);
  std::size_t record_end = 0, index = 0;
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    while (index < records.size() && record_end + records[index].size() + 16 <= cut)
      record_end += records[index++].size() + 16;
    std::string copy = bytes.substr(0, cut);  // its own allocation, so that ASan sees a read beyond it
    std::string_view out[32];
    auto scan = scan_tfrecords(whole_file(copy), out, 32);
    REQUIRE(scan.records == index);
    REQUIRE(scan.used_bytes == record_end);
    REQUIRE(scan.why.ok() == (cut == record_end));
  }
}

TEST_CASE(
    "every flipped bit is an error at its record; the records before it are sound, and the search finds the next") {
  auto records = random_records(6, 6, 40);
  std::string bytes = file_of(records);
  std::size_t start = 0;
  for (std::size_t r = 0; r < records.size(); ++r) {
    std::size_t end = start + records[r].size() + 16;
    for (std::size_t bit = start * 8; bit < end * 8; ++bit) {
      std::string copy = bytes;
      copy[bit / 8] ^= static_cast<char>(1 << bit % 8);
      std::string_view out[8];
      auto scan = scan_tfrecords(whole_file(copy), out, 8);
      REQUIRE(scan.records == r);
      REQUIRE(scan.used_bytes == start);
      REQUIRE(scan.why.code() == status_code::data_loss);
      std::size_t next = scan.damaged_bytes ? start + scan.damaged_bytes : find_tfrecord(whole_file(copy), start + 1);
      REQUIRE(next == (r + 1 < records.size() || scan.damaged_bytes ? end : std::string_view::npos));
    }
    start = end;
  }
}

TEST_CASE("the search skips headers that only look valid") {
  std::string bytes(5, 'x');
  auto lure = tfrecord_header(1ull << 40);  // a sound header whose record cannot be in this file
  bytes.append(lure.data(), lure.size()).append("junk");
  std::size_t at = bytes.size();
  append_tfrecord(bytes, "here");
  CHECK(find_tfrecord(whole_file(bytes), 0) == at);
  CHECK(find_tfrecord(whole_file(bytes), at + 1) == std::string_view::npos);
}

TEST_CASE("the search finds a record whose data are damaged, whether or not the window shows them") {
  std::string bytes(5, 'x');
  append_tfrecord(bytes, "damaged");
  bytes[5 + kTfrecordHeaderBytes] ^= 1;
  for (std::size_t shown = 5 + kTfrecordHeaderBytes; shown <= bytes.size(); ++shown) {
    tfrecord_window w;
    w.bytes = std::string_view(bytes).substr(0, shown);
    w.end = bytes.size();
    CHECK(find_tfrecord(w, 0) == 5);
  }
}

}  // namespace sluice::lib::tfrecord_test
