// SPDX-License-Identifier: Apache-2.0
// Adapts the position of a checkpoint to a run with or without the stage that counts its order.
#pragma once

#include <cstdint>
#include <memory>

#include "pipeline/order/delivered_order.hpp"
#include "pipeline/seal.hpp"
#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib {

/// How a run counts its order, and from where.
struct order_start {
  std::shared_ptr<order_log> log;  ///< null: it does not
  std::uint32_t site = 0;          ///< of the stage that counts
  std::uint64_t to_pass = 0;       ///< elements that a run without that stage skips first
};

/// Changes `from.position` accordingly. Errors: thrown.
order_start start_of_order(const node& written, const iterate_options& o, bool on_demand, sealed_position& from);

}  // namespace sluice::lib
