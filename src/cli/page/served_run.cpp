// SPDX-License-Identifier: Apache-2.0
#include "cli/page/served_run.hpp"

#include <utility>

#include "cli/page/page.hpp"
#include "cli/verbs.hpp"
#include "sluice/base/status.hpp"
#include "sluice/pipeline/metrics.hpp"

#if SLUICE_HAVE_HTTP && SLUICE_HAVE_ASIO
#include "io/http/server/page_server.hpp"
#endif

namespace sluice::lib::cli {

#if SLUICE_HAVE_HTTP && SLUICE_HAVE_ASIO

served_run::served_run(const std::string& address, std::string report) : last_(std::move(report)) {
  try {
    server_ = std::make_unique<page_server>(address, [this](const page_request& r) { return answer(r); });
  } catch (const error& e) {
    if (e.code() != status_code::invalid_argument) throw;
    throw misuse("--serve " + std::string(e.why().message()));
  }
}

served_run::~served_run() = default;

std::string served_run::url() const { return server_->url(); }
bool served_run::is_public() const { return server_->is_public(); }

page_reply served_run::answer(const page_request& r) {
  if (r.path == "/") return {.type = "text/html; charset=utf-8", .body = report_page(report(), "sluice run", true)};
  if (r.path == "/report.json") return {.type = "application/json", .body = report() + "\n"};
  if (r.path == "/metrics")
    return {.type = std::string(metrics_type(metrics_format_for(r.accept))), .body = metrics(r.accept)};
  if (r.path == "/healthz") return {.body = "ok\n"};
  return {.status = 404, .body = "the paths are /, /report.json, /metrics and /healthz\n"};
}

#else

// A build without a server refuses the option.
}  // namespace sluice::lib::cli
namespace sluice::lib {
class page_server {};
}  // namespace sluice::lib
namespace sluice::lib::cli {

served_run::served_run(const std::string&, std::string) {
  throw misuse("--serve: this program was built without an HTTP server (-Dhttp=enabled needs node-llhttp)");
}
served_run::~served_run() = default;
std::string served_run::url() const { return {}; }
bool served_run::is_public() const { return false; }

#endif

void served_run::attach(std::function<std::string()> report, runtime& rt) {
  mutex_lock lock(mutex_);
  report_ = std::move(report);
  rt_ = &rt;
}

void served_run::detach() {
  mutex_lock lock(mutex_);
  if (report_) last_ = report_();
  report_ = nullptr;
  rt_ = nullptr;
}

std::string served_run::report() {
  mutex_lock lock(mutex_);
  return report_ ? report_() : last_;
}

std::string served_run::metrics(std::string_view accept) {
  const metrics_format f = metrics_format_for(accept);
  mutex_lock lock(mutex_);
  if (rt_) return metrics_text(*rt_, f);
  return f == metrics_format::openmetrics ? "# EOF\n" : "";
}

}  // namespace sluice::lib::cli
