// SPDX-License-Identifier: Apache-2.0
// The report of a run as a screen of text, for `sluice top`.
#pragma once

#include <cstddef>
#include <string>

namespace sluice::lib::cli {

struct screen_size {
  std::size_t columns = 80, rows = 24;
};

/// `report_json`: the object of docs/report.md. Returns at most `rows` lines of at most `columns`, each with its end.
/// Texts of the plan are shown without control characters. Errors: throws `error` (data_loss) for anything else.
std::string top_screen(const std::string& report_json, screen_size size);
/// Returns true if the run of this report has not ended.
bool is_running(const std::string& report_json);

}  // namespace sluice::lib::cli
