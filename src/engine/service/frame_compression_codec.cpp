// SPDX-License-Identifier: Apache-2.0
#include "engine/service/frame_compression_codec.hpp"

#include <cstddef>
#include <iterator>
#include <string_view>

namespace sluice::lib {
namespace {

constexpr std::string_view kFrameCompressions[] = {"automatic", "none", "zstd", "lz4"};

class frame_compression_codec final : public codec {
 public:
  void print(const void* field, printer& to) const override { names_.print(field, to); }
  void read(void* field, const argument& a, reading& r) const override {
    if (a.text == "auto") *static_cast<frame_compression*>(field) = frame_compression::automatic;
    else names_.read(field, a, r);
  }
  std::string check(const void* field) const override { return names_.check(field); }
  bool equal(const void* a, const void* b) const override { return names_.equal(a, b); }
  bool is_knob() const override { return true; }
  std::string type_name() const override { return names_.type_name(); }

 private:
  const codec& names_ = detail::enum_codec(kFrameCompressions, std::size(kFrameCompressions));
};

}  // namespace

template <> const codec& codec_of<frame_compression>() {
  static const frame_compression_codec c;
  return c;
}

}  // namespace sluice::lib
