// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/meta_store.hpp"

#include "sluice/coro/sleep.hpp"

namespace sluice::lib {

task<std::uint64_t> meta_store::changed(std::uint64_t after, duration period) {
  for (;;) {
    auto now = co_await revision();
    if (now > after) co_return now;
    co_await sleep_for(period);
  }
}

}  // namespace sluice::lib
