// SPDX-License-Identifier: Apache-2.0
#include "output/shard_names.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "sluice/base/assert.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kDigits = 5;
constexpr std::size_t kDigitsMax = 20;

/// Returns the position of the first suffix in a file's name that is not of compression: 3 in "out.tfrecord.gz".
std::size_t suffix_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  const std::size_t begin = slash == path.npos ? 0 : slash + 1;
  std::size_t end = path.size();
  for (const char* gz : {".gz", ".gzip", ".zst", ".zstd"})
    if (path.ends_with(gz)) end = path.size() - std::string_view(gz).size();
  const std::size_t dot = end == 0 ? path.npos : path.find_last_of('.', end - 1);
  return dot == path.npos || dot <= begin ? end : dot;
}

/// A placeholder in braces that begins at `at`: its length and digits; 0 if none begins there.
struct placeholder {
  std::size_t length = 0, digits = kDigits;
};
placeholder placeholder_at(const std::string& text, std::size_t at, std::string_view name) {
  std::string_view rest(text);
  rest.remove_prefix(at + 1);
  if (!rest.starts_with(name)) return {};
  rest.remove_prefix(name.size());
  placeholder found{name.size() + 2};
  if (rest.starts_with('}')) return found;
  if (!rest.starts_with(":0")) return {};
  const char* begin = rest.data() + 2;
  auto read = std::from_chars(begin, rest.data() + rest.size(), found.digits);
  const auto used = static_cast<std::size_t>(read.ptr - rest.data());
  if (read.ec != std::errc() || found.digits > kDigitsMax || !rest.substr(used).starts_with("d}")) return {};
  found.length += used + 1;
  return found;
}

std::string numbered(std::uint64_t n, std::size_t digits) {
  std::string text = std::to_string(n);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

}  // namespace

bool shard_names::names_shards(const std::string& path) {
  for (std::size_t at = 0; (at = path.find('{', at)) != path.npos; ++at)
    if (placeholder_at(path, at, "shard").length != 0) return true;
  return false;
}

shard_names::shard_names(std::string path, std::uint64_t shards) : pattern_(std::move(path)), shards_(shards) {
  if (!names_shards(pattern_)) pattern_.insert(suffix_of(pattern_), shards == 0 ? "-{shard}" : "-{shard}-of-{shards}");
}

status shard_names::check() const {
  for (std::size_t at = 0; (at = pattern_.find("{shards", at)) != pattern_.npos; ++at)
    if (shards_ == 0 && placeholder_at(pattern_, at, "shards").length != 0)
      return invalid_argument_error(
          "{shards} in a name needs their number: shards that end by their size are counted only in the end");
  return {};
}

std::string shard_names::name(std::uint64_t shard) const {
  SLUICE_REQUIRES(check().ok(), "the pattern needs the number of shards");
  std::string out;
  for (std::size_t at = 0; at != pattern_.size();) {
    const placeholder number = pattern_[at] == '{' ? placeholder_at(pattern_, at, "shard") : placeholder{};
    const placeholder count = pattern_[at] == '{' ? placeholder_at(pattern_, at, "shards") : placeholder{};
    if (number.length != 0) out += numbered(shard, number.digits);
    else if (count.length != 0) out += numbered(shards_, count.digits);
    else out += pattern_[at];
    at += std::max<std::size_t>(1, number.length + count.length);
  }
  return out;
}

}  // namespace sluice::lib
