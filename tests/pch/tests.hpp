// SPDX-License-Identifier: Apache-2.0
// What most tests include, compiled once for each executable in the sanitizers' lanes (meson.build).
#pragma once

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
