// SPDX-License-Identifier: Apache-2.0
// Batches as an IPC stream in memory, and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/arrow/columns.hpp"

namespace sluice::lib::test {

/// A stream of these batches, with its end.
std::string ipc_of(const std::vector<batch_storage>& batches, const element_type& row, const arrow_options& o = {});

/// What a stream has.
struct ipc_contents {
  std::vector<std::string> batches;  ///< each as JSON
  std::uint64_t read_bytes = 0;      ///< of whole messages
  bool has_end = false;              ///< ended by its marker; else by the last byte
  status why;
};
/// `left_known`: is the length of the bytes said beforehand, as that of a file is?
ipc_contents read_ipc(std::string_view bytes, const element_type& row, bool left_known = true);

/// Random batches of a random type, 0 to 3 of them.
std::vector<batch_storage> random_batches(std::uint64_t seed, const element_type*& row);

}  // namespace sluice::lib::test
