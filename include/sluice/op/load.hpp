// SPDX-License-Identifier: Apache-2.0
// load: the elements of a data folder, which write() or `sluice run --output DIR/` wrote.
//
//   load<sample>("out/")                                    // after write(rt, samples, "out/", {.shards = 4})
//   load<sample>("out/", {.cardinality = false}) | batch(64)   // plan text: load("out/", cardinality=false)
//
// The folder's manifest (sluice.manifest) states format, compression, element type, files and number of elements, so the
// call names none of them. load is replaced by the plan that reads the files when the plan is built, and prints as that
// plan:
//
//   list_files("out/part-*-of-00004.arrow") | interleave(from_arrow(schema="label: int64") | unbatch, cycle_length=4)
//     | assert_cardinality(1000)
//
// Shape:  the elements that were written: numbers, texts, structures, optionals, lists, tensors and batches. Structures
//         that have a C++ name keep it in Arrow files; csv, jsonl and example read members only.
// Order:  that in which the elements were written, also from files that they were assigned to alternately.
// Errors: when the plan is built: not_found: the folder has no manifest. failed_precondition: the run that writes the
//         folder has not ended; the files cannot represent elements of this type. data_loss: the manifest is damaged, or a
//         file is missing or has another size than the manifest states. invalid_argument: load<T> with another type than
//         that of the elements, or index=required where elements cannot be found by an index.
// Cost:   with index=required (and an index of each file: `sluice index out/part*`), at(i) and skip read no elements
//         before the wanted one. Files with alternating elements have no such order: write one file, or shard_bytes.
// State:  that of the plan that reads the files.
// See:    docs/outputs.md
#pragma once

#include <string_view>

#include "sluice/base/index_types.hpp"
#include "sluice/output/output_format.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info load_op;

struct load_options {
  bool cardinality = true;                   ///< true: adds assert_cardinality, which states and checks the manifest's
                                             ///< number; when a plan is split, stages after it run in the client
  file_index index = file_index::automatic;  ///< the use of the files' indexes; required: elements are found by them
};
struct load_arguments {
  file_path path = {};  ///< a folder
  load_options options = {};
};

namespace detail {
node_ptr plan_of_folder(std::string_view path, const load_options& o, const element_type* wanted);
/// Returns ok if files of this format give back elements of this type.
status why_not_loadable(output_format format, const element_type& type);
}  // namespace detail

/// Reads elements of type T. REQUIRES: T is the type of the elements that were written.
template <class T> dataset<T> load(std::string_view path, load_options o = {}) {
  return dataset<T>(detail::plan_of_folder(path, o, &type_of<T>()));
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::load;
using lib::load_options;

}  // namespace sluice
