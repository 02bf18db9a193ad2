// SPDX-License-Identifier: Apache-2.0
// The local files of one run, by the way the run uses them. A file that the run writes must differ from all others.
//
//   file_table files;
//   files.add_plan(plan);                                            // inputs, lookup tables, quarantine files
//   files.add(file_role::plan_text, "p.txt");
//   files.check_target(file_role::checkpoint, "state.ckpt");         // throws misuse if it is one of these
//
// Files are compared by identity, not by name: links are followed, and two names of one file are one file.
// Thread: one caller; it accesses the file system.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {

/// The device and the number of a file; both are 0 if the file does not exist.
using file_identity = std::pair<std::uint64_t, std::uint64_t>;

enum class file_role : std::uint8_t { input, lookup_table, plan_text, quarantine, checkpoint, output, copied, copy };

/// Follows links, including links to files that do not exist yet. Returns false if a name is empty.
bool is_same_file(const std::string& a, const std::string& b);

class file_table {
 public:
  /// Adds a file of the run. An empty path, "-", and remote paths are ignored.
  void add(file_role role, const std::string& path);
  /// Adds all files that the plan and its inner plans name.
  void add_plan(const node& plan);
  /// Returns the files with this role, each once.
  std::vector<std::string> with_role(file_role role) const;

  /// Throws misuse if the run reads `target`: it is an input, a file that the pattern of an input matches, a lookup
  /// table, or the file of the plan; for an output also the checkpoint. Also throws misuse if one of these is the
  /// partial file or the lock of an output or a checkpoint, which writing it removes. `role`: the role in which the run
  /// would write it. Cost: constant for each target; if a target exists, all patterns are listed once.
  void check_target(file_role role, const std::string& target);

 private:
  struct entry {
    file_role role;
    std::string path;
  };
  struct pattern {
    std::size_t entry;
    std::optional<absl::flat_hash_set<file_identity>> matches;  ///< missing until it is listed
  };
  /// Returns the file of the run with this path or identity that must not be written as `role`, or nullptr.
  const entry* excluded_by(file_role role, const std::string& path) const;
  /// Returns the pattern that matches an existing file, by its name or through a link, or nullptr.
  const entry* pattern_over(const std::string& path);

  std::vector<entry> entries_;
  absl::flat_hash_set<std::pair<file_role, std::string>> known_;
  absl::flat_hash_map<std::string, std::vector<std::size_t>> by_path_;  ///< without links
  absl::flat_hash_map<file_identity, std::vector<std::size_t>> by_identity_;
  std::vector<pattern> patterns_;
};

}  // namespace sluice::lib::cli
