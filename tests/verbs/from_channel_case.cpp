// SPDX-License-Identifier: Apache-2.0
// from_channel: what it gives, by plain loops.

#include <chrono>
#include <cstdint>

#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/sluice.hpp"
#include "support/counting_element.hpp"
#include "support/trials/consumption.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::from_channel_case {
namespace {

using namespace std::chrono_literals;
using namespace test;
using int64 = std::int64_t;

// Each run has a channel of its own, which is filled at once from where the run begins.
const register_verb from_channel_case("from_channel",
                                      {.inputs = 0,
                                       .size = some_length,
                                       .build =
                                           [](const verb_plan& p) {
                                             verb_use use = p;
                                             use.tuned = 0;  // no knob is captured
                                             auto open = [use](channel_sender<int64> push, std::uint64_t from) {
                                               for (auto i = static_cast<int64>(from); i >= 0 && i < use.a; ++i)
                                                 push.try_push(use.element(i));
                                               push.close();
                                             };
                                             return from_channel<int64>(open, {.elements = 10'000});
                                           },
                                       .expected = source_elements,
                                       .needs = [](const verb_use&, std::size_t) { return std::size_t{0}; },
                                       .resume = {.takes = 0}});

}  // namespace
}  // namespace sluice::lib::from_channel_case
