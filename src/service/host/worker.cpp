// SPDX-License-Identifier: Apache-2.0
#include "sluice/service/worker.hpp"

#include <absl/strings/str_replace.h>

#include <algorithm>
#include <utility>

#include "service/client/consumer.hpp"
#include "service/host/process.hpp"
#include "service/host/worker_host.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/io/network.hpp"
#include "sluice/io/open_transport.hpp"

namespace sluice::lib {
namespace {

/// The address to which a worker that listens at `actual` is known.
std::string public_address(const std::string& wanted, const std::string& actual) {
  if (wanted.find("%port%") == wanted.npos) return wanted.empty() ? actual : wanted;
  return absl::StrReplaceAll(wanted, {{"%port%", std::to_string(parse_address(actual).value().port)}});
}

}  // namespace

struct worker::state {
  service_process process;
  std::shared_ptr<worker_host> host;
  std::weak_ptr<message_server> server;  ///< its task owns it
  std::string address;

  ~state() { process.run->request_stop(); }
};

task<worker> worker::start(runtime& rt, std::string dispatcher, worker_config c) {
  if (std::ranges::find(c.tags, std::string()) != c.tags.end())
    throw error(invalid_argument_error("a tag is empty: tags are words that jobs ask for"));
  auto made = std::make_shared<state>();
  made->process = {rt.new_run(), transport_of(rt)};
  auto link = std::make_shared<service_link>(made->process.transport, std::move(dispatcher), duration());
  made->host = std::make_shared<worker_host>(made->process.run, std::move(link));
  auto opening = made->process.listen(std::move(c.listen), *made->host);
  std::shared_ptr<message_server> server = co_await opening;
  const std::string listening = server->address();
  made->server = server;
  made->process.serve(std::move(server), made->host);
  worker_options o;
  o.address = made->address = public_address(c.address, listening);
  o.incarnation = unique_number(rt);
  o.host = name_of_machine();
  o.process = name_of_process();
  o.tags = std::move(c.tags);
  o.slots = c.slots != 0 ? c.slots : rt.workers();
  o.heartbeat = c.heartbeat;
  // In a simulation one runtime has several machines.
  if (!rt.world()) made->host->serve_locally(o.address);
  made->host->start(std::move(o));
  co_return worker(std::move(made));
}

worker::worker(runtime& rt, const std::string& dispatcher, const worker_config& c)
    : worker(sync_wait(rt, start(rt, dispatcher, c))) {}
worker::worker(std::shared_ptr<state> s) noexcept : state_(std::move(s)) {}
worker::worker(worker&&) noexcept = default;
worker& worker::operator=(worker&&) noexcept = default;
worker::~worker() = default;

const std::string& worker::address() const noexcept { return state_->address; }
std::size_t worker::reads() const { return state_->host->reads(); }
task<> worker::drain(duration patience) {
  const std::shared_ptr<state> kept = state_;
  if (const std::shared_ptr<message_server> server = kept->server.lock()) server->report_draining();
  auto draining = kept->host->drain(patience);
  co_await draining;
  auto closing = kept->process.close();
  co_await closing;
}
task<> worker::close() {
  const std::shared_ptr<state> kept = state_;
  auto closing = kept->process.close();
  co_await closing;
}

}  // namespace sluice::lib
