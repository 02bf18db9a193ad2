// SPDX-License-Identifier: Apache-2.0
// What of the kernel that reading files makes use of is there: for reports. Asking costs some system calls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/status.hpp"

namespace sluice::lib::detail {

struct kernel_feature {
  std::string_view name;
  bool exists = false;
  std::string_view what = {};  ///< what it is good for, and since when kernels have it
};

struct uring_report {
  status why;                            ///< why there is no ring; ok: there is
  std::vector<kernel_feature> features;  ///< of the ring, if there is one
};

uring_report look_at_uring();
/// Reads that leave nothing in the page cache (RWF_DONTCACHE), and reads that do not wait (RWF_NOWAIT).
std::vector<kernel_feature> look_at_reads();

}  // namespace sluice::lib::detail
