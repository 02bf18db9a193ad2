// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <numeric>
#include <vector>

#include "sluice/format/fixed_length_scan.hpp"

namespace sluice::lib::fixed_length_test {

namespace {

struct outcome {
  std::vector<std::string> records;
  status why;
};

/// Reads `bytes` in windows; `sized`: the file's size is known beforehand.
outcome read(const fixed_length_layout& layout, const std::string& bytes, std::size_t window_bytes, bool sized) {
  outcome o;
  std::size_t at = 0, have = std::min(window_bytes, bytes.size());
  for (int guard = 0; guard < 100'000; ++guard) {
    std::string copy = bytes.substr(at, have);  // its own allocation, so that ASan sees a read beyond it
    fixed_length_window w;
    w.bytes = copy;
    w.offset = at;
    if (sized) w.end = bytes.size();
    w.last = at + have == bytes.size();
    std::string_view out[2];
    auto s = scan_fixed_length(layout, w, out, 2);
    for (std::size_t i = 0; i < s.records; ++i) o.records.emplace_back(out[i]);
    at += s.used_bytes;
    o.why = s.why;
    if (!s.why.ok() || (s.records < 2 && s.needed_bytes == 0)) return o;
    if (s.records < 2) REQUIRE(s.needed_bytes > have - s.used_bytes);
    have = std::min(std::max(window_bytes, s.needed_bytes), bytes.size() - at);
  }
  FAIL("no end");
  return o;
}

}  // namespace

TEST_CASE("records between a header and a footer are read with any windows") {
  std::string bytes(7 + 5 * 11 + 3, '\0');
  std::iota(bytes.begin(), bytes.end(), 'A');
  fixed_length_layout layout{5, 7, 3};
  for (bool sized : {true, false})
    for (std::size_t window : {1u, 4u, 8u, 20u, 1000u}) {
      CAPTURE(sized, window);
      auto o = read(layout, bytes, window, sized);
      REQUIRE(o.why.to_string() == "ok");
      REQUIRE(o.records.size() == 11);
      for (std::size_t i = 0; i < 11; ++i) REQUIRE(o.records[i] == bytes.substr(layout.offset_of(i), 5));
      REQUIRE(layout.records_in(bytes.size()) == 11);
    }
}

TEST_CASE("sizes whose sum does not fit into 64 bits ask for more, not for less") {
  constexpr std::uint64_t kHuge = ~std::uint64_t{0} - 2;
  for (auto layout : {fixed_length_layout{kHuge, 1, kHuge}, fixed_length_layout{kHuge, kHuge, 1}}) {
    std::string_view out[1];
    fixed_length_window w;
    w.bytes = "abcdef";
    auto s = scan_fixed_length(layout, w, out, 1);
    CHECK(s.records == 0);
    CHECK(s.needed_bytes > w.bytes.size());
    w.last = true;
    CHECK_FALSE(scan_fixed_length(layout, w, out, 1).why.ok());
  }
}

TEST_CASE("every size that is not whole is refused, with the numbers, before or after the whole records") {
  fixed_length_layout layout{5, 7, 3};
  for (std::size_t size = 0; size < 40; ++size)
    for (bool sized : {true, false}) {
      CAPTURE(size, sized);
      bool whole = size >= 10 && (size - 10) % 5 == 0;
      auto o = read(layout, std::string(size, 'x'), 16, sized);
      REQUIRE(o.why.ok() == whole);
      if (whole || (!sized && size > 10)) REQUIRE(o.records.size() == (size - 10) / 5);
      else REQUIRE(o.records.empty());
    }
  CHECK(layout.check(9).to_string() ==
        "invalid_argument: the file has 9 bytes, too few for a header of 7, records of 5 and a footer of 3 bytes");
  CHECK(layout.check(17).to_string() ==
        "invalid_argument: the file has 17 bytes: with a header of 7, records of 5 and a footer of 3 bytes, 2 are left "
        "over");
  CHECK(fixed_length_layout{0, 0, 0}.check(5).to_string() == "invalid_argument: records of 0 bytes cannot be read");
}

}  // namespace sluice::lib::fixed_length_test
