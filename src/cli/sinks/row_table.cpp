// SPDX-License-Identifier: Apache-2.0
#include "cli/sinks/row_table.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/messages/text_layout.hpp"
#include "cli/reports/figures.hpp"
#include "cli/sinks/json_members.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib::cli {
namespace {

constexpr std::size_t kCellColumnsMost = 300;  // no terminal shows more of one value
constexpr std::size_t kCellColumnsLeast = 8;
constexpr std::size_t kGapColumns = 2;
constexpr std::size_t kItemsShown = 4;
constexpr std::string_view kBytesBegin = "{\"base64\":\"";

bool is_text(std::string_view json) { return json.starts_with('"'); }

/// Returns the text of a JSON string, in which control characters stay escaped.
std::string text_in(std::string_view json) {
  std::string out;
  for (std::size_t i = 1; i + 1 < json.size(); ++i) {
    const bool is_plain_escape = json[i] == '\\' && std::string_view("\"\\/").find(json[i + 1]) != json.npos;
    if (is_plain_escape) ++i;
    else if (json[i] == '\\') out += json[i++];
    out += json[i];
  }
  return without_controls(out);
}

/// Returns the text of a JSON string.
std::string whole_text_in(std::string_view json) {
  std::string out;
  for (std::size_t i = 1; i + 1 < json.size(); ++i) {
    if (json[i] != '\\') {
      out += json[i];
      continue;
    }
    const char c = json[++i];
    const std::size_t known = std::string_view("nrtbf").find(c);
    if (known != std::string_view::npos) out += "\n\r\t\b\f"[known];
    else if (c != 'u') out += c;
    else {  // printing escapes only controls in this form
      out += static_cast<char>(std::stoi(std::string(json.substr(i + 1, 4)), nullptr, 16));
      i += 4;
    }
  }
  return out;
}

/// "<2,710 bytes>": bytes that are not UTF-8.
std::string bytes_text(std::string_view json) {
  std::string_view digits = json.substr(kBytesBegin.size());
  digits = digits.substr(0, digits.find('"'));
  std::size_t padding = 0;
  while (digits.ends_with('=')) digits.remove_suffix(1), ++padding;
  return absl::StrCat("<", counted((digits.size() + padding) / 4 * 3 - padding, "byte"), ">");
}

bool is_bytes(std::string_view json) {
  return json.starts_with(kBytesBegin) && json.find('"', kBytesBegin.size()) + 2 == json.size();
}

/// "[1, 2, 3, 4, … 784 values]", "{a: 1, b: "x"}": a value in a value. `columns`: about the most that is of use.
std::string nested_text(std::string_view json, std::size_t columns) {
  if (is_bytes(json)) return bytes_text(json);
  if (is_text(json)) return "\"" + text_in(json) + "\"";
  std::string out;
  if (json.starts_with('[')) {
    const std::vector<std::string_view> items = items_of_json(json);
    const bool is_long = items.size() > kItemsShown + 1;
    for (std::size_t i = 0; i != (is_long ? kItemsShown : items.size()) && out.size() < columns; ++i)
      absl::StrAppend(&out, i == 0 ? "" : ", ", nested_text(items[i], columns));
    return absl::StrCat("[", out, is_long ? absl::StrCat(", … ", grouped(items.size()), " values") : "", "]");
  }
  if (!json.starts_with('{')) return json == "null" ? "none" : std::string(json);
  for (auto [name, value] : members_of_json(json)) {
    if (out.size() >= columns) break;
    absl::StrAppend(&out, out.empty() ? "" : ", ", without_controls(name), ": ", nested_text(value, columns));
  }
  return "{" + out + "}";
}

bool is_number_type(const element_type* type) {
  if (type && type->kind == kind::maybe) type = type->element;
  return type && type->kind == kind::scalar && type->name != "bool";
}

std::string csv_field(std::string text) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string out = "\"";
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace

row_table::cell row_table::table_cell(const element_type* type, const void* value, std::string_view json) {
  if (json == "null") return {"none"};
  if (json == "\"\"") return {"\"\""};
  const bool is_list = json.starts_with('[') || (json.starts_with('{') && !is_bytes(json));
  if (type && type->kind == kind::tensor && is_list && value) return {static_cast<const tensor*>(value)->spec_text()};
  std::string text = is_text(json) ? text_in(json) : nested_text(json, kCellColumnsMost);
  const bool is_number =
      is_number_type(type) || (!json.empty() && (json[0] == '-' || (json[0] >= '0' && json[0] <= '9')));
  return {shortened(text, kCellColumnsMost), is_number};
}

void row_table::set(std::string_view name, cell value) {
  auto [at, is_new] = by_name_.try_emplace(std::string(name), names_.size());
  if (is_new) names_.emplace_back(name);
  std::vector<cell>& row = rows_.back();
  if (row.size() <= at->second) row.resize(at->second + 1);
  row[at->second] = std::move(value);
}

void row_table::add(const element_type& type, const void* element, std::string_view json) {
  rows_.emplace_back();
  auto add_value = [&](std::string_view name, const element_type* of, const void* value, std::string_view text) {
    if (form_ == table) return set(name, table_cell(of, value, text));
    std::string field = text == "null" ? "" : csv_field(is_text(text) ? whole_text_in(text) : std::string(text));
    set(name, {std::move(field)});
  };
  auto part = [element](const member& m) { return static_cast<const char*>(element) + m.offset; };
  if (type.has_members() && json.starts_with('[')) {  // a pair or a tuple
    const std::vector<std::string_view> items = items_of_json(json);
    for (std::size_t k = 0; k != std::min(items.size(), type.members.size()); ++k)
      add_value(type.members[k].name, type.members[k].type, part(type.members[k]), items[k]);
    return;
  }
  if (!json.starts_with('{') || is_bytes(json)) return add_value("value", &type, element, json);
  std::size_t k = 0;
  for (auto [name, value] : members_of_json(json)) {
    const member* m = type.has_members() && k < type.members.size() ? &type.members[k] : nullptr;
    ++k;
    add_value(form_ == table ? text_in(absl::StrCat("\"", std::string(name), "\"")) : std::string(name),
              m ? m->type : nullptr, m ? part(*m) : nullptr, value);
  }
}

void row_table::print() {
  for (std::vector<cell>& row : rows_) row.resize(names_.size());
  if (rows_.empty()) return;
  if (form_ == table) print_table();
  else print_csv();
  rows_.clear();
}

void row_table::print_csv() const {
  std::vector<std::string> fields;
  for (const std::string& name : names_) fields.push_back(csv_field(whole_text_in("\"" + name + "\"")));
  std::fputs((absl::StrJoin(fields, ",") + "\n").c_str(), stdout);
  for (const std::vector<cell>& row : rows_) {
    fields.clear();
    for (const cell& c : row) fields.push_back(c.text);
    std::fputs((absl::StrJoin(fields, ",") + "\n").c_str(), stdout);
  }
}

bool row_table::is_number(std::size_t column) const {
  bool any = false;
  for (const std::vector<cell>& row : rows_) {
    any |= row[column].is_number;
    if (!row[column].is_number && row[column].text != "none" && !row[column].text.empty()) return false;
  }
  return any;
}

/// Columns that are too wide share the width that the others leave; columns that have no room at the end are not shown.
std::vector<std::size_t> row_table::widths(std::size_t columns, std::size_t& shown) const {
  std::vector<std::size_t> natural, least;
  for (std::size_t k = 0; k != names_.size(); ++k) {
    std::size_t cells = 1;
    for (const std::vector<cell>& row : rows_) cells = std::max(cells, display_width(row[k].text));
    natural.push_back(std::max(cells, display_width(names_[k])));
    least.push_back(is_number(k) ? cells : std::min(natural.back(), kCellColumnsLeast));  // a number is not cut
  }
  auto all = [&](std::size_t n, std::size_t most) {
    std::size_t sum = (n - 1) * kGapColumns;
    for (std::size_t k = 0; k != n; ++k) sum += std::max(least[k], std::min(natural[k], most));
    return sum;
  };
  shown = names_.size();
  while (shown > 1 && all(shown, kCellColumnsLeast) > columns) --shown;
  std::size_t most = kCellColumnsMost;
  while (most > kCellColumnsLeast && all(shown, most) > columns) --most;
  std::vector<std::size_t> result;
  for (std::size_t k = 0; k != shown; ++k) result.push_back(std::max(least[k], std::min(natural[k], most)));
  if (shown == 1) result[0] = std::min(result[0], columns);
  return result;
}

void row_table::print_table() {
  std::size_t shown = 0;
  const std::vector<std::size_t> width = widths(terminal_columns(STDOUT_FILENO), shown);
  std::vector<bool> is_right;
  for (std::size_t k = 0; k != shown; ++k) is_right.push_back(is_number(k));
  bool is_cut = false;
  auto print_row = [&](auto text_of) {
    std::string line;
    for (std::size_t k = 0; k != shown; ++k) {
      const std::string text = shortened(text_of(k), width[k]);
      is_cut |= text.size() != text_of(k).size();
      const std::string gap(width[k] - display_width(text), ' ');
      absl::StrAppend(&line, k == 0 ? "" : "  ", is_right[k] ? gap : "", text, is_right[k] ? "" : gap);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::fputs((line + "\n").c_str(), stdout);
  };
  print_row([this](std::size_t k) -> const std::string& { return names_[k]; });
  std::vector<std::string> rules;
  for (std::size_t k = 0; k != shown; ++k) {
    rules.emplace_back();
    for (std::size_t i = 0; i != width[k]; ++i) rules.back() += "─";
  }
  print_row([&rules](std::size_t k) -> const std::string& { return rules[k]; });
  for (const std::vector<cell>& row : rows_)
    print_row([&row](std::size_t k) -> const std::string& { return row[k].text; });
  if (!isatty(STDERR_FILENO)) return;
  std::fflush(stdout);
  std::string note;
  if (shown != names_.size())
    note = absl::StrCat(counted(names_.size() - shown, "more column"), ": ",
                        absl::StrJoin(names_.begin() + static_cast<std::ptrdiff_t>(shown), names_.end(), ", "), "; ");
  if (is_cut || !note.empty()) absl::StrAppend(&note, "--output jsonl prints whole values");
  if (!note.empty()) std::fprintf(stderr, "(%s)\n", wrapped(note, terminal_columns(STDERR_FILENO) - 1, 1, 1).c_str());
}

}  // namespace sluice::lib::cli
