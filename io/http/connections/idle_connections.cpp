// SPDX-License-Identifier: Apache-2.0
#include "io/http/connections/idle_connections.hpp"

#include <algorithm>
#include <utility>

namespace sluice::lib::detail {

void idle_connections::put(std::unique_ptr<connection> c) {
  mutex_lock lock(mutex_);
  if (closed_) return;
  waiting_.push_back({std::move(c), time_.now()});
  arm();
}

std::unique_ptr<connection> idle_connections::take() {
  mutex_lock lock(mutex_);
  drop_old();
  if (waiting_.empty()) return nullptr;
  auto taken = std::move(waiting_.back().wire);
  waiting_.pop_back();
  return taken;
}

std::size_t idle_connections::count() const {
  mutex_lock lock(mutex_);
  return waiting_.size();
}

void idle_connections::close() {
  std::shared_ptr<idle_connections> last;
  mutex_lock lock(mutex_);
  closed_ = true;
  waiting_.clear();
  // If the timer is firing now, it waits for the mutex, finds nothing, and releases its share.
  if (armed_ && time_.cancel(*this)) last = std::move(armed_);
}

void idle_connections::drop_old() {
  const time_point now = time_.now();
  auto old = [&](const entry& e) { return now - e.since < kIdleMax; };
  waiting_.erase(waiting_.begin(), std::find_if(waiting_.begin(), waiting_.end(), old));
}

void idle_connections::arm() {
  if (armed_ || waiting_.empty()) return;
  armed_ = shared_from_this();
  due = waiting_.front().since + kIdleMax;
  fire = &idle_connections::on_timer;
  time_.arm(*this);
}

void idle_connections::on_timer(timer_node& node) noexcept {
  auto& me = static_cast<idle_connections&>(node);
  std::shared_ptr<idle_connections> self;
  // Old connections are destroyed under the mutex, so that close() returns only when no thread uses a connection any
  // more.
  mutex_lock lock(me.mutex_);
  self = std::move(me.armed_);
  me.drop_old();
  me.arm();
}

}  // namespace sluice::lib::detail
