// SPDX-License-Identifier: Apache-2.0
// Finds the slots of a schema by the names of their features. Up to kSlotsCompared keys are compared one by one. More
// slots have a hash table, so that a record of 100,000 features is read in time proportional to its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <absl/hash/hash.h>

#include "sluice/format/example_schema.hpp"

namespace sluice::lib::detail {

/// The largest number of slots that have no table.
inline constexpr std::size_t kSlotsCompared = 32;

/// The numbers of the slots. Each is at the place given by its name's hash, or at the next free one; free places have
/// slots.size().
template <class Slot> std::vector<std::uint32_t> feature_table_of(const std::vector<Slot>& slots) {
  std::vector<std::uint32_t> table;
  if (slots.size() <= kSlotsCompared) return table;
  std::size_t places = 64;
  while (places < 2 * slots.size()) places *= 2;
  table.assign(places, static_cast<std::uint32_t>(slots.size()));
  for (std::size_t i = 0; i != slots.size(); ++i) {
    std::size_t at = absl::Hash<std::string_view>()(slots[i].name) % places;
    while (table[at] != slots.size()) at = (at + 1) % places;
    table[at] = static_cast<std::uint32_t>(i);
  }
  return table;
}

/// Returns the first slot of this name; slots.size() if there is none.
template <class Slot>
std::size_t find_feature(const std::vector<Slot>& slots, const std::vector<feature_key>& keys,
                         const std::vector<std::uint32_t>& table, std::string_view name,
                         const feature_key& key) noexcept {
  auto is_it = [&](std::size_t i) { return keys[i] == key && (!key.is_long() || slots[i].name == name); };
  std::size_t i = 0;
  if (table.empty()) {
    while (i != slots.size() && !is_it(i)) ++i;
    return i;
  }
  std::size_t at = absl::Hash<std::string_view>()(name) & (table.size() - 1);
  while ((i = table[at]) != slots.size() && !is_it(i)) at = (at + 1) & (table.size() - 1);
  return i;
}

}  // namespace sluice::lib::detail
