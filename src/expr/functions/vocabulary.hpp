// SPDX-License-Identifier: Apache-2.0
// The lines of a file, by their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"

namespace sluice::lib::expressions {

inline constexpr std::size_t kVocabularyBytesMax = std::size_t{256} << 20;

/// Words, one a line, that were read once. Immutable.
class vocabulary {
 public:
  /// The file's lines, without \n or \r\n. Errors: throws bad_value: the file cannot be read, has more than
  /// kVocabularyBytesMax, or a word twice.
  explicit vocabulary(const std::string& path);

  std::int64_t size() const { return static_cast<std::int64_t>(lines_.size()); }
  /// The number of the word's line, from 0; -1: there is none.
  std::int64_t find(std::string_view word) const {
    auto found = lines_.find(word);
    return found == lines_.end() ? -1 : found->second;
  }
  /// The hash of its contents.
  std::uint64_t hash() const { return hash_; }

 private:
  std::string bytes_;
  absl::flat_hash_map<std::string_view, std::int64_t> lines_;  ///< words within bytes_
  std::uint64_t hash_ = 0;
};

}  // namespace sluice::lib::expressions
