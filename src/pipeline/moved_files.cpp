// SPDX-License-Identifier: Apache-2.0
#include "pipeline/moved_files.hpp"

#include "absl/strings/str_cat.h"
#include "base/text/redacted.hpp"
#include "runtime/seen_inputs.hpp"
#include "sluice/base/status.hpp"
#include "sluice/plan/identity.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// Returns a path among the texts of the plan: one that has moved, if any. Empty: no text looks like a path.
std::string path_in(const std::string& plan, const path_rebases& moves) {
  std::string first;
  for (std::size_t begin = plan.find('"'); begin != plan.npos;) {
    std::size_t end = begin + 1;
    while (end < plan.size() && plan[end] != '"') end += plan[end] == '\\' ? 2 : 1;
    if (end >= plan.size()) break;
    const std::string text = plan.substr(begin + 1, end - begin - 1);
    if (path_before(moves, text) != text) return text;
    if (first.empty() && text.find_first_of("/.") != text.npos) first = text;
    begin = plan.find('"', end + 1);
  }
  return first;
}

std::string path_in_quotes(std::string_view path) {
  constexpr std::size_t kShownMax = 200;
  const std::string text = detail::redacted(std::string(path));
  return absl::StrCat("\"", text.size() <= kShownMax ? text : text.substr(0, kShownMax) + "…", "\"");
}

}  // namespace

void check_moves(const node& plan, const path_rebases& moves, std::string_view inputs, bool was_before) {
  const std::string text = plan_text(plan);
  for (const path_rebase& move : moves.list()) {
    const path_rebases one{move};
    const std::string path = path_in(text, one);
    if (path.empty() || move.from == move.to) continue;
    const bool is_used = fingerprint_before(plan, one) != fingerprint(plan) ||
                         !difference_of(identities_before(plan, one), identities_of(plan)).empty();
    const bool is_done = was_before || inputs.empty() || records_move(inputs, move);
    if (is_used && is_done) continue;
    throw_status(failed_precondition_error(
        absl::StrCat(is_used ? "no file of the checkpoint is in the folder " : "no path of the plan is in the folder ",
                     path_in_quotes(is_used ? move.from : move.to), ", so that --rebase ", detail::redacted(move.from),
                     "=", detail::redacted(move.to), " (iterate_options::rebase) changes nothing; the ",
                     is_used ? "checkpoint's plan" : "plan", " reads ", path_in_quotes(path),
                     ": correct the folder, or leave it out")));
  }
}

std::string path_before_moves(const node& plan, const path_rebases& moves) {
  const std::string path = path_in(plan_text(plan), moves);
  if (path.empty()) return {};
  return absl::StrCat("; by the given moves, the checkpoint's plan would have read ",
                      path_in_quotes(path_before(moves, path)));
}

}  // namespace sluice::lib
