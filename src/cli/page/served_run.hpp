// SPDX-License-Identifier: Apache-2.0
// The server of `sluice run --serve`: the report of the run as a page that follows it, as JSON, and as metrics.
//
//   /  the page    /report.json  the object of docs/report.md    /metrics  for Prometheus    /healthz
// Thread: any.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sluice/base/mutex.hpp"

namespace sluice::lib {
class page_server;
class runtime;
struct page_reply;
struct page_request;
}  // namespace sluice::lib

namespace sluice::lib::cli {

class served_run {
 public:
  /// Listens. Errors: throws misuse: ADDR is no address, or this build has no server; `error`: the port cannot be used.
  /// `report`: the object until a run is attached.
  served_run(const std::string& address, std::string report);
  served_run(const served_run&) = delete;
  ~served_run();

  std::string url() const;
  bool is_public() const;
  /// From now on `report` is called for each request, on the thread of the server, until detach().
  void attach(std::function<std::string()> report, runtime& rt);
  /// From now on the last report is served. When this returns, neither `report` nor the runtime is used.
  void detach();

 private:
  page_reply answer(const page_request& r);
  std::string report();
  std::string metrics(std::string_view accept);

  lib::mutex mutex_;
  std::function<std::string()> report_ ABSL_GUARDED_BY(mutex_);
  runtime* rt_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::string last_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<page_server> server_;  // last: its thread uses the members above
};

}  // namespace sluice::lib::cli
