// SPDX-License-Identifier: Apache-2.0
// Random plans over elements of random types: the same elements and the same error in every way to run them. Operators
// that keep their elements conform over such elements.
//
//   SLUICE_TEST_SEED=17 SLUICE_TEST_PLANS=1 build/op_tests "random plans over elements of random types*"   # one plan again
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/pipeline/iterate.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"
#include "support/random/random_types.hpp"
#include "support/trials/op_conformance.hpp"

namespace sluice::lib::typed_plans_test {
namespace {

using namespace test;

/// How a run is consumed.
struct way {
  std::uint32_t at_once = 3;
  bool saves = false;
  checkpoint from = {};
};

struct outcome {
  std::vector<std::string> elements;
  std::string end = "end";
  status_code code = status_code::ok;
  std::vector<checkpoint> places;  ///< places[i]: before element i
};

task<void> run_on(runtime& rt, const node_ptr& plan, error_policy policy, const way& how, outcome& o) {
  any_stream s = open_run(rt, plan, {.from = how.from, .on_error = policy, .seed = 1});
  for (;;) {
    if (how.saves) o.places.push_back(s.position());
    auto b = co_await s.try_next_block(demand{.elements = how.saves ? 1 : how.at_once});
    for (std::uint32_t i = 0; i != b.view.size(); ++i) print(s.type(), b.view.at(i), o.elements.emplace_back());
    if (b.view) continue;
    if (!b.why.ok()) o.end = b.why.to_string(), o.code = b.why.code();
    break;
  }
  auto end = cleanup(std::move(s));
  co_await end;
}

/// The ways to run a plan, against the first of them. Each returns what differs, or nothing.
class typed_trial {
 public:
  typed_trial(std::string text, error_policy policy, std::uint64_t seed)
      : text_(std::move(text)), policy_(policy), seed_(seed) {}

  std::string complaint() {
    try {
      plan_ = parse_plan(text_);
    } catch (const error&) { return {}; }  // some verbs refuse some types
    is_valid_ = true;
    wanted_ = run(one_, plan_, {});
    if (std::string why = different("one element at a time", run(one_, plan_, {.at_once = 1})); !why.empty())
      return why;
    if (std::string why = different("by blocks of 64", run(one_, plan_, {.at_once = 64})); !why.empty()) return why;
    if (std::string why = different("on two workers", run(two_, plan_, {})); !why.empty()) return why;
    if (std::string why = different("after text", run(one_, parse_plan(plan_text(*plan_)), {})); !why.empty())
      return why;
    if (std::string why = different("after JSON", run(one_, parse_plan_json(plan_json(*plan_)), {})); !why.empty())
      return why;
    if (std::string why = different("behind a channel", run(two_, parse_plan(text_ + " | prefetch(2)"), {}), 0, false);
        !why.empty())
      return why;
    if (std::string why = resumed(); !why.empty()) return why;
    return skipped();
  }
  bool is_valid() const { return is_valid_; }
  std::size_t resumes() const { return resumes_; }
  std::string ledger() {
    const std::size_t left = charged_to_runs(one_) + charged_to_runs(two_);
    return left ? std::to_string(left) + " bytes stay charged" : std::string();
  }

 private:
  outcome run(runtime& rt, const node_ptr& plan, const way& how) {
    outcome o;
    sync_wait(rt, run_on(rt, plan, policy_, how, o));
    return o;
  }

  std::string different(const std::string& how, const outcome& got, std::size_t from = 0,
                        bool compares_message = true) const {
    const auto first = wanted_.elements.begin() + static_cast<std::ptrdiff_t>(std::min(from, wanted_.elements.size()));
    const std::vector<std::string> rest(first, wanted_.elements.end());
    const bool ends_alike = compares_message ? got.end == wanted_.end : got.code == wanted_.code;
    if (got.elements == rest && ends_alike) return {};
    std::string why = how + ": " + std::to_string(got.elements.size()) + " elements, then " + got.end + "; expected " +
                      std::to_string(rest.size()) + ", then " + wanted_.end;
    for (std::size_t i = 0; i != std::min(rest.size(), got.elements.size()); ++i)
      if (got.elements[i] != rest[i])
        return why + "; element " + std::to_string(i) + " is " + got.elements[i].substr(0, 300) + " and not " +
               rest[i].substr(0, 300);
    return why;
  }

  std::string resumed() {
    const outcome saved = run(two_, plan_, {.saves = true});
    if (std::string why = different("saved at each element", saved); !why.empty()) return why;
    random_numbers r(seed_);
    for (int k = 0; k != 4; ++k) {
      const std::size_t at = r.below(saved.places.size());
      ++resumes_;
      const outcome rest = run(k % 2 ? two_ : one_, plan_, {.from = saved.places[at]});
      if (std::string why = different("resumed at element " + std::to_string(at), rest, at, false); !why.empty())
        return why;
    }
    return {};
  }
  std::string skipped() {
    random_numbers r(seed_ + 1);
    // A skip over a batch that cannot be made does not make it, so its error does not occur.
    const std::size_t n = r.below(wanted_.elements.size() + (wanted_.code == status_code::ok ? 2 : 1));
    const outcome rest = run(one_, parse_plan(text_ + " | skip(" + std::to_string(n) + ")"), {});
    return different("behind skip(" + std::to_string(n) + ")", rest, n, false);
  }

