// SPDX-License-Identifier: Apache-2.0
#include "cli/reports/report_options.hpp"

#include <absl/strings/str_cat.h>

#include <CLI/CLI.hpp>
#include <string_view>

#include "cli/options/option_checks.hpp"

namespace sluice::lib::cli {
namespace {

constexpr std::string_view kJsonForm = "json", kJsonFile = "json:";

CLI::Validator report_form() {
  auto check = [](const std::string& text) -> std::string {
    const bool names_file = text.starts_with(kJsonFile) && text.size() > kJsonFile.size();
    if (text == "json:-") return "json prints to standard error, and - is standard output: write json, or json:FILE";
    if (text == "text" || text == kJsonForm || names_file) return {};
    return absl::StrCat("expects text, json or json:FILE, and is \"", text, "\"");
  };
  return CLI::Validator(check, "FORM");
}

}  // namespace

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
    if (text.starts_with(kJsonFile)) to.json_file = text.substr(kJsonFile.size());
  };
  verb.add_option_function<std::string>("--report", set_report,
                                        "text; json: one JSON object on standard error, in place of the text; "
                                        "json:FILE: the object in a file, beside the text")
      ->check(report_form());
  if (with_stages)
    verb.add_flag("--stages", to.shows_stages, "print a table of each stage's work, time and waits at the end");
}

}  // namespace sluice::lib::cli
