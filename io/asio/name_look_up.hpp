// SPDX-License-Identifier: Apache-2.0
// The addresses of names, by getaddrinfo(3): each name on a thread of its own.
//
//   name_look_ups names(io);
//   names.start({"objects.example", 80}, [](asio::error_code e, endpoints found) { … });     // on the io thread
//
// asio's resolver has one thread for all names, which its end waits for. A name server that does not answer, which
// getaddrinfo waits for half a minute and nobody can end, would hold every other look-up, and the end of the program.
// Here who is destroyed leaves the threads behind: what they find out then is dropped.
// An address is none to look up: its answer is there at once.
// Thread: start(): the io thread's. The destructor: any, when that has ended.
#pragma once

#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "sluice/io/network.hpp"

namespace sluice::lib {

using endpoints = std::vector<asio::ip::tcp::endpoint>;

/// Blocks until the system has resolved the name. Errors: those of asio's resolver.
asio::error_code look_up_by_system(const host_and_port& of, endpoints& found);

class name_look_ups {
 public:
  using blocking = asio::error_code (*)(const host_and_port& of, endpoints& found);
  using answer = std::function<void(asio::error_code, endpoints)>;
  /// The largest number of look-ups at once; the next call returns an error that asks to try again. Only names that
  /// hang lead to this number.
  static constexpr std::size_t kAtOnceMax = 64;

  explicit name_look_ups(asio::io_context& io, blocking how = &look_up_by_system);
  ~name_look_ups();
  name_look_ups(const name_look_ups&) = delete;

  void start(host_and_port of, answer then);

 private:
  struct waiting;
  const std::shared_ptr<waiting> waiting_;
  const blocking how_;
};

}  // namespace sluice::lib
