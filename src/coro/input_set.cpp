// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/detail/input_set.hpp"

#include <algorithm>
#include <utility>

namespace sluice::lib {

input_set::input_set(std::vector<erased_stream> in) : streams_(std::move(in)) {
  for (erased_stream& s : streams_) s.may_go_back();
}

erased_stream* request_to_all::next() {
  for (;;) {
    if (asked_) {
      asked_ = false;
      erased_stream& in = inputs_[at_++];
      if (in.left() == 0) {
        std::uint64_t to_pass = each().skip, missing = std::min(in.skip_left(), to_pass);
        existed_ = to_pass - missing;
        ended_ = true;
      }
      ready_ = std::min(ready_, in.left());
      continue;
    }
    // After an input has ended, the others are requested only to find out how many of the elements to be skipped exist.
    if (at_ == inputs_.size() || (ended_ && existed_ == 0)) return nullptr;
    asked_ = true;
    return &inputs_[at_];
  }
}

demand request_to_all::each() const {
  demand d = demand_;
  if (ended_) {
    d.skip = existed_ - 1;  // the one requested element is the last one to skip: the request shows whether it exists
    d.elements = 1;
  }
  d.bytes = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, d.bytes / inputs_.size()));
  return d;
}

}  // namespace sluice::lib
