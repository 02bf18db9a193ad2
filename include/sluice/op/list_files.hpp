// SPDX-License-Identifier: Apache-2.0
// list_files: paths that match a pattern.
//
//   list_files("data/train-*.tfrecord")                       // sorted
//   list_files("data/*.txt", {.shuffle = true, .seed = 7})    // all of them in a random order
//
// Shape:  std::string.
// Patterns: as shells and glob(7) have them: * any characters, ? one, [abc], [a-z] and [!a-z] one of a set, \ takes the
//         next character as it is. None of them matches a / or the dot that a name begins with; there is no ** and no
//         {a,b}. A comma separates several patterns; for a comma in a name write ?. Folders match as files do.
// Order:  sorted by bytes, pattern after pattern; shuffled: a pure function of seed, epoch and names.
// Readers: what the listing knows of a file anyway (of remote ones size and version, of local ones nothing) is given to the
//         reader that opens the path, which saves it a request. A file that is another one by then is read as it is then.
// Errors: not_found when a pattern matches nothing. failed_precondition when a checkpoint is resumed and the list of
//         files is another one, unless iterate_options::on_changed_inputs says otherwise.
// State:  how many were given. A digest of each list the run has made is part of its checkpoints.
#pragma once

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info list_files_op;

struct list_files_options {
  bool shuffle = false;         ///< a uniformly random order of all of them
  sluice::lib::seed seed = {};  ///< -1: drawn once per run
};
struct list_files_arguments {
  later_text pattern = {};  ///< or patterns, with commas in between
  list_files_options options = {};
};

dataset<std::string> list_files(std::string_view patterns, list_files_options o = {});

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::list_files;
using lib::list_files_options;

}  // namespace sluice
