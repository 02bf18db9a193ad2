// SPDX-License-Identifier: Apache-2.0
#include "io/messages/credit_gate.hpp"

namespace sluice::lib {

void credit_gate::give(std::size_t bytes) noexcept {
  detail::waking_lock lock(mutex_);
  const auto most = static_cast<std::uint64_t>(total_ - available_);
  available_ += static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, most));
  admit(lock.woken);
}

void credit_gate::close() noexcept {
  detail::waking_lock lock(mutex_);
  closed_ = true;
  while (auto* w = static_cast<take_awaiter*>(waiting_.front())) w->wake_into(lock.woken);
}

void credit_gate::admit(detail::wake_list& woken) noexcept {
  while (auto* w = static_cast<take_awaiter*>(waiting_.front())) {
    if (!fits(w->bytes_)) return;
    available_ -= w->bytes_;
    w->taken_ = true;
    w->wake_into(woken);
  }
}

detail::attempt credit_gate::take_awaiter::attempt_now() {
  if (gate_.closed_) return detail::attempt::done;
  if (!gate_.waiting_.empty() || !gate_.fits(bytes_)) return detail::attempt::pending;
  gate_.available_ -= bytes_;
  taken_ = true;
  return detail::attempt::done;
}

}  // namespace sluice::lib