  std::string text_;
  error_policy policy_;
  std::uint64_t seed_;
  runtime one_{{.workers = 1}}, two_{{.workers = 2}};
  node_ptr plan_;
  outcome wanted_;
  bool is_valid_ = false;
  std::size_t resumes_ = 0;
};

int64s all_of(const int64s& in) { return in; }
int64s each_twice(const int64s& in) {
  int64s out;
  for (const std::int64_t x : in) out.insert(out.end(), {x, x});
  return out;
}
template <class Keeps> int64s those(const int64s& in, Keeps keeps) {
  int64s out;
  std::copy_if(in.begin(), in.end(), std::back_inserter(out), keeps);
  return out;
}

/// A stage over elements `{k: number, v: …}`, and the numbers that remain.
struct typed_stage {
  const char* text;
  int64s (*expected)(const int64s&);
  bool is_one_each = false;  ///< Each output needs the input of the same number, and an error comes in its place.
};
const typed_stage kStages[] = {
    {"map(it, parallelism=2)", all_of},
    {"prefetch(2)", all_of},
    {"enumerate | map(it[1])", all_of, true},
    {"take(30)", [](const int64s& in) { return first_of(in, 30); }},
    {"skip(3)", [](const int64s& in) { return without_first(in, 3); }},
    {"filter(k % 3 != 1)", [](const int64s& in) { return those(in, [](std::int64_t x) { return x % 3 != 1; }); }},
    {"take_while(k < 9)", [](const int64s& in) { return first_of(in, 9); }},
    {"drop_while(k < 9)", [](const int64s& in) { return without_first(in, 9); }},
    {"shard(2, 0)", [](const int64s& in) { return those(in, [](std::int64_t x) { return x % 2 == 0; }); }},
    {"unique", all_of},
    {"batch(3) | unbatch", all_of},
    {"batch(4) | rebatch(3) | unbatch", all_of},
    {"padded_batch(3) | unbatch", all_of},
    {"ragged_batch(3) | unbatch", all_of},
    {"batch_by_bytes(1000) | unbatch", all_of},
    {"window(3) | flat_map(it)", all_of},
    {"group_by_window(1, batch(3), 3) | unbatch", all_of},
    {"flat_map([it, it])", each_twice},
    {"repeat(2) | unique", all_of},
};

std::uint64_t plans_to_try() {
  const char* given = std::getenv("SLUICE_TEST_PLANS");
  return given && *given ? std::strtoull(given, nullptr, 10) : cases(500);
}

}  // namespace

TEST_CASE("random plans over elements of random types give the same in every way") {
  const std::uint64_t first = first_seed(), count = plans_to_try();
  std::set<std::string> verbs;
  std::size_t valid = 0, resumes = 0, failed = 0;
  for (std::uint64_t seed = first; seed != first + count; ++seed) {
    random_numbers r(seed);
    const typed_plan plan = random_typed_plan(r);
    const error_policy policy = r.below(2) ? error_policy::stop : error_policy::skip;
    typed_trial trial(plan.text, policy, seed);
    std::string why;
    try {
      why = trial.complaint();
      if (why.empty()) why = trial.ledger();
    } catch (const error& e) { why = std::string("throws ") + e.what(); }
    valid += trial.is_valid();
    resumes += trial.resumes();
    if (trial.is_valid()) verbs.insert(plan.verbs.begin(), plan.verbs.end());
    if (why.empty()) continue;
    ++failed;
    UNSCOPED_INFO("seed " << seed << (policy == error_policy::skip ? ", on_error=skip: " : ": ") << plan.text << "\n  "
                          << why);
    if (failed == 10) break;
  }
  INFO(valid << " of " << count << " plans are valid, " << resumes << " resumes");
  CHECK(failed == 0);
  if (first != 1 || count < 500 || failed) return;
  CHECK(valid > count / 2);
  for (const std::string& verb : typed_plan_verbs()) {
    CAPTURE(verb);
    CHECK(verbs.contains(verb));
  }
}

TEST_CASE("operators conform over elements of random types") {
  std::size_t valid = 0;
  std::uint64_t seed = first_seed();
  for (const std::uint64_t end = seed + cases(1); seed != end; ++seed) {
    random_numbers r(seed);
    for (const typed_stage& stage : kStages) {
      const std::string type = random_typed_expression(r);
      const std::string text = "map({k: it, v: " + type + "}) | " + stage.text + " | map(k)";
      CAPTURE(seed, text);
      try {
        with_stages(range(1), text);
      } catch (const error&) { continue; }  // some stages refuse some types
      ++valid;
      conformance c{.stage = [&](const auto& in) { return with_stages(in, text); },
                    .expected = stage.expected,
                    .elements = type.c_str()};
      if (stage.is_one_each) c.before_error = all_of, c.needs = one_each;
      conforms(c);
    }
  }
  CHECK(valid > std::size(kStages) / 2);
}

}  // namespace sluice::lib::typed_plans_test
