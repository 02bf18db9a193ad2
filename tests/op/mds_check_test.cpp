// SPDX-License-Identifier: Apache-2.0
// op/mds/mds_check.hpp
#include "op/mds/mds_check.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace sluice::lib::mds_check_test {
namespace {

/// The SHA-1 of "abc", and that of other bytes.
const mds_hash kOfAbc{.name = "sha1", .value = "a9993e364706816aba3e25717850c26c9cd0d89d"};

}  // namespace

TEST_CASE("a shard whose digest differs from that of its index is damaged") {
  for (const std::string& bytes : {std::string("abc"), std::string("abd")}) {
    mds_check check(kOfAbc, bytes.size());
    check.add(0, bytes.substr(0, 1));
    CHECK(check.result().ok());
    check.add(1, bytes.substr(1));
    const status why = check.result();
    CHECK(why.ok() == (bytes == "abc"));
    if (!why.ok()) CHECK(why.code() == status_code::data_loss);
    CHECK_FALSE(check.is_open());
  }
}

TEST_CASE("a shard of which bytes are left out is not compared with its digest") {
  mds_check check(kOfAbc, 3);
  check.add(0, "a");
  check.add(2, "d");
  CHECK_FALSE(check.is_open());
  CHECK(check.result().ok());
}

}  // namespace sluice::lib::mds_check_test
