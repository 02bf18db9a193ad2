// SPDX-License-Identifier: Apache-2.0
#include "cli/reports/progress.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>
#include <unistd.h>

#include <cstdio>

#include "cli/inputs/reading.hpp"
#include "cli/messages/text_layout.hpp"
#include "cli/reports/figures.hpp"
#include "cli/reports/run_record.hpp"
#include "pipeline/order/delivered_order.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib::cli {
namespace {

constexpr std::size_t kHoldersTold = 3;

/// " (shuffle 41.7 MiB, prefetch 12.0 MiB)": the stages with the most memory, each at its own peak.
std::string holders_text(const ledger_report& memory) {
  std::string text;
  for (std::size_t i = 0; i != std::min(kHoldersTold, memory.lines.size()); ++i) {
    const ledger_line_report& l = memory.lines[i];
    std::string_view what = to_string(l.held_for);
    std::string who = l.stage.empty() ? std::string(what) : l.stage;
    if (l.held_for == purpose::read_ahead || l.held_for == purpose::open_file) who = l.stage + " files";
    absl::StrAppend(&text, text.empty() ? " (" : ", ", who, " ", memory_size(l.peak_bytes));
  }
  return text.empty() ? text : text + ")";
}

}  // namespace

progress::progress(const pull_counts& counts, runtime& rt, cardinality total, const report_arguments& a)
    : counts_(counts),
      rt_(rt),
      total_(total),
      is_drawn_(a.progress == progress_form::automatic && !a.quiet && isatty(STDERR_FILENO)),
      is_printed_(a.progress == progress_form::plain && !a.quiet),
      every_(a.progress_every),
      last_(std::chrono::steady_clock::now()) {}

void progress::tick() {
  auto now = std::chrono::steady_clock::now();
  if (!is_drawn_ && (!is_printed_ || now - last_ < every_)) return;
  std::string text = line(std::chrono::duration<double>(now - last_).count());
  last_ = now;
  if (is_printed_) {
    std::fprintf(stderr, "%s  %s\n", absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone()).c_str(),
                 text.c_str());
    return;
  }
  const std::size_t columns = terminal_columns(STDERR_FILENO) - 1;  // a line that wraps cannot be overwritten
  std::fprintf(stderr, "\r\x1b[K%s", std::string(beginning_of(text, columns)).c_str());
  std::fflush(stderr);
}

void progress::clear() {
  if (!is_drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

std::string progress::line(double seconds) {
  auto elements = counts_.elements.load(std::memory_order_relaxed);
  auto records = counts_.records.load(std::memory_order_relaxed), bytes = counts_.bytes.load(std::memory_order_relaxed);
  if (seconds > 0) {
    // Averages the new rate with the old one, so that the number is readable. The first rate counts fully.
    double keep = records_ == 0 ? 0 : 0.5;
    records_per_second_ = keep * records_per_second_ + (1 - keep) * static_cast<double>(records - records_) / seconds;
    bytes_per_second_ = keep * bytes_per_second_ + (1 - keep) * static_cast<double>(bytes - bytes_) / seconds;
  }
  records_ = records;
  bytes_ = bytes;
  auto memory = rt_.ledger().report();
  std::string text = absl::StrCat(grouped(records), " records  ", short_number(records_per_second_), "/s  ",
                                  short_bytes(bytes_per_second_), "/s  memory ", memory_size(memory.used_bytes), " of ",
                                  memory_size(memory.budget_bytes));
  if (total_.kind == cardinality::exact && total_.elements > 0 && !total_.is_most())
    absl::StrAppend(
        &text, "  ",
        std::min(100, static_cast<int>(100.0 * static_cast<double>(elements) / static_cast<double>(total_.elements))),
        "%");
  return text;
}

std::string final_report(const run_record& record, runtime& rt) {
  const std::uint64_t elements = record.elements, records = record.records, bytes = record.bytes;
  const run_report& report = *record.report;
  const double seconds = record.seconds, per_second = 1 / std::max(seconds, 1e-9);
  std::string out = counted(elements, "element");
  if (records != elements) absl::StrAppend(&out, " (", counted(records, "record"), ")");
  absl::StrAppend(&out, " in ", seconds_text(seconds), ": ", short_number(static_cast<double>(records) * per_second),
                  " records/s, ", short_bytes(static_cast<double>(bytes) * per_second), "/s, ",
                  short_bytes(static_cast<double>(bytes)), "\n");
  const ledger_report& memory = record.memory;
  absl::StrAppend(&out, "peak memory ", memory_size(memory.peak_bytes), " of ", memory_size(memory.budget_bytes),
                  holders_text(memory), ", process ", memory_size(process_peak_bytes()), ", ",
                  counted(rt.workers(), "worker"), ", ", files_of(rt).description(), ", seed ", report.seed, "\n");
  if (report.order.is_counted) absl::StrAppend(&out, text_of_order(report.order), "\n");
  return out + dropped_text(report);
}

}  // namespace sluice::lib::cli
