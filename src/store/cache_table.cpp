// SPDX-License-Identifier: Apache-2.0
#include "store/cache_table.hpp"

#include <algorithm>

namespace sluice::lib {

std::shared_ptr<cache_table> cache_table::of(runtime& rt) {
  static const char key = 0;
  return std::static_pointer_cast<cache_table>(rt.part(
      &key, [](runtime& here) -> std::shared_ptr<runtime_part> { return std::make_shared<cache_table>(here); }));
}

std::shared_ptr<element_cache> cache_table::find(const cache_share& call, const cache_key& key,
                                                 const element_type& type, std::string_view label, bool has_fixed_order,
                                                 const std::string& path) {
  std::vector<std::shared_ptr<element_cache>> dropped;  // destroyed without the lock
  mutex_lock lock(mutex_);
  std::shared_ptr<element_cache>& found = caches_[{&call, key}];
  if (found) return found;
  found = std::make_shared<element_cache>(type, memory_, label, has_fixed_order, path);
  std::shared_ptr<element_cache> made = found;
  for (auto at = caches_.lower_bound({&call, cache_key()}); at != caches_.end() && at->first.first == &call;) {
    cache_key other = at->first.second;
    other.seed = key.seed;
    // Only the table has it, and only this function shares it.
    const bool is_old = at->second != made && other == key && at->second.use_count() == 1;
    if (is_old) dropped.push_back(std::move(at->second));
    at = is_old ? caches_.erase(at) : std::next(at);
  }
  return made;
}

void cache_table::drop(const cache_share& call) noexcept {
  caches dropped;  // destroyed without the lock
  mutex_lock lock(mutex_);
  for (auto at = caches_.lower_bound({&call, cache_key()}); at != caches_.end() && at->first.first == &call;)
    dropped.insert(caches_.extract(at++));
}

cache_share::~cache_share() {
  for (const std::weak_ptr<cache_table>& known : tables_)
    if (std::shared_ptr<cache_table> table = known.lock()) table->drop(*this);
}

std::shared_ptr<element_cache> cache_share::find(runtime& rt, const cache_key& key, const element_type& type,
                                                 std::string_view label, bool has_fixed_order,
                                                 const std::string& path) const {
  std::shared_ptr<cache_table> table = cache_table::of(rt);
  {
    mutex_lock lock(mutex_);
    std::erase_if(tables_, [](const auto& known) { return known.expired(); });
    const bool is_known = std::ranges::any_of(tables_, [&](const auto& known) { return known.lock() == table; });
    if (!is_known) tables_.push_back(table);
  }
  return table->find(*this, key, type, label, has_fixed_order, path);
}

}  // namespace sluice::lib
