// SPDX-License-Identifier: Apache-2.0
// One entry of a file of bad elements (engine/quarantine/quarantine_file.hpp): its bytes, and what they contain.
//
//   {"error":"1 / 0: division by zero","code":"invalid_argument","stage":"map(1 / it)","element":0,"seed":7,"delivered":0,
//    "position":{"base64":"…"},"plan":"range(3) | map(1 / it)"}
//
// The members from "seed" on are those of the run. They differ from run to run, so entries are compared without them, and
// older files have none. An element that a worker has dropped has its "split" before them, and the "worker" among them,
// because another worker drops the same element of the split if the first one dies.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/quarantine_sink.hpp"
#include "sluice/base/result.hpp"
#include "sluice/coro/dropped_errors.hpp"

namespace sluice::lib {

/// The first bytes of each entry, by which files are recognized.
inline constexpr std::string_view kFirstMember = "{\"error\":";

/// The contents of an entry.
struct stored_error {
  status why;  ///< with its provenance
  std::uint64_t times = 1;
  std::string bytes;  ///< of the element
  bool has_bytes = false;
  bool is_cut = false;                  ///< these are its first bytes
  bool has_place = false;               ///< `at` is known
  std::string worker = {}, split = {};  ///< of a service; empty: the process of the run has dropped the element
  run_place at = {};
};

/// A plan or a position that is longer is left out.
inline constexpr std::size_t kPlacePartBytesMax = std::size_t{64} << 10;

/// Returns the bytes of an entry: a line of JSON, or a framed tf.Example. `at`: null leaves out the members of the run.
std::string entry_of(const dropped_error& e, const run_place* at, bool json);
/// Returns a digest of the entry without the members of the run. `entry`: as entry_of() returns it.
std::uint64_t key_of_entry(std::string_view entry, bool json);
/// Returns true if the bytes of a tf.Example are those of an entry.
bool is_example_of_entry(std::string_view record);
/// Reads an entry without its frame. Errors: data_loss.
result<stored_error> read_entry(std::string_view entry, bool json);

}  // namespace sluice::lib
