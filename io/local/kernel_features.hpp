// SPDX-License-Identifier: Apache-2.0
// Detects the kernel's features for reading files, for reports. The checks cost some system calls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/status.hpp"

namespace sluice::lib::detail {

struct kernel_feature {
  std::string_view name;
  bool exists = false;
  std::string_view what = {};  ///< its use, and the first kernel that has it
};

struct uring_report {
  status why;                            ///< why no ring is available, or ok
  std::vector<kernel_feature> features;  ///< of the ring, if one is available
};

uring_report look_at_uring();
/// Returns the features of reads that leave nothing in the page cache (RWF_DONTCACHE), and of reads that do not wait
/// (RWF_NOWAIT).
std::vector<kernel_feature> look_at_reads();

}  // namespace sluice::lib::detail
