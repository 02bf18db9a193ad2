// SPDX-License-Identifier: Apache-2.0
#include "expr/functions/vocabulary.hpp"

#include "absl/strings/str_cat.h"
#include "expr/evaluation.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/base/small_file.hpp"

namespace sluice::lib::expressions {

vocabulary::vocabulary(const std::string& path) {
  auto read = read_small_file(path, kVocabularyBytesMax);
  if (!read.ok()) throw bad_value{read.why().to_string()};
  bytes_ = *std::move(read);
  hash_ = stable_hash(bytes_);
  std::string_view rest = bytes_;
  for (std::int64_t line = 0; !rest.empty(); ++line) {
    std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view word = rest.substr(0, end);
    if (word.ends_with('\r')) word.remove_suffix(1);
    auto [at, is_new] = lines_.emplace(word, line);
    if (!is_new)
      throw bad_value{absl::StrCat(path, ": lines ", at->second + 1, " and ", line + 1, " are the same word, ",
                                   std::string(word.substr(0, 60)))};
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace sluice::lib::expressions
