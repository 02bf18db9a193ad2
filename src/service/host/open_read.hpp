// SPDX-License-Identifier: Apache-2.0
// A read of a worker, which its core knows by a number. See worker_host.hpp.
// Thread: begun and ended by one task; stop() on any thread.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "service/host/dropped_collector.hpp"
#include "service/host/worker_host.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

/// A read, from its request to its end. Its run is stopped if the client is gone, or if the core says so.
class worker_host::open_read {
 public:
  open_read(worker_host& host, read_request r) : request(std::move(r)), host_(host) {
    mutex_lock lock(host_.reads_mutex_);
    stream_ = ++host_.streams_;
    host_.reads_[stream_] = this;
  }
  open_read(const open_read&) = delete;
  ~open_read() {
    {
      mutex_lock lock(host_.reads_mutex_);
      host_.reads_.erase(stream_);
    }
    if (is_open_) host_.step({worker_event::ended{stream_}});
  }

  /// Returns ok if the core starts the read.
  task<status> open() {
    is_open_ = true;
    host_.step({worker_event::opened{stream_, request}});
    auto receiving = begun_.receive();
    std::optional<status> why = co_await receiving;
    co_return why ? *std::move(why) : cancelled_error();
  }
  void moved(std::uint64_t offset) { host_.step({worker_event::moved{stream_, offset}}); }
  void runs(std::shared_ptr<run_base> run) {
    mutex_lock lock(mutex_);
    run_ = std::move(run);
    if (!why_.ok()) run_->request_stop();
  }
  void stop(const status& why) noexcept {
    mutex_lock lock(mutex_);
    why_ = why;
    if (run_) run_->request_stop();
  }
  /// The reason of a stop.
  status why() const {
    mutex_lock lock(mutex_);
    return why_;
  }
  static void on_stop(void* me) noexcept { static_cast<open_read*>(me)->stop(cancelled_error()); }
  /// REQUIRES: reads_mutex_ is locked, so that the read does not end meanwhile.
  void began(status why) { begun_.try_send(std::move(why)); }

  const read_request request;
  std::atomic<bool> has_sent{false};           ///< since the last keepalive
  std::shared_ptr<dropped_collector> dropped;  ///< null: the consumer stores no bad elements
  std::shared_ptr<sent_frames> to;             ///< null: frames are sent as they are
  std::atomic<duration::rep> blocked{0};  ///< how long it has waited until it could send, since the last measurement
  frame_packer packer;
  std::string packed;

 private:
  worker_host& host_;
  std::uint64_t stream_ = 0;
  bool is_open_ = false;
  channel<status> begun_{channel_limits{.elements = 1}};
  mutable mutex mutex_;
  status why_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<run_base> run_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib
