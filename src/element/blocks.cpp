// SPDX-License-Identifier: Apache-2.0
#include "element/blocks.hpp"

namespace sluice::lib {

block tail_of(const block& whole, std::uint32_t first) {
  char* at = whole.at(first);
  slab* owner = whole.owner();
  if (owner->begin() < at) {
    auto passed = static_cast<std::uint32_t>(static_cast<std::size_t>(at - owner->begin()) / whole.type().size);
    block(owner, &whole.type(), owner->begin(), passed).drop_front(passed);
  }
  return {owner, &whole.type(), at, whole.size() - first};
}

}  // namespace sluice::lib
