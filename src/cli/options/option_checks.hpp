// SPDX-License-Identifier: Apache-2.0
// Validators of options, each of which reports the expected and the actual value. The readers beside them accept the
// same texts.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::lib::cli {

inline constexpr std::uint64_t kAny = ~std::uint64_t{0};

/// Accepts digits only. CLI11's own numbers wrap, are clamped, or may be empty.
CLI::Validator whole(std::uint64_t least, std::uint64_t most);
/// Accepts "64MiB".
CLI::Validator size_in_bytes();
/// Accepts sizes of memory, which must not be 0.
CLI::Validator memory_size();
/// Accepts "10s", "1.5 h".
CLI::Validator time_span();
/// Accepts the texts that read_interval reads.
CLI::Validator interval();
CLI::Validator path();
/// Accepts host:port and unix:/path.
CLI::Validator server_address();
/// Accepts addresses by which others reach this machine: host:port, host:%port% and unix:/path; not port 0.
CLI::Validator reachable_address();
/// Accepts "sqlite:PATH".
CLI::Validator metadata_store();
/// Accepts these words.
CLI::Validator one_of(std::vector<std::string> words);

/// Returns false if the text is not a time, or is zero.
bool read_time(const std::string& text, std::chrono::nanoseconds& time);
/// Reads "5000" elements, or a time. Returns false for other texts.
bool read_interval(const std::string& text, std::uint64_t& elements, std::chrono::nanoseconds& time);

}  // namespace sluice::lib::cli
