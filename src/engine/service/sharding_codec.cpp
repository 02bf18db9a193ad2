// SPDX-License-Identifier: Apache-2.0
#include "engine/service/sharding_codec.hpp"

#include <cstddef>
#include <iterator>
#include <string_view>

namespace sluice::lib {
namespace {

constexpr std::string_view kModes[] = {"off", "dynamic", "file", "data", "file_or_data", "hint"};

/// Reads "parallel_epochs" and "distributed_epoch", tf.data's processing modes. They are printed as off and dynamic.
class sharding_codec final : public codec {
 public:
  void print(const void* field, printer& to) const override { names_.print(field, to); }
  void read(void* field, const argument& a, reading& r) const override {
    auto& mode = *static_cast<sharding*>(field);
    if (a.text == "parallel_epochs") mode = sharding::off;
    else if (a.text == "distributed_epoch") mode = sharding::dynamic;
    else names_.read(field, a, r);
  }
  std::string check(const void* field) const override { return names_.check(field); }
  bool equal(const void* a, const void* b) const override { return names_.equal(a, b); }
  std::string type_name() const override { return names_.type_name(); }

 private:
  const codec& names_ = detail::enum_codec(kModes, std::size(kModes));
};

}  // namespace

std::string_view mode_name(sharding mode) { return kModes[static_cast<std::size_t>(mode)]; }

template <> const codec& codec_of<sharding>() {
  static const sharding_codec c;
  return c;
}

}  // namespace sluice::lib
