// SPDX-License-Identifier: Apache-2.0
#include "service/host/process.hpp"

#include <absl/strings/str_cat.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "runtime/run_task.hpp"
#include "sluice/coro/channel.hpp"

namespace sluice::lib {
namespace {

run_task serve_until_stop(std::shared_ptr<run_context>&, std::shared_ptr<message_transport> shared_transport,
                          std::shared_ptr<void> shared_owner, std::shared_ptr<message_server> listening) {
  auto transport = std::move(shared_transport);
  auto owner = std::move(shared_owner);
  auto server = std::move(listening);
  auto serving = server->serve();
  (void)co_await serving.as_result();
}

}  // namespace

std::string name_of_machine() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

const std::string& name_of_process() {
  static const auto* const name = [] {
    std::uint64_t bits = 0;
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits) bits = static_cast<std::uint64_t>(getpid());
    return new std::string(absl::StrCat(name_of_machine(), " ", getpid(), " ", absl::Hex(bits)));
  }();
  return *name;
}

task<std::unique_ptr<message_server>> service_process::listen(std::string listen, message_handler& handler) const {
  auto opening = transport->listen(std::move(listen), handler);
  std::unique_ptr<message_server> server = co_await opening;
  co_return std::move(server);
}

void service_process::serve(std::shared_ptr<message_server> server, std::shared_ptr<void> owner) const {
  std::shared_ptr<run_context> mine = run;
  serve_until_stop(mine, transport, std::move(owner), std::move(server));
}

task<std::string> service_process::serve_at(std::string at, message_handler& handler,
                                            std::shared_ptr<void> owner) const {
  auto opening = listen(std::move(at), handler);
  std::unique_ptr<message_server> server = co_await opening;
  std::string address = server->address();
  serve(std::move(server), std::move(owner));
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
