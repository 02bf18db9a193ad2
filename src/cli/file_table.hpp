// SPDX-License-Identifier: Apache-2.0
// The local files of one run, by what the run does with them. A file that the run writes may be none of the others.
//
//   file_table files;
//   files.add_plan(plan);                                            // inputs, lookup tables, quarantine files
//   files.add(file_role::plan_text, "p.txt");
//   files.check_target(file_role::checkpoint, "state.ckpt");         // throws misuse if it is one of these
//
// Files are compared by identity, not by name: links are followed, and two names of one file are one file.
// Thread: one caller; it looks at the file system.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {

enum class file_role : std::uint8_t { input, lookup_table, plan_text, quarantine, checkpoint, output };

/// Links are followed, also those to files that do not exist yet. Returns false where a name is empty.
bool is_same_file(const std::string& a, const std::string& b);

class file_table {
 public:
  /// A file of the run; an empty path, "-", and remote paths are left out.
  void add(file_role role, const std::string& path);
  /// All files that the plan and its inner plans name.
  void add_plan(const node& plan);
  /// The files with this role, each once.
  std::vector<std::string> with_role(file_role role) const;

  /// Throws misuse if the run reads `target`: it is an input, a file that the pattern of an input matches, a lookup table, or the
  /// file of the plan; for an output also the checkpoint. Throws misuse, too, if one of these is the partial file or the lock of an
  /// output or a checkpoint, which writing it removes. `role`: what the run would write there.
  void check_target(file_role role, const std::string& target) const;

 private:
  struct entry {
    file_role role;
    std::string path;
  };
  std::vector<entry> entries_;
};

}  // namespace sluice::lib::cli
