// SPDX-License-Identifier: Apache-2.0
#include "engine/held/collected_stage.hpp"

#include <algorithm>
#include <utility>

#include "sluice/coro/detail/block_fit.hpp"

namespace sluice::lib {
namespace {

/// The number of elements requested at once: all of the input is needed.
constexpr std::uint32_t kCollectedAtOnce = 4096;
/// Results that are skipped between two turns.
constexpr std::size_t kSkippedAtOnce = 1024;

}  // namespace

erased_stream collected_stage(outlet out, saved<saved_final_elements> kept, erased_stream in,
                              std::unique_ptr<collector> from, error_gate gate) {
  final_elements& results = *kept->elements;
  const std::uint64_t start = in.consumed();
  if (!results.ended()) {
    in.hold_from(start);
    for (;;) {
      from->before_request(in);
      bool more = co_await in.ready({0, kCollectedAtOnce, demand::kBytes});
      if (!more) break;
      status bad = from->take(in);
      status fits = from->charge();
      if (!fits.ok()) co_await fail(std::move(fits));
      if (bad.ok()) continue;
      auto settled = gate.settle(out, bad, in.consumed());
      co_await settled;
      in.drop(1);
    }
    for (;;) {
      status bad = from->finish(results);
      if (bad.ok()) break;
      auto settled = gate.settle(out, bad);
      co_await settled;
    }
    from.reset();
    status fits = results.input_ended();
    if (!fits.ok()) co_await fail(std::move(fits));
  }
  block_fit fit(out.type());
  while (results.size()) {
    std::uint64_t passed = out.pass(std::min<std::uint64_t>(results.size(), kSkippedAtOnce));
    if (passed) {
      results.drop_front(static_cast<std::size_t>(passed));
      co_await out.breath();
      continue;
    }
    auto n = static_cast<std::uint32_t>(std::min<std::size_t>(results.size(), fit.at_most(out.wanted())));
    results.move_front(n, out.room(n));
    in.hold_from(results.saves_elements() ? in.consumed() : start);
    block all = out.made(n);
    fit.made(all, out.wanted_bytes());
    co_yield all;
  }
}

}  // namespace sluice::lib
