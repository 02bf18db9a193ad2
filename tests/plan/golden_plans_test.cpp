// SPDX-License-Identifier: Apache-2.0
// Plans as earlier versions wrote them: their fingerprints, by which checkpoints are matched, and their JSON are held by
// tests/golden/plans.tsv (fingerprint, text, JSON; a line each). A line of it never changes; new ones may be added.
#include <catch2/catch.hpp>

#include <array>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "plan/golden_functions.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::golden_plans_test {
namespace {

struct golden_plan {
  std::string fingerprint, text, json;
};

std::vector<golden_plan> golden_plans() {
  std::ifstream in("tests/golden/plans.tsv");
  std::vector<golden_plan> all;
  for (std::string line; std::getline(in, line);) {
    auto first = line.find('\t'), second = line.find('\t', first + 1);
    all.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  return all;
}

std::string hex(std::uint64_t n) {
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[(n >> shift) & 15];
  return out;
}

void note_operators(const node& n, std::set<std::string_view>& seen) {
  seen.insert(n.op->name);
  for (auto& input : n.inputs) note_operators(*input, seen);
}

}  // namespace

TEST_CASE("plans of earlier versions print as they did, and have the fingerprints that their checkpoints keep") {
  std::set<std::string_view> seen;
  auto all = golden_plans();
  REQUIRE(all.size() >= 41);
  for (auto& golden : all) {
    INFO(golden.text);
    auto plan = parse_plan(golden.text);
    CHECK(plan_text(*plan) == golden.text);
    CHECK(hex(fingerprint(*plan)) == golden.fingerprint);
    note_operators(*plan, seen);
  }
  // All that there were when 0.1.0 was made, but for data of the program, which have no text. A new operator gets its lines
  // with the release that brings it: SLUICE_TEST_RELEASE=1 tells which lack them.
  CHECK(seen.size() >= 22);
  for (auto* op : operators())
    if (std::getenv("SLUICE_TEST_RELEASE") && op->name != "from_elements") CHECK(seen.count(op->name) == 1);
}

TEST_CASE("JSON of earlier versions is read as the same plan") {
  for (auto& golden : golden_plans()) {
    INFO(golden.json);
    auto plan = parse_plan_json(golden.json);
    CHECK(plan_text(*plan) == golden.text);
    CHECK(same_plan(*plan, *parse_plan(golden.text)));
    CHECK(same_plan(*plan, *parse_plan_json(plan_json(*plan))));
  }
}

TEST_CASE("plans that only a program can write have the fingerprints that their checkpoints keep") {
  struct sample {
    std::string text;
    std::int64_t label;
    std::array<float, 2> values;
  };
  auto lambda = [](std::int64_t x) { return x + 1; };
  CHECK(hex(fingerprint(*(from_elements<std::int64_t>({1, 2}) | map(lambda, {.parallelism = 2})).plan())) ==
        "aaad474195f8a755");
  CHECK(hex(fingerprint(*(range(3) | map(fn("add", 4, lambda)) | flat_map([](std::int64_t) {
                            return range(2);
                          })).plan())) == "ffba455264faddb7");
  CHECK(hex(fingerprint(*(tfrecord("f") | parse_example<sample>({.order = sloppy})).plan())) == "abb426a2a32c6aea");
  CHECK(hex(fingerprint(*(list_files("f") |
                          interleave(fixed_length({.record_bytes = 4}) | map([](const record& r) { return r.size(); })))
                             .plan())) == "192788830f3c9059");
}

}  // namespace sluice::lib::golden_plans_test
