// SPDX-License-Identifier: Apache-2.0
// sluice/io/plan_files.hpp: plans that look at remote files when they are made.
#include "sluice/io/plan_files.hpp"

#include <catch2/catch.hpp>

#include "format/compressed.hpp"
#include "pipeline/outcome.hpp"
#include "sluice/io/memory_files.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::plan_files_test {
namespace {

using namespace testing;

task<std::string> printed(any_stream s) {
  std::string out;
  for (;;) {
    demand d;
    d.elements = 1;
    auto got = co_await s.try_next_block(d);
    if (!got.why.ok()) throw_status(got.why);
    if (!got.view) break;
    got.view.type().print(got.view.type(), got.view.at(0), out);
    out += ' ';
  }
  co_return out;
}

std::string run_text(runtime& rt, const std::string& plan) {
  return sync_wait(rt, printed(open_run(rt, parse_plan(plan))));
}

}  // namespace

TEST_CASE("columns of remote files are inferred through registered plan_files") {
  runtime rt;
  memory_files files = add_memory_files(rt);
  files.put("mem://a.csv", "name,n\nx,1\ny,2\n");
  files.put("mem://b.csv.gz", gzipped("name,n\nx,1.5\n", 1));
  files.put("mem://c.jsonl", "{\"a\": 1}\n{\"a\": 2}\n");
  const char* plan = "csv(\"mem://a.csv\", header=true)";
  CHECK_THROWS_WITH(parse_plan(plan), Catch::Contains("mem://a.csv") && Catch::Contains("plan_files"));
  {
    plan_files known([files](runtime& small) { add_memory_files(small, files); });
    CHECK(run_text(rt, plan) == "{\"name\":\"x\",\"n\":1} {\"name\":\"y\",\"n\":2} ");
    CHECK(run_text(rt, "csv(\"mem://b.csv.gz\", header=true)") == "{\"name\":\"x\",\"n\":1.5} ");
    CHECK(run_text(rt, "jsonl(\"mem://c.jsonl\")") == "{\"a\":1} {\"a\":2} ");
    CHECK_THROWS_WITH(parse_plan("csv(\"mem://d.csv\")"), Catch::Contains("mem://d.csv: there is no such file"));
    CHECK_THROWS_WITH(parse_plan("csv(\"s9://d.csv\")"), Catch::Contains("no file system answers for s9://"));
    {
      plan_files none([](runtime&) {});
      CHECK_THROWS_WITH(parse_plan(plan), Catch::Contains("no file system answers for mem://"));
    }
    CHECK_NOTHROW(parse_plan(plan));
  }
  CHECK_THROWS(parse_plan(plan));
}

}  // namespace sluice::lib::plan_files_test
