// SPDX-License-Identifier: Apache-2.0
// The properties of an input when it was opened or listed, as a checkpoint contains them, and their comparison.
//
//   input_state then = state_of(identity, file_identity::content);
//   std::string difference = difference_between(then, identity, {.identity = policy, .may_grow = true});   // "" if it is the same
//
// Format: the size or the number of names, a byte of flags, and the properties that the flags name (write()). Tables of
// checkpoints before version 5 have digests of the time and of the inode instead (read_digests()).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sluice/coro/position.hpp"
#include "sluice/runtime/input_rules.hpp"

namespace sluice::lib {

/// The properties that distinguish one state of a file from another.
struct input_identity {
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;  ///< 0: unknown
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
  std::string version = {};  ///< the ETag or the generation of an object; empty: it has none
  /// Digests of the content (input/content_digest.hpp), each with the size up to which it was made; see
  /// seen_inputs::digest_sizes().
  std::vector<std::pair<std::uint64_t, std::uint64_t>> digests = {};
};

struct input_state {
  enum flag : std::uint8_t {
    has_time = 1,
    has_place = 2,    ///< inode and device
    has_version = 4,  ///< a digest of the ETag
    has_content = 8,
    is_listing = 16,
    has_digests = 32,  ///< of the time and of the inode: from a checkpoint before version 5
  };
  std::uint64_t amount = 0;  ///< the size of a file, or the number of names
  std::uint8_t flags = 0;
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0, device = 0;
  std::uint64_t version = 0;                  ///< 48 bits
  std::uint64_t content = 0;                  ///< of a listing: a digest of its names
  std::uint32_t old_time = 0, old_place = 0;  ///< 24 bits each
  friend bool operator==(const input_state&, const input_state&) = default;

  bool has(flag f) const { return (flags & f) != 0; }
  void write(position_writer& w) const;
  void read(position_reader& r);
  /// Reads a state from a checkpoint before version 5.
  void read_digests(position_reader& r);
};

struct comparison {
  file_identity identity = file_identity::size_and_time;  ///< not automatic
  bool may_grow = false;                                  ///< a longer file with the same beginning is the same
};

/// Returns what a checkpoint contains under this policy.
input_state state_of(const input_identity& now, file_identity identity);
input_state state_of_names(const std::vector<std::string>& names);

/// Compares a file with a state that a checkpoint contains. Returns "" if it is the same; otherwise what differs, with
/// both values, and what to do about it.
std::string difference_between(const input_state& then, const input_identity& now, const comparison& how);
/// Returns true if both have the same names, in this order.
bool has_same_names(const input_state& then, const std::vector<std::string>& names);

}  // namespace sluice::lib
