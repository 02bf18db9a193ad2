// SPDX-License-Identifier: Apache-2.0
#include "io/http/connections/connection_pool.hpp"

#include <algorithm>
#include <utility>

namespace sluice::lib::detail {
namespace {

/// The lifetime of resolved addresses. A pool resolves the name again after a minute, and when no address has answered.
constexpr duration kAddressesKept = std::chrono::seconds(60);

}  // namespace

connection_pool::connection_pool(network& net, clock& time, http_url to, duration connect_timeout,
                                 std::shared_ptr<secure_layer> secure)
    : net_(net),
      time_(time),
      to_(std::move(to)),
      connect_timeout_(connect_timeout),
      secure_(std::move(secure)),
      idle_(std::make_shared<idle_connections>(time)),
      asking_(time, 1, 1) {}

bool connection_pool::find_addresses(std::vector<std::string>& found) const {
  mutex_lock lock(mutex_);
  if (addresses_.empty() || time_.now() >= known_until_) return false;
  found = addresses_;
  return true;
}

task<std::vector<std::string>> connection_pool::addresses(time_point deadline) {
  std::vector<std::string> found;
  if (find_addresses(found)) co_return found;
  // A thousand requests that begin together resolve the name once.
  auto permit = co_await asking_.acquire();
  if (find_addresses(found)) co_return found;
  const time_point until = std::min(deadline, time_.now() + connect_timeout_);
  auto asking = net_.resolve(to_.address(), until);
  auto resolved = co_await asking.as_result();
  if (!resolved.ok()) {
    // Unless the caller's own deadline has passed, the server is unavailable, and has not been late.
    const bool is_late = resolved.why().code() == status_code::deadline_exceeded && until != deadline;
    status why = is_late ? unavailable_error(resolved.why().message()) : resolved.why();
    co_await fail(std::move(why));
  }
  found = *std::move(resolved);
  mutex_lock lock(mutex_);
  addresses_ = found;
  silent_.clear();
  known_until_ = time_.now() + kAddressesKept;
  co_return found;
}

task<std::unique_ptr<connection>> connection_pool::connect(time_point deadline) {
  auto asking = addresses(deadline);
  std::vector<std::string> all = co_await asking;
  if (!all.empty())
    std::rotate(all.begin(),
                all.begin() + static_cast<std::ptrdiff_t>(next_.fetch_add(1, std::memory_order_relaxed) % all.size()),
                all.end());
  {
    // An address that swallows packets would cost each connection the whole connect timeout. Such addresses are tried
    // last.
    std::vector<std::string> silent;
    mutex_lock lock(mutex_);
    std::erase_if(all, [&](const std::string& a) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return silent_.contains(a) && (silent.push_back(a), true);
    });
    all.insert(all.end(), silent.begin(), silent.end());
  }
  status why = unavailable_error("the name has no address");
  for (const std::string& address : all) {
    const time_point until = std::min(deadline, time_.now() + connect_timeout_);
    connects_.fetch_add(1, std::memory_order_relaxed);
    auto connecting = net_.connect(address, until);
    auto made = co_await connecting.as_result();
    if (!made.ok()) {
      why = made.why();
      if (why.code() == status_code::cancelled || time_.now() >= deadline) break;
      mutex_lock lock(mutex_);
      silent_.insert(address);
      continue;
    }
    was_reached_.store(true, std::memory_order_relaxed);
    std::unique_ptr<connection> wire = *std::move(made);
    if (!secure_) co_return wire;
    auto shaking = secure_->over(std::move(wire), to_.host, until);
    auto secured = co_await shaking.as_result();
    if (secured.ok()) co_return *std::move(secured);
    why = secured.why();
    if (why.code() != status_code::unavailable && why.code() != status_code::deadline_exceeded) break;
  }
  {
    mutex_lock lock(mutex_);
    known_until_ = time_point{};
  }
  co_await fail(std::move(why));
  co_return {};
}

}  // namespace sluice::lib::detail
