// SPDX-License-Identifier: Apache-2.0
// The entry of the module that the program loads for --transport grpc.
#include "sluice/io/grpc_transport.hpp"
#include "sluice/io/open_transport.hpp"

extern "C" __attribute__((visibility("default"))) void sluice_use_grpc_transport() {
  sluice::lib::use_transport([](sluice::lib::runtime&) -> std::shared_ptr<sluice::lib::message_transport> {
    return sluice::make_grpc_transport();
  });
}
