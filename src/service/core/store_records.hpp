// SPDX-License-Identifier: Apache-2.0
// What a dispatcher stores, and under which keys.
//
//   /epoch                        epoch_record; every commit guards its version and writes it
//   /dataset/DATASET              dataset_info
//   /job/JOB                      job_record; named jobs only
//   /iteration/ITERATION          iteration_record
//   /round/ITERATION/NUMBER       round_record: its splits may be assigned
//   /splits/ITERATION/NUMBER      a chunk of payloads: their count, then the length and the bytes of each
//   /done/ITERATION/NUMBER        a bit for each split of a chunk
//   /consumer/ITERATION/CONSUMER  consumer_record
//   /assigned/ITERATION/NUMBER/CONSUMER  the numbers of consecutive splits of the consumer, 8 bytes each
//
// An ITERATION is "E.N": the N-th iteration that the dispatcher of epoch E made, so no id is used twice. A NUMBER has
// eight digits, so that the order of the keys is that of the numbers.
#pragma once

#include <absl/strings/str_cat.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "service/core/messages.hpp"

namespace sluice::lib {

struct epoch_record {
  std::uint64_t epoch = 0;
  std::string token;        ///< of the process
  std::uint64_t tries = 0;  ///< commits that this process had begun, with this one
};
struct job_record {
  std::string dataset;
  sharding mode = sharding::dynamic;
};
struct iteration_record {
  open_job_request opened;  ///< by the first consumer
  std::uint64_t seed = 0, epoch = 0;
  bool is_ended = false;    ///< off: workers that register later get no task; an endless repeat: no round follows
  bool is_removed = false;  ///< its splits were removed some time after it had finished
};
struct round_record {
  std::uint64_t round = 0;
  std::uint64_t first = 0, count = 0;         ///< splits
  std::uint64_t first_chunk = 0, chunks = 0;  ///< under /splits/
  bool is_last = false;
  bool is_removed = false;  ///< off: its worker was removed
};
struct consumer_record {
  std::string target, host;
  std::optional<std::uint64_t> silence_max_ms;
  bool is_closed = false;
  std::optional<std::string> process;
};

inline constexpr std::string_view kEpochKey = "/epoch";

/// "/round/3.1/00000007"; after the number, `rest` follows with a slash.
inline std::string store_key(std::string_view kind, std::string_view iteration, std::uint64_t number,
                             std::string_view rest = {}) {
  std::string key =
      absl::StrCat("/", std::string(kind), "/", std::string(iteration), "/", absl::Dec(number, absl::kZeroPad8));
  if (!rest.empty()) key.append("/").append(rest);
  return key;
}
/// "/dataset/ID"
inline std::string store_key(std::string_view kind, std::string_view id) {
  return absl::StrCat("/", std::string(kind), "/", std::string(id));
}

}  // namespace sluice::lib
