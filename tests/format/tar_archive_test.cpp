// SPDX-License-Identifier: Apache-2.0
// src/format/archive/tar_archive.hpp
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include "format/archive/tar_archive.hpp"
#include "support/bytes/tar_bytes.hpp"

namespace sluice::lib::tar_archive_test {

using namespace test;

TEST_CASE("tar headers of any bytes end in an error or in files") {
  std::uint64_t draw = 88172645463325252ull;
  auto next = [&] {
    draw ^= draw << 13;
    draw ^= draw >> 7;
    return draw ^= draw << 17;
  };
  const std::string sound = tar_file_bytes(std::string(200, 'n'), std::string(700, 'd'), 1) +
                            tar_file_bytes(std::string(120, 'p'), "p", 2) + tar_file_bytes("s", "s") + tar_end();
  for (int trial = 0; trial != 4000; ++trial) {
    std::string bytes = sound;
    for (auto n = 1 + next() % 3; n != 0; --n) {
      const std::size_t at = next() % bytes.size();
      bytes[at] = static_cast<char>(next());
      // With a checksum that is right again, in half of the trials.
      const std::size_t header = at / 512 * 512;
      if (next() % 2 == 0) continue;
      std::memset(bytes.data() + header + 148, ' ', 8);
      unsigned sum = 0;
      for (std::size_t i = 0; i != 512; ++i) sum += static_cast<unsigned char>(bytes[header + i]);
      std::snprintf(bytes.data() + header + 148, 8, "%06o", sum);
    }
    bytes.resize(next() % 4 ? bytes.size() : next() % bytes.size());
    const tar_window w{.bytes = bytes, .end = bytes.size(), .offset = 0, .last = true};
    std::size_t at = 0;
    while (at <= bytes.size()) {
      tar_step whole = read_tar_entry(w, at, true), header = read_tar_entry(w, at, false);
      REQUIRE(whole.is != tar_step::kind::incomplete);
      CHECK(whole.is == header.is);
      CHECK(whole.size_bytes == header.size_bytes);
      // The same of a part of the window, as soon as it has what is wanted.
      tar_window part{.bytes = std::string_view(bytes).substr(0, at), .end = bytes.size(), .offset = 0, .last = false};
      for (tar_step s = read_tar_entry(part, at, true); s.is == tar_step::kind::incomplete;
           s = read_tar_entry(part, at, true)) {
        REQUIRE(at + s.needed_bytes > part.bytes.size());
        REQUIRE(at + s.needed_bytes <= bytes.size());
        part.bytes = std::string_view(bytes).substr(0, at + s.needed_bytes);
      }
      CHECK(read_tar_entry(part, at, true).is == whole.is);
      if (whole.is != tar_step::kind::entry) break;
      REQUIRE(whole.size_bytes >= 512);
      if (whole.entry.is_file) REQUIRE(whole.entry.data_at + whole.entry.data_bytes <= bytes.size());
      at += static_cast<std::size_t>(whole.size_bytes);
    }
  }
}

}  // namespace sluice::lib::tar_archive_test
