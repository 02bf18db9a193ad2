// SPDX-License-Identifier: Apache-2.0
// scan and reduce by expressions: what the state is, what is refused, and resuming. tests/op/expressions_test.cpp has them in
// the suites of all operators.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/plan_texts.hpp"
#include "support/verb_case.hpp"

namespace sluice::lib::state_expressions_test {
namespace {

using namespace test;
using int64 = std::int64_t;

/// A state that knows all elements so far, and their order.
int64 mixed(int64 state, int64 x) { return (state * 31 + (x % 1000 + 1000) % 1000) % 1'000'003; }
const char* const kMixed = "(state * 31 + (it % 1000 + 1000) % 1000) % 1'000'003";
std::string start_of(int64 a) { return std::to_string(a % 1000); }

const register_verb scan_case(
    "scan by expression",
    {.passes_errors = true,
     .build = [](const verb_plan& p) { return p.in[0] | scan(expr<int64>(start_of(p.a)), expr(kMixed)); },
     .expected =
         [](const verb_lists& l) {
           int64s out;
           int64 state = l.a % 1000;
           for (int64 x : l.in()) out.push_back(state = mixed(state, x));
           return out;
         },
     .needs = [](const verb_use&, std::size_t k) { return k; }});
const register_verb scan_failing_case(
    "scan by expression failing",
    {.meets_errors = true,
     .build =
         [](const verb_plan& p) {
           return p.in[0] | scan(expr<int64>("0"),
                                 expr("let(x = (it % 1000 + 1000) % 1000, (state * 31 + 1000 / (x % 7)) % 1000)"));
         },
     .expected =
         [](const verb_lists& l) {
           int64s out;
           int64 state = 0;
           for (int64 y : l.in()) {
             int64 x = (y % 1000 + 1000) % 1000;
             if (x % 7 != 0) out.push_back(state = (state * 31 + 1000 / (x % 7)) % 1000);
           }
           return out;
         }});
const register_verb reduce_case(
    "reduce by expression",
    {.build = [](const verb_plan& p) { return p.in[0] | reduce(expr<int64>(start_of(p.a)), expr(kMixed)); },
     .expected =
         [](const verb_lists& l) {
           int64 state = l.a % 1000;
           for (int64 x : l.in()) state = mixed(state, x);
           return int64s{state};
         },
     .resume = {.takes = 0}});

const register_verb group_case("group_by_reducer by expression",
                               {.build =
                                    [](const verb_plan& p) {
                                      return p.in[0] | group_by_reducer(expr("(it % 1000 + 1000) % 5"),
                                                                        expr<int64>(start_of(p.a)), expr(kMixed));
                                    },
                                .expected =
                                    [](const verb_lists& l) {
                                      std::map<int64, int64> states;
                                      for (int64 x : l.in()) {
                                        auto at = states.try_emplace((x % 1000 + 1000) % 5, l.a % 1000).first;
                                        at->second = mixed(at->second, x);
                                      }
                                      int64s out;
                                      for (auto& [key, state] : states) out.push_back(state);
                                      return out;
                                    },
                                .resume = {.takes = 0}});

struct sums {
  double total = 0;
  int64 n = 0;
};
SLUICE_FUNCTION(running_total, [](int64& sum, int64 x) { return sum += x; });

}  // namespace

TEST_CASE("a scan by an expression hands its state on as the element", "[op]") {
  CHECK(elements<int64>("range(5) | scan(0, state + it)") == "0 1 3 6 10");
  CHECK(elements<int64>("range(5) | scan(9, state + it)") == "9 10 12 15 19");
  CHECK(elements<double>("range(4) | scan(0.5, state * 2 + it)") == "1.0 3.0 8.0 19.0");
  CHECK(elements<std::string>(R"(range(3) | scan("", state + string(it)))") == R"("0" "01" "012")");
  CHECK(elements<double>(
            "range(4) | scan({total: 0.0, n: 0}, {total: state.total + it, n: state.n + 1}) | map(total / n)") ==
        "0.0 0.5 1.0 1.5");
  CHECK(elements<int64>("range(4) | map({state: it, it: it * 2}) | scan(0, state + it.state)") == "0 1 3 6");
  CHECK(elements<bool>("range(4) | scan(false, state || it == 2)") == "false false true true");
  CHECK(elements<int64>("range(6) | scan((0, 1), (state[1], state[0] + state[1])) | map(int64(first))") ==
        "1 1 2 3 5 8");
}

TEST_CASE("a reduce by an expression gives its last state", "[op]") {
  CHECK(elements<int64>("range(5) | reduce(0, state + it)") == "10");
  CHECK(elements<int64>("range(0) | reduce(7, state + it)") == "7");
  CHECK(elements<int64>("range(5) | reduce(int64(1), if(it == 0, state, state * it))") == "24");
  CHECK(elements<std::string>(R"(range(4) | map(string(it)) | reduce("", if(length(state) > 2, state, state + it)))") ==
        R"("012")");
  CHECK(elements<double>(range(4) | reduce(expr<double>("0"), expr("state + it"))) == "6.0");
  CHECK(elements<sums>(range(4) |
                       reduce(expr<sums>("{total: 0, n: 0}"), expr("{n: state.n + 1, total: state.total + it}"))) ==
        R"({"total":6.0,"n":4})");
  CHECK(elements<int64>(range(4) | scan(expr<int64>("1"), expr("state * 2"))) == "2 4 8 16");
}

TEST_CASE("elements are grouped by the value of an expression", "[op]") {
  CHECK(elements<int64>("range(10) | group_by_reducer(it % 3, 0, state + it)") == "18 12 15");
  CHECK(elements<int64>(range(10) | group_by_reducer(expr("it % 3"), expr<int64>("0"), expr("state + it"))) ==
        "18 12 15");
  // In the order of the keys: negative numbers first, texts by their bytes, pairs by their first value.
  CHECK(elements<int64>("range(6) | group_by_reducer(if(it < 2, it, -it), 0, it)") == "5 4 3 2 0 1");
  CHECK(elements<std::string>(R"(range(12) | group_by_reducer(string(it % 11), "", state + string(it) + ";"))") ==
        R"("0;11;" "1;" "10;" "2;" "3;" "4;" "5;" "6;" "7;" "8;" "9;")");
  CHECK(elements<int64>(R"(range(8) | group_by_reducer((it % 2 == 0, string(it / 4)), 0, state + it))") == "4 12 2 10");
  CHECK(elements<int64>("range(8) | map({n: it, text: string(it)}) | group_by_reducer({odd: n % 2}, 0, state + n)") ==
        "12 16");
  CHECK(elements<int64>("range(9) | group_by_reducer(12 / (it % 4), 0, state + it, on_error=skip)") == "10 8 6");
  for (auto text : {"range(9) | group_by_reducer(it % 2, 0, state + it)",
                    "range(9) | group_by_reducer(string(it), {n: 0}, {n: state.n + 1})"}) {
    node_ptr plan = parse_plan(text);
    CHECK(plan_text(*plan) == text);
    CHECK(fingerprint(*plan) == fingerprint(*parse_plan_json(plan_json(*plan))));
  }
  CHECK(refusal_of("range(5) | group_by_reducer(it / 2.0, 0, state + it)") ==
        "column 29: group_by_reducer: a key is a number without a fraction, a text, or made of such, and it / 2.0 is "
        "double");
  CHECK(refusal_of("range(5) | group_by_reducer(it, state + it)").find("needs an initial state") != std::string::npos);
  CHECK(refusal_of("range(5) | group_by_reducer(random(3), 0, state + it)")
            .find("random() cannot stand where an element is only looked at (a key, ") != std::string::npos);
}

TEST_CASE("plans with states print, and read back", "[op]") {
  for (auto text : {"range(9) | scan(0, state + it)", "range(9) | reduce({n: 0}, {n: state.n + 1})",
                    "range(9) | scan(\"a\\\"b\", state + string(it)) | reduce(0, state + length(it))",
                    "range(9) | scan(running_total)", "range(9) | scan(running_total, initial_state=\"0005\")"}) {
    INFO(text);
    node_ptr plan = parse_plan(text);
    CHECK(plan_text(*plan) == text);
    CHECK(same_plan(*plan, *parse_plan(plan_text(*plan))));
    node_ptr from_json = parse_plan_json(plan_json(*plan));
    CHECK(same_plan(*plan, *from_json));
    CHECK(fingerprint(*plan) == fingerprint(*from_json));
  }
  CHECK(plan_text(*parse_plan("range(9)|scan(initial= 1+2 ,function=state+it)")) ==
        "range(9) | scan(1 + 2, state + it)");
  CHECK(fingerprint(*parse_plan("range(9) | scan(0, state + it)")) !=
        fingerprint(*parse_plan("range(9) | scan(1, state + it)")));
  CHECK(plan_json(*parse_plan("range(3) | scan(0, state + it)")).find(R"("initial":{"expression":"0"})") !=
        std::string::npos);
}

TEST_CASE("a state that does not fit is refused with its column", "[op]") {
  CHECK(refusal_of("range(5) | scan(state + it)") ==
        "column 17: scan: an expression needs an initial state before it, as in scan(0, state + it)");
  CHECK(refusal_of("range(5) | scan(it, state + it)") ==
        "column 17: scan: an initial state is made before there is an element, and cannot contain it");
  CHECK(refusal_of("range(5) | scan(0, state + \"a\")") ==
        "column 20: scan: + expects two numbers or two texts; state is int32, and \"a\" is string");
  CHECK(refusal_of("range(5) | scan(0, string(state))") ==
        "column 20: scan: the state is int32 at first, and string afterwards; give the initial state that type");
  CHECK(refusal_of("range(5) | scan(0, state + random())").find("random() cannot stand in a state") !=
        std::string::npos);
  CHECK(refusal_of("range(5) | scan(1 / 0, state + it)") == "column 17: scan: 1 / 0: division by zero");
  CHECK(refusal_of("range(5) | scan(0, running_total)").find("initial goes with an expression") != std::string::npos);
  CHECK(refusal_of("range(5) | scan(0, staet + it)").find("did you mean state?") != std::string::npos);
  CHECK(refusal_of("range(5) | map(state + it)").find("no field is named state") != std::string::npos);
}

TEST_CASE("an element whose state cannot be computed leaves the state as it was", "[op]") {
  CHECK(elements<int64>("range(5) | scan(0, state + 12 / (it - 2), on_error=skip)") == "-6 -18 -6 0");
  CHECK(elements<int64>("range(5) | reduce(0, state + 12 / (it - 2), on_error=skip)") == "0");
}

}  // namespace sluice::lib::state_expressions_test
