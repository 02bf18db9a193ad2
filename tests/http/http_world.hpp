// SPDX-License-Identifier: Apache-2.0
// A simulated world with a scripted server in it, and a runtime whose files are those of http://.
#pragma once

#include <string>

#include "http/scripted_server.hpp"
#include "io/http/http_file_system.hpp"
#include "sluice/io/files.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::testing {

/// Gives http:// paths to a file system that somebody else owns.
class lent_files final : public file_system {
 public:
  explicit lent_files(file_system& of) : of_(of) {}
  task<std::unique_ptr<file>> open(std::string path, open_options o) override {
    return of_.open(std::move(path), std::move(o));
  }
  task<file_info> stat(std::string path, time_point deadline) override { return of_.stat(std::move(path), deadline); }
  std::unique_ptr<listing> list(std::string pattern, list_options o) override {
    return of_.list(std::move(pattern), o);
  }
  task<std::unique_ptr<file_writer>> create(std::string path, time_point deadline) override {
    return of_.create(std::move(path), deadline);
  }
  std::size_t first_read_bytes(const std::string& path) const override { return of_.first_read_bytes(path); }
  std::string description() const override { return of_.description(); }

 private:
  file_system& of_;
};

inline constexpr std::size_t kMiB = std::size_t{1} << 20;

inline std::string some_bytes(std::size_t n) {
  std::string s(n, '\0');
  std::uint32_t x = 12345;
  for (char& c : s) c = static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  return s;
}

struct http_world {
  explicit http_world(std::uint64_t seed = 20261124, http_options options = {}, simulated_network_options cables = {})
      : world(seed), net(std::make_shared<simulated_network>(world, cables)), server(*net, "objects:80") {
    auto lend = [shared = net]() -> std::shared_ptr<network> { return shared; };
    files = std::make_shared<detail::http_file_system>(world, lend, std::move(options), seed);
    add_files(rt, "http", std::make_unique<lent_files>(*files));
  }
  ~http_world() { CHECK(rt.ledger().used_bytes() == 0); }

  /// Runs a task while the server serves.
  template <class T> T run(task<T> client) {
    std::optional<T> outcome;
    sync_wait(rt, while_serving({&server}, keep<T>(std::move(client), outcome)));
    return *std::move(outcome);
  }
  status run(task<> client) { return sync_wait_result(rt.root(), while_serving({&server}, std::move(client))); }
  template <class T> static task<> keep(task<T> work, std::optional<T>& to) {
    task<T> mine = std::move(work);
    to = co_await mine;
  }

  simulation world;
  std::shared_ptr<simulated_network> net;
  scripted_server server;
  std::shared_ptr<detail::http_file_system> files;
  runtime rt{world};
};

}  // namespace sluice::lib::testing
