// SPDX-License-Identifier: Apache-2.0
#include "cli/page/page.hpp"

namespace sluice::lib::cli {
namespace {

constexpr std::string_view kFrame =
#include "cli/page/frame.html"
    ;
constexpr std::string_view kStyle =
#include "cli/page/style.css"
    ;
constexpr std::string_view kScript =
#include "cli/page/script.js"
    ;

std::string escaped_html(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

/// A text of the object could end the element that contains it: "</script>". Only texts of JSON contain "<".
std::string escaped_json(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    if (c == '<') out += "\\u003c";
    else out += c;
  }
  return out;
}

std::string value_of(std::string_view name, const std::string& report_json, std::string_view verdict, bool is_live) {
  if (name == "title") return "sluice: " + escaped_html(verdict);
  if (name == "verdict") return escaped_html(verdict);
  if (name == "live") return is_live ? "true" : "false";
  if (name == "style") return std::string(kStyle);
  if (name == "script") return std::string(kScript);
  return escaped_json(report_json);
}

}  // namespace

std::string report_page(const std::string& report_json, std::string_view verdict, bool is_live) {
  std::string out;
  for (std::string_view rest = kFrame;;) {
    const std::size_t open = rest.find("{{");
    out += rest.substr(0, open);
    if (open == rest.npos) return out;
    rest.remove_prefix(open + 2);
    const std::size_t close = rest.find("}}");
    out += value_of(rest.substr(0, close), report_json, verdict, is_live);
    rest.remove_prefix(close + 2);
  }
}

}  // namespace sluice::lib::cli
