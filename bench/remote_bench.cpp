// SPDX-License-Identifier: Apache-2.0
// Single ranges of a server that is sometimes late, with hedges and without. bench/http_bench.py starts the server.
#if SLUICE_HAVE_HTTP && SLUICE_HAVE_ASIO

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/io/asio_network.hpp"
#include "sluice/io/files.hpp"
#include "sluice/io/http.hpp"
#include "sluice/io/read_file.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr std::size_t kRanges = 3000;
constexpr int kAtOnce = 32;

struct measured {
  std::vector<double> seconds;
  std::uint64_t bytes = 0;
};

task<> asking(runtime& rt, std::string url, std::size_t n, measured& m) {
  environment* env = co_await this_environment();
  for (std::size_t i = 0; i != n; ++i) {
    const time_point began = env->time->now();
    auto reading = read_file(rt, url);
    const std::string got = co_await reading;
    m.seconds.push_back(std::chrono::duration<double>(env->time->now() - began).count());
    m.bytes += got.size();
  }
}

task<> asking_at_once(runtime& rt, std::string url, measured& m) {
  environment* env = co_await this_environment();
  scope all(*env);
  for (int i = 0; i != kAtOnce; ++i) all.spawn(asking(rt, url, kRanges / kAtOnce, m));  // of one worker: no two at once
  co_await all.join();
}

struct answered {
  double p99 = 0, requests = 0;
  std::uint64_t bytes = 0;
};
answered ask(const std::string& url, bool hedge) {
  runtime rt({.workers = 1});
  http_options options;
  options.hedge = hedge;
  add_http(rt, make_asio_network, std::move(options));
  measured m;
  sync_wait(rt, asking_at_once(rt, url, m));
  const std::string said = files_of(rt).description();
  const std::size_t at = said.find("HTTP/1.1, ");
  if (at == said.npos) throw std::runtime_error("no count of requests in: " + said);
  answered a;
  a.p99 = samples(m.seconds).quantile(0.99);
  a.requests = std::strtod(said.c_str() + at + std::string_view("HTTP/1.1, ").size(), nullptr);
  a.bytes = m.bytes;
  return a;
}

void remote_hedging(report& r) {
  const char* url = std::getenv("SLUICE_BENCH_LATE");
  if (!url) return r.skipped("hedged ranges", "bench/http_bench.py starts the server");
  std::vector<double> p99, requests;
  for (int i = 0; i != 3; ++i) {
    const answered without = ask(url, false), with = ask(url, true);
    if (without.bytes != with.bytes) throw std::runtime_error("other bytes with hedges");
    p99.push_back(with.p99 / without.p99);
    requests.push_back(with.requests / without.requests);
  }
  r.at_most("64 KiB, 2 % of first bytes after 2 s, p99", "hedged ÷ not hedged", samples(p99), 0.25, "of its time");
  r.at_most("the same: requests", "hedged ÷ not hedged", samples(requests), 1.05, "times as many");
}
SLUICE_BENCH(remote_hedging);

}  // namespace
}  // namespace sluice::lib::bench

#endif
