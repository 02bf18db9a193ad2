// SPDX-License-Identifier: Apache-2.0
#include "runners/row.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include <catch2/catch.hpp>

#include "plan/text/spellings.hpp"
#include "runners/row_run.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/base/status.hpp"
#include "sluice/engine/register.hpp"
#include "support/budget.hpp"

namespace sluice::lib::test {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 14> kChecks = {"elements", "error",   "dropped", "cardinality", "type",
                                                 "spec",     "printed", "json",    "same",        "fits",
                                                 "differs",  "like",    "other",   "refused"};

std::vector<std::string> columns_of(const std::string& line) {
  std::vector<std::string> columns;
  for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
    to = line.find('\t', from);
    columns.push_back(line.substr(from, to - from));
  }
  return columns;
}

std::vector<fs::path> tables_in(const char* folder) {
  std::vector<fs::path> files;
  for (auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".tsv" && entry.path().filename() != "converted.tsv") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// Splits the expected value of a run: `[0,1] end`, `[0,1] data_loss: …`. Without an end it is "end".
void split_expected(row& r) {
  std::size_t depth = 0, at = 0;
  for (bool quoted = false; at != r.expected.size(); ++at) {
    char c = r.expected[at];
    if (quoted && c == '\\') ++at;
    else if (c == '"') quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{')) ++depth;
    else if (!quoted && (c == ']' || c == '}') && --depth == 0) break;
  }
  if (r.expected.empty() || r.expected[0] != '[' || at >= r.expected.size())
    throw std::runtime_error(r.place() + ": the expected elements are no list");
  r.elements = items_of(r.expected.substr(0, at + 1));
  r.end = at + 2 < r.expected.size() ? r.expected.substr(at + 2) : "end";
}

/// What is checked, and perhaps a memory budget: `error`, `error budget=1MiB`.
void read_check(const std::string& text, row& r) {
  constexpr std::string_view kBudget = " budget=";
  const std::size_t name_end = text.find(kBudget);
  const std::string name = text.substr(0, name_end);
  auto what = std::find(kChecks.begin(), kChecks.end(), name);
  if (what == kChecks.end()) throw std::runtime_error(r.place() + ": nothing is known to check by the name " + name);
  r.what = static_cast<row_check>(what - kChecks.begin());
  if (name_end == std::string::npos) return;
  std::int64_t bytes = 0;
  if (!read_byte_size(text.substr(name_end + kBudget.size()), bytes) || !r.is_of_a_run())
    throw std::runtime_error(r.place() + ": a memory budget is that of a run, such as 1MiB");
  r.budget_bytes = static_cast<std::size_t>(bytes);
}

/// Returns true if a table begins with the name of something that this build does not have.
bool needs_something_missing(const std::string& line) {
#if !SLUICE_HAVE_PARQUET
  if (line == "# needs parquet") return true;
#endif
  return line == "# needs sqlite" && !SLUICE_HAVE_SQLITE;
}

void read_table(const fs::path& file, std::vector<row>& all) {
  std::ifstream in(file);
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (needs_something_missing(line)) return;
    if (line.empty() || line.starts_with("#")) continue;
    std::vector<std::string> c = columns_of(line);
    row r;
    r.file = file.string();
    r.line = number;
    r.plan = c[0];
    if (c.size() != 3)
      throw std::runtime_error(r.place() + ": a row has 3 columns, this one " + std::to_string(c.size()));
    read_check(c[1], r);
    r.expected = c[2];
    if (r.is_of_a_run()) split_expected(r);
    if (r.what == row_check::elements && r.end != "end" && r.end != "...")
      throw std::runtime_error(r.place() + ": elements end with nothing or `...`; a row of an error is called error");
    if (r.what == row_check::error && r.end == "end") throw std::runtime_error(r.place() + ": no error is expected");
    all.push_back(std::move(r));
  }
}

/// A line of TensorFlow's has the elements, their end and the cardinality: two rows. Our own answers, where we differ on
/// purpose, stand after TensorFlow's. A table whose first lines name an operator that is missing waits for it.
void read_recorded(const fs::path& file, std::vector<row>& all) {
  std::ifstream in(file);
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.starts_with("# needs ") && !find_op(line.substr(8)) && !detail::is_spelling(line.substr(8))) return;
    if (line.empty() || line.starts_with("#")) continue;
    std::vector<std::string> c = columns_of(line);
    if (c.size() != 5 && c.size() != 9) throw std::runtime_error(file.string() + ": " + line);
    for (std::size_t i = 5; i + 1 < c.size(); ++i)
      if (c[i] != "=") c[i - 3] = c[i];
    row r;
    r.file = file.string();
    r.line = number;
    r.plan = c[1];
    r.expected = c[2] + " " + c[3];
    r.from_tensorflow = true;
    if (c[4] == "-") {
      r.what = row_check::refused;
      r.expected = c[3] + "…";
      all.push_back(std::move(r));
      continue;
    }
    if (c[3] != "end" && c[3] != "...") {
      r.what = row_check::error;
      r.expected += "…";
    }
    split_expected(r);
    all.push_back(r);
    r.what = row_check::cardinality;
    r.expected = c[4];
    all.push_back(std::move(r));
  }
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

