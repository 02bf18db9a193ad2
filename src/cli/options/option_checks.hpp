// SPDX-License-Identifier: Apache-2.0
// Checks of options: each states the expected and the actual value, and the readers beside them read the same texts.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <string>

namespace sluice::lib::cli {

inline constexpr std::uint64_t kAny = ~std::uint64_t{0};

/// Digits only: what CLI11 itself takes wraps, is clamped, or may be empty.
CLI::Validator whole(std::uint64_t least, std::uint64_t most);
/// "64MiB".
CLI::Validator size_in_bytes();
/// The same for memory, of which there has to be some.
CLI::Validator memory_size();
/// "10s", "1.5 h".
CLI::Validator time_span();
/// Accepts the texts that read_interval reads.
CLI::Validator interval();
CLI::Validator path();

/// False: no time, or none at all.
bool read_time(const std::string& text, std::chrono::nanoseconds& time);
/// "5000" elements, or a time: reads one or the other. False: neither.
bool read_interval(const std::string& text, std::uint64_t& elements, std::chrono::nanoseconds& time);

}  // namespace sluice::lib::cli
