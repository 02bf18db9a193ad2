// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/field_types.hpp"

#include <catch2/catch.hpp>

#include <limits>

namespace sluice::lib::field_types_test {

TEST_CASE("sizes are read with units and printed with the largest that divides them") {
  std::int64_t bytes = 0;
  CHECK((read_byte_size("64MiB", bytes) && bytes == 64 << 20));
  CHECK((read_byte_size("1.5 KiB", bytes) && bytes == 1536));
  CHECK((read_byte_size("10kB", bytes) && bytes == 10000));
  CHECK((read_byte_size("9223372036854775807", bytes) && bytes == std::numeric_limits<std::int64_t>::max()));
  for (auto bad : {"", "MiB", "12 parsecs", "-5MiB", "99999999999TiB", "1e3"}) {
    INFO(bad);
    CHECK_FALSE(read_byte_size(bad, bytes));
  }
  CHECK(print_byte_size(64 << 20) == "64MiB");
  CHECK(print_byte_size(1025) == "1025");
  CHECK(print_byte_size(0) == "0");
}

}  // namespace sluice::lib::field_types_test
