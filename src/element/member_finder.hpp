// SPDX-License-Identifier: Apache-2.0
// Finds the members of a structure by their names, for readers that get one name after another. Names mostly arrive in
// the order of the members, so the next member is compared first. If that fails often, a hash table is built: the time
// for all names of a text is proportional to their number, whatever their order.
//
//   member_finder members(t);
//   for (const auto& field : fields) k = members.find(field.key);     // t.members.size() if the name is unknown
//
// Thread: none.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "sluice/element/type.hpp"

namespace sluice::lib {

class member_finder {
 public:
  /// `t` must outlive this object.
  explicit member_finder(const element_type& t) : members_(t.members) {}

  /// Returns the first member of this name; members.size() if no member has it.
  std::size_t find(std::string_view name) {
    const std::size_t k = due_ < members_.size() && members_[due_].name == name ? due_ : search(name);
    if (k != members_.size()) due_ = k + 1;
    return k;
  }

 private:
  /// The number of names that are compared with all members before the table is built, which costs as much as some
  /// dozen such searches.
  static constexpr std::size_t kSearchesMax = 16;

  std::size_t search(std::string_view name) {
    std::size_t k = 0;
    if (searches_ < kSearchesMax) {
      ++searches_;
      while (k != members_.size() && members_[k].name != name) ++k;
      return k;
    }
    if (by_name_.empty())
      for (; k != members_.size(); ++k) by_name_.try_emplace(members_[k].name, k);
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? members_.size() : found->second;
  }

  const std::vector<member>& members_;
  std::size_t due_ = 0, searches_ = 0;
  absl::flat_hash_map<std::string_view, std::size_t> by_name_{};
};

}  // namespace sluice::lib
