// SPDX-License-Identifier: Apache-2.0
// metrics_text: the runs of a runtime, with labels that are unique. The rules of the formats are tests/cli/reports/serve_test.py's.
#include <string>

#include <catch2/catch.hpp>

#include "sluice/pipeline/metrics.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::metrics_test {
namespace {

using int64 = std::int64_t;

task<> take_some(stream<int64>& s, int n) {
  while (n-- > 0) {
    auto x = co_await s.next();
    CHECK(x);
  }
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("the metrics of a runtime have its runs as long as they exist") {
  simulation world(7);
  runtime rt(world), other(world);
  const std::string none = metrics_text(rt);
  CHECK_THAT(none, Catch::Contains("\nsluice_runs 0\n"));
  CHECK_THAT(none, Catch::Contains("# TYPE sluice_stage_elements_total counter\n"));
  CHECK(count_of(none, "stage=\"") == 0);
  {
    auto s = (range(100) | map([](int64 x) { return x + 1; })).iterate(rt, {.seed = 1});
    auto t = range(100).iterate(rt, {.seed = 1});
    auto elsewhere = range(100).iterate(other, {.seed = 1});
    sync_wait(rt, take_some(s, 100));
    s.report();  // adds what the streams have counted
    const std::string text = metrics_text(rt);
    CHECK_THAT(text, Catch::Contains("\nsluice_runs 2\n"));
    CHECK(count_of(text, "sluice_stage_elements_total{run=") == 3);  // map and range; range
    CHECK(count_of(text, "sluice_run_consumer_requests_total{run=") == 2);
    CHECK(count_of(text, "stage=\"map\"} 100\n") == 1);  // the elements
    CHECK_THAT(metrics_text(other), Catch::Contains("\nsluice_runs 1\n"));
  }
  CHECK_THAT(metrics_text(rt), Catch::Contains("\nsluice_runs 0\n"));
}

TEST_CASE("an Accept header chooses the format of metrics") {
  CHECK(metrics_format_for("") == metrics_format::prometheus);
  CHECK(metrics_format_for("text/plain;version=0.0.4") == metrics_format::prometheus);
  CHECK(metrics_format_for("application/openmetrics-text;version=1.0.0,text/plain;q=0.5") ==
        metrics_format::openmetrics);
  simulation world(7);
  runtime rt(world);
  CHECK_THAT(metrics_text(rt, metrics_format::openmetrics), Catch::EndsWith("# EOF\n"));
  CHECK_THAT(metrics_text(rt, metrics_format::openmetrics), Catch::Contains("# TYPE sluice_stage_elements counter\n"));
}

}  // namespace sluice::lib::metrics_test
