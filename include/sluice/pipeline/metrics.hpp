// SPDX-License-Identifier: Apache-2.0
// The numbers of a runtime and its runs as text for Prometheus, for a server that the program already has.
//
//   answer.set("Content-Type", metrics_type(metrics_format_for(request["Accept"])));
//   answer.body = metrics_text(rt, metrics_format_for(request["Accept"]));
//
// Names:  begin with `sluice_`; units are seconds, bytes and ratios; counters end in _total. Each metric of a stage has
//         the labels `run`, a number, and `stage`, the name as in reports. docs/report.md lists them.
// Cost:   a report of each run: some 10 µs, and 1 µs for each stage.
// Thread: any. REQUIRES: the runtime outlives the call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

enum class metrics_format : std::uint8_t {
  prometheus,   ///< the text format 0.0.4
  openmetrics,  ///< OpenMetrics 1.0
};
/// The format that an `Accept` header of HTTP asks for.
metrics_format metrics_format_for(std::string_view accept);
/// The value of Content-Type for this format.
std::string_view metrics_type(metrics_format f);
std::string metrics_text(runtime& rt, metrics_format f = metrics_format::prometheus);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::metrics_format;
using lib::metrics_format_for;
using lib::metrics_text;
using lib::metrics_type;

}  // namespace sluice
