// SPDX-License-Identifier: Apache-2.0
// The lines of a file, indexed by their text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"

namespace sluice::lib::expressions {

inline constexpr std::size_t kVocabularyBytesMax = std::size_t{256} << 20;

/// Words, one on each line, read once. Immutable.
class vocabulary {
 public:
  /// Reads the file's lines, without \n or \r\n. Errors: throws bad_value: the file cannot be read, is larger than
  /// kVocabularyBytesMax, or contains a word twice.
  explicit vocabulary(const std::string& path);

  std::int64_t size() const { return static_cast<std::int64_t>(lines_.size()); }
  /// Returns the number of the word's line, from 0, or -1 if the word is missing.
  std::int64_t find(std::string_view word) const {
    auto found = lines_.find(word);
    return found == lines_.end() ? -1 : found->second;
  }
  /// Returns the hash of the contents.
  std::uint64_t hash() const { return hash_; }

 private:
  std::string bytes_;
  absl::flat_hash_map<std::string_view, std::int64_t> lines_;  ///< words within bytes_
  std::uint64_t hash_ = 0;
};

}  // namespace sluice::lib::expressions
