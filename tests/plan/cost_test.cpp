// SPDX-License-Identifier: Apache-2.0
// Reading and printing plans costs time in proportion to their size. Measured as ratios of the thread's own CPU time: eight
// times the input may take sixteen times as long, where something quadratic takes sixty-four times.
#include <catch2/catch.hpp>

#include <ctime>
#include <functional>
#include <string>

#include "plan/fake_operators.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"
#include "support/process_memory.hpp"

namespace sluice::lib::cost_test {

namespace {

double cpu_seconds() {
  timespec t;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The least of some: what disturbs only adds.
double cost(const std::function<void()>& work) {
  double least = 1e9;
  for (int i = 0; i != 5; ++i) {
    double start = cpu_seconds();
    work();
    least = std::min(least, cpu_seconds() - start);
  }
  return least;
}

/// `make(n)` is a plan of size n; `read` may refuse it.
void is_linear(std::size_t n, const std::function<std::string(std::size_t)>& make,
               const std::function<void(const std::string&)>& read, double times_max = 16) {
  auto timed = [&](std::size_t size) {
    std::string text = make(size);
    return cost([&] {
      try {
        read(text);
      } catch (const error&) {}
    });
  };
  if (testing::kSanitized) times_max *= 4;  // deep recursion touches ever more of its shadow memory
  double small = 0, large = 0;
  for (int attempt = 0; attempt != 5; ++attempt) {  // a neighbour's use of the caches is in the CPU time, too
    small = timed(n), large = timed(8 * n);
    if (large < times_max * small) break;
  }
  INFO(n << ": " << small * 1e3 << " ms, " << 8 * n << ": " << large * 1e3 << " ms");
  CHECK(large < times_max * small);
}

std::string repeated(std::size_t n, const std::string& what, const std::string& between = {}) {
  std::string out;
  for (std::size_t i = 0; i != n; ++i) out += (i ? between : "") + what;
  return out;
}

void from_json(const std::string& text) { parse_plan_json(text); }
void from_text(const std::string& text) { parse_plan(text); }

}  // namespace

TEST_CASE("JSON plans are read in time that is linear in inputs, keys, bytes and nesting") {
  scoped_operators scope(test::fake_operators());
  const std::string range = R"({"op":"range","fields":{"stop":5}})";
  is_linear(2'000, [&](auto n) { return R"({"op":"zip","inputs":[)" + repeated(n, range, ",") + "]}"; }, from_json);
  auto keys = [](std::size_t n) {
    std::string text = R"({"op":"range","fields":{"stop":1)";
    for (std::size_t i = 0; i != n; ++i) text += ",\"key" + std::to_string(i) + "\":1";
    return text + "}}";
  };
  is_linear(4'000, keys, from_json);
  is_linear(20'000, [](auto n) { return R"({"op":"lines","text":[)" + repeated(n, "255", ",") + "]}"; }, from_json);
  auto chain = [&](std::size_t n) { return repeated(n, R"({"op":"repeat","inputs":[)") + range + repeated(n, "]}"); };
  auto list = [](const std::string& item, const std::string& field) {
    return [=](std::size_t n) {
      return R"({"op":"columns","arguments":{")" + field + "\":[" + repeated(n, item, ",") + "]}}";
    };
  };
  is_linear(5'000, list("12", "table"), from_json);
  is_linear(2'000, list("[1,2]", "table"), from_json);
  is_linear(2'000, list(R"({"size":2})", "windows"), from_json);
  auto names = [](std::size_t n) {
    std::string text = R"({"op":"columns","arguments":{"defaults":{"a":1)";
    for (std::size_t i = 0; i != n; ++i) text += ",\"key" + std::to_string(i) + "\":1";
    return text + "}}}";
  };
  is_linear(2'000, names, from_json);
  // A stage looks once over those below it, of which there are 1,000 at most, so that its site is its own.
  is_linear(120, chain, from_json, 64);
  auto nested = [](std::size_t n) {
    return repeated(n, R"({"op":"flat_map","inputs":[{"op":"lines","text":"f"}],"reader":)") + R"({"op":"lines"})" +
           repeated(n, "}");
  };
  is_linear(120, nested, from_json);
}

TEST_CASE("plan text is read in time that is linear in stages, inputs, comments and nesting") {
  scoped_operators scope(test::fake_operators());
  is_linear(2'000, [](auto n) { return "zip(" + repeated(n, "range(5)", ",") + ")"; }, from_text);
  is_linear(2'000, [](auto n) { return "zip(" + repeated(n, "range # five\n (stop #\n = 5)", ",") + ")"; }, from_text);
  is_linear(2'000, [](auto n) { return "range(1) | columns(table=[" + repeated(n, "[1, 2]", ",") + "])"; }, from_text);
  is_linear(120, [](auto n) { return "range(1)" + repeated(n, " | repeat(2)"); }, from_text, 64);
  // With a sanitizer a level takes 8 KiB of the stack, of which 8 MiB are there.
  is_linear(
      testing::kSanitized ? 60 : 120,
      [](auto n) { return repeated(n, "lines(\"f\") | flat_map(") + "lines" + repeated(n, ")"); }, from_text);
  is_linear(20'000, [](auto n) { return "lines(\"" + repeated(n, "\\x41") + "\")"; }, from_text);
  is_linear(20'000, [](auto n) { return "range(5) # " + repeated(n, "ö") + "\n!"; }, from_text);
}

TEST_CASE("plans are printed in time that is linear in inputs and stages") {
  scoped_operators scope(test::fake_operators());
  auto inputs = [](std::size_t n) { return "zip(" + repeated(n, "range(5)", ",") + ")"; };
  double small = 0, large = 0;
  for (auto [n, cost_of] : {std::pair(std::size_t{2'000}, &small), std::pair(std::size_t{16'000}, &large)}) {
    auto plan = parse_plan(inputs(n));
    *cost_of = cost([&] {
      plan_text(*plan);
      plan_json(*plan);
      fingerprint(*plan);
    });
  }
  CHECK(large < 16 * small);
}

TEST_CASE("a plan longer than may be is refused with its length") {
  std::string text(kPlanBytesMax + 1, ' ');
  auto told = [&](auto parse) {
    try {
      parse(text);
    } catch (const error& e) { return std::string(e.why().message()); }
    return std::string();
  };
  CHECK(told(from_json) == "the plan has 16777217 bytes, more than the 16777216 that a plan may have");
  CHECK(told(from_text) == "column 1: the plan has 16777217 bytes, more than the 16777216 that a plan may have");
}

}  // namespace sluice::lib::cost_test
