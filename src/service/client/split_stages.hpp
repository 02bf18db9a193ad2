// SPDX-License-Identifier: Apache-2.0
// The two sources of a distributed stream: the splits that the dispatcher gives to this consumer, and the elements of one
// of them. An interleave opens the second for each element of the first, so that order, positions and work ahead are its.
// Thread: immutable.
#pragma once

#include <cstdint>
#include <memory>

#include "service/client/consumer.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// The plan that yields the elements of a stream. `type`: of its elements. `parallelism`: the number of splits that are read
/// at the same time, 1: one after the other.
node_ptr distributed_stream(const std::shared_ptr<consumer>& as, const element_type& type, std::int64_t parallelism);

}  // namespace sluice::lib
