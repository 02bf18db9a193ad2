// SPDX-License-Identifier: Apache-2.0
#include "io/messages/request_queue.hpp"

namespace sluice::lib {

status request_queue::closed_error() const { return unavailable_error(address_ + ": the server was closed"); }

task<> request_queue::serve(message_handler& handler) {
  auto serving = serving_.run(accept_all(handler));
  co_await serving;
}

task<> request_queue::accept_all(message_handler& handler) {
  environment* env = co_await this_environment();
  scope all(*env);
  all.spawn(accept_in(handler, all));
  co_await all.join();
}

task<> request_queue::accept_in(message_handler& handler, scope& all) {
  for (;;) {
    auto next = co_await waiting_.receive();
    if (!next) co_return;
    all.spawn(serve_one(handler, std::move(*next)));
  }
}

task<> request_queue::serve_one(message_handler& handler, std::shared_ptr<served_request> request) {
  auto handling = request->handling.run(request->serve(handler));
  (void)co_await handling.as_result();
  request->abandon(closed_error());
}

void request_queue::close() noexcept {
  waiting_.close();
  while (auto left = waiting_.try_receive()) (*left)->abandon(closed_error());
  serving_.stop();
}

}  // namespace sluice::lib
