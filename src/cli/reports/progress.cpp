// SPDX-License-Identifier: Apache-2.0
#include "cli/reports/progress.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

#include "cli/inputs/reading.hpp"
#include "cli/reports/figures.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib::cli {
namespace {

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79u;
}

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

/// Returns the peak memory of this process: the bytes that the ledger counts, code and threads, and the bytes that
/// malloc has not returned.
std::size_t process_peak_bytes() {
  rusage used{};
  return ::getrusage(RUSAGE_SELF, &used) == 0 ? static_cast<std::size_t>(used.ru_maxrss) * 1024 : 0;
}

}  // namespace

progress::progress(const pull_counts& counts, runtime& rt, cardinality total, bool is_shown)
    : counts_(counts), rt_(rt), total_(total), is_shown_(is_shown), last_(std::chrono::steady_clock::now()) {}

void progress::tick() {
  if (!is_shown_) return;
  auto now = std::chrono::steady_clock::now();
  std::string text = line(std::chrono::duration<double>(now - last_).count());
  last_ = now;
  if (text.size() > terminal_columns()) text.resize(terminal_columns());  // a line that wraps cannot be overwritten
  std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
  std::fflush(stderr);
}

void progress::clear() {
  if (!is_shown_) return;
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

std::string final_report(const pull_counts& counts, double seconds, runtime& rt, const run_report& report) {
  auto elements = counts.elements.load(), records = counts.records.load(), bytes = counts.bytes.load();
  double per_second = 1 / std::max(seconds, 1e-9);
  std::string out = counted(elements, "element");
  if (records != elements) absl::StrAppend(&out, " (", counted(records, "record"), ")");
  absl::StrAppend(&out, " in ", seconds_text(seconds), ": ", short_number(static_cast<double>(records) * per_second),
                  " records/s, ", short_bytes(static_cast<double>(bytes) * per_second), "/s, ",
                  short_bytes(static_cast<double>(bytes)), "\n");
  auto memory = rt.ledger().report();
  absl::StrAppend(&out, "peak memory ", memory_size(memory.peak_bytes), " of ", memory_size(memory.budget_bytes),
                  holders_text(memory), ", process ", memory_size(process_peak_bytes()), ", ",
                  counted(rt.workers(), "worker"), ", ", files_of(rt).description(), ", seed ", report.seed, "\n");
  return out + dropped_text(report);
}

}  // namespace sluice::lib::cli
