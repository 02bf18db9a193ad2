// SPDX-License-Identifier: Apache-2.0
// What the cases of group_by_window and its tests share.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::group_by_window_case {

using namespace test;
using int64 = std::int64_t;

/// A group, or a batch of one, as one number.
inline int64 folded(const int64s& group) {
  int64 all = static_cast<int64>(group.size());
  for (int64 x : group) all = number_of(all, x);
  return all;
}

inline int64 folded_batch(const batched<int64>& b) { return folded(int64s(b.values().begin(), b.values().end())); }

/// The groups as they leave, by the words of the contract. `size`: of a key's groups.
template <class K, class Key, class Size>
std::vector<std::pair<K, int64s>> groups_of(const int64s& in, Key key, Size size) {
  std::vector<std::pair<K, int64s>> out;
  std::map<K, int64s> groups;
  for (int64 x : in) {
    K k = key(x);
    groups[k].push_back(x);
    if (static_cast<int64>(groups[k].size()) != size(k)) continue;
    out.emplace_back(k, groups[k]);
    groups.erase(k);
  }
  for (auto& group : groups) out.push_back(group);
  return out;
}

}  // namespace sluice::lib::group_by_window_case
