// SPDX-License-Identifier: Apache-2.0
#include "base/text/closest.hpp"

#include <algorithm>

namespace sluice::lib::detail {

namespace {

/// Returns the number of insertions, deletions, replacements and swaps of neighbors that lead from a to b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  if (word.size() > 64) return {};
  // A completely different word is no suggestion: more than half of a short one must be right.
  std::size_t best = std::min<std::size_t>(word.size() <= 4 ? 2 : 3, word.size());
  std::string_view closest;
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (auto& k : known) {
    if (k.size() > 64) continue;
    if (k != word && std::ranges::equal(k, word, {}, lower, lower)) return "; did you mean " + k + "?";
    if (auto d = edit_distance(word, k); d < best) {
      best = d;
      closest = k;
    }
  }
  return closest.empty() ? std::string() : "; did you mean " + std::string(closest) + "?";
}

}  // namespace sluice::lib::detail
