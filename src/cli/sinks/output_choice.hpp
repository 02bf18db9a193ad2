// SPDX-License-Identifier: Apache-2.0
// The meaning of `--output` and its related options.
#pragma once

#include <memory>
#include <string>

#include "output/file_sink.hpp"

namespace sluice::lib::cli {

struct output_arguments {
  std::string output = "null";            ///< see read_output
  std::string compression = "automatic";  ///< automatic: by the name
  std::uint64_t shards = 1;
  std::int64_t shard_bytes = 0;
  std::int64_t row_group_bytes = 0;
  std::optional<tensor_spec> rows{};  ///< as in output_options
  std::string plan{};                 ///< as it was typed, for messages
  std::string input{};                ///< the only input file, for messages; empty: there is none, or it is unknown
  bool names_option = true;           ///< false: the output is an argument, not the value of --output
};

struct output_choice {
  bool is_null = true;
  output_options options{};

  /// Returns FORMAT:PATH, the form that `--output` accepts.
  std::string text() const;
};

/// Accepts "null", "jsonl", "raw", "lines", "csv" (standard output), FORMAT:PATH, or a PATH whose suffix names the
/// format. The path "-" is standard output, and "./-" a file of that name. Throws misuse: the text has none of these forms,
/// elements of this type cannot be written there, or the path is a descriptor that the program did not inherit.
output_choice read_output(const output_arguments& a, const element_type& type);

/// See file_sink::open. Throws `error`.
std::unique_ptr<element_sink> open_sink(const output_choice& output, const element_type& type,
                                        const output_start& start, std::uint64_t& cut_bytes);

}  // namespace sluice::lib::cli
