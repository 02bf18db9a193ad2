// SPDX-License-Identifier: Apache-2.0
// Catch2's own main, compiled once for every test executable. Work is shared by all workers whatever it costs, so that every
// hand-over is met; SLUICE_SHARE=measured in the environment of the tests leaves it to the costs.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <cstdlib>

namespace {
[[maybe_unused]] const int shares_always = setenv("SLUICE_SHARE", "always", 0);
}  // namespace
