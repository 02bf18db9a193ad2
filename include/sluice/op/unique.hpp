// SPDX-License-Identifier: Apache-2.0
// unique: each element once, where it stands first.
//
//   range(6) | map(expr<std::int64_t>("it % 3")) | unique()           // 0 1 2
//   list_files("*/*.txt") | map(expr<std::string>("split(it, \"/\")[1]")) | unique()
//
// Elements are equal where their values are: numbers, texts, lists, structs, tensors, and all that is made of these. Numbers with a
// fraction are compared by their bits: 0.0 and -0.0 are two, and a NaN is itself. Of each element but a number 128 bits of a hash are
// kept, and not the element: two that differ are taken for equal with a probability of 10^-20 in a stream of ten billion.
// Order:  as the input's; of equal elements the first is delivered.
// Ends:   with the input.
// Errors: invalid_argument, when the plan is made: these elements cannot be compared (classes that describe themselves, others whose
//         contents the library does not know). resource_exhausted: the hashes exceed the memory budget, and spill is off, or the
//         disk does not take or give them; the message says how many there are, and the folder.
// Owns:   17 to 40 bytes for each element that it has delivered. Where the budget does not hold them, they go to files, 16 bytes each,
//         which have no names and are gone with the run, however it ends; one or two bytes for each stay in memory. (20 million
//         numbers, of which nearly all differ, take 0.26 µs of a core each, and 0.7 µs with a budget of 64 MiB, where the process grows
//         to 91 MiB instead of 821; 1.2 µs where three of four come again from the files.)
// State:  how many elements were delivered. A run that resumes reads the input again, and delivers none of those.
#pragma once

#include <string>
#include <utility>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info unique_op;

/// A folder for temporary files. Where they are changes no element, so it is no part of fingerprints.
struct spill_folder {
  static constexpr const char* kOff = "off";
  std::string path{};
  spill_folder() = default;
  spill_folder(std::string p) : path(std::move(p)) {}  // NOLINT: a path is written as a text
  spill_folder(const char* p) : path(p) {}             // NOLINT
  bool operator==(const spill_folder&) const = default;
};

struct unique_options {
  spill_folder spill = {};  ///< the folder of temporary files; empty: what TMPDIR says, or /tmp; "off": no files
};
struct unique_arguments {
  unique_options options = {};
};

preserving unique(unique_options o = {});

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::unique;
using lib::unique_options;

}  // namespace sluice
