// SPDX-License-Identifier: Apache-2.0
// Encodes records as a Bagz file: the records, then the end offset of each in 8 bytes. Until the end the sizes of the
// records are kept, one or two bytes for each record of up to 16 KiB; a checkpoint has them.
#include <bit>
#include <cstdint>
#include <deque>
#include <utility>

#include "format/codec/zstd_frames.hpp"
#include "output/encoders/element_encoder.hpp"
#include "sluice/coro/position.hpp"

namespace sluice::lib {
namespace {

constexpr int kBagzLevel = 3;  // the default of the library of Bagz
/// The bytes of sizes in one text, and so the unit in which the table grows and is written: 8 times as much at most.
constexpr std::size_t kSizesAtOnce = std::size_t{64} << 10;

class bagz_encoder final : public element_encoder {
 public:
  bagz_encoder(const element_type& type, bool packs) : type_(type), packs_(packs) {}

  status append(const char* elements, std::size_t n, encoded& to) override {
    for (std::size_t i = 0; i != n; ++i) {
      const std::string_view bytes = type_.text(elements + i * type_.size);
      const std::size_t before = to.bytes.size();
      // The library of Bagz writes no frame for a record without bytes.
      if (!packs_) to.bytes += bytes;
      else if (!bytes.empty())
        if (status why = frames_.deflate(bytes, kBagzLevel, to.bytes); !why.ok()) return why;
      keep(to.bytes.size() - before);
      to.ends.push_back(to.bytes.size());
    }
    return {};
  }
  /// Appends the limits that one text of sizes gives.
  status end(encoded& to) override {
    static_assert(std::endian::native == std::endian::little);
    if (!sizes_.empty()) {
      position_reader sizes(sizes_.front());
      while (!sizes.done()) {
        written_ += sizes.number();
        to.bytes.append(reinterpret_cast<const char*>(&written_), sizeof written_);
      }
      sizes_.pop_front();
    }
    to.ends.push_back(to.bytes.size());
    return {};
  }
  bool has_ended() const override { return sizes_.empty(); }
  std::size_t kept_bytes() const override { return sizes_.size() * kSizesAtOnce; }
  std::string save() const override {
    position_writer w;
    w.number(records_);
    for (const std::string& sizes : sizes_) w.raw(sizes.data(), sizes.size());
    return w.bytes();
  }
  status load(std::string_view bytes) override {
    position_reader r(bytes);
    const std::size_t n = r.count();
    for (std::size_t i = 0; i != n && r.ok(); ++i) keep(r.number());
    return r.ok() && r.done() ? status() : damaged_position();
  }

 private:
  void keep(std::uint64_t size) {
    constexpr std::size_t kNumberBytesMax = 10;
    if (sizes_.empty() || sizes_.back().size() + kNumberBytesMax > kSizesAtOnce)
      sizes_.emplace_back().reserve(kSizesAtOnce);
    std::string& to = sizes_.back();
    for (; size >= 128; size >>= 7) to.push_back(static_cast<char>(size | 128));  // as position_writer::number()
    to.push_back(static_cast<char>(size));
    ++records_;
  }

  const element_type& type_;
  const bool packs_;
  zstd_frames frames_;
  std::deque<std::string> sizes_;  ///< LEB128
  std::uint64_t records_ = 0;
  std::uint64_t written_ = 0;  ///< the last limit that end() has appended
};

}  // namespace

std::unique_ptr<element_encoder> make_bagz_encoder(const element_type& type, compression codec) {
  return std::make_unique<bagz_encoder>(type, codec == compression::zstd);
}

}  // namespace sluice::lib
