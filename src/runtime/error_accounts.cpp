// SPDX-License-Identifier: Apache-2.0
#include "runtime/error_accounts.hpp"

#include <algorithm>

#include "sluice/base/random.hpp"

namespace sluice::lib {

error_account* error_accounts::of(std::uint64_t key, std::string_view stage, std::uint64_t errors_max,
                                  error_account* around) {
  key = derive(derive(key, errors_max), around ? around->key : 0);
  std::lock_guard lock(mutex_);
  error_account*& found = by_key_[key];
  if (found) return found;
  auto made = std::make_unique<error_account>();
  made->key = key;
  made->stage = stage;
  made->errors_max = errors_max;
  made->around = around;
  if (made->has_limit()) have_limits_.store(true, std::memory_order_relaxed);
  found = made.get();
  all_.push_back(std::move(made));
  return found;
}

std::uint64_t error_accounts::room(const error_account* a) {
  std::uint64_t least = ~std::uint64_t{0};
  for (; a; a = a->around) least = std::min(least, a->errors_max - std::min(a->errors_max, a->counted));
  return least;
}

std::uint64_t error_accounts::most(const error_account* a) {
  std::uint64_t least = ~std::uint64_t{0};
  for (; a; a = a->around) least = std::min(least, a->errors_max);
  return least;
}

void error_accounts::count(error_account* a, std::uint64_t n) {
  if (a) a->own += n;
  for (; a; a = a->around) a->counted += n;
}

std::vector<stage_errors> error_accounts::report() const {
  std::lock_guard lock(mutex_);
  std::vector<stage_errors> told;
  for (const auto& a : all_)
    if (a->counted || a->has_limit()) told.push_back({a->stage, a->own, a->counted, a->errors_max});
  return told;
}

}  // namespace sluice::lib
