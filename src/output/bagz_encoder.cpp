// SPDX-License-Identifier: Apache-2.0
// Encodes records as a Bagz file: the records, then the end offset of each in 8 bytes. The offsets are kept until the end;
// a checkpoint has them as differences.
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "format/codec/zstd_frames.hpp"
#include "output/element_encoder.hpp"
#include "sluice/coro/position.hpp"

namespace sluice::lib {
namespace {

constexpr int kBagzLevel = 3;  // the default of the library of Bagz

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
      end_ += to.bytes.size() - before;
      limits_.push_back(end_);
      to.ends.push_back(to.bytes.size());
    }
    return {};
  }
  status end(encoded& to) override {
    static_assert(std::endian::native == std::endian::little);
    to.bytes.append(reinterpret_cast<const char*>(limits_.data()), limits_.size() * sizeof(std::uint64_t));
    to.ends.push_back(to.bytes.size());
    return {};
  }
  std::string save() const override {
    position_writer w;
    w.number(limits_.size());
    std::uint64_t before = 0;
    for (const std::uint64_t limit : limits_) w.number(limit - std::exchange(before, limit));
    return w.bytes();
  }
  status load(std::string_view bytes) override {
    position_reader r(bytes);
    const std::size_t n = r.count();
    limits_.reserve(n);
    for (std::size_t i = 0; i != n; ++i) limits_.push_back(end_ += r.number());
    return r.ok() && r.done() ? status() : damaged_position();
  }

 private:
  const element_type& type_;
  const bool packs_;
  zstd_frames frames_;
  std::vector<std::uint64_t> limits_;
  std::uint64_t end_ = 0;
};

}  // namespace

std::unique_ptr<element_encoder> make_bagz_encoder(const element_type& type, compression codec) {
  return std::make_unique<bagz_encoder>(type, codec == compression::zstd);
}

}  // namespace sluice::lib
