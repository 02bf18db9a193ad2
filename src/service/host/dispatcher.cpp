// SPDX-License-Identifier: Apache-2.0
#include "sluice/service/dispatcher.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

#include "service/client/consumer.hpp"
#include "service/host/dispatcher_host.hpp"
#include "service/host/process.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/io/open_meta_store.hpp"
#include "sluice/io/open_transport.hpp"

namespace sluice::lib {

struct dispatcher::state {
  service_process process;
  std::shared_ptr<dispatcher_host> host;
  std::string address;

  ~state() { process.run->request_stop(); }
};

namespace {

constexpr std::string_view kAnyPort = "%port%";

/// Returns what is wrong with entry `i` of the list of all workers; empty: nothing.
std::string why_no_worker(const std::vector<std::string>& all, std::size_t i) {
  const std::string_view address = all[i];
  if (address.starts_with("unix:")) return {};
  const std::size_t colon = address.rfind(':');
  const std::string_view port = colon == address.npos ? std::string_view() : address.substr(colon + 1);
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool is_number = error == std::errc() && end == port.data() + port.size() && number != 0;
  if (colon == 0 || (!is_number && port != kAnyPort)) return "is not HOST:PORT or HOST:%port%";
  if (is_number && std::count(all.begin(), all.end(), address) > 1) return "is in the list twice";
  return {};
}

void check_workers(const std::vector<std::string>& all) {
  for (std::size_t i = 0; i != all.size(); ++i)
    if (const std::string why = why_no_worker(all, i); !why.empty())
      throw error(invalid_argument_error(absl::StrCat("static worker ", i, ", \"", all[i], "\", ", why)));
}

}  // namespace

task<dispatcher> dispatcher::start(runtime& rt, dispatcher_config c) {
  check_workers(c.workers);
  auto made = std::make_shared<state>();
  made->process = {rt.new_run(), transport_of(rt)};
  dispatcher_options o;
  o.token = absl::StrCat(absl::Hex(unique_number(rt)));
  o.fixed_workers = std::move(c.workers);
  o.worker_lease = c.worker_lease;
  o.store_check = std::chrono::seconds(5);
  o.remove_finished = std::nullopt;
  if (c.keep_finished != duration()) o.remove_finished = c.keep_finished;
  std::shared_ptr<meta_store> store = open_meta_store(c.store, rt);
  made->host =
      std::make_shared<dispatcher_host>(made->process.run, std::move(store), std::move(o), std::move(c.on_stopped));
  auto opening = made->process.listen(std::move(c.listen), *made->host);
  std::unique_ptr<message_server> server = co_await opening;
  made->address = server->address();
  made->host->start();  // takes the store over, which a dispatcher that cannot be reached must not do
  made->process.serve(std::move(server), made->host);
  co_return dispatcher(std::move(made));
}

dispatcher::dispatcher(runtime& rt, const dispatcher_config& c) : dispatcher(sync_wait(rt, start(rt, c))) {}
dispatcher::dispatcher(std::shared_ptr<state> s) noexcept : state_(std::move(s)) {}
dispatcher::dispatcher(dispatcher&&) noexcept = default;
dispatcher& dispatcher::operator=(dispatcher&&) noexcept = default;
dispatcher::~dispatcher() = default;

const std::string& dispatcher::address() const noexcept { return state_->address; }
std::string dispatcher::status_json() const { return to_json(state_->host->describe()); }
status dispatcher::why_stopped() const { return state_->host->why_stopped(); }
task<> dispatcher::close() {
  const std::shared_ptr<state> kept = state_;
  auto closing = kept->process.close();
  co_await closing;
}

}  // namespace sluice::lib
