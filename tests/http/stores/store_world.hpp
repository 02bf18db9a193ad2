// SPDX-License-Identifier: Apache-2.0
// A simulated world with a server in it that speaks a store's protocol, an environment of its own, and a runtime
// whose files are the store's.
#pragma once

#include <catch2/catch.hpp>

#include "http/http_world.hpp"
#include "http/stores/simulated_s3.hpp"
#include "io/s3/s3_store.hpp"
#include "io/stores/store_file_system.hpp"

namespace sluice::lib::testing {

/// Variables and files that credentials are looked for in, and the world's time: 2026-11-24T10:00:00Z and what has
/// passed since.
struct simulated_surroundings {
  explicit simulated_surroundings(simulation& w) : world(w) {}
  detail::surroundings around() {
    detail::surroundings s;
    s.variable = [this](const char* name) -> std::optional<std::string> {
      auto found = variables.find(name);
      if (found == variables.end() || found->second.empty()) return {};
      return found->second;
    };
    s.read_file = [this](const std::string& path) -> result<std::string> {
      auto found = files.find(path);
      if (found == files.end()) return not_found_error("cannot read: No such file").in_file(path);
      return found->second;
    };
    s.now_ns = [this] { return began_ns + world.elapsed().count(); };
    return s;
  }
  simulation& world;
  std::map<std::string, std::string> variables{{"HOME", "/home"}}, files;
  std::int64_t began_ns = 1795514400'000'000'000;
};

/// Runs clients in virtual time while servers serve.
struct store_world {
  explicit store_world(std::uint64_t seed = 20261124)
      : world(seed), net(std::make_shared<simulated_network>(world)), home(world), server(*net, "s3.test:80") {
    server.answers([this](const asked_for& a) { return s3.answer(a); });
    home.variables["AWS_ENDPOINT_URL"] = "http://s3.test";
    home.variables["AWS_ACCESS_KEY_ID"] = "AKIDENV";
    home.variables["AWS_SECRET_ACCESS_KEY"] = "env-secret";
    serving.push_back(&server);
  }
  ~store_world() { CHECK(rt.ledger().used_bytes() == 0); }

  network_maker lend() {
    return [shared = net]() -> std::shared_ptr<network> { return shared; };
  }
  /// At the first call.
  file_system& files(s3_options options = {}) {
    if (!store) {
      store = std::make_shared<detail::s3_store>(world, lend(), std::move(options), 7, home.around());
      add_files(rt, "s3", std::make_unique<detail::store_file_system>(rt, store));
    }
    return files_of(rt);
  }
  template <class T> T run(task<T> client) {
    std::optional<T> outcome;
    sync_wait(rt, while_serving(serving, http_world::keep<T>(std::move(client), outcome)));
    return *std::move(outcome);
  }
  status try_run(task<> client) { return sync_wait_result(rt.root(), while_serving(serving, std::move(client))); }

  simulation world;
  std::shared_ptr<simulated_network> net;
  simulated_surroundings home;
  simulated_s3 s3{"bucket"};
  scripted_server server;
  std::vector<scripted_server*> serving;
  std::shared_ptr<detail::object_store> store;
  runtime rt{world};
};

/// The whole of a file.
inline task<std::string> read_store_file(file_system& files, std::string path, std::optional<file_info> known = {}) {
  open_options how;
  how.known = std::move(known);
  auto opening = files.open(path, std::move(how));
  std::unique_ptr<file> f = co_await opening;
  constexpr std::size_t kPiece = 1 << 20;
  buffer_ref room(buffer::make(kPiece));
  std::string all;
  for (;;) {
    buffer_ref share = room;
    auto reading = f->read_at(all.size(), std::move(share), 0, kPiece);
    const std::size_t n = co_await reading;
    if (n == 0) break;
    all.append(room->data(), n);
  }
  co_return all;
}

inline task<std::vector<listed_file>> list_all(file_system& files, std::string pattern, list_options how = {}) {
  std::unique_ptr<listing> l = files.list(pattern, how);
  std::vector<listed_file> all;
  for (;;) {
    auto asking = l->next();
    std::vector<listed_file> page = co_await asking;
    if (page.empty()) co_return all;
    for (listed_file& f : page) all.push_back(std::move(f));
  }
}

inline task<file_info> write_store_file(file_system& files, std::string path, std::string bytes,
                                        std::size_t piece = 1 << 20) {
  auto creating = files.create(path);
  std::unique_ptr<file_writer> to = co_await creating;
  buffer_ref room(buffer::make(piece));
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const std::size_t n = std::min(piece, bytes.size() - at);
    bytes.copy(room->data(), n, at);
    buffer_ref share = room;
    auto writing = to->write(std::move(share), 0, n);
    co_await writing;
  }
  auto committing = to->commit();
  co_return co_await committing;
}

}  // namespace sluice::lib::testing
