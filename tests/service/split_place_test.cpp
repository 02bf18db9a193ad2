// SPDX-License-Identifier: Apache-2.0
// The words for a split in the messages of consumers.
#include <catch2/catch.hpp>

#include "service/client/split_place.hpp"
#include "sluice/splits/split_plan.hpp"

namespace sluice::lib::split_place_test {

TEST_CASE("a split is named by its number and by what it reads") {
  plan_split s;
  CHECK(split_text(3, s.json()) == "split 3");
  s.first = 10;
  CHECK(split_text(3, s.json()) == "split 3 (elements from 10 on)");
  s.elements = 1;
  CHECK(split_text(3, s.json()) == "split 3 (element 10)");
  s.elements = 5;
  CHECK(split_text(3, s.json()) == "split 3 (elements 10 to 14)");
  s.items = {"\"a\""};
  s.round = 2;
  CHECK(split_text(3, s.json()) == "split 3 (\"a\", elements 10 to 14, round 2)");
  s = {};
  s.items = {"\"a\"", "\"b\""};
  CHECK(split_text(0, s.json()) == "split 0 (\"a\", \"b\")");
  s.items = {"1", "2", "3", "4"};
  CHECK(split_text(0, s.json()) == "split 0 (4 items from 1 to 4)");
  CHECK(split_text(1, R"({"shard":1,"shards":4})") == "split 1 (shard 1 of 4)");
  for (const char* other : {"", "x", "[]", "{}"}) CHECK(split_text(1, other) == "split 1");
}

}  // namespace sluice::lib::split_place_test
