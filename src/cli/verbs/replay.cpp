// SPDX-License-Identifier: Apache-2.0
#include "sluice/pipeline/replay.hpp"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/messages/message_text.hpp"
#include "cli/verb_options/replay_verb.hpp"
#include "cli/verbs.hpp"

namespace sluice::lib::cli {
namespace {

stored_failure entry_named(const std::string& typed) {
  const std::size_t mark = typed.rfind('#');
  std::uint64_t number = 0;
  if (mark == typed.npos || mark == 0 || !absl::SimpleAtoi(typed.substr(mark + 1), &number))
    throw misuse(absl::StrCat(typed,
                              ": expects FILE#N, the file of a quarantine and the number of an entry from 0: sluice "
                              "replay '",
                              mark == typed.npos || mark == 0 ? typed : typed.substr(0, mark), "#0'"));
  try {
    return read_failure(typed.substr(0, mark), number);
  } catch (const error& e) {
    if (e.code() == status_code::failed_precondition || e.code() == status_code::out_of_range)
      throw misuse(e.why().to_string());
    throw;
  }
}

replay_options options_of(const replay_arguments& a) {
  replay_options o;
  o.on_changed_inputs = a.changed_inputs == "warn"     ? changed_inputs::warn
                        : a.changed_inputs == "ignore" ? changed_inputs::ignore
                                                       : changed_inputs::refuse;
  iterate_options moved;
  set_identity(a.identity, moved);
  o.rebase = moved.rebase;
  if (!a.plan.empty()) o.plan = plan_of(a.plan);
  return o;
}

void print_element(const char* what, std::uint64_t number, const std::string& text) {
  std::printf("  %s element %llu: %s\n", what, static_cast<unsigned long long>(number), text.c_str());
}

}  // namespace

int replay(const replay_arguments& a) {
  const stored_failure bad = entry_named(a.entry);
  const replay_options o = options_of(a);
  reading_arguments reading = a.reading;
  if (reading.workers == 0) reading.workers = 1;
  runtime rt(runtime_of(reading));
  add_remote_files(rt);
  replay_report seen;
  try {
    seen = lib::replay(rt, bad, o);
  } catch (const error& e) {
    const bool is_misuse = e.code() == status_code::invalid_argument || e.code() == status_code::failed_precondition;
    if (!is_misuse) throw;
    throw misuse(absl::StrCat(a.entry, " cannot be replayed: ", std::string(e.why().to_string())));
  }
  std::printf("plan: %s\nentry: %s\n", bad.plan.c_str(), bad.why.to_string().c_str());
  if (!seen.has_failed) {
    std::puts("the element does not fail any more");
    return kOk;
  }
  for (const replay_step& s : seen.steps) {
    std::printf("%s\n", s.stage.c_str());
    if (s.entered_as != replay_step::kNone) print_element("entered:", s.entered_as, s.entered);
    if (s.left_as != replay_step::kNone) print_element(s.is_same ? "left:   " : "left last:", s.left_as, s.left);
    if (!s.error.empty())
      std::printf("  failed:  %s: %s\n", std::string(to_string(seen.why.code())).c_str(), s.error.c_str());
  }
  if (seen.is_same_error) {
    std::puts("the element has failed again, with the same error");
  } else {
    std::printf("the element has failed again, with another error: %s\n", seen.why.to_string().c_str());
  }
  return kFailed;
}

}  // namespace sluice::lib::cli
