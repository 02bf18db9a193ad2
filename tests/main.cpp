// SPDX-License-Identifier: Apache-2.0
// Catch2's own main, compiled once for every test executable.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
