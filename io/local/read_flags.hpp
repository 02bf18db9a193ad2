// SPDX-License-Identifier: Apache-2.0
// Flags of preadv2 that older kernel headers lack.
#pragma once

#include <linux/fs.h>

namespace sluice::lib::detail {

#ifdef RWF_DONTCACHE
inline constexpr int kDontCache = RWF_DONTCACHE;
#else
inline constexpr int kDontCache = 0x80;  // since Linux 6.14
#endif

}  // namespace sluice::lib::detail
