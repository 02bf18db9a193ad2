// SPDX-License-Identifier: Apache-2.0
#include "output/shard_names.hpp"

#include <catch2/catch.hpp>

namespace sluice::lib::shard_names_test {
using sluice::lib::shard_names;

namespace {

std::string name(const std::string& path, std::uint64_t shards, std::uint64_t shard) {
  return shard_names(path, shards).name(shard);
}

}  // namespace

TEST_CASE("a shard's number stands in front of the suffix") {
  CHECK(name("out.tfrecord", 4, 2) == "out-00002-of-00004.tfrecord");
  CHECK(name("a.b/out.tfrecord.gz", 4, 0) == "a.b/out-00000-of-00004.tfrecord.gz");
  CHECK(name("a.b/out", 4, 3) == "a.b/out-00003-of-00004");
  CHECK(name("out.gz", 2, 1) == "out-00001-of-00002.gz");
  CHECK(name(".hidden", 2, 1) == ".hidden-00001-of-00002");
  CHECK(name("d/.hidden.csv", 2, 1) == "d/.hidden-00001-of-00002.csv");
  CHECK(name("out.csv", 0, 7) == "out-00007.csv");
  CHECK(name("out.csv", 0, 1234567) == "out-1234567.csv");
}

TEST_CASE("a path may say itself where the numbers stand") {
  CHECK(name("{shard}/of-{shards}.csv", 12, 3) == "00003/of-00012.csv");
  CHECK(name("p{shard:03d}.csv", 0, 7) == "p007.csv");
  CHECK(name("p{shard:02d}of{shards:02d}.csv", 12, 7) == "p07of12.csv");
  CHECK(name("{shard}{x}{shard", 0, 1) == "00001{x}{shard");
  CHECK(shard_names::names_shards("a{shard:05d}b"));
  for (const char* path : {"plain", "{shards}", "{shard", "{shard:5d}", "{shard:0d}", "{shard:099d}"})
    CHECK_FALSE(shard_names::names_shards(path));
}

TEST_CASE("the number of shards can only be in a name where it is known") {
  CHECK(shard_names("a{shard}-{shards}", 3).check().ok());
  CHECK(shard_names("a{shard}", 0).check().ok());
  CHECK_FALSE(shard_names("a{shard}-{shards}", 0).check().ok());
}

}  // namespace sluice::lib::shard_names_test
