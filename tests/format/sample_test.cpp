// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "io/temporary_folder.hpp"
#include "sluice/base/crc32c.hpp"
#include "sluice/format/sample_records.hpp"
#include "sluice/format/tfrecord_frames.hpp"

namespace sluice::lib::sample_test {

namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Parses all records of a shard and checks each against its definition; returns how many there are.
std::uint64_t check_shard(const std::string& bytes, std::uint64_t seed, std::uint64_t first) {
  tfrecord_window w;
  w.last = true;
  std::string_view out[100];
  std::uint64_t i = first;
  for (std::size_t at = 0;;) {
    w.bytes = std::string_view(bytes).substr(at);
    auto scan = scan_tfrecords(w, out, 100);
    REQUIRE(scan.why.ok());
    for (std::size_t k = 0; k < scan.records; ++k, ++i) {
      sample_example got;
      auto want = make_sample_example(seed, i);
      REQUIRE(example_schema_of<sample_example>().parse(out[k], &got).ok());
      REQUIRE(got.text == want.text);
      REQUIRE(got.label == want.label);
      REQUIRE(got.values == want.values);
    }
    at += scan.used_bytes;
    if (scan.records < 100) return i - first;
  }
}

}  // namespace

TEST_CASE("the shards of a sample hold each of its records once, in order") {
  testing::temporary_folder folder;
  sample_options options{1003, 4, 11};
  std::uint64_t records = 0;
  for (std::uint32_t shard = 0; shard < options.shards; ++shard) {
    std::string path = folder.path(sample_shard_name(options, shard));
    REQUIRE(write_sample_shard(path, options, shard).ok());
    records += check_shard(bytes_of(path), options.seed, records);
  }
  CHECK(records == options.records);
  CHECK(sample_shard_name(options, 3) == "sample-00003-of-00004.tfrecord");
}

TEST_CASE("a shard of another sample is distinguished from the requested one") {
  testing::temporary_folder folder;
  sample_options options{1000, 4, 11};
  std::string path = folder.path("a");
  CHECK_FALSE(is_sample_shard(path, options, 1));
  REQUIRE(write_sample_shard(path, options, 1).ok());
  CHECK(is_sample_shard(path, options, 1));
  for (auto& [other, shard] : std::initializer_list<std::pair<sample_options, std::uint32_t>>{
           {{1000, 4, 11}, 2}, {{1000, 4, 12}, 1}, {{1001, 5, 11}, 1}, {{4000, 4, 11}, 1}, {{0, 4, 11}, 1}})
    CHECK_FALSE(is_sample_shard(path, other, shard));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  CHECK_FALSE(is_sample_shard(path, options, 1));
  std::filesystem::resize_file(path, 0);
  CHECK_FALSE(is_sample_shard(path, options, 1));
  CHECK(is_sample_shard(path, {0, 4, 11}, 1));
}

TEST_CASE("a sample's bytes are the same everywhere and always") {
  testing::temporary_folder folder;
  REQUIRE(write_sample_shard(folder.path("a"), {100, 1, 7}, 0).ok());
  std::string bytes = bytes_of(folder.path("a"));
  CHECK(bytes.size() == 18102);
  CHECK(crc32c(bytes) == 0x523b26de);
  CHECK(make_sample_example(7, 0).text != make_sample_example(8, 0).text);
}

TEST_CASE("records have their documented form") {
  float least = 1, most = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    auto e = make_sample_example(7, i);
    REQUIRE((e.text.size() >= 40 && e.text.size() <= 60));
    REQUIRE((e.label >= 0 && e.label < 1000));
    for (float v : e.values) {
      least = std::min(least, v);
      most = std::max(most, v);
    }
  }
  CHECK((least >= 0 && least < 0.01f));
  CHECK((most < 1 && most > 0.99f));
}

TEST_CASE("a shard that cannot be written is named and leaves nothing behind") {
  testing::temporary_folder folder;
  std::string path = folder.path("no/such/folder/a");
  CHECK(write_sample_shard(path, {10, 1, 7}, 0).to_string() ==
        "not_found: " + path + ": cannot create: the folder " + folder.path("no/such/folder") +
            " does not exist; create it: mkdir -p " + folder.path("no/such/folder"));
}

}  // namespace sluice::lib::sample_test
