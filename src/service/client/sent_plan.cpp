// SPDX-License-Identifier: Apache-2.0
#include "service/client/sent_plan.hpp"

#include <absl/strings/str_cat.h>

#include <utility>

#include "plan/plan_parts.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/element/type_text.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/splits/split_plan.hpp"

namespace sluice::lib {
namespace {

bool reads_standard_input(const node& n) {
  struct paths final : part_visitor {
    bool is_stream = false;
    void path(const file_path& p) override { is_stream = is_stream || p.value == "-"; }
  } seen;
  visit_parts(n, seen);
  for_each_plan(n, [&seen](const node_ptr& inner) { seen.is_stream = seen.is_stream || reads_standard_input(*inner); });
  for (const node_ptr& input : n.inputs) seen.is_stream = seen.is_stream || reads_standard_input(*input);
  return seen.is_stream;
}

std::string fingerprint_text(const node& plan) { return absl::StrCat(absl::Hex(fingerprint(plan), absl::kZeroPad16)); }

}  // namespace

void check_sends(const node& n) {
  const status why = serialisable(n);
  if (!why.ok())
    throw error(
        failed_precondition_error(absl::StrCat("the plan cannot be sent to workers: ", std::string(why.message()))));
  if (reads_standard_input(n))
    throw error(
        failed_precondition_error("the plan cannot be sent to workers: it reads standard input (\"-\"), which no other "
                                  "process can read; write it "
                                  "to a file first"));
}

dataset_info info_of_plan(std::string text, const element_type& type, std::uint64_t fingerprint) {
  dataset_info info;
  info.fingerprint = absl::StrCat(absl::Hex(fingerprint, absl::kZeroPad16));
  info.plan = std::move(text);
  info.type = type_text(type);
  info.visitation = std::string(to_string(visitation::exactly_once));
  info.on_error = "stop";
  return info;
}

node_ptr read_sent_plan(const std::string& text, std::string_view process) {
  try {
    return parse_plan(text);
  } catch (const plan_error& e) {
    if (!e.file_error().ok())
      throw error(e.file_error().with_message(
          absl::StrCat(std::string(e.file_error().message()), ", for ", std::string(process))));
    const std::string why(e.why().message());
    const bool lacks_function = why.find("there is no function") != why.npos;
    throw error(failed_precondition_error(absl::StrCat(
        std::string(process), " cannot read the plan: ", why,
        lacks_function
            ? "; the dispatcher, each worker and each consumer need the functions of the plan: start each with the "
              "plug-in that registers them (--plugin PATH), or in a program that has them"
            : "")));
  }
}

node_ptr plan_of_dataset(const dataset_info& info, std::string_view process) {
  node_ptr plan = read_sent_plan(info.plan, process);
  const std::string type = type_text(*plan->type);
  if (type != info.type)
    throw error(failed_precondition_error(absl::StrCat("the plan's elements are ", type, " here, and ", info.type,
                                                       " where the plan was made: a file or a function differs")));
  const std::string here = fingerprint_text(*plan);
  if (here != info.fingerprint)
    throw error(failed_precondition_error(absl::StrCat(
        std::string(process), " reads another plan than the one that was sent: its fingerprint is ", here,
        ", and where the plan was made ", info.fingerprint,
        "; a function of the plan has another version, or the builds of sluice differ: start each worker and each "
        "consumer with the same plug-ins (--plugin PATH) and the same program")));
  return plan;
}

}  // namespace sluice::lib
