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

  /// Serves `handler` at `listen` until the run is stopped. Returns the address. `owner` keeps the handler alive.
  task<std::string> serve(std::string listen, message_handler& handler, std::shared_ptr<void> owner) const;
  /// Stops the run, and waits until none of its tasks is left.
  task<> close() const;
};

}  // namespace sluice::lib
