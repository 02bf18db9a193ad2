// SPDX-License-Identifier: Apache-2.0
#include "op/distribute/hints.hpp"

#include <absl/strings/str_cat.h>

namespace sluice::lib {
namespace {

constexpr std::string_view kHint = "shard(hint, hint)";

/// The place of the next hint from `at` on, outside of quotes; npos: none.
std::size_t find_hint(std::string_view text, std::size_t at) {
  for (bool is_quoted = false; at < text.size(); ++at) {
    if (is_quoted && text[at] == '\\') ++at;
    else if (text[at] == '"') is_quoted = !is_quoted;
    else if (!is_quoted && text.substr(at).starts_with(kHint)) return at;
  }
  return text.npos;
}

}  // namespace

bool has_shard_hint(std::string_view text) { return find_hint(text, 0) != text.npos; }

std::string with_shard_numbers(std::string_view text, std::uint64_t shards, std::uint64_t index) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = find_hint(text, from)) != text.npos; from = at + kHint.size())
    absl::StrAppend(&out, std::string(text.substr(from, at - from)), "shard(", shards, ", ", index, ")");
  return out + std::string(text.substr(from));
}

}  // namespace sluice::lib
