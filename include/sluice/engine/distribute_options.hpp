// SPDX-License-Identifier: Apache-2.0
// The options of distribute and from_dataset_id: how a plan is divided among workers, and who reads its parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/base/field_types.hpp"
#include "sluice/base/wait_time.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/split_rule.hpp"

namespace sluice::lib {

/// The workers that may read splits for a consumer.
enum class target_workers : std::uint8_t {
  automatic,  ///< any; first those of the consumer's process, then those of its host
  any,        ///< any, without preference
  local,      ///< those of the consumer's process and host
  remote,     ///< those of other hosts
};

/// How the elements of a worker in another process travel.
enum class frame_compression : std::uint8_t {
  automatic,  ///< compressed while the link is the limit and that saves more time than it costs; never over a Unix socket
  none,       ///< as they are
  zstd,       ///< always compressed, level 1
  lz4,        ///< always compressed
};

struct distribute_options {
  sharding mode = sharding::dynamic;
  std::string job = {};       ///< consumers that name the same job share its elements; "": a job of its own
  std::string consumer = {};  ///< the name of this consumer, under which a job knows it after a restart; "": drawn
  sluice::lib::visitation visitation = visitation::exactly_once;  ///< when a worker is lost
  std::vector<std::string> tags = {};  ///< only workers that have all of these tags read splits of the job
  sluice::lib::target_workers target_workers = target_workers::automatic;
  count workers =
      1;  ///< without an address: the number of workers in this process, and of splits read at once; at most 1,024
  std::int64_t splits = 0;                ///< about this number of splits; 0: one for each file, or 16
  byte_size split_bytes = {};             ///< about this number of bytes of files in each split; 0: no limit
  std::int64_t split_elements = 0;        ///< this number of elements, or of files, in each split; 0: no limit
  count_up_to<1024> splits_at_once = 16;  ///< with an address: splits that are read at the same time
  byte_size max_outstanding = std::int64_t{64} << 20;            ///< bytes that workers may send ahead of the consumer
  frame_compression compression = frame_compression::automatic;  ///< of the bytes between workers and this consumer
  /// If this consumer is silent for longer, the dispatcher assigns its splits to others of its job. 0: never.
  wait_time silence_max = {};
  wait_time patience = {};  ///< how long to wait for a dispatcher or worker that cannot be reached; 0: without end
  sluice::lib::order order = order::deterministic;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::distribute_options;
using lib::frame_compression;
using lib::sharding;
using lib::target_workers;
using lib::visitation;

}  // namespace sluice
