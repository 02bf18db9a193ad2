// SPDX-License-Identifier: Apache-2.0
// Precompiled for our own builds with clang: what most sources include of the standard library, which is a third of their cost. No header
// of ours, so that each source still has to include what it uses of ours, and a change of one compiles what it reaches and no more.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>
