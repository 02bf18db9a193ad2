// SPDX-License-Identifier: Apache-2.0
#include "base/byte_parts.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <cstdio>
#include <memory>
#include <string>

#include "base/files/system_calls.hpp"

namespace sluice::lib::byte_parts_test {

TEST_CASE("bytes in parts are the appended bytes in their order, and long ones are not copied") {
  const std::string first(byte_parts::kViewBytesMin, 'a'), second(byte_parts::kViewBytesMin + 1, 'b');
  const std::string almost(byte_parts::kViewBytesMin - 1, 'c');
  byte_parts one, all;
  CHECK(one.parts().empty());
  one.append(first);
  one.append(almost);
  one.append(second);
  one.own() += "end";
  all.own() += "begin";
  all.append(one);
  all.append(one);
  const std::string once = first + almost + second + "end";
  CHECK(all.joined() == "begin" + once + once);
  CHECK(all.size() == all.joined().size());
  const auto parts = one.parts();
  REQUIRE(parts.size() == 4);
  CHECK(parts[0].data() == first.data());
  CHECK(parts[2].data() == second.data());
  one.clear();
  CHECK(one.size() == 0);
}

TEST_CASE("a file gets all parts, more than one call of the system accepts, at their offset") {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  REQUIRE(file);
  std::vector<std::string> texts;
  for (int i = 0; i != 3000; ++i) texts.push_back(i % 7 == 0 ? "" : std::to_string(i));
  const std::vector<std::string_view> parts(texts.begin(), texts.end());
  std::string expected;
  for (std::string_view part : parts) expected += part;
  REQUIRE(write_parts_at(::fileno(file.get()), parts, 5) == static_cast<std::ptrdiff_t>(expected.size()));
  std::string read(expected.size() + 10, '?');
  REQUIRE(read_at(::fileno(file.get()), read.data(), read.size(), 0) ==
          static_cast<std::ptrdiff_t>(expected.size() + 5));
  CHECK(read.substr(0, 5) == std::string(5, '\0'));
  CHECK(read.substr(5, expected.size()) == expected);
  CHECK(write_parts_at(::fileno(file.get()), {}, 0) == 0);
  CHECK(write_parts_at(-1, {"a"}, 0) == -1);
}

}  // namespace sluice::lib::byte_parts_test
