// SPDX-License-Identifier: Apache-2.0
// Precompiled for tests with clang: system_headers.hpp of the library, and Catch2.
#pragma once

#include <catch2/catch.hpp>

#include "system_headers.hpp"
