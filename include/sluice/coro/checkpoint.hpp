// SPDX-License-Identifier: Apache-2.0
// A place in a run, as its user keeps it: `s.position()` gives one, `iterate(rt, {.from = …})` goes on there.
//
// State: the position of the run with the fingerprint of its plan, the identities of its functions and the inputs seen. It
//        contains no elements. Its bytes may be written to a file and read by another process (pipeline/checkpoint_file.hpp).
#pragma once

#include <string>

namespace sluice::lib {

struct checkpoint {
  std::string bytes;
  bool empty() const { return bytes.empty(); }  ///< of no run: iterate() starts at the beginning
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::checkpoint;

}  // namespace sluice
