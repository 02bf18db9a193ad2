// SPDX-License-Identifier: Apache-2.0
#include "cli/page/top_screen.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/messages/text_layout.hpp"
#include "cli/reports/figures.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib::cli {
namespace {

using page_json = nlohmann::json;

constexpr std::size_t kColumnsMin = 40;
/// The columns of the numbers beside a name.
constexpr std::size_t kNumberColumns = 44;

page_json object_of(const std::string& text) {
  page_json report = page_json::parse(text, nullptr, false);
  if (!report.is_object() || report.value("report", "") != "sluice")
    throw_status(data_loss_error("the answer is no report of sluice"));
  return report;
}

double number(const page_json& of, const char* name) {
  auto at = of.find(name);
  return at != of.end() && at->is_number() ? at->get<double>() : 0.0;
}

/// 12.3 k; numbers below `from` are written in full.
std::string large(double n, double from = 10'000) {
  const char* units[] = {"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  for (; n >= from && unit + 1 < std::size(units); ++unit) n /= 1000;
  return unit == 0 ? absl::StrFormat("%.0f", n) : absl::StrFormat("%.1f%s", n, units[unit]);
}

std::string time(double seconds) {
  if (seconds <= 0) return "-";
  if (seconds < 1e-6) return absl::StrFormat("%.0f ns", seconds * 1e9);
  if (seconds < 1e-3) return absl::StrFormat("%.1f us", seconds * 1e6);
  if (seconds < 1) return absl::StrFormat("%.1f ms", seconds * 1e3);
  return absl::StrFormat("%.1f s", seconds);
}

std::string title_of(const page_json& stage) {
  std::string name = without_controls(stage.value("name", ""));
  if (const double n = number(stage, "number"); n > 0) absl::StrAppend(&name, " #", static_cast<int>(n));
  return name;
}

std::string channel_of(const page_json& stage) {
  double blocks = 0, most = 0;
  for (const page_json& c : stage.value("channels", page_json::array()))
    blocks += number(c, "blocks"), most += number(c, "blocks_max");
  return most > 0 ? absl::StrFormat("%.0f/%.0f", blocks, most) : "-";
}

/// A text that fills exactly the columns.
std::string filled(const std::string& text, std::size_t columns) {
  std::string out = shortened(text, columns);
  const std::size_t has = display_width(out);
  return has < columns ? out + std::string(columns - has, ' ') : out;
}

std::string stage_line(const page_json& stage, bool is_cause, std::size_t columns) {
  const std::string name = filled((is_cause ? "* " : "  ") + title_of(stage), columns - kNumberColumns);
  auto share = [&](const char* of) { return absl::StrFormat("%5.0f%%", 100 * number(stage, of)); };
  return absl::StrCat(name, share("busy_share"), share("input_share"), share("blocked_share"),
                      absl::StrFormat("%9s%9s%8s", large(number(stage, "elements")),
                                      time(number(stage, "element_seconds")), channel_of(stage)));
}

std::string summary_of(const page_json& report, const page_json& run) {
  const double seconds = number(report, "seconds"), elements = number(report, "elements");
  const page_json memory = run.value("memory", page_json::object());
  return absl::StrFormat("%s %s   %s elements   %s/s   memory %s, at most %s   workers %.0f",
                         report.value("outcome", ""), time(seconds), large(elements),
                         large(seconds > 0 ? elements / seconds : 0),
                         "peak " + large(number(memory, "peak_bytes"), 1000) + "B",
                         large(number(memory, "budget_bytes"), 1000) + "B", number(run, "workers"));
}

/// Adds the text in as many lines as it needs, at most a quarter of the screen.
void add_wrapped(std::vector<std::string>& lines, const std::string& text, screen_size size) {
  const std::string whole = wrapped(without_controls(text), size.columns, 2, 0);
  const std::size_t most = std::max<std::size_t>(1, size.rows / 4);
  std::vector<std::string> parts = absl::StrSplit(whole, '\n');
  if (parts.size() > most) {
    parts.resize(most);
    parts.back() += " …";
  }
  lines.insert(lines.end(), parts.begin(), parts.end());
}

}  // namespace

bool is_running(const std::string& report_json) { return object_of(report_json).value("outcome", "") == "running"; }

std::string top_screen(const std::string& report_json, screen_size size) {
  const page_json report = object_of(report_json);
  const page_json run = report["run"].is_object() ? report["run"] : page_json::object();
  const page_json verdict = run.value("verdict", page_json::object());
  const std::size_t columns = std::max(size.columns, kColumnsMin + kNumberColumns / 2);
  std::vector<std::string> lines;
  add_wrapped(lines, verdict.value("text", std::string("the run has not begun")), size);
  for (const page_json& note : verdict.value("notes", page_json::array()))
    add_wrapped(lines, note.get<std::string>(), size);
  add_wrapped(lines, summary_of(report, run), size);
  lines.push_back("");
  lines.push_back(filled("  stage", columns - kNumberColumns) +
                  absl::StrFormat("%6s%6s%6s%9s%9s%8s", "busy", "input", "block", "elements", "each", "channel"));
  const page_json cause = verdict.value("path", page_json());
  const page_json stages = run.value("stages", page_json::array());
  const std::size_t room = size.rows > lines.size() + 1 ? size.rows - lines.size() - 1 : 0;
  for (std::size_t i = 0; i < stages.size() && i < room; ++i)
    lines.push_back(stage_line(stages[i], !cause.is_null() && stages[i].value("path", page_json()) == cause, columns));
  if (stages.size() > room) lines.push_back(absl::StrCat("  and ", stages.size() - room, " more stages"));
  std::string out;
  for (std::size_t i = 0; i < lines.size() && i < size.rows; ++i) out += shortened(lines[i], size.columns) + "\n";
  return out;
}

}  // namespace sluice::lib::cli
