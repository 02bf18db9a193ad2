// SPDX-License-Identifier: Apache-2.0
#include "engine/batching/group_index.hpp"

#include <utility>

#include "engine/batching/key_numbers.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib {

status group_index::look_at(const block& view) {
  applied a;
  if (key_.is_number) {
    if (numbers_.size() < view.size()) numbers_.resize(view.size());
    a = key_.numbers(view, numbers_.data());
  } else {
    codes_.clear();
    a = key_.codes(view, codes_);
  }
  looked_at_ = a.done;
  return std::move(a.why);
}

known_key group_index::key_of(std::uint32_t i) const {
  if (key_.is_number) return {numbers_[i]};
  return {0, std::string(codes_[i])};
}

void group_index::add(const known_key& key, std::size_t group) {
  SLUICE_REQUIRES(key_.is_number || !by_code_.contains(key.code), "the key has a group");
  if (key_.is_number) by_number_.add(key.number, group);
  else by_code_.emplace(key.code, group);
}

void group_index::remove(const known_key& key) {
  if (key_.is_number) by_number_.remove(key.number);
  else by_code_.erase(key.code);
}

std::string group_index::code_of(const known_key& key) const {
  return key_.is_number ? code_of_number(key.number, key_.out->size) : key.code;
}

}  // namespace sluice::lib
