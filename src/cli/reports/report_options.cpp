// SPDX-License-Identifier: Apache-2.0
#include "cli/reports/report_options.hpp"

#include <absl/strings/str_cat.h>

#include <CLI/CLI.hpp>
#include <string_view>

#include "cli/options/option_checks.hpp"

namespace sluice::lib::cli {
namespace {

constexpr std::string_view kJsonForm = "json", kJsonFile = "json:", kFullForm = "full";

/// Returns true for an option or a plan, and false for a form, also if it is mistyped.
bool is_no_form(const std::string& text) {
  return text.starts_with("-") || (!text.starts_with(kJsonFile) && text.find_first_of("(|/. ") != text.npos);
}

CLI::Validator report_form() {
  auto check = [](const std::string& text) -> std::string {
    const bool names_file = text.starts_with(kJsonFile) && text.size() > kJsonFile.size();
    if (text == "json:-") return "json prints to standard error, and - is standard output: write json, or json:FILE";
    if (text == kFullForm || text == "text" || text == kJsonForm || names_file) return {};
    return absl::StrCat("expects full, text, json or json:FILE, and is \"", text, "\"");
  };
  return CLI::Validator(check, "FORM");
}

}  // namespace

std::vector<std::string> with_report_form(std::vector<std::string> arguments) {
  for (std::size_t i = 0; i != arguments.size() && arguments[i] != "--"; ++i)
    if (arguments[i] == "--report" && (i + 1 == arguments.size() || is_no_form(arguments[i + 1])))
      arguments[i] = "--report=full";
  return arguments;
}

void add_report_options(CLI::App& verb, report_arguments& to, bool with_stages) {
  verb.add_flag("--quiet", to.quiet, "print no progress, no notices and no report; errors are printed");
  auto set_form = [&to](const std::string& text) {
    to.progress = text == "plain"  ? progress_form::plain
                  : text == "none" ? progress_form::none
                                   : progress_form::automatic;
  };
  verb.add_option_function<std::string>("--progress", set_form,
                                        "auto: one line that is overwritten, on a terminal only; plain: a line with "
                                        "the time for each interval, for logs; none")
      ->type_name("FORM")
      ->check(one_of({"auto", "plain", "none"}));
  auto set_interval = [&to](const std::string& text) {
    read_time(text, to.progress_every);
    to.progress = progress_form::plain;
  };
  verb.add_option_function<std::string>("--progress-every", set_interval,
                                        "the interval of --progress plain, which it implies; 30s by default")
      ->check(time_span());
  auto set_report = [&to](const std::string& text) {
    to.is_json = text == kJsonForm;
    to.shows_profile = text == kFullForm;
    if (text.starts_with(kJsonFile)) to.json_file = text.substr(kJsonFile.size());
  };
  verb.add_option_function<std::string>("--report", set_report,
                                        "full (also without a form): a verdict first, and each stage's share of the "
                                        "time; text; json: one JSON object on standard error, in place of the text; "
                                        "json:FILE: the object in a file, beside the text")
      ->check(report_form());
  if (!with_stages) return;
  verb.add_flag("--stages", to.shows_stages, "print a table of each stage's work, time and waits at the end");
  auto set_every = [&to](const std::string& text) { read_time(text, to.report_every); };
  verb.add_option_function<std::string>("--report-every", set_every,
                                        "print the report with its verdict after each such interval, and at the end")
      ->check(time_span());
  verb.add_flag("--order-fingerprint", to.counts_order,
                "count digests of the elements and their order, for reports and checkpoints, which sluice compare "
                "compares; a resumed run continues them");
  verb.add_option(
          "--html", to.html_file,
          "write the report as a page with pictures to this file, for a browser; an existing file is replaced only "
          "if it is such a page")
      ->check(path());
  verb.add_option(
          "--serve", to.serve_address,
          "show the run at this address, HOST:PORT or :PORT of this machine only (0: any free port, which is "
          "printed): / is the page of --html and follows the run, /report.json, /metrics for Prometheus, /healthz")
      ->type_name("ADDRESS");
  auto* trace = verb.add_option("--trace", to.trace_file,
                                "write what the workers, stages and channels did, and when, to this file, for "
                                "ui.perfetto.dev; an existing file is replaced only if it is such a trace")
                    ->check(path());
  verb.add_option(
          "--trace-events", to.trace_events,
          "the most events of the trace, about 100 bytes each; 500000 by default. The trace then ends, and says so")
      ->check(whole(1, 100'000'000))
      ->needs(trace);
}

}  // namespace sluice::lib::cli
