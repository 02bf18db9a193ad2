// SPDX-License-Identifier: Apache-2.0
// Plans as text and as JSON: any text is refused at a place inside of it, or is a plan that both forms give back.
#include "fuzz/plan_functions.hpp"
#include "fuzz/target.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::fuzz {
namespace {

void check_equal(const node& a, const node& b, const char* form) {
  bool equal = same_plan(a, b) && a.type == b.type && fingerprint(a) == fingerprint(b);
  expect(equal,
         std::string("other after ") + form + ": " + sluice::lib::plan_text(a) + " and " + sluice::lib::plan_text(b));
}

void check_round_trips(const node& plan) {
  cardinality_of(plan);
  expect(serialisable(plan).ok(), "a plan from text cannot be written down");
  auto text = sluice::lib::plan_text(plan);
  auto from_text = parse_plan(text);
  check_equal(plan, *from_text, "text");
  expect(sluice::lib::plan_text(*from_text) == text, "a plan prints differently the second time");
  auto json = sluice::lib::plan_json(plan);
  check_equal(plan, *parse_plan_json(json), "JSON");
}

std::size_t characters(std::string_view text) {
  std::size_t n = 0;
  for (char c : text) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return n;
}

}  // namespace

void plan_text(std::string_view bytes) {
  register_plan_functions();
  node_ptr plan;
  try {
    plan = parse_plan(bytes);
  } catch (const plan_error& e) {
    expect(e.column() >= 1 && e.column() <= characters(bytes) + 1,
           std::string("the column is not in the text: ") + e.what());
    return;
  }
  check_round_trips(*plan);
}

void plan_json(std::string_view bytes) {
  register_plan_functions();
  node_ptr plan;
  try {
    plan = parse_plan_json(bytes);
  } catch (const error& e) {
    expect(e.code() == status_code::invalid_argument, e.what());
    return;
  }
  if (plan->lacks_path) return;  // a reader alone has no text
  check_round_trips(*plan);
}

}  // namespace sluice::lib::fuzz
