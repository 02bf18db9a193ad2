// SPDX-License-Identifier: Apache-2.0
// worker_host: serves the splits of plans, and tells the dispatcher that it lives.
//
//   auto host = std::make_shared<worker_host>(run, link);
//   auto server = co_await transport->listen("0.0.0.0:0", *host);
//   host->start({.address = server->address()});          // registers, and reports until the run is stopped
//
// Streams: "read" (read_request): frames (wire/element_frames.hpp), one at least every kKeepaliveTime. They are compressed
//         if the consumer reads that and it pays (sent_frames.hpp).
// Calls:  "measured" (measured_request): what a consumer of compressed frames has measured.
// Errors: of a read: invalid_argument (not a request), unavailable (the worker drains), aborted (a later attempt runs), and
//         those of worker_plans. The error of an element is a frame.
// Thread: any. Owns: one run for each read.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "service/core/worker_core.hpp"
#include "service/host/core_loop.hpp"
#include "service/host/sent_frames.hpp"
#include "service/host/worker_plans.hpp"
#include "service/wire/element_frames.hpp"
#include "sluice/coro/channel.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/io/transport.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

class worker_host final : public core_loop<worker_core, worker_event, worker_action>, public message_handler {
 public:
  static constexpr duration kKeepaliveTime = std::chrono::milliseconds(500);

  worker_host(std::shared_ptr<run_context> run, std::shared_ptr<service_link> link);
  ~worker_host() override;

  class local_read;  // local_read.hpp

  /// Registers under o.address, and reports until the run is stopped. Reads that come before are refused.
  void start(worker_options o);
  /// Consumers of this process that have the same dispatcher read without messages (local_workers.hpp).
  void serve_locally(const std::string& address);
  task<std::string> on_call(std::string method, std::string request) override;
  task<> on_stream(std::string method, std::string request, frame_writer& out) override;

  /// Accepts no new reads. Completes when no read runs, or after `patience`; 0: without end.
  task<> drain(duration patience);
  std::size_t reads() const {
    return with_core([](const worker_core& core) { return core.reads(); });
  }

 private:
  class open_read;

  void perform(worker_action& a) override;
  /// Calls f(read), which does not end meanwhile.
  template <class F> void with_read(std::uint64_t stream, F f);
  static run_task beat(std::shared_ptr<run_context>&, std::shared_ptr<worker_host> shared, heartbeat_request request);
  /// The plan of a read, and its run, which ends with the read.
  task<result<split_run>> plan_of(read_request request);
  /// `before`: the elements that the plan drops before the split.
  erased_stream open_plan(open_read& mine, const split_run& run, const plan_forms& plan,
                          const std::vector<dropped_elements>& before = {});
  /// Returns the elements that the run of a read has dropped since `before`. REQUIRES: the stream is at rest.
  static std::vector<dropped_elements> dropped_by(const erased_stream& in,
                                                  const std::vector<dropped_elements>& before = {});
  /// Returns the elements that the plan drops before the split; none if run.before is null.
  task<std::vector<dropped_elements>> dropped_before(open_read& mine, split_run run);
  task<> serve(open_read& mine, frame_writer& out);
  task<> send_elements(open_read& mine, split_run run, frame_writer& out);
  /// Sends what the run of the read has dropped since the last call, after the elements in `frames`.
  static task<status> send_dropped(open_read& mine, frame_maker& frames, frame_writer& out);
  /// Sends what `frames` has, compressed if that pays.
  static task<status> send_frame(open_read& mine, frame_maker& frames, frame_writer& out);
  static task<> send_all(worker_host& me, open_read& mine, split_run run, frame_writer& out, scope& all);
  static task<> keep_alive(open_read& mine, frame_writer& out);
  static run_task end_drain(std::shared_ptr<run_context>&, std::shared_ptr<worker_host> shared, duration patience);
  std::shared_ptr<worker_host> shared_me() { return std::static_pointer_cast<worker_host>(shared_from_this()); }

  const std::shared_ptr<service_link> link_;
  worker_plans plans_;
  sent_frames_by_consumer sent_;
  std::atomic<bool> is_started_{false};
  std::atomic<duration::rep> heard_at_{0};  ///< of the dispatcher, since the clock's epoch
  channel<bool> drained_{channel_limits{.elements = 1}};
  mutable mutex reads_mutex_;
  std::uint64_t streams_ ABSL_GUARDED_BY(reads_mutex_) = 0;
  std::map<std::uint64_t, open_read*> reads_ ABSL_GUARDED_BY(reads_mutex_);
};

}  // namespace sluice::lib
