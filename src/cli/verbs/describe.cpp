// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/options/mistyped.hpp"
#include "cli/reports/figures.hpp"
#include "cli/verbs.hpp"
#include "expr/functions/numbers.hpp"
#include "expr/tree.hpp"
#include "output/element_sink.hpp"
#include "pipeline/pull.hpp"
#include "sluice/base/utf8.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::cli {
namespace {

/// A column of the elements; the element itself if it has no members.
struct described_column {
  std::string name, type;
  std::string path;  ///< the expression that is its value
  bool is_optional = false, has_order = false;
  std::string nulls = "0", least = "", most = "";
};

/// Numbers and texts have a least and a greatest value.
bool has_order(const element_type& t) {
  return expressions::number_of(t) != expressions::number::none || t.kind == kind::text;
}

std::vector<described_column> columns_of(const element_type& row) {
  std::vector<described_column> all;
  auto add = [&](std::string name, const element_type& t, std::string path) {
    const bool is_optional = t.kind == kind::maybe;
    all.push_back({std::move(name), t.name, std::move(path), is_optional, has_order(is_optional ? *t.element : t)});
  };
  if (row.kind != kind::structure || row.members.empty()) add("it", row, "it");
  else
    for (const member& m : row.members) {
      expression_tree field;
      field.kind = expression_tree::member;
      field.text = m.name;
      field.parts.emplace_back();
      field.parts[0].text = "it";
      add(m.name, *m.type, expressions::printed(field));
    }
  return all;
}

/// Returns the aggregates that describe the columns, by the names n, n0, a0, z0, n1 …
std::string aggregates_of(const std::vector<described_column>& columns) {
  std::string text = "{n: count()";
  for (std::size_t k = 0; k != columns.size(); ++k) {
    const described_column& c = columns[k];
    if (c.is_optional) absl::StrAppend(&text, ", n", k, ": count(", c.path, ")");
    if (c.has_order) absl::StrAppend(&text, ", a", k, ": min(", c.path, "), z", k, ": max(", c.path, ")");
  }
  return text + "}";
}

/// Receives the one element that group_by makes.
class figures_sink final : public element_sink {
 public:
  std::vector<std::pair<std::string, std::string>> figures{};  ///< by name, as JSON

  status take(const block& elements) override {
    for (std::uint32_t i = 0; i != elements.size(); ++i) {
      for (const member& m : elements.type().members) {
        std::string text;
        print(*m.type, elements.at(i) + m.offset, text);
        figures.emplace_back(m.name, std::move(text));
      }
    }
    return {};
  }
};

/// Returns at most `most` characters of the text.
std::string shortened(std::string text, std::size_t most) {
  std::size_t characters = 0, bytes = 0;
  while (bytes < text.size() && characters != most) {
    bytes += std::max<std::size_t>(1, utf8_length(std::string_view(text).substr(bytes)));
    ++characters;
  }
  return bytes >= text.size() ? text : text.substr(0, bytes) + "…";
}
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows[0].size());
  for (auto& row : rows)
    for (std::size_t k = 0; k != row.size(); ++k) widths[k] = std::max(widths[k], width_of(row[k]));
  for (auto& row : rows) {
    std::string line;
    for (std::size_t k = 0; k != row.size(); ++k) {
      line += row[k];
      if (k + 1 != row.size()) line.append(widths[k] - width_of(row[k]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

}  // namespace

int describe(const describe_arguments& a) {
  constexpr std::size_t kValueMost = 32, kTypeMost = 60;
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  const node_ptr rows = a.plan_file.empty() ? plan_or_reader(a.plan, a.format) : plan_in_file(a.plan_file);
  if (cardinality_of(*rows).kind == cardinality::infinite)
    throw misuse(absl::StrCat("the plan has no end: limit it, as in: sluice describe '",
                              a.plan.empty() ? "PLAN" : a.plan, " | take(1000)'"));
  std::vector<described_column> columns = columns_of(*rows->type);
  const node_ptr plan = parse_plan(absl::StrCat(plan_text(*rows), " | group_by(true, ", aggregates_of(columns), ")"));
  const quarantine_locks kept = check_errors(*plan, a.errors);
  iterate_options o;
  set_errors(a.errors, o);
  pull_counts counts;
  figures_sink sink;
  pull_request request;
  request.stream = open_run(rt, plan, o);
  request.sink = &sink;
  request.counts = &counts;
  pull_outcome out = sync_wait(rt, pull(&request));
  report_dropped(out.report);
  if (!out.why.ok()) throw_status(out.why);
  auto figure = [&](const std::string& name) {
    for (auto& [known, text] : sink.figures)
      if (known == name) return text;
    return std::string();
  };
  const std::uint64_t n = sink.figures.empty() ? 0 : std::stoull(figure("n"));
  std::printf("%s\n", counted(n, "row").c_str());
  const bool has_columns = rows->type->kind == kind::structure && !rows->type->members.empty();
  if (n == 0 && !has_columns) return kOk;
  std::vector<std::vector<std::string>> table{{"column", "type", "nulls", "min", "max"}};
  for (std::size_t k = 0; k != columns.size(); ++k) {
    described_column& c = columns[k];
    const std::string number = std::to_string(k);
    if (c.is_optional && n != 0) c.nulls = std::to_string(n - std::stoull(figure("n" + number)));
    if (c.has_order && n != 0) {
      c.least = shortened(figure("a" + number), kValueMost);
      c.most = shortened(figure("z" + number), kValueMost);
    }
    table.push_back({c.name, shortened(c.type, kTypeMost), c.nulls, c.least, c.most});
  }
  print_table(table);
  return kOk;
}

}  // namespace sluice::lib::cli
