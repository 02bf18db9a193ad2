// SPDX-License-Identifier: Apache-2.0
#include "output/output_place.hpp"

#include <catch2/catch.hpp>

#include "sluice/coro/position.hpp"

namespace sluice::lib::output_place_test {

namespace {

output_place some_place() {
  output_place p{.format = "npy",
                 .compression = "none",
                 .path = "out.npy",
                 .shards = 2,
                 .elements = 77,
                 .first_shard = 3,
                 .files = {}};
  p.files.push_back({.device = 1,
                     .inode = 2,
                     .length_bytes = 300,
                     .head_bytes = 128,
                     .has_whole_crc = true,
                     .whole_crc = 4,
                     .tail_crc = 5,
                     .plain_bytes = 600,
                     .encoder = "state"});
  p.files.push_back({});
  return p;
}

}  // namespace

TEST_CASE("the place of an output is read as it was written") {
  const std::string bytes = to_bytes(some_place());
  output_place read;
  REQUIRE(read_place(bytes, read).ok());
  CHECK(to_bytes(read) == bytes);
  CHECK(read.files.size() == 2);
  CHECK(read.files[0].encoder == "state");
  CHECK(read.files[0].is_file());
  CHECK_FALSE(read.files[1].is_file());
  CHECK(read_place("", read).ok());
  CHECK(read.empty());
  CHECK(to_bytes(read).empty());
}

TEST_CASE("the place of an output that is cut short, or has bytes too many, is refused") {
  const std::string bytes = to_bytes(some_place());
  output_place read;
  for (std::size_t n = 1; n != bytes.size(); ++n) CHECK_FALSE(read_place(bytes.substr(0, n), read).ok());
  CHECK(read_place(bytes + "x", read).code() == status_code::data_loss);
  output_place wrong = some_place();
  wrong.files[0].head_bytes = 301;
  CHECK(read_place(to_bytes(wrong), read).code() == status_code::data_loss);
  position_writer other;
  other.number(1);
  CHECK(read_place(other.bytes(), read).code() == status_code::failed_precondition);
}

}  // namespace sluice::lib::output_place_test
