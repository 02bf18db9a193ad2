// SPDX-License-Identifier: Apache-2.0
// Functions that plans of rows call by name because an expression cannot compute them. The program `sluice` does not have
// them. Those of TensorFlow's rows have the names of the functions in tests/golden/tfdata_pipelines.py.
#include <cstdint>
#include <string>

#include "sluice/sluice.hpp"

namespace sluice::lib::test {
namespace {

dataset<std::int64_t> numbers(const std::string& plan) { return dataset<std::int64_t>(parse_plan(plan)); }
std::string text(std::int64_t x) { return std::to_string(x); }
SLUICE_FUNCTION(tfdata_up_to, [](std::int64_t x) { return numbers("range(" + text(x) + ")"); });
SLUICE_FUNCTION(tfdata_few, [](std::int64_t x) { return numbers("range(" + text(x % 5) + ")"); });
SLUICE_FUNCTION(tfdata_six, [](std::int64_t x) { return numbers("range(6) | map(it * 0 + " + text(x) + ")"); });
SLUICE_FUNCTION(tfdata_copies,
                [](std::int64_t x) { return numbers("range(" + text(x) + ") | map(it * 0 + " + text(x) + ")"); });
SLUICE_FUNCTION(tfdata_twice, [](std::int64_t x) { return numbers("range(" + text(x % 3) + ") | repeat(2)"); });
SLUICE_FUNCTION(tfdata_part, [](std::int64_t x) {
  return numbers("range(" + text(10 * x + x % 4) + ", start=" + text(10 * x) + ")");
});
SLUICE_FUNCTION(tfdata_failing,
                [](std::int64_t x) { return numbers("range(4) | map(12 / abs(it - " + text(x) + "))"); });
SLUICE_FUNCTION(tfdata_batches, [](std::int64_t x) {
  return dataset<batched<std::int64_t>>(parse_plan("range(" + text(x) + ") | batch(2)"));
});
SLUICE_FUNCTION(tfdata_nested,
                [](std::int64_t x) { return numbers("range(" + text(x) + ") | flat_map(tfdata_up_to)"); });

}  // namespace
}  // namespace sluice::lib::test
