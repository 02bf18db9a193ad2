// SPDX-License-Identifier: Apache-2.0
// A position in a run, for its user: `s.position()` returns one, and `iterate(rt, {.from = …})` continues there.
//
// State: the position of the run with the fingerprint of its plan, the identities of its functions and the inputs seen.
//        It contains no elements. Its bytes may be written to a file and read by another process
//        (pipeline/checkpoint_file.hpp).
#pragma once

#include <string>

namespace sluice::lib {

struct checkpoint {
  std::string bytes;
  bool empty() const { return bytes.empty(); }  ///< if it belongs to no run: iterate() starts at the beginning
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::checkpoint;

}  // namespace sluice
