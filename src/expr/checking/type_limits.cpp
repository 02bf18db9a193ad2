// SPDX-License-Identifier: Apache-2.0
#include "expr/checking/type_limits.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sluice/element/type_text.hpp"
#include "sluice/expr/expression.hpp"

namespace sluice::lib::expressions {

namespace {

/// Subtracts the number of types within t from `left`. Returns false if t contains more types than that.
bool count(const element_type& t, std::size_t& left) {
  if (left == 0) return false;
  --left;
  if (t.element && !count(*t.element, left)) return false;
  return std::all_of(t.members.begin(), t.members.end(), [&](const member& m) { return count(*m.type, left); });
}

std::size_t height(const element_type& t) {
  std::size_t most = t.element ? height(*t.element) : 0;
  for (auto& m : t.members) most = std::max(most, height(*m.type));
  return most + 1;
}

std::string limit(std::string_view what, std::size_t most) {
  return absl::StrCat("its type would have more than ", most, " ", std::string(what));
}

}  // namespace

std::string cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most != 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return absl::StrCat(std::string(text.substr(0, most)), "…");
}

std::string type_mistake(const std::vector<const element_type*>& parts, std::size_t names) {
  std::size_t left = kExpressionTypeNodesMax - 1, bytes = 0;
  for (auto* part : parts) {
    if (!count(*part, left)) return limit("parts, counted with the parts of these", kExpressionTypeNodesMax);
    bytes += part->size + part->align;
    names += part->name.size() + 2;
  }
  // After the count, there are few enough types to examine.
  for (auto* part : parts)
    if (height(*part) >= kTypeDepthMax) return limit("types within types", kTypeDepthMax);
  if (bytes > kExpressionTypeBytesMax) return limit("bytes in each value", kExpressionTypeBytesMax);
  if (names > kTypeTextBytesMax) return limit("bytes of text", kTypeTextBytesMax);
  return {};
}

}  // namespace sluice::lib::expressions
