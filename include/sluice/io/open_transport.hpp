// SPDX-License-Identifier: Apache-2.0
// The transport by which a program reaches dispatchers and workers: TCP, after register_asio_transport()
// (io/asio_network.hpp), or another one for a runtime:
//
//   set_transport(rt, make_grpc_transport());               // io/grpc_transport.hpp
//
// Thread: any.
#pragma once

#include <memory>

#include "sluice/io/transport.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

using make_transport_function = std::shared_ptr<message_transport> (*)(runtime&);
/// Makes the transports of runtimes that have none yet.
void use_transport(make_transport_function make);
/// The transport of the runtime, made at the first call. Errors: throws failed_precondition if the program has registered
/// none.
std::shared_ptr<message_transport> transport_of(runtime& rt);
/// Gives a runtime another transport than that of the program, such as one over a simulated network.
void set_transport(runtime& rt, std::shared_ptr<message_transport> transport);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::set_transport;
using lib::transport_of;

}  // namespace sluice
