// SPDX-License-Identifier: Apache-2.0
// The caches of a runtime: found again by the cache() call that they belong to, and by what determines their elements.
//
//   std::shared_ptr<element_cache> cache = share.find(rt, key, *n.type, "cache", has_fixed_order, "");
//
// A cache_share belongs to one call of cache() in a plan. All plans and runs that contain the call share it. When the last
// of them is gone, its caches are destroyed; those of a runtime also end with the runtime. A stream that reads a cache
// shares its ownership.
// Thread: any.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/base/mutex.hpp"
#include "sluice/runtime/runtime.hpp"
#include "store/element_cache.hpp"

namespace sluice::lib {

/// What determines the elements of a cache, besides the functions of the plan, which the call's own plan has.
struct cache_key {
  std::uint64_t plan = 0;  ///< the fingerprint of the input, as it runs
  const element_type* type = nullptr;
  /// Where the input draws: the combines and inner plans around it, and their elements. 0 if it draws nothing.
  std::uint64_t drawn_in = 0;
  std::uint64_t seed = 0;      ///< the run's; 0 if the input draws nothing
  std::uint64_t settings = 0;  ///< the run's error policy and order
  auto operator<=>(const cache_key&) const = default;
};

class cache_share;

/// The caches of one runtime.
class cache_table final : public runtime_part {
 public:
  explicit cache_table(runtime& rt) : memory_(std::make_shared<cache_memory>(rt.shared_ledger())) {}
  static std::shared_ptr<cache_table> of(runtime& rt);

  std::shared_ptr<element_cache> find(const cache_share& call, const cache_key& key, const element_type& type,
                                      std::string_view label, bool has_fixed_order, const std::string& path);
  void drop(const cache_share& call) noexcept;

 private:
  using caches = std::map<std::pair<const cache_share*, cache_key>, std::shared_ptr<element_cache>>;

  const std::shared_ptr<cache_memory> memory_;
  mutex mutex_;
  caches caches_ ABSL_GUARDED_BY(mutex_);
};

class cache_share {
 public:
  cache_share() = default;
  cache_share(const cache_share&) = delete;
  ~cache_share();

  /// Returns the cache of this key on this runtime; an empty one at the first call. A cache of the same call that only
  /// differs in its seed is destroyed then, unless a stream reads it.
  std::shared_ptr<element_cache> find(runtime& rt, const cache_key& key, const element_type& type,
                                      std::string_view label, bool has_fixed_order, const std::string& path) const;

 private:
  mutable mutex mutex_;
  mutable std::vector<std::weak_ptr<cache_table>> tables_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib
