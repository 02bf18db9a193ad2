// SPDX-License-Identifier: Apache-2.0
#include "fuzz/plan_functions.hpp"

#include "sluice/sluice.hpp"

namespace sluice::lib::fuzz {
namespace {

using int64 = std::int64_t;

stream<int64> doubled_stage(stream<int64> in) {
  while (auto x = co_await in.next()) co_yield *x * 2;
}
stream<int64> counted_source() {
  for (int64 i = 0; i != 10; ++i) co_yield i;
}

SLUICE_FUNCTION(inc, [](int64 x) { return static_cast<int64>(static_cast<std::uint64_t>(x) + 1); });
SLUICE_FUNCTION_VERSION(halved, 2, [](int64 x) { return x / 2; });
SLUICE_FUNCTION(is_even, [](const int64& x) { return x % 2 == 0; });
SLUICE_FUNCTION(length_of, [](const record& r) { return static_cast<int64>(r.size()); });
SLUICE_FUNCTION(numbers_to, [](int64 x) { return range(x % 10); });
SLUICE_FUNCTION(doubled, &doubled_stage);
SLUICE_FUNCTION(counted, &counted_source);

}  // namespace

// Their registration is static; a call keeps this file in every program.
void register_plan_functions() {}

}  // namespace sluice::lib::fuzz
