// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <cstdio>

#include "base/text/redacted.hpp"
#include "cli/inputs/matched_files.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/verbs.hpp"
#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib::cli {
namespace {

/// The number of elements skipped in one step, so that an interrupt is noticed.
constexpr std::uint64_t kStep = std::uint64_t{1} << 20;

/// Skips all elements. Sources that can seek read no payload; a stage computes elements only if their number depends on
/// it.
task<std::uint64_t> counted_by_passing(any_stream* in) {
  std::uint64_t elements = 0;
  for (;;) {
    demand d;
    d.skip = kStep - 1;
    auto got = co_await in->try_next_block(d);
    if (!got.why.ok()) throw_status(got.why);
    if (!got.view) break;
    elements += kStep - 1 + got.view.size();
  }
  co_return elements + kStep - 1 - detail::engine_access::of(*in).skip_left();
}

/// Builds all elements, so that damage which skipping does not see is an error.
task<std::uint64_t> counted_by_reading(any_stream* in) {
  std::uint64_t elements = 0;
  for (;;) {
    demand d;
    d.elements = 1024;
    auto got = co_await in->try_next_block(d);
    if (!got.why.ok()) throw_status(got.why);
    if (!got.view) break;
    elements += got.view.size();
  }
  co_return elements;
}

/// `text`: the plan as it was typed; empty: it is in a file.
std::uint64_t count_of(runtime& rt, const node_ptr& plan, const std::string& text, const count_arguments& a) {
  const quarantine_locks kept = check_errors(*plan, a.errors);
  cardinality known = cardinality_of(*plan);
  if (known.kind == cardinality::infinite)
    throw misuse(absl::StrCat("the plan has no end: limit it, as in: sluice count '", text.empty() ? "PLAN" : text,
                              " | take(1000)'"));
  if (known.kind == cardinality::exact && !known.is_most() && !a.reads)
    return static_cast<std::uint64_t>(known.elements);
  iterate_options o;
  set_errors(a.errors, o);
  any_stream in = open_run(rt, plan, o);
  std::uint64_t elements = sync_wait(rt, a.reads ? counted_by_reading(&in) : counted_by_passing(&in));
  report_dropped(report_of(in));
  sync_wait(rt, cleanup(std::move(in)));
  return elements;
}

}  // namespace

int count(const count_arguments& a) {
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  if (!a.plan_file.empty()) {
    std::printf("%llu\n", static_cast<unsigned long long>(count_of(rt, plan_in_file(a.plan_file), "", a)));
    return kOk;
  }
  std::uint64_t all = 0;
  const std::vector<std::string> plans = matched_files(rt, a.plans_or_files, is_file_pattern_and_no_plan);
  for (auto& plan : plans) {
    std::uint64_t n = count_of(rt, plan_or_reader(plan, a.format), plan, a);
    all += n;
    if (plans.size() == 1) std::printf("%llu\n", static_cast<unsigned long long>(n));
    else std::printf("%llu %s\n", static_cast<unsigned long long>(n), detail::redacted(plan).c_str());
  }
  if (plans.size() > 1) std::printf("%llu total\n", static_cast<unsigned long long>(all));
  return kOk;
}

}  // namespace sluice::lib::cli
