// SPDX-License-Identifier: Apache-2.0
// output/encoders/mds_encoder.hpp
#include "output/encoders/mds_encoder.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "output/encoders/element_encoder.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::mds_encoder_test {
namespace {

struct sample {
  std::int32_t id;
  std::string name;
};

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t n = 0;
  std::memcpy(&n, bytes.data() + at, sizeof n);
  return n;
}

}  // namespace

TEST_CASE("a shard of MDS begins with the offsets of its samples in the file") {
  auto made = make_mds_encoder(type_of<sample>());
  REQUIRE(made.ok());
  const std::unique_ptr<element_encoder> encoder = std::move(*made);
  encoded shard;
  for (const sample& s : {sample{7, "a"}, sample{8, "bcd"}, sample{9, ""}})
    REQUIRE(encoder->append(reinterpret_cast<const char*>(&s), 1, shard).ok());
  REQUIRE(encoder->end(shard).ok());
  while (!encoder->has_ended()) {
    encoded more;
    REQUIRE(encoder->end(more).ok());
    shard.bytes += more.bytes;
  }
  // The number of samples, their 4 offsets, and the samples: the size of the text, the number, and the text.
  CHECK(number_at(shard.bytes, 0) == 3);
  const std::uint32_t begin = 4 * 5;
  std::uint32_t at = begin;
  std::size_t entry = 4;
  CHECK(number_at(shard.bytes, entry) == at);
  for (const std::string name : {"a", "bcd", ""}) {
    at += static_cast<std::uint32_t>(8 + name.size());
    CHECK(number_at(shard.bytes, entry += 4) == at);
    CHECK(shard.bytes.substr(at - name.size(), name.size()) == name);
  }
  CHECK(shard.bytes.size() == at);
}

}  // namespace sluice::lib::mds_encoder_test
