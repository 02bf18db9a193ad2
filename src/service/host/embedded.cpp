// SPDX-License-Identifier: Apache-2.0
#include "service/host/embedded.hpp"

#include <absl/strings/str_cat.h>

#include <utility>

#include "runtime/run_task.hpp"
#include "service/client/consumer.hpp"
#include "service/host/dispatcher_host.hpp"
#include "service/host/process.hpp"
#include "service/host/worker_host.hpp"
#include "sluice/io/memory_meta_store.hpp"
#include "sluice/io/message_transport.hpp"

namespace sluice::lib {
namespace {

std::string worker_name(std::int64_t i) { return absl::StrCat("worker ", i, " in this process"); }

constexpr std::string_view kDispatcherName = "dispatcher in this process";

/// Starts the servers. Consumers that call before repeat their calls.
run_task start_embedded(std::shared_ptr<run_context>& run, std::shared_ptr<message_transport> transport,
                        std::int64_t workers) {
  const service_process process{run, std::move(transport)};
  dispatcher_options o;
  o.token = absl::StrCat(absl::Hex(unique_number(*run->rt)));
  for (std::int64_t i = 0; i != workers; ++i) o.fixed_workers.push_back(worker_name(i));
  o.has_fixed_workers_only = true;
  auto dispatcher = std::make_shared<dispatcher_host>(run, make_memory_meta_store(), std::move(o));
  dispatcher->start();
  auto serving = process.serve_at(std::string(kDispatcherName), *dispatcher, dispatcher);
  auto served = co_await serving.as_result();
  for (std::int64_t i = 0; served.ok() && i != workers; ++i) {
    worker_options w;
    w.address = worker_name(i);
    w.incarnation = unique_number(*run->rt);
    w.slots = 1;
    w.host = name_of_machine();
    w.process = name_of_process();
    auto link = std::make_shared<service_link>(process.transport, std::string(kDispatcherName), duration());
    auto host = std::make_shared<worker_host>(run, std::move(link));
    auto listening = process.serve_at(w.address, *host, host);
    served = co_await listening.as_result();
    if (!served.ok()) break;
    host->serve_locally(w.address);
    host->start(std::move(w));
  }
}

}  // namespace

std::shared_ptr<service_link> embedded_service(const std::shared_ptr<run_context>& run,
                                               const distribute_options& options) {
  std::shared_ptr<message_transport> transport = make_local_transport();
  auto link = std::make_shared<service_link>(transport, std::string(kDispatcherName),
                                             std::chrono::nanoseconds(options.patience.value));
  std::shared_ptr<run_context> mine = run;
  start_embedded(mine, std::move(transport), options.workers);
  return link;
}

}  // namespace sluice::lib
