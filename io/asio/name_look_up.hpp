// SPDX-License-Identifier: Apache-2.0
// Resolves names to addresses with getaddrinfo(3), each name on a thread of its own.
//
//   name_look_ups names(io);
//   names.start({"objects.example", 80}, [](asio::error_code e, endpoints found) { … });     // on the io thread
//
// asio's resolver has one thread for all names and joins it at its end. If a name server does not answer, getaddrinfo
// waits for half a minute and cannot be cancelled. With asio's resolver it would delay every other look-up and the end
// of the program. This class abandons its threads when it is destroyed, and drops their results. A numeric address
// needs no look-up: its result is available at once.
// Thread: start(): the io thread. The destructor: any thread, after the io thread has ended.
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
  /// The largest number of concurrent look-ups. Another call returns an error that asks to try again. Only names that
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
