// SPDX-License-Identifier: Apache-2.0
// Elements of random types are written in each format and read back, and they are the same.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"
#include "sluice/element/type_text.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/pipeline/write.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"
#include "support/printed_run.hpp"
#include "support/random_types.hpp"

namespace sluice::lib::written_types_test {
namespace {

using namespace test;

/// What a format reads back, as plan text; empty where no reader takes this type.
std::string reader_of(output_format format, const std::string& path, const element_type& t) {
  const bool is_structure = t.kind == kind::structure && !t.whole;
  std::string type = type_text(t);
  if (is_structure && type.starts_with("{")) type = type.substr(1, type.size() - 2);
  switch (format) {
    case output_format::jsonl: return "jsonl(\"" + path + "\", \"" + type + "\")";
    case output_format::arrow: return "from_arrow(\"" + path + "\") | unbatch";
    default: return {};
  }
}

/// Formats that keep a type's values; what has no form in one is refused before anything is written.
struct attempt {
  bool is_written = false, is_read = false;
  std::string problem;
};

attempt write_and_read(runtime& rt, const node_ptr& plan, output_format format, const std::string& path) {
  attempt a;
  auto writes = [](runtime& on, node_ptr of, std::string to, output_format as) -> task<> {
    auto writing = write(on, of, std::move(to), {.format = as});
    (void)co_await writing;
  };
  status why = sync_wait_result(rt, writes(rt, plan, path, format));
  if (!why.ok()) {
    const bool names_what = why.code() == status_code::invalid_argument && !why.message().empty();
    if (!names_what) a.problem = "writing: " + why.to_string();
    return a;
  }
  a.is_written = true;
  const std::string text = reader_of(format, path, *plan->type);
  if (text.empty()) return a;
  node_ptr reader;
  try {
    reader = parse_plan(text);
  } catch (const error& e) {
    // Tensors have no type text that a reader of rows takes; a format that holds them has readers of its own.
    if (type_text(*plan->type).find("tensor") == std::string::npos) a.problem = text + ": " + e.what();
    return a;
  }
  a.is_read = true;
  const printed_run wanted = run_of(plan), got = run_of(reader);
  if (got.elements == wanted.elements && got.end == wanted.end) return a;
  a.problem = text + " ends with " + got.end;
  for (std::size_t i = 0; i < wanted.elements.size(); ++i)
    if (i >= got.elements.size() || got.elements[i] != wanted.elements[i])
      return a.problem += "; element " + std::to_string(i) + " was " + wanted.elements[i].substr(0, 300) + " and is " +
                          (i < got.elements.size() ? got.elements[i].substr(0, 300) : "missing"),
             a;
  return a;
}

}  // namespace

TEST_CASE("elements of random types are written in each format, and read back the same") {
  testing::temporary_folder folder;
  runtime rt({.workers = 1});
  std::size_t written = 0, read = 0, failed = 0;
  for (std::uint64_t seed = first_seed(); seed != first_seed() + cases(200); ++seed) {
    random_numbers r(seed);
    const std::string text = "range(4) | map(" + random_typed_expression(r) + ")";
    node_ptr plan;
    try {
      plan = parse_plan(text);
    } catch (const error&) { continue; }
    for (const output_format format : {output_format::jsonl, output_format::arrow, output_format::example,
                                       output_format::csv, output_format::numpy}) {
      const std::string path = folder.path("f" + std::to_string(static_cast<int>(format)));
      const attempt a = write_and_read(rt, plan, format, path);
      written += a.is_written;
      read += a.is_read;
      if (a.problem.empty()) continue;
      ++failed;
      UNSCOPED_INFO("seed " << seed << ", format " << static_cast<int>(format) << ": " << text << "\n  " << a.problem);
    }
    if (failed > 10) break;
  }
  CAPTURE(written, read);
  CHECK(failed == 0);
  if (first_seed() == 1 && cases(200) >= 200 && failed == 0) {
    CHECK(written > 100);
    CHECK(read > 30);
  }
}

}  // namespace sluice::lib::written_types_test
