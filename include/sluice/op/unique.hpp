// SPDX-License-Identifier: Apache-2.0
// unique: drops each element that is equal to an earlier one.
//
//   range(6) | map(expr<std::int64_t>("it % 3")) | unique()           // 0 1 2
//   list_files("*/*.txt") | map(expr<std::string>("split(it, \"/\")[1]")) | unique()
//
// Elements are equal if their values are equal: numbers, texts, lists, structs, tensors, and everything that is made of
// these. Numbers with a fraction are compared by their bits: 0.0 and -0.0 differ, and a NaN equals itself. For each
// element that is not a number, a 128-bit hash is stored instead of the element: the probability that two different
// elements are treated as equal is 10^-20 in a stream of ten billion.
// Order:  as the input's; the first of several equal elements is delivered.
// Ends:   with the input.
// Errors: invalid_argument, when the plan is built: the elements cannot be compared (classes that describe themselves,
//         and others whose contents the library does not know). resource_exhausted: the hashes exceed the memory
//         budget, and spill is off or the disk fails; the message gives the number of hashes and the folder.
// Owns:   17 to 40 bytes for each element that it has delivered. If these exceed the budget, they are moved to files,
//         16 bytes each, while one or two bytes for each stay in memory. The files have no names and disappear with the
//         run, however it ends. (20 million numbers, nearly all different, take 0.26 µs of a core each, and 0.7 µs with
//         a budget of 64 MiB, where the process grows to 91 MiB instead of 821; 1.2 µs if three of four come again from
//         the files.)
// State:  the number of elements delivered. A run that resumes reads the input again, and delivers none of those
//         elements.
#pragma once

#include <string>
#include <utility>

#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info unique_op;

/// A folder for temporary files. Its place changes no element, so it is not part of fingerprints.
struct spill_folder {
  static constexpr const char* kOff = "off";
  std::string path{};
  spill_folder() = default;
  spill_folder(std::string p) : path(std::move(p)) {}  // NOLINT: a path is written as a text
  spill_folder(const char* p) : path(p) {}             // NOLINT
  bool operator==(const spill_folder&) const = default;
};

struct unique_options {
  spill_folder spill = {};  ///< the folder of temporary files; empty: the value of TMPDIR, or /tmp; "off": no files
};
struct unique_arguments {
  unique_options options = {};
};

preserving unique(unique_options o = {});
SLUICE_OPTIONS_IN_BRACES_AFTER(preserving, unique, unique_options, "unique({.spill = \"/tmp\"})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::unique;
using lib::unique_options;

}  // namespace sluice
