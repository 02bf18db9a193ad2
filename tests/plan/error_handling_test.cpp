// SPDX-License-Identifier: Apache-2.0
// on_error and errors_max, which every call of a plan may have: in text, in JSON, in equality and in fingerprints.
#include <string>

#include <catch2/catch.hpp>

#include "plan/golden_functions.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/on_error.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::error_handling_test {
namespace {

using Catch::Contains;

std::string complaint(const std::string& text) {
  try {
    parse_plan(text);
  } catch (const error& e) { return std::string(e.why().message()); }
  return "taken";
}
std::string json_complaint(const std::string& json) {
  try {
    parse_plan_json(json);
  } catch (const error& e) { return std::string(e.why().message()); }
  return "taken";
}

}  // namespace

TEST_CASE("the error options of any call are read back from text and from JSON, after all else") {
  for (const char* text : {
           "range(5) | map(golden_next, on_error=skip)",
           "range(5) | map(golden_next, parallelism=8, on_error=stop)",
           "range(5) | map(golden_next, on_error=skip, errors_max=100)",
           "range(5) | map(golden_next, on_error=skip, errors_max=0)",
           "range(5, on_error=skip) | repeat(on_error=stop)",
           "tfrecord(\"a\", on_error=skip, errors_max=3)",
           "zip(range(3), range(4, on_error=skip), on_error=skip)",
           "range(5) | map(golden_next) | ignore_errors",
           "range(5) | map(golden_next, on_error=stop) | ignore_errors(errors_max=7)",
       }) {
    INFO(text);
    node_ptr plan = parse_plan(text);
    CHECK(plan_text(*plan) == text);
    node_ptr again = parse_plan_json(plan_json(*plan));
    CHECK(plan_text(*again) == text);
    CHECK(same_plan(*plan, *again));
    CHECK(fingerprint(*plan) == fingerprint(*again));
  }
  CHECK(plan_text(
            *parse_plan("list_files(\"*\") | interleave(on_error=skip, tfrecord(on_error=skip, read_bytes=1KiB))")) ==
        "list_files(\"*\") | interleave(tfrecord(read_bytes=1KiB, on_error=skip), on_error=skip)");
  CHECK(plan_json(*parse_plan("range(5, on_error=skip, errors_max=2) | ignore_errors")) ==
        R"({"op":"ignore_errors","inputs":[{"op":"range","arguments":{"stop":5,"on_error":"skip","errors_max":2}}]})");
  CHECK(
      plan_text(*parse_plan_json(
          R"({"op":"repeat","arguments":{"on_error":"skip"},"inputs":[{"op":"range","fields":{"stop":5,"on_error":null}}]})")) ==
      "range(5) | repeat(on_error=skip)");
}

TEST_CASE(
    "a call's error options are part of a plan; its fingerprint contains only the policy, and only if it is set") {
  node_ptr plain = parse_plan("range(5) | map(golden_next)");
  node_ptr skips = parse_plan("range(5) | map(golden_next, on_error=skip)");
  node_ptr stops = parse_plan("range(5) | map(golden_next, on_error=stop)");
  node_ptr limited = parse_plan("range(5) | map(golden_next, on_error=skip, errors_max=9)");
  node_ptr below = parse_plan("range(5, on_error=skip) | map(golden_next)");
  const node_ptr all[] = {plain, skips, stops, limited, below};
  for (auto& a : all)
    for (auto& b : all) {
      CAPTURE(plan_text(*a), plan_text(*b));
      CHECK(same_plan(*a, *b) == (a == b));
      bool one_print = a == b || (a == skips && b == limited) || (a == limited && b == skips);
      CHECK((fingerprint(*a) == fingerprint(*b)) == one_print);
    }
  CHECK(same_plan(*plain, *parse_plan("range(5) | map(golden_next, on_error=nothing, errors_max=-1)")));
}

