// SPDX-License-Identifier: Apache-2.0
// --transport: how the messages of dispatchers, workers and consumers travel.
#pragma once

namespace CLI {
class App;
}

namespace sluice::lib::cli {

/// Adds --transport tcp|grpc to a command.
void add_transport_option(CLI::App& verb);
/// Uses the transport that was chosen, after register_libraries(). Loads the module of gRPC: linked, it would cost every
/// command 6 ms. Errors: throws misuse: this build has no such module.
void use_chosen_transport();

}  // namespace sluice::lib::cli
