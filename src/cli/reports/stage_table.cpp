// SPDX-License-Identifier: Apache-2.0
#include "cli/reports/stage_table.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <utility>

#include "base/seconds.hpp"
#include "cli/messages/text_layout.hpp"
#include "cli/reports/figures.hpp"

namespace sluice::lib::cli {
namespace {

/// Returns "420 µs", "12.1 ms", "3.40 s", or an empty string for zero.
std::string time_text(duration t) {
  return t.count() ? short_seconds(std::chrono::duration<double>(t).count()) : std::string();
}
std::string number_text(std::uint64_t n) { return n ? grouped(n) : std::string(); }
std::string bytes_text(std::uint64_t n) { return n ? short_bytes(static_cast<double>(n)) : std::string(); }

std::string knobs_text(const site_report& s) {
  std::string text;
  for (const knob_report& k : s.knobs)
    absl::StrAppend(&text, text.empty() ? "" : ", ", k.name, "=", grouped(static_cast<std::uint64_t>(k.value)),
                    k.is_free ? " (auto)" : "");
  return text;
}

/// Returns the most memory that the stage has charged: the sum of its lines' peaks.
std::string memory_text(const site_report& s) {
  std::size_t peak = 0;
  for (const ledger_line_report& l : s.memory) peak += l.peak_bytes;
  return bytes_text(peak);
}

using row = std::vector<std::string>;

row row_of(const site_report& s) {
  return {(s.is_inner ? "  " : "") + numbered(s.name, s.number),
          grouped(s.elements),
          number_text(s.passed),
          time_text(s.busy),
          time_text(s.waited),
          time_text(s.room_waited),
          bytes_text(s.bytes),
          bytes_text(s.read_bytes),
          memory_text(s)};
}

std::string percent(double share) { return absl::StrFormat("%.0f %%", 100 * share); }

/// Returns the reasons for at least 1 % of the run's time, the longest first: "network 84 %, room 3 %".
std::string reasons_text(const site_report& s, double seconds) {
  static constexpr const char* kNames[kWaitReasons] = {"input",     "own calls", "disk",  "network", "pace",
                                                       "call pool", "room",      "limit", "memory"};
  std::vector<std::pair<double, const char*>> reasons;
  for (std::size_t i = 0; i != kWaitReasons; ++i)
    if (const double share = std::chrono::duration<double>(s.waits_by_reason[i].took).count() / seconds; share >= 0.01)
      reasons.emplace_back(share, kNames[i]);
  std::sort(reasons.rbegin(), reasons.rend());
  std::string text;
  for (auto [share, name] : reasons) absl::StrAppend(&text, text.empty() ? "" : ", ", name, " ", percent(share));
  return text;
}

/// A class with less than this share of the elements, and of their time, is not shown; times differ from this factor on.
constexpr double kClassShareMin = 0.01, kTimesDiffer = 2;
/// A stage that works less than this share of the time is not worth a line.
constexpr double kWorksMin = 0.02;

/// Returns "256 B", "16 KiB", "4 MiB": the limits of classes are powers of two.
std::string class_limit(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {" B", " KiB", " MiB", " GiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return absl::StrCat(bytes, kUnits[unit]);
}

std::vector<const size_class_report*> classes_shown(const site_report& s) {
  double elements = 0, seconds = 0;
  for (const size_class_report& c : s.by_size) {
    elements += static_cast<double>(c.elements);
    seconds += seconds_of(c.took);
  }
  std::vector<const size_class_report*> shown;
  for (const size_class_report& c : s.by_size)
    if (static_cast<double>(c.elements) >= kClassShareMin * elements || seconds_of(c.took) >= kClassShareMin * seconds)
      shown.push_back(&c);
  return shown;
}

/// Returns "map(decode): 310 µs for an element of up to 4 KiB (90 %), 12.0 ms of up to 1 MiB (10 %)"; empty if its elements
/// are of one size, or take the same time.
std::string sizes_line(const site_report& s) {
  const std::vector<const size_class_report*> shown = classes_shown(s);
  const auto each = [](const size_class_report* c) { return seconds_of(c->took) / static_cast<double>(c->elements); };
  double all = 0, least = std::numeric_limits<double>::max(), most = 0;
  for (const size_class_report* c : shown) {
    all += static_cast<double>(c->elements);
    least = std::min(least, each(c));
    most = std::max(most, each(c));
  }
  if (shown.size() < 2 || most < kTimesDiffer * least || s.busy_share < kWorksMin) return {};
  std::string text;
  for (const size_class_report* c : shown)
    absl::StrAppend(&text, text.empty() ? "" : ", ", short_seconds(each(c)), text.empty() ? " for an element" : "",
                    c->bytes_max ? absl::StrCat(" of up to ", class_limit(c->bytes_max)) : std::string(" of more"),
                    " (", percent(static_cast<double>(c->elements) / all), ")");
  return absl::StrCat("  ", numbered(s.name, s.number), ": ", text, "\n");
}

row profile_row_of(const site_report& s, const run_report& report) {
  const double seconds = std::max(1e-9, std::chrono::duration<double>(report.consumer.elapsed).count());
  const bool is_cause = report.verdict.path == s.path && report.verdict.path != 0;
  const double in_flight = std::chrono::duration<double>(s.reads_took).count() / seconds;
  return {absl::StrCat(is_cause ? "* " : "  ", s.is_inner ? "  " : "", numbered(s.name, s.number)),
          grouped(s.elements),
          time_text(s.each),
          percent(s.busy_share),
          percent(s.input_share),
          percent(s.blocked_share),
          s.reads ? absl::StrFormat("%.1f", in_flight) : std::string(),
          s.first_bytes ? time_text(s.first_byte_took / s.first_bytes) : std::string(),
          reasons_text(s, seconds)};
}

/// Returns the rows as columns, the first one aligned to the left. Empty columns are omitted. `ends`: a
/// text after each row.
std::string columns_text(const std::vector<row>& rows, const std::vector<std::string>& ends) {
  std::vector<std::size_t> width(rows.front().size());
  for (std::size_t c = 0; c != width.size(); ++c) {
    bool any = c == 0 || std::any_of(rows.begin() + 1, rows.end(), [c](const row& r) { return !r[c].empty(); });
    for (const row& r : rows) width[c] = any ? std::max(width[c], display_width(r[c])) : 0;
  }
  std::string text;
  for (std::size_t i = 0; i != rows.size(); ++i) {
    for (std::size_t c = 0; c != width.size(); ++c) {
      if (width[c] == 0) continue;
      std::string gap(width[c] - display_width(rows[i][c]), ' ');
      if (c == 0) absl::StrAppend(&text, rows[i][c], gap);
      else absl::StrAppend(&text, "  ", gap, rows[i][c]);
    }
    if (!ends[i].empty()) absl::StrAppend(&text, "  ", ends[i]);
    text.append("\n");
  }
  return text;
}

}  // namespace

std::string stage_table(const std::vector<site_report>& sites) {
  std::vector<row> rows{
      {"stage", "elements", "skipped", "own time", "waited", "waited for room", "made", "read", "memory"}};
  std::vector<std::string> knobs{""};
  for (const site_report& s : sites) {
    rows.push_back(row_of(s));
    knobs.push_back(knobs_text(s));
  }
  return columns_text(rows, knobs);
}

std::string tuning_text(const tuning_report& tuning) {
  std::string text;
  for (const knob_choice& k : tuning.knobs) absl::StrAppend(&text, "  ", k.stage, " ", k.knob, ": ", k.reason, "\n");
  if (!tuning.why_none.empty()) return absl::StrCat("knobs: ", tuning.why_none, "\n");
  if (text.empty()) return text;
  std::string gains;
  for (const what_if& w : tuning.what_ifs)
    absl::StrAppend(&gains, gains.empty() ? "what if: " : "; ", w.change, ": ",
                    absl::StrFormat("%+.0f %%", 100 * w.gain));
  if (!gains.empty() && tuning.error_median > 0)
    absl::StrAppend(&gains, absl::StrFormat(" (the model's error so far: %.0f %%)", 100 * tuning.error_median));
  return absl::StrCat("knobs:\n", text, gains, gains.empty() ? "" : "\n");
}

std::string profile_text(const run_report& report) {
  std::string text = absl::StrCat(report.verdict.text, "\n");
  for (const std::string& note : report.verdict.notes) absl::StrAppend(&text, note, "\n");
  std::vector<row> rows{{"  stage", "elements", "each", "busy", "input", "blocked", "reads in flight", "first byte"}};
  std::vector<std::string> ends{"waits, knobs"};
  for (const site_report& s : report.sites) {
    row r = profile_row_of(s, report);
    std::string end = std::move(r.back());
    r.pop_back();
    rows.push_back(std::move(r));
    if (std::string knobs = knobs_text(s); !knobs.empty()) absl::StrAppend(&end, end.empty() ? "" : "; ", knobs);
    ends.push_back(std::move(end));
  }
  std::string sizes;
  for (const site_report& s : report.sites) sizes += sizes_line(s);
  if (!sizes.empty()) sizes.insert(0, "time by size:\n");
  return text + columns_text(rows, ends) + sizes + tuning_text(report.tuning);
}

}  // namespace sluice::lib::cli
