// SPDX-License-Identifier: Apache-2.0
// The bytes of zip archives, for tests: written as APPNOTE says, with zlib, and nothing of the reader's.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib::test {

inline std::string little(std::uint64_t n, int bytes) {
  std::string out;
  for (int i = 0; i != bytes; ++i) out += static_cast<char>(i < 8 ? n >> (8 * i) : 0);
  return out;
}

inline std::string raw_deflated(std::string_view plain) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, static_cast<uLong>(plain.size())), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  z.avail_in = static_cast<uInt>(plain.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

struct zip_file {
  std::string name;
  std::string bytes = {};
  bool is_deflated = false;
  bool is_64 = false;         ///< sizes and offset in zip64's extra field
  bool sizes_behind = false;  ///< zeros in front, and a data descriptor behind
  std::uint16_t flags = 0;
  std::uint16_t method = 0;  ///< not 0: this, over bytes as they are
  std::uint32_t attributes = 0;
  std::uint32_t crc_damage = 0;
  std::uint64_t size_damage = 0;   ///< added to the size in the directory
  std::int64_t packed_damage = 0;  ///< the same, of the packed size
  std::string name_in_front = {};
};

class zip_writer {
 public:
  explicit zip_writer(std::string in_front = {}) : archive_(std::move(in_front)), shift_(archive_.size()) {}

  zip_writer& add(const zip_file& f) {
    const std::string packed = f.is_deflated ? raw_deflated(f.bytes) : f.bytes;
    const std::uint16_t method = f.method ? f.method : f.is_deflated ? 8 : 0;
    const auto flags = static_cast<std::uint16_t>(f.flags | (f.sizes_behind ? 8 : 0));
    const std::uint64_t crc =
        ::crc32(0, reinterpret_cast<const Bytef*>(f.bytes.data()), static_cast<uInt>(f.bytes.size())) ^ f.crc_damage;
    const std::uint64_t plain = f.bytes.size() + f.size_damage, at = archive_.size() - shift_;
    const std::string front_name = f.name_in_front.empty() ? f.name : f.name_in_front;
    const std::string told =
        f.sizes_behind ? little(0, 12) : little(crc, 4) + little(packed.size(), 4) + little(plain, 4);
    archive_ += "PK\x03\x04" + little(20, 2) + little(flags, 2) + little(method, 2) + little(0, 4) + told +
                little(front_name.size(), 2) + little(5, 2) + front_name + little(0x7777, 2) + little(1, 2) + "x" +
                packed;
    if (f.sizes_behind) archive_ += "PK\x07\x08" + little(crc, 4) + little(packed.size(), 4) + little(plain, 4);
    const std::uint64_t told_packed = packed.size() + static_cast<std::uint64_t>(f.packed_damage);
    const std::string extra =
        f.is_64 ? little(1, 2) + little(24, 2) + little(plain, 8) + little(told_packed, 8) + little(at, 8)
                : std::string();
    directory_ += "PK\x01\x02" + little(3 << 8 | 20, 2) + little(20, 2) + little(flags, 2) + little(method, 2) +
                  little(0, 4) + little(crc, 4) + little(f.is_64 ? ~0u : told_packed, 4) +
                  little(f.is_64 ? ~0u : plain, 4) + little(f.name.size(), 2) + little(extra.size(), 2) + little(2, 2) +
                  little(0, 4) + little(f.attributes, 4) + little(f.is_64 ? ~0u : at, 4) + f.name + extra + "hi";
    ++entries_;
    return *this;
  }

  std::string bytes(std::string comment = {}, bool is_64 = false) const {
    const std::uint64_t at = archive_.size() - shift_;
    std::string out = archive_ + directory_;
    if (is_64)
      out += "PK\x06\x06" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) + little(entries_, 8) +
             little(entries_, 8) + little(directory_.size(), 8) + little(at, 8) + "PK\x06\x07" + little(0, 4) +
             little(at + directory_.size(), 8) + little(1, 4);
    return out + "PK\x05\x06" + little(0, 4) + little(is_64 ? 0xffff : entries_, 2) +
           little(is_64 ? 0xffff : entries_, 2) + little(is_64 ? ~0u : directory_.size(), 4) +
           little(is_64 ? ~0u : at, 4) + little(comment.size(), 2) + comment;
  }

 private:
  std::string archive_, directory_;
  std::size_t shift_;
  std::uint64_t entries_ = 0;
};

}  // namespace sluice::lib::test
