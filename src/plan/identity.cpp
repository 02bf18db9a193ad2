// SPDX-License-Identifier: Apache-2.0
#include "sluice/plan/identity.hpp"

#include "absl/strings/str_cat.h"
#include "plan/moved_texts.hpp"
#include "plan/plan_parts.hpp"
#include "sluice/plan/function.hpp"

namespace sluice::lib {
namespace {

void collect(const node& n, std::vector<function_identity>& out) {
  for (auto& input : n.inputs) collect(*input, out);
  for_each_plan(n, [&](const node_ptr& p) { collect(*p, out); });
  for_each_function(n, [&](const function_ptr& f) {
    out.push_back({.op = std::string(n.op->name),
                   .name = f->name,
                   .version = f->version,
                   .is_data = f->is_data(),
                   .values_known = f->values_known,
                   .values = f->values_known ? f->values() : 0});
  });
}

std::string shown(const function_identity& f) {
  return f.name.empty() ? absl::StrCat("the function of ", f.op) : absl::StrCat("function `", f.name, "`");
}

}  // namespace

std::string expression_with_texts(
    std::string_view expression,
    const std::function<std::string(std::string_view before, std::string_view text)>& change) {
  std::string out;
  for (std::size_t at = 0; at != expression.size();) {
    const std::size_t begin = expression.find('"', at);
    std::size_t end = begin == expression.npos ? expression.npos : begin + 1;
    while (end < expression.size() && expression[end] != '"') end += expression[end] == '\\' ? 2 : 1;
    if (end >= expression.size()) return out.append(expression.substr(at));
    const std::string_view before = expression.substr(at, begin - at);
    out.append(before).append("\"").append(change(before, expression.substr(begin + 1, end - begin - 1))).append("\"");
    at = end + 1;
  }
  return out;
}

std::string expression_before(const path_rebases& moves, std::string_view expression) {
  return expression_with_texts(
      expression, [&](std::string_view, std::string_view text) { return std::string(path_before(moves, text)); });
}

std::vector<function_identity> identities_of(const node& plan) {
  std::vector<function_identity> all;
  collect(plan, all);
  return all;
}

std::vector<function_identity> identities_before(const node& plan, const path_rebases& moves) {
  std::vector<function_identity> all = identities_of(plan);
  for (function_identity& f : all) f.name = expression_before(moves, f.name);
  return all;
}

std::string difference_of(const std::vector<function_identity>& there, const std::vector<function_identity>& here) {
  if (there.size() != here.size()) return {};  // the stages differ; the fingerprints report it
  for (std::size_t i = 0; i != here.size(); ++i) {
    const function_identity &a = there[i], &b = here[i];
    if (a.name != b.name) {
      if (a.name.empty()) return absl::StrCat(shown(b), " stands here, a function without a name there");
      if (b.name.empty()) return absl::StrCat(shown(a), " stands there, a function without a name here");
      return absl::StrCat(shown(a), " stands there, `", b.name, "` here");
    }
    if (a.version != b.version)
      return absl::StrCat(shown(b), " has version ", a.version, " there, ", b.version, " here");
    if (!a.values_known || !b.values_known || a.values == b.values) continue;
    if (b.is_data) return absl::StrCat("the elements that ", b.op, " holds in memory are others there");
    return absl::StrCat(shown(b), " captured other values there");
  }
  return {};
}

std::string open_identities(const std::vector<function_identity>& identities) {
  std::string functions, data;
  for (const function_identity& f : identities) {
    if (!f.is_open()) continue;
    std::string& list = f.is_data ? data : functions;
    absl::StrAppend(&list, list.empty() ? "" : ", ", f.op, f.name.empty() ? "" : absl::StrCat("(", f.name, ")"));
  }
  std::string text;
  if (!functions.empty())
    absl::StrAppend(
        &text,
        "checkpoints of this plan cannot detect changes of the values that these functions captured: ", functions,
        "; capture plain values without padding between them, no pointers and no containers, or count up "
        "the version in fn(\"name\", 1, f) with what they capture");
  if (!data.empty())
    absl::StrAppend(&text, text.empty() ? "" : "; ",
                    "checkpoints of this plan cannot detect changes of the elements of ", data,
                    " change: their type cannot be hashed");
  return text;
}

}  // namespace sluice::lib
