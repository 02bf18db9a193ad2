// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/open_transport.hpp"

#include <atomic>
#include <utility>

#include "sluice/base/mutex.hpp"

namespace sluice::lib {
namespace {

std::atomic<make_transport_function> used_transport = nullptr;  // relaxed: no other memory depends on it

struct kept_transport final : runtime_part {
  mutex lock;
  std::shared_ptr<message_transport> transport ABSL_GUARDED_BY(lock);

  static std::shared_ptr<kept_transport> of(runtime& rt) {
    static const char key = 0;
    return std::static_pointer_cast<kept_transport>(
        rt.part(&key, [](runtime&) -> std::shared_ptr<runtime_part> { return std::make_shared<kept_transport>(); }));
  }
};

}  // namespace

void use_transport(make_transport_function make) { used_transport.store(make, std::memory_order_relaxed); }

std::shared_ptr<message_transport> transport_of(runtime& rt) {
  const std::shared_ptr<kept_transport> kept = kept_transport::of(rt);
  mutex_lock held(kept->lock);
  if (kept->transport) return kept->transport;
  const make_transport_function make = used_transport.load(std::memory_order_relaxed);
  if (!make)
    throw_status(
        failed_precondition_error("this program has no transport of messages: link sluice-asio, and call "
                                  "register_asio_transport() (sluice/io/asio_network.hpp) first"));
  kept->transport = make(rt);
  return kept->transport;
}

void set_transport(runtime& rt, std::shared_ptr<message_transport> transport) {
  const std::shared_ptr<kept_transport> kept = kept_transport::of(rt);
  mutex_lock held(kept->lock);
  kept->transport = std::move(transport);
}

}  // namespace sluice::lib
