// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/reading.hpp"

#include <absl/strings/str_cat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/text/redacted.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/inputs/run_files.hpp"
#include "cli/inputs/transport_choice.hpp"
#include "cli/messages/exit_status.hpp"
#include "cli/messages/message_text.hpp"
#include "cli/options/option_checks.hpp"
#include "cli/reports/figures.hpp"
#include "cli/verbs.hpp"
#include "io/paths/file_router.hpp"
#include "plan/drops_errors.hpp"
#include "sluice/base/field_types.hpp"

namespace sluice::lib::cli {
namespace {

constexpr std::size_t kErrorsShown = 3;
constexpr std::string_view kQuarantine = "quarantine";

/// Accepts "quarantine(bad.jsonl)", or "quarantine:bad.jsonl", which shells need not quote. Returns an empty string for
/// other texts.
std::string quarantine_path(std::string_view text) {
  if (!text.starts_with(kQuarantine)) return {};
  text.remove_prefix(kQuarantine.size());
  if (text.starts_with(":")) return std::string(text.substr(1));
  if (!text.starts_with("(") || !text.ends_with(")")) return {};
  text = text.substr(1, text.size() - 2);
  if (text.size() > 1 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

CLI::Validator policy() {
  auto check = [](const std::string& text) -> std::string {
    if (text == "stop" || text == "skip" || !quarantine_path(text).empty()) return {};
    return absl::StrCat("expects stop, skip or quarantine(PATH), and is \"", text,
                        "\"; skip drops bad elements and continues");
  };
  return CLI::Validator(check, "{stop,skip}|quarantine(PATH)");
}

/// "by stage: tfrecord: 1, map(parse) #2: 2 (errors_max 10)": includes stages with a limit but no errors.
std::string errors_text(const std::vector<stage_errors>& stages) {
  std::string text;
  for (const stage_errors& s : stages) {
    absl::StrAppend(&text, text.empty() ? "  by stage: " : ", ", numbered(s.stage, s.number), ": ",
                    grouped(s.errors_in_all));
    if (s.errors_max != ~std::uint64_t{0}) absl::StrAppend(&text, " (errors_max ", grouped(s.errors_max), ")");
  }
  return text.empty() ? text : text + "\n";
}

}  // namespace

void add_reading_options(CLI::App& verb, reading_arguments& to) {
  // The text was validated.
  auto set_budget = [&to](const std::string& text) { read_byte_size(text, to.memory_budget_bytes); };
  verb.add_option_function<std::string>(
          "--memory-budget", set_budget,
          "the limit of all bytes in flight, such as 64MiB; by default a part of the machine's memory")
      ->check(memory_size());
  verb.add_option("--workers", to.workers, "the number of threads that compute")->check(whole(1, 1024));
  verb.add_option("--io", to.io, "the back end that reads files")->check(one_of({"auto", "uring", "threads"}));
  auto set_timeout = [&to](const std::string& text) { read_time(text, to.io_timeout); };
  verb.add_option_function<std::string>("--io-timeout", set_timeout,
                                        "the longest wait for a file, such as 30s; pipes have no limit")
      ->check(time_span());
  add_attempts_option(verb);
  add_transport_option(verb);
}

void add_attempts_option(CLI::App& verb) {
  verb.add_option_function<std::uint32_t>("--attempts", set_attempts,
                                          "the number of attempts for a request to a server that fails or is "
                                          "unreachable; by default 8; 1: none is sent again")
      ->check(whole(1, 1000));
}

void add_error_options(CLI::App& verb, error_arguments& to) {
  auto set_policy = [&to](const std::string& text) {
    to.skips = text != "stop";
    if (std::string kept = quarantine_path(text); !kept.empty()) to.quarantine = std::move(kept);
  };
  auto* on_error =
      verb.add_option_function<std::string>("--on-error", set_policy,
                                            "the policy for bad elements, in stages without one in the plan: stop; "
                                            "skip: drop them; quarantine(PATH): drop them and store them there");
  on_error->check(policy());
  verb.add_option("--errors-max", to.errors_max,
                  "the number of bad elements that all stages together may drop; one more ends the run with its error")
      ->check(whole(0, kAny - 1));
  verb.add_option_function<std::string>(
          "--quarantine", [&to](const std::string& text) { to.quarantine = text; },
          "store dropped elements in this file, with their errors: JSON lines if its name ends in .jsonl, else "
          "TFRecords")
      ->check(path());
}

runtime_options runtime_of(const reading_arguments& a) {
  runtime_options o;
  o.workers = a.workers;
  o.memory_budget_bytes = static_cast<std::size_t>(a.memory_budget_bytes);
  o.io = a.io;
  o.io_timeout = a.io_timeout;
  o.on_warning = [](std::string_view text) { print_warning(text); };
  return o;
}

void add_optimizer_options(CLI::App& verb, optimizer_arguments& to) {
  verb.add_flag("--no-optimize", to.is_off, "run the plan as it is written");
  verb.add_option(
          "--rule", to.rules,
          "NAME=off: do not rewrite the plan by this rule; NAME=on: do; may be repeated; sluice explain --rules "
          "lists the rules")
      ->type_name("NAME=on|off")
      ->allow_extra_args(false);
  verb.add_flag("--trust", to.trusts,
                "do not check values that the plan does not use: columns that are not read may have bad fields");
}

rule_choice rules_of(const optimizer_arguments& a) {
  // The program's consumers write elements to files, so all of them gain from a plan that works ahead.
  rule_choice rules =
      a.is_off ? rule_choice::none() : rule_choice().with("inject_prefetch").with("overlap_epochs").with("parallelize");
  for (const std::string& given : a.rules) {
    const std::size_t at = given.find('=');
    const std::string name = given.substr(0, at), value = at == given.npos ? "" : given.substr(at + 1);
    if (value != "on" && value != "off")
      throw misuse(absl::StrCat("--rule expects NAME=on or NAME=off, and is ", given));
    try {
      rules = value == "on" ? rules.with(name) : rules.without(name);
    } catch (const error& e) { throw misuse(absl::StrCat("--rule ", given, ": ", std::string(e.why().message()))); }
  }
  return rules;
}

void set_errors(const error_arguments& a, iterate_options& to) {
  to.on_error = a.skips ? error_policy::skip : error_policy::stop;
  if (a.errors_max) to.errors_max = *a.errors_max;
  to.quarantine = quarantine(a.quarantine);
}

quarantine_locks check_errors(const node& plan, const error_arguments& a) {
  if (a.quarantine == "-")
    throw misuse("--quarantine -: expects a local file, and - is standard output; write ./- for a file of that name");
  if (detail::is_remote(a.quarantine))
    throw misuse(absl::StrCat("--quarantine ", a.quarantine, ": expects a local file"));
  if (a.skips || drops_errors(plan)) return lock_quarantines(plan, a);
  if (!a.quarantine.empty())
    throw misuse(
        "--quarantine stores dropped elements, and this run stops at the first bad one: add --on-error skip, or write "
        "on_error=skip in the plan");
  if (!a.errors_max) return {};
  throw misuse(
      "--errors-max limits dropped elements, and this run stops at the first bad one: add --on-error skip, or write "
      "on_error=skip in the plan");
}

std::string dropped_text(const run_report& report) {
  if (report.errors == 0) return {};
  std::string out = absl::StrCat(counted(report.errors, "bad element"), " dropped:\n");
  std::size_t shown = std::min(kErrorsShown, report.first_errors.size());
  for (std::size_t i = 0; i != shown; ++i) absl::StrAppend(&out, "  ", report.first_errors[i].to_string(), "\n");
  if (report.errors > shown) absl::StrAppend(&out, "  and ", grouped(report.errors - shown), " more\n");
  return absl::StrCat(out, errors_text(report.errors_by_stage));
}

void report_dropped(const run_report& report) { std::fputs(message_text(dropped_text(report)).c_str(), stderr); }

}  // namespace sluice::lib::cli
