// SPDX-License-Identifier: Apache-2.0
// How a resumed run decides that a file is the one that its checkpoint's run has read.
//
//   auto s = ds.iterate(rt, {.from = here,
//                            .identity = file_identity::content,
//                            .identities = {{"s3://bucket/", file_identity::etag}},
//                            .rebase = {{"/mnt/old", "/mnt/new"}}});
//
// A checkpoint contains the properties that the policy of its run needs, so the policy is given to the run that makes
// checkpoints. A resumed run may have another policy: it compares what the checkpoint contains.
// See: docs/resuming.md
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/shared_ref.hpp"

namespace sluice::lib {

/// A list of rules, written in braces. A copy shares the list. Programs that give no rules compile none of it.
template <class T> class rule_list {
 public:
  rule_list() noexcept = default;
  rule_list(std::initializer_list<T> rules);
  void add(T rule);
  bool empty() const noexcept { return !list_; }
  const std::vector<T>& list() const noexcept;
  bool operator==(const rule_list& other) const;

 private:
  shared_ref<const std::vector<T>> list_;  ///< null: empty
};

/// The properties that must be equal. The size is always one of them.
enum class file_identity : std::uint8_t {
  automatic,      ///< etag for http, https, s3, gs and mem; size_and_time for other files
  size_and_time,  ///< the time of modification; whole seconds if one of the two times has no fraction
  etag,           ///< the ETag or the generation of a remote object; without one, size_and_time
  content,        ///< a digest of the first and the last 64 KiB, which is made when a file is opened
  strict,         ///< the time of modification, inode and device, and the ETag
};

/// The policy for the files whose paths begin with `prefix`. The longest prefix wins.
struct prefix_identity {
  std::string prefix;
  file_identity identity = file_identity::automatic;
  friend bool operator==(const prefix_identity&, const prefix_identity&) = default;
};
using prefix_identities = rule_list<prefix_identity>;

/// Files that have moved. The plan names the new paths; in the checkpoint, every path in the folder `from` counts as the
/// same path in `to`. A folder "." stands for all relative paths.
struct path_rebase {
  std::string from, to;
  friend bool operator==(const path_rebase&, const path_rebase&) = default;
};
/// Several moves. The longest folder `to` that contains a path wins.
using path_rebases = rule_list<path_rebase>;

/// Returns the path that `path` had before the moves. Also for patterns, whose parts are separated by commas. Returns
/// `path` if it has not moved.
std::string path_before(const path_rebases& moves, std::string_view path);

/// Parses "size+mtime", "etag", "content", "strict" or "automatic". Returns false for another text.
bool read_file_identity(std::string_view text, file_identity& identity);
std::string_view name_of(file_identity identity);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::file_identity;
using lib::path_rebase;
using lib::prefix_identity;

}  // namespace sluice
