// SPDX-License-Identifier: Apache-2.0
// The report of a run as a page: a template of HTML, CSS and JavaScript, and the JSON object of the report.
//
// The template is in the files beside this one, each of which is a raw string of C++. The page loads nothing from
// anywhere. Texts of the plan reach it only in the JSON object, and in the title and the heading, where they are escaped.
#pragma once

#include <string>
#include <string_view>

namespace sluice::lib::cli {

/// The first bytes of each page.
inline constexpr std::string_view kPageBeginning = "<!doctype html>\n<!-- sluice: a report;";

/// `report_json`: the object of docs/report.md with `history`. `verdict`: the heading. `is_live`: the page requests the
/// object again and again from the server that it came from.
std::string report_page(const std::string& report_json, std::string_view verdict, bool is_live);

}  // namespace sluice::lib::cli
