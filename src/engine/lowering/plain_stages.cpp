// SPDX-License-Identifier: Apache-2.0
#include "engine/lowering/plain_stages.hpp"

#include <utility>

namespace sluice::lib {

erased_stream empty_stage(outlet out) {
  if (out.wanted() == 0) co_yield out.made(0);  // a coroutine needs a yield, and no request is for 0 elements
}

erased_stream failed_stage(outlet, status why) {
  status failure = std::move(why);
  co_await fail(std::move(failure));
}

}  // namespace sluice::lib
