// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/meta_store.hpp"

#include <algorithm>

#include "sluice/coro/sleep_until.hpp"

namespace sluice::lib {

task<std::uint64_t> meta_store::changed(std::uint64_t after, duration period, time_point deadline) {
  environment* env = co_await this_environment();
  for (;;) {
    auto now = co_await revision(deadline);
    if (now > after) co_return now;
    co_await sleep_until(std::min(env->time->now() + period, deadline));
  }
}

}  // namespace sluice::lib