/// A name for Catch2: a comma separates names, and a bracket begins a tag.
std::string escaped(const std::string& name) {
  std::string out;
  for (char c : name) out += c == ',' || c == '[' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out;
}

std::string report(const row& r, const std::string& test, const std::string& actual) {
  const bool explains = !r.is_of_a_run();
  return r.place() + ": " + kChecks[static_cast<std::size_t>(r.what)] + "\n  plan      " + r.plan + "\n  expected  " +
         r.expected + "\n  actual    " + actual + "\n  repeat    build/sluice " +
         (explains ? "explain " : "run --output jsonl --seed 1 ") +
         (r.budget_bytes ? "--memory-budget " + print_byte_size(static_cast<std::int64_t>(r.budget_bytes)) + " "
                         : std::string()) +
         quoted(r.plan) + "\n  debug     SLUICE_TEST_ROWS=" + r.place() + " build/runners_tests " +
         quoted(escaped(test));
}

std::string outcome_of(const row& r, const std::function<std::string(const row&)>& runner) {
  try {
    return runner(r);
  } catch (const std::exception& e) { return e.what(); }
}

}  // namespace

std::vector<std::string> items_of(const std::string& list) {
  std::vector<std::string> items;
  std::size_t depth = 0, from = 1;
  bool quoted = false;
  for (std::size_t at = 1; at + 1 < list.size(); ++at) {
    char c = list[at];
    if (quoted && c == '\\') ++at;
    else if (c == '"') quoted = !quoted;
    else if (quoted) continue;
    else if (c == '[' || c == '{') ++depth;
    else if (c == ']' || c == '}') --depth;
    else if (c == ',' && depth == 0) {
      items.push_back(list.substr(from, at - from));
      from = at + 1;
    }
  }
  if (list.size() > 2) items.push_back(list.substr(from, list.size() - 1 - from));
  return items;
}

bool matches(const std::string& text, const std::string& pattern) {
  constexpr std::string_view kAny = "…";
  std::size_t at = 0, from = 0;
  for (bool first = true;; first = false) {
    std::size_t to = pattern.find(kAny, from);
    std::string part = pattern.substr(from, to - from);
    if (to == std::string::npos && !first)
      return text.size() >= at + part.size() && text.compare(text.size() - part.size(), part.size(), part) == 0;
    if (to == std::string::npos) return text == part;
    std::size_t found = text.find(part, at);
    if (found == std::string::npos || (first && found != 0)) return false;
    at = found + part.size();
    from = to + kAny.size();
  }
}

bool runs_all_rows() { return std::getenv("SLUICE_TEST_ROWS") == nullptr; }

const std::vector<row>& rows() {
  static const std::vector<row> all = [] {
    std::vector<row> read;
    for (auto& file : tables_in("tests/verbs")) read_table(file, read);
    for (auto& file : tables_in("tests/golden/tfdata")) read_recorded(file, read);
    return read;
  }();
  return all;
}

namespace {

void every_row_of(bool has_budget, const std::function<std::string(const row&)>& runner) {
  const std::string test = Catch::getResultCapture().getCurrentTestName();
  const char* wanted = std::getenv("SLUICE_TEST_ROWS");
  const std::size_t every = wanted ? 1 : std::max<std::size_t>(1, 10 / cases(10));
  std::size_t tried = 0;
  for (std::size_t i = first_seed() % every; i < rows().size(); i += every) {
    const row& r = rows()[i];
    if ((wanted && !r.place().starts_with(wanted)) || (r.budget_bytes != 0) != has_budget) continue;
    std::string actual = outcome_of(r, [&](const row& of) { return runner(with_elements(of)); });
    if (!actual.empty()) FAIL_CHECK(report(r, test, actual));
    ++tried;
  }
  CHECK((tried > 0 || wanted));
}

}  // namespace

void every_row(const std::function<std::string(const row&)>& runner) { every_row_of(false, runner); }
void every_row_with_a_budget(const std::function<std::string(const row&)>& runner) { every_row_of(true, runner); }

}  // namespace sluice::lib::test
