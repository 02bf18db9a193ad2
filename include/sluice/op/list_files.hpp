// SPDX-License-Identifier: Apache-2.0
// list_files: the paths that match a pattern.
//
//   list_files("data/train-*.tfrecord")                       // sorted
//   list_files("data/*.txt", {.shuffle = true, .seed = 7})    // all of them in a random order
//   list_files("data/**/*.txt")                               // in data and in all folders below it
//
// Shape:  std::string.
// Patterns: as in shells and glob(7): * any characters, ? one, [abc], [a-z] and [!a-z] one of a set; after \ the next
//         character stands for itself. None of them matches a / or the dot that a name begins with; there is no {a,b}.
//         ** as a whole name is any number of folders, also none: a/**/x is a/x, a/b/x and a/b/c/x; at the end, a/**, it is every
//         file in them. A folder that is a symbolic link may be the last of these folders; it goes no further there, as in bash.
//         A comma separates several patterns; for a comma in a name write ?. Folders match as files do, but not by a last **.
// Order:  sorted by bytes, pattern after pattern; shuffled: a pure function of seed, epoch and names.
// Readers: if the listing returned more than the path of a file (remote ones: size and version; local ones: nothing), the
//         reader that opens the path is given it, which saves a request. A file that has changed since is read as it is.
// Errors: not_found if a pattern matches nothing. failed_precondition if a run resumes from a checkpoint and the
//         pattern matches other names than in the checkpoint's run, unless iterate_options::on_changed_inputs says
//         otherwise.
// State:  the number of paths delivered. Checkpoints also contain a hash of each list that the run has made.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info list_files_op;

struct list_files_options {
  bool shuffle = false;         ///< a uniformly random order of all of them
  sluice::lib::seed seed = {};  ///< -1: drawn once per run
};
struct list_files_arguments {
  later_text pattern = {};  ///< one or several, separated by commas
  list_files_options options = {};
};

dataset<std::string> list_files(std::string_view patterns, list_files_options o = {});

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::list_files;
using lib::list_files_options;

}  // namespace sluice
