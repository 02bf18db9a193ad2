// SPDX-License-Identifier: Apache-2.0
// dispatcher_host: a dispatcher's core over a metadata store, plans and messages.
//
//   auto host = std::make_shared<dispatcher_host>(run, store, options);
//   auto server = co_await transport->listen("127.0.0.1:0", *host);
//   host->start();
//
// Calls: those of core/messages.hpp, by their names. Streams: none.
// Thread: any.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "service/core/dispatcher_core.hpp"
#include "service/host/core_loop.hpp"
#include "sluice/coro/channel.hpp"
#include "sluice/io/meta_store.hpp"
#include "sluice/io/transport.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

class dispatcher_host final : public core_loop<dispatcher_core, dispatcher_event, dispatcher_action>,
                              public message_handler {
 public:
  /// `on_stopped`: called once after why_stopped() has changed; may be empty.
  dispatcher_host(std::shared_ptr<run_context> run, std::shared_ptr<meta_store> store, dispatcher_options options,
                  std::function<void()> on_stopped = {});

  /// Takes the store over.
  void start() { step({dispatcher_event::woken{}}); }
  task<std::string> on_call(std::string method, std::string request) override;
  task<> on_stream(std::string method, std::string request, frame_writer& out) override;
  status_reply describe() const {
    return with_core([now = run_->time->now()](const dispatcher_core& core) { return core.describe(now); });
  }
  /// Ok until the core can do nothing any more.
  status why_stopped() const;

 private:
  using answer = result<service_reply>;
  using waiter = channel<answer>;
  class waiting_call;

  void perform(dispatcher_action& a) override;
  void done(dispatcher_action::answer& a);
  static run_task list(std::shared_ptr<run_context>&, std::shared_ptr<dispatcher_host> shared, std::string prefix);
  static run_task write(std::shared_ptr<run_context>&, std::shared_ptr<dispatcher_host> shared,
                        dispatcher_action::commit what);
  static run_task split(std::shared_ptr<run_context>&, std::shared_ptr<dispatcher_host> shared,
                        dispatcher_action::list_splits what);
  std::shared_ptr<dispatcher_host> shared_me() { return std::static_pointer_cast<dispatcher_host>(shared_from_this()); }

  const std::shared_ptr<meta_store> store_;
  const std::function<void()> on_stopped_;
  mutable mutex calls_mutex_;
  std::uint64_t calls_ ABSL_GUARDED_BY(calls_mutex_) = 0;
  std::map<std::uint64_t, std::shared_ptr<waiter>> waiting_ ABSL_GUARDED_BY(calls_mutex_);
  status stopped_ ABSL_GUARDED_BY(calls_mutex_);
};

}  // namespace sluice::lib
