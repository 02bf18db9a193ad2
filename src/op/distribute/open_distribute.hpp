// SPDX-License-Identifier: Apache-2.0
// The stage of distribute. It is the service's client, so the layer `service` defines it (src/service/client).
#pragma once

#include "sluice/coro/erased_stream.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

struct open_context;

erased_stream open_distribute(const node& n, open_context& context);

}  // namespace sluice::lib
