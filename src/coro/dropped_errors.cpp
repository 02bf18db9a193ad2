// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/dropped_errors.hpp"

#include <memory>

namespace sluice::lib {

void dropped_errors::add(dropped_error e, std::size_t kept_apart) {
  if (!list_) {
    auto made = std::make_unique<std::vector<dropped_error>>();
    made->push_back(std::move(e));
    list_ = made.release();
    return;
  }
  // After the first ones each account has at most one entry, and a plan has few accounts.
  for (std::size_t i = list_->size(); i != 0 && i >= kept_apart; --i) {
    dropped_error& last = (*list_)[i - 1];
    if (last.account != e.account) continue;
    last.times += e.times;
    return;
  }
  list_->push_back(std::move(e));
}

std::size_t dropped_errors::size() const noexcept { return list_ ? list_->size() : 0; }

void dropped_errors::destroy() noexcept { delete std::exchange(list_, nullptr); }

}  // namespace sluice::lib
