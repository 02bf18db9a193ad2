// SPDX-License-Identifier: Apache-2.0
#include "engine/batching/group_index.hpp"

#include <utility>

#include "engine/batching/key_numbers.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib {

applied key_function::codes_of_rows(const column_view&, key_codes&) const {
  return {0, internal_error("this key reads no columns")};
}
applied key_function::numbers_of_rows(const column_view&, std::uint64_t*) const {
  return {0, internal_error("this key reads no columns")};
}

template <class Rows, class Numbers, class Codes>
status group_index::look(const Rows& rows, Numbers numbers, Codes codes) {
  applied a;
  if (key_.is_number) {
    if (numbers_.size() < rows.size()) numbers_.resize(rows.size());
    a = (key_.*numbers)(rows, numbers_.data());
  } else {
    codes_.clear();
    a = (key_.*codes)(rows, codes_);
  }
  looked_at_ = a.done;
  return std::move(a.why);
}

status group_index::look_at(const block& view) { return look(view, &key_function::numbers, &key_function::codes); }

status group_index::look_at(const column_view& rows) {
  return look(rows, &key_function::numbers_of_rows, &key_function::codes_of_rows);
}

bool group_index::is_one_key() const {
  if (!key_.is_number || looked_at_ == 0 || numbers_[looked_at_ - 1] != numbers_[0]) return false;
  std::uint64_t differences = 0;
  for (std::uint32_t i = 0; i != looked_at_; ++i) differences |= numbers_[i] ^ numbers_[0];
  return differences == 0;
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
