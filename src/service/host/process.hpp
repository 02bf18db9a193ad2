// SPDX-License-Identifier: Apache-2.0
// service_process: what a dispatcher and a worker are besides their hosts: the tasks that serve messages, and their end.
// Owns:   the run of its tasks, which end when the run is stopped.
// Thread: any.
#pragma once

#include <memory>
#include <string>

#include "sluice/io/transport.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

/// The name of this machine; empty if it is unknown.
std::string name_of_machine();
/// A text that distinguishes this process from all others.
const std::string& name_of_process();

struct service_process {
  std::shared_ptr<run_context> run;
  std::shared_ptr<message_transport> transport;

  /// Listens at `listen`. Clients that call wait until serve(). The server must be passed to serve() or destroyed before the
  /// handler and the transport.
  task<std::unique_ptr<message_server>> listen(std::string listen, message_handler& handler) const;
  /// Serves until the run is stopped. `owner` keeps the handler alive.
  void serve(std::shared_ptr<message_server> server, std::shared_ptr<void> owner) const;
  /// Listens and serves. Returns the address.
  task<std::string> serve_at(std::string listen, message_handler& handler, std::shared_ptr<void> owner) const;
  /// Stops the run, and waits until none of its tasks is left.
  task<> close() const;
};

}  // namespace sluice::lib
