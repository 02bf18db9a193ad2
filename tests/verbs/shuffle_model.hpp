// SPDX-License-Identifier: Apache-2.0
// What the cases of shuffle and its tests share.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pipeline/file_world.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/sluice.hpp"
#include "support/sequential.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::shuffle_case {

using namespace test;
using int64 = std::int64_t;

/// Draw t takes a place, which the next input fills; then the last element fills each hole.
inline int64s shuffled(const int64s& in, int64 buffer_size, std::uint64_t drawn_by) {
  std::size_t next = std::min(in.size(), static_cast<std::size_t>(buffer_size));
  int64s held(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(next)), out;
  for (std::uint64_t t = 0; !held.empty(); ++t) {
    int64& place = held[draw(drawn_by, t, held.size())];
    out.push_back(place);
    if (next < in.size()) {
      place = in[next++];
    } else {
      place = held.back();
      held.pop_back();
    }
  }
  return out;
}

}  // namespace sluice::lib::shuffle_case
