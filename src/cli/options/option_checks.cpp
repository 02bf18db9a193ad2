// SPDX-License-Identifier: Apache-2.0
#include "cli/options/option_checks.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text/closest.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/base/pace_types.hpp"

namespace sluice::lib::cli {
namespace {

std::string quoted_value(const std::string& text) { return "\"" + text + "\""; }

/// The windows of a few files and the blocks after them. They are charged but never refused; otherwise no run could
/// progress.
constexpr std::int64_t kMemoryLeast = 1 << 20;

}  // namespace

CLI::Validator whole(std::uint64_t least, std::uint64_t most) {
  auto check = [least, most](const std::string& text) -> std::string {
    std::uint64_t n = 0;
    auto end = text.data() + text.size();
    auto read = std::from_chars(text.data(), end, n);
    if (read.ec == std::errc() && read.ptr == end && n >= least && n <= most) return {};
    const bool has_limit = least > 1 || most < kAny - 1;
    return absl::StrCat("expects a whole number", least == 1 && !has_limit ? " from 1 on" : "",
                        least == 0 && !has_limit && text.starts_with('-') ? " of 0 or more" : "",
                        has_limit ? absl::StrCat(" from ", least, " to ", most) : ", such as 1000", ", and is ",
                        quoted_value(text), text.starts_with('=') ? ": write a blank in place of =" : "");
  };
  return CLI::Validator(check, "N");
}

CLI::Validator memory_size() {
  auto check = [](const std::string& text) -> std::string {
    std::int64_t bytes = 0;
    if (!read_byte_size(text, bytes) || bytes <= 0)
      return absl::StrCat("expects a size such as 64MiB, and is ", quoted_value(text));
    if (bytes >= kMemoryLeast) return {};
    return absl::StrCat("expects 1MiB or more, because the data being read take about that much, and is ",
                        quoted_value(text));
  };
  return CLI::Validator(check, "SIZE");
}

CLI::Validator size_in_bytes() {
  auto check = [](const std::string& text) -> std::string {
    std::int64_t bytes = 0;
    if (read_byte_size(text, bytes) && bytes > 0) return {};
    return absl::StrCat("expects a size such as 64MiB, and is ", quoted_value(text));
  };
  return CLI::Validator(check, "SIZE");
}

bool read_time(const std::string& text, std::chrono::nanoseconds& time) {
  std::int64_t nanoseconds = 0;
  if (!read_time_span(text, nanoseconds) || nanoseconds == 0) return false;
  time = std::chrono::nanoseconds(nanoseconds);
  return true;
}

bool read_interval(const std::string& text, std::uint64_t& elements, std::chrono::nanoseconds& time) {
  const char* end = text.data() + text.size();
  auto whole = std::from_chars(text.data(), end, elements);
  if (whole.ec == std::errc() && whole.ptr == end) return elements != 0;
  elements = 0;
  return read_time(text, time);
}

CLI::Validator interval() {
  auto check = [](const std::string& text) -> std::string {
    std::uint64_t elements = 0;
    std::chrono::nanoseconds time{0};
    if (read_interval(text, elements, time)) return {};
    return absl::StrCat("expects a number of elements such as 5000 or a time such as 500ms, 1.5s, 5m, 1h, and is ",
                        quoted_value(text));
  };
  return CLI::Validator(check, "ELEMENTS|TIME");
}

CLI::Validator time_span() {
  auto check = [](const std::string& text) -> std::string {
    std::chrono::nanoseconds time{0};
    if (read_time(text, time)) return {};
    const bool lacks_unit = !text.empty() && text.find_first_not_of("0123456789.") == text.npos;
    return absl::StrCat("expects a time such as 500ms, 1.5s, 5m, 1h, and is ", quoted_value(text),
                        lacks_unit ? absl::StrCat(": write ", text, "s for seconds") : "");
  };
  return CLI::Validator(check, "TIME");
}

CLI::Validator one_of(std::vector<std::string> words) {
  std::string list = absl::StrJoin(words, ", ");
  if (const std::size_t last = list.rfind(", "); last != list.npos) list.replace(last, 2, " or ");
  const std::string name = absl::StrCat("{", absl::StrJoin(words, ","), "}");
  auto check = [words = std::move(words), list](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    return absl::StrCat("expects ", list, ", and is ", quoted_value(text), detail::did_you_mean(text, words));
  };
  return CLI::Validator(check, name);
}

CLI::Validator path() {
  auto check = [](const std::string& text) -> std::string { return text.empty() ? "expects a path" : ""; };
  return CLI::Validator(check, "PATH");
}

namespace {

std::string mistake_in_server_address(const std::string& text) {
  if (text.starts_with("unix:")) return {};
  if (const std::size_t scheme = text.find("://"); scheme != text.npos)
    return absl::StrCat("expects a host and a port, and is ", quoted_value(text), ": write ", text.substr(scheme + 3));
  const std::size_t colon = text.rfind(':');
  const std::string port = colon == text.npos ? text : text.substr(colon + 1);
  unsigned number = 0;
  const char* end = port.data() + port.size();
  const auto read = std::from_chars(port.data(), end, number);
  const bool is_number = read.ec == std::errc() && read.ptr == end;
  const bool is_port = is_number && number <= 65535, has_host = colon != text.npos && colon != 0;
  if (is_port && has_host) return {};
  if (is_number && !is_port)
    return absl::StrCat("expects a host and a port, and is ", quoted_value(text), ": a port is at most 65535");
  const std::string host = has_host ? text.substr(0, colon) : colon == text.npos && !is_number ? text : "127.0.0.1";
  return absl::StrCat("expects a host and a port, and is ", quoted_value(text),
                      has_host ? ": the port is no number" : "", ": write ", host, ":", is_port ? port : "7700");
}

}  // namespace

CLI::Validator server_address() { return CLI::Validator(mistake_in_server_address, "ADDRESS"); }

CLI::Validator reachable_address() {
  auto check = [](const std::string& text) -> std::string {
    constexpr std::string_view kAnyPort = ":%port%";
    if (text.size() > kAnyPort.size() && text.ends_with(kAnyPort) && text.find("://") == text.npos) return {};
    if (text.ends_with(":0"))
      return absl::StrCat("is ", quoted_value(text), ", and nothing can be reached at port 0: write ",
                          text.substr(0, text.size() - 2), std::string(kAnyPort));
    return mistake_in_server_address(text);
  };
  return CLI::Validator(check, "ADDRESS");
}

CLI::Validator metadata_store() {
  auto check = [](const std::string& text) -> std::string {
    if (text.starts_with("sqlite:") && text.size() > std::string_view("sqlite:").size()) return {};
    return absl::StrCat("expects sqlite:PATH, and is ", quoted_value(text),
                        text.empty() || text.find(':') != text.npos ? "" : absl::StrCat(": write sqlite:", text));
  };
  return CLI::Validator(check, "STORE");
}

}  // namespace sluice::lib::cli
