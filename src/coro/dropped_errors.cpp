// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/dropped_errors.hpp"

#include <memory>
#include <string>

namespace sluice::lib {

status on_worker(const status& why, std::string_view worker, std::string_view split) {
  std::string message(why.message());
  if (!worker.empty()) message.append(", on ").append(worker);
  message.append(", ").append(split);
  return why.with_message(message);
}

status dropped_error::placed() const { return on ? on_worker(why, worker(), split()) : why; }

std::string_view dropped_error::worker() const { return std::string_view(*on).substr(0, on->find('\n')); }

std::string_view dropped_error::split() const { return std::string_view(*on).substr(on->find('\n') + 1); }

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
