// SPDX-License-Identifier: Apache-2.0
// The bytes of tar archives, for tests: written as POSIX says, and nothing of the reader's.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace sluice::lib::test {

struct tar_header {
  std::string name;
  std::uint64_t size = 0;
  char type = '0';
  std::string prefix = {};
  bool is_gnu = false;  ///< its magic word, and binary numbers
};

inline std::string tar_padded(std::string bytes) {
  bytes.resize((bytes.size() + 511) / 512 * 512, '\0');
  return bytes;
}

inline std::string tar_header_bytes(const tar_header& h) {
  std::string b(512, '\0');
  h.name.copy(b.data(), 100);
  std::memcpy(b.data() + 100, "0000644\0000001750\0000001750", 23);
  if (h.is_gnu) {
    b[124] = '\x80';
    for (int i = 0; i != 8; ++i) b[static_cast<std::size_t>(135 - i)] = static_cast<char>(h.size >> (8 * i));
  } else {
    std::snprintf(b.data() + 124, 12, "%011llo", static_cast<unsigned long long>(h.size));
  }
  std::memcpy(b.data() + 136, "14000000000", 11);
  b[156] = h.type;
  std::memcpy(b.data() + 257, h.is_gnu ? "ustar  \0" : "ustar\00000", 8);
  h.prefix.copy(b.data() + 345, 155);
  std::memset(b.data() + 148, ' ', 8);
  unsigned sum = 0;
  for (char c : b) sum += static_cast<unsigned char>(c);
  std::snprintf(b.data() + 148, 8, "%06o", sum);
  return b;
}

/// A header with its data behind it.
inline std::string tar_entry_bytes(tar_header h, std::string_view data) {
  h.size = data.size();
  return tar_header_bytes(h) + tar_padded(std::string(data));
}

inline std::string pax_record(std::string_view key, std::string_view value) {
  std::string rest = " " + std::string(key) + "=" + std::string(value) + "\n";
  std::size_t n = rest.size() + 1;
  while (std::to_string(n).size() + rest.size() != n) ++n;
  return std::to_string(n) + rest;
}

/// A file whose name is said by GNU's or pax's extended header, as `form` (0: neither) has it.
inline std::string tar_file_bytes(const std::string& name, std::string_view data, std::uint64_t form = 0) {
  if (form == 1)
    return tar_entry_bytes({.name = "././@LongLink", .type = 'L', .is_gnu = true}, name + std::string(1, '\0')) +
           tar_entry_bytes({.name = name.substr(0, 100), .is_gnu = true}, data);
  if (form == 2)
    return tar_entry_bytes({.name = "PaxHeader", .type = 'x'}, pax_record("mtime", "1.5") + pax_record("path", name)) +
           tar_entry_bytes({.name = name.substr(0, 100)}, data);
  return tar_entry_bytes({.name = name}, data);
}

inline std::string tar_end(std::size_t blocks = 2) { return std::string(512 * blocks, '\0'); }

}  // namespace sluice::lib::test