TEST_CASE("invalid error options of any call are reported like an operator's own") {
  CHECK_THAT(complaint("range(5) | repeat(on_error=often)"),
             Contains("repeat: on_error expects stop or skip, and is often"));
  CHECK_THAT(complaint("range(5, on_error=skip, on_error=stop)"), Contains("range: on_error is given twice"));
  CHECK_THAT(complaint("range(5, on_error=skip, errors_max=-2)"),
             Contains("range: errors_max must be at least 0, or -1 for no limit, and is -2"));
  CHECK_THAT(complaint("range(5, errors_max=2)"), Contains("range: errors_max needs on_error=skip"));
  CHECK_THAT(complaint("range(5, on_error=stop, errors_max=2)"), Contains("range: errors_max needs on_error=skip"));
  for (const char* policy : {"stop", "skip"})
    CHECK_THAT(complaint("range(5) | ignore_errors(on_error=" + std::string(policy) + ")"),
               Contains("ignore_errors: takes no on_error") && Contains("give that one on_error=stop"));
  CHECK_THAT(complaint("range(5) | ignore_errors(5)"), Contains("5 needs a name, such as errors_max=5"));
  CHECK_THAT(complaint("range(5, on_eror=skip)"), Contains("range: has no on_eror"));
  CHECK_THAT(json_complaint(R"({"op":"range","arguments":{"stop":5,"on_error":7}})"),
             Contains("range: on_error expects stop or skip, and is 7"));
  CHECK_THAT(json_complaint(R"({"op":"range","arguments":{"stop":5,"errors_max":1}})"),
             Contains("range: errors_max needs on_error=skip"));
}

TEST_CASE("on_error gives its policy to every stage inside that has none, and to no other") {
  auto next = [](std::int64_t x) { return x; };
  auto text = [](const auto& ds) { return plan_text(*ds.plan()); };
  CHECK(text(range(5) | on_error(error_policy::skip, take(3))) == "range(5) | take(3, on_error=skip)");
  CHECK(text(range(5) | on_error(error_policy::stop, take(3) | ignore_errors({.errors_max = 2}) | repeat(2))) ==
        "range(5) | take(3, on_error=stop) | ignore_errors(errors_max=2) | repeat(2, on_error=stop)");
  CHECK(text(range(5) | on_error(error_policy::skip, take(3) | repeat(2), {.errors_max = 4}) | skip(1)) ==
        "range(5) | take(3, on_error=skip, errors_max=4) | repeat(2, on_error=skip, errors_max=4) | skip(1)");
  CHECK(text(range(5) | on_error(error_policy::skip, on_error(error_policy::stop, take(3)) | repeat(2))) ==
        "range(5) | take(3, on_error=stop) | repeat(2, on_error=skip)");
  auto stages = take(3) | on_error(error_policy::skip, map(next));
  CHECK(text(range(5) | stages) == "range(5) | take(3) | map(<lambda>, on_error=skip)");
  CHECK(text(on_error(error_policy::skip, range(5) | take(2))) == "range(5, on_error=skip) | take(2, on_error=skip)");
  auto both = range(5);
  CHECK(text(on_error(error_policy::skip, zip(both, both | take(1)))) ==
        "zip(range(5, on_error=skip), range(5, on_error=skip) | take(1, on_error=skip), on_error=skip)");
  CHECK(text(list_files("*") | interleave(on_error(error_policy::skip, tfrecord))) ==
        "list_files(\"*\") | interleave(tfrecord(on_error=skip))");
  CHECK(text(list_files("*") | interleave(on_error(error_policy::skip, tfrecord | take(2)))) ==
        "list_files(\"*\") | interleave(tfrecord(on_error=skip) | take(2, on_error=skip))");
  CHECK_THROWS_WITH(range(5) | on_error(error_policy::stop, take(3), {.errors_max = 1}),
                    Contains("take: errors_max needs on_error=skip"));
  CHECK_THROWS_WITH(range(5) | on_error(error_policy::skip, take(3), {.errors_max = -7}),
                    Contains("errors_max must be at least 0"));
}

TEST_CASE("a stage keeps its site when a policy is put on it, and a plan its size where nothing is dropped") {
  node_ptr plain = parse_plan("range(5) | take(4) | take(3)");
  node_ptr handled = with_error_handling(plain, {error_policy::skip});
  for (const node *a = plain.get(), *b = handled.get();; a = a->inputs[0].get(), b = b->inputs[0].get()) {
    CHECK(a->site == b->site);
    if (a->inputs.empty()) break;
  }
  CHECK(cardinality_of(*plain) == cardinality::of(3));
  CHECK(cardinality_of(*handled).kind == cardinality::unknown);
  CHECK(cardinality_of(*parse_plan("range(5, on_error=stop)")) == cardinality::of(5));
  CHECK(cardinality_of(*parse_plan("range(5) | ignore_errors")).kind == cardinality::unknown);
  CHECK(cardinality_of(*parse_plan("range(0) | ignore_errors")) == cardinality::of(0));
}

}  // namespace sluice::lib::error_handling_test
