// SPDX-License-Identifier: Apache-2.0
// Chooses how the schedulers that a test makes decide what is worth moving to another worker. tests/main.cpp has them share
// everything.
#pragma once

#include <cstdlib>
#include <string>

namespace sluice::lib::testing {

/// While it lives, new schedulers share as `how` says: "always" or "measured".
class sharing {
 public:
  explicit sharing(const char* how) {
    if (const char* was = std::getenv("SLUICE_SHARE")) was_ = was;
    ::setenv("SLUICE_SHARE", how, 1);
  }
  ~sharing() { ::setenv("SLUICE_SHARE", was_.c_str(), 1); }
  sharing(const sharing&) = delete;
  sharing& operator=(const sharing&) = delete;

 private:
  std::string was_ = "measured";
};

}  // namespace sluice::lib::testing
