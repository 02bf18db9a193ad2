// SPDX-License-Identifier: Apache-2.0
#include "cli/reports/stage_table.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "cli/reports/figures.hpp"
#include "cli/reports/text_layout.hpp"

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

constexpr std::size_t kColumns = 9;
using row = std::array<std::string, kColumns>;

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

}  // namespace

std::string stage_table(const std::vector<site_report>& sites) {
  std::vector<row> rows{
      {"stage", "elements", "skipped", "own time", "waited", "waited for room", "made", "read", "memory"}};
  for (const site_report& s : sites) rows.push_back(row_of(s));
  std::array<std::size_t, kColumns> width{};
  for (std::size_t c = 0; c != kColumns; ++c) {
    bool any = c == 0 || std::any_of(rows.begin() + 1, rows.end(), [c](const row& r) { return !r[c].empty(); });
    for (const row& r : rows) width[c] = any ? std::max(width[c], display_width(r[c])) : 0;
  }
  std::string text;
  for (std::size_t i = 0; i != rows.size(); ++i) {
    for (std::size_t c = 0; c != kColumns; ++c) {
      if (width[c] == 0) continue;
      std::string gap(width[c] - display_width(rows[i][c]), ' ');
      if (c == 0) absl::StrAppend(&text, rows[i][c], gap);
      else absl::StrAppend(&text, "  ", gap, rows[i][c]);
    }
    if (std::string knobs = i ? knobs_text(sites[i - 1]) : std::string(); !knobs.empty())
      absl::StrAppend(&text, "  ", knobs);
    text.append("\n");
  }
  return text;
}

}  // namespace sluice::lib::cli
