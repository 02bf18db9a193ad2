// SPDX-License-Identifier: Apache-2.0
// list_files: the paths that match a pattern.
//
//   list_files("data/train-*.tfrecord")                       // sorted
//   list_files("data/*.txt", {.shuffle = true, .seed = 7})    // all of them in a random order
//   list_files("data/**/*.txt")                               // in data and in all folders below it
//
// Shape:  std::string.
// Patterns: as in shells and glob(7): * matches any characters, ? one character, [abc], [a-z] and [!a-z] one of a set;
//           after \ the next character stands for itself. None of them matches a / or the dot that a name begins with;
//           {a,b} is not supported. ** as a whole name matches any number of folders, including none: a/**/x matches
//           a/x, a/b/x and a/b/c/x; at the end, a/** matches every file in these folders. A folder that is a symbolic
//           link may be the last of these folders; the match does not descend into it, as in bash. A comma separates
//           several patterns; a comma in a name is written [,]. Folders match as files do, except by a last **.
// Order:  sorted by bytes, the matches of all patterns together. A path that several patterns match comes several
//         times. Shuffled: a pure function of seed, epoch and names.
// Readers: a listing may return more than the path of a file (remote file systems: size and version; local ones:
//          nothing more). The reader that opens the path gets this data, which saves a request. If the file has changed
//          since, its present contents are read.
// Errors: not_found: no pattern matches anything. failed_precondition: a run resumes from a checkpoint, and the pattern
//         matches other names than in the checkpoint's run, unless iterate_options::on_changed_inputs permits that.
// State:  the number of paths delivered. Checkpoints also contain a hash of each list that the run has made.
#pragma once

#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info list_files_op;

struct list_files_options {
  bool shuffle = false;         ///< true: all paths in a uniformly random order
  sluice::lib::seed seed = {};  ///< -1: from the run's seed and the site
};
struct list_files_arguments {
  later_text pattern = {};  ///< one or several patterns, separated by commas
  list_files_options options = {};
};

dataset<std::string> list_files(std::string_view patterns, list_files_options o = {});
SLUICE_OPTIONS_IN_BRACES_AFTER(dataset<std::string>, list_files, list_files_options,
                               "list_files(\"*.csv\", {.shuffle = true})", std::string_view)

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::list_files;
using lib::list_files_options;

}  // namespace sluice
