// SPDX-License-Identifier: Apache-2.0
// --transport: how the messages of dispatchers, workers and consumers travel.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace sluice::lib::cli {

/// Adds --transport tcp|grpc to a command.
void add_transport_option(CLI::App& verb);
/// Uses the transport that was chosen, after register_libraries(). Loads the module of gRPC: linked, it would cost every
/// command 6 ms. Errors: throws misuse: this build has no such module.
void use_chosen_transport();
/// Returns the file of the module of gRPC; empty if this installation has none.
std::string grpc_module();

}  // namespace sluice::lib::cli
