// SPDX-License-Identifier: Apache-2.0
#include "service/host/process.hpp"

#include <utility>

#include "runtime/run_task.hpp"
#include "sluice/coro/channel.hpp"

namespace sluice::lib {
namespace {

run_task serve_until_stop(std::shared_ptr<run_context>&, std::shared_ptr<message_transport> shared_transport,
                          std::shared_ptr<void> shared_owner, std::unique_ptr<message_server> listening) {
  auto transport = std::move(shared_transport);
  auto owner = std::move(shared_owner);
  auto server = std::move(listening);
  auto serving = server->serve();
  (void)co_await serving.as_result();
}

}  // namespace

task<std::string> service_process::serve(std::string listen, message_handler& handler,
                                         std::shared_ptr<void> owner) const {
  auto opening = transport->listen(std::move(listen), handler);
  std::unique_ptr<message_server> server = co_await opening;
  std::string address = server->address();
  std::shared_ptr<run_context> mine = run;
  serve_until_stop(mine, transport, std::move(owner), std::move(server));
  co_return address;
}

task<> service_process::close() const {
  run->request_stop();
  auto idle = std::make_shared<channel<bool>>(channel_limits{.elements = 1});
  // Owned by the call until it comes, because this task may be gone by then.
  auto* kept = new std::shared_ptr<channel<bool>>(idle);
  run->when_idle(
      [](void* p) noexcept {
        auto* known = static_cast<std::shared_ptr<channel<bool>>*>(p);
        (*known)->try_send(true);
        delete known;
      },
      kept);
  auto waiting = idle->receive();
  co_await waiting;
}

}  // namespace sluice::lib
