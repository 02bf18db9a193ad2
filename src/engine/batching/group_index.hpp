// SPDX-License-Identifier: Apache-2.0
// Finds the group of each element of a view by its key. Groups are numbers that the owner chooses.
//
//   group_index index(key_function);
//   status bad = index.look_at(view);                  // the error of the element after the last one that has a key
//   for (std::uint32_t i = 0; i != index.looked_at(); ++i)
//     if (index.group_of(i) == group_index::kNone) index.add(index.key_of(i), n);
//
// Keys that are single numbers have a table of their own; other keys are found by their codes.
// Thread: none; it belongs to its stage.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/number_table.hpp"
#include "expr/column_parts.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {

/// A key: its code, as a number if possible.
struct known_key {
  std::uint64_t number = 0;
  std::string code = {};

  friend bool operator<(const known_key& a, const known_key& b) {
    return a.number != b.number ? a.number < b.number : a.code < b.code;
  }
};

class group_index {
 public:
  static constexpr std::size_t kNone = number_table::kNone;

  explicit group_index(const key_function& key) : key_(key) {}

  /// Computes the keys of the elements of `view`, up to the first that fails. Returns its error, or ok.
  status look_at(const block& view);
  /// Does the same for rows of columns. REQUIRES: the key reads columns.
  status look_at(const column_view& rows);
  /// Declares that the view is gone.
  void forget_view() { looked_at_ = 0; }
  /// Returns the number of keys.
  std::uint32_t looked_at() const { return looked_at_; }
  bool has_numbers() const { return key_.is_number; }
  /// Returns the keys of the view. REQUIRES: has_numbers().
  const std::uint64_t* numbers() const {
    SLUICE_REQUIRES(has_numbers(), "the keys are no numbers");
    return numbers_.data();
  }
  /// Returns true if all keys of the view are equal, as far as this is known at a low cost.
  bool is_one_key() const;
  const number_table& by_number() const { return by_number_; }

  /// Returns the group of element i of the view.
  std::size_t group_of(std::uint32_t i) const {
    return key_.is_number ? by_number_.find(numbers_[i]) : group_of_code(codes_[i]);
  }
  known_key key_of(std::uint32_t i) const;
  /// REQUIRES: the key has no group.
  void add(const known_key& key, std::size_t group);
  void remove(const known_key& key);
  /// Returns the key's code, from which the key can be built.
  std::string code_of(const known_key& key) const;

 private:
  template <class Rows, class Numbers, class Codes> status look(const Rows& rows, Numbers numbers, Codes codes);
  std::size_t group_of_code(std::string_view code) const {
    auto at = by_code_.find(absl::string_view(code.data(), code.size()));
    return at == by_code_.end() ? kNone : at->second;
  }

  const key_function& key_;
  std::uint32_t looked_at_ = 0;
  std::vector<std::uint64_t> numbers_;
  key_codes codes_;
  number_table by_number_;
  absl::flat_hash_map<std::string, std::size_t> by_code_;
};

}  // namespace sluice::lib
