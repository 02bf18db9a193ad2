// SPDX-License-Identifier: Apache-2.0
#include "expr/checking/field_names.hpp"

#include "absl/strings/str_cat.h"
#include "base/text/closest.hpp"
#include "expr/checking/type_limits.hpp"
#include "expr/tree.hpp"

namespace sluice::lib::expressions {

std::string list_of_fields(const element_type& t) {
  std::string out;
  for (auto& m : t.members) {
    const std::string_view quote = is_plain_word(m.name) ? "" : "`";
    absl::StrAppend(&out, out.empty() ? "" : ", ", std::string(quote), m.name, std::string(quote));
  }
  constexpr std::size_t kFieldsMax = 400;
  return cut(out, kFieldsMax);
}

std::string fields_of(const element_type& t) {
  const std::string out = list_of_fields(t);
  return out.empty() ? absl::StrCat(shown(t), " has no fields") : absl::StrCat(shown(t), " has ", out);
}

std::vector<std::string> names_of(const element_type& t) {
  std::vector<std::string> names;
  for (auto& m : t.members) names.push_back(m.name);
  return names;
}

std::string similar_name(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::string_view kBegin = "; did you mean ";
  const std::string found = detail::did_you_mean(word, known);
  if (found.empty()) return found;
  const std::string name = found.substr(kBegin.size(), found.size() - kBegin.size() - 1);
  return is_plain_word(name) ? found : absl::StrCat(std::string(kBegin), "`", name, "`?");
}

}  // namespace sluice::lib::expressions
