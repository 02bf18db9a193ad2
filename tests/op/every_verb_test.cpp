// SPDX-License-Identifier: Apache-2.0
// What every verb has to do, for all cases that there are (support/verb_case.hpp): each is described in tests/verbs.
// Random plans of them are in random_plans_test.cpp, what a resume of each costs is in resume_cost_test.cpp.
#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "pipeline/forged_checkpoint.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"
#include "support/sanitizers.hpp"
#include "support/sequential.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/plan_trial.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::every_verb_test {
namespace {

using namespace test;
using int64 = std::int64_t;

/// Some uses of a case, always the same ones.
std::vector<verb_use> uses_of(const verb_case& c, int n) {
  random_numbers random(stable_hash(c.name, 0));
  std::vector<verb_use> uses;
  while (n--) {
    verb_use use{.a = c.size(random)};
    use.b = random.below(1000);
    uses.push_back(use);
  }
  return uses;
}

plan_ptr given(const int64s& elements) {
  auto p = std::make_shared<plan_description>();
  p->given = elements;
  return p;
}
plan_ptr numbers(int64 n) { return above(case_named("range"), {.a = n}, {}); }

/// The case's inputs: `in`, and numbers beside it.
template <class In> std::vector<In> beside(const verb_case& c, std::size_t place, const In& in, const In& others) {
  std::vector<In> all(static_cast<std::size_t>(c.inputs), others);
  all[place] = in;
  return all;
}

conformance conformance_of(const verb_case& c, const verb_use& use, std::size_t place) {
  constexpr int64 kOthers = 30;
  conformance all;
  all.ordered = c.ordered;
  if (c.files) all.files = std::make_shared<const test_files>(c.files(use));
  all.stage = [&c, use, place](const dataset<int64>& in) {
    verb_plan p{use, beside(c, place, in, build(*numbers(kOthers))), {}};
    for (int k = 0; k != c.inner; ++k) p.inner.push_back([](int64 x) { return build(*numbers(3), x); });
    return c.build(p);
  };
  auto by_loops = [use, place](std::shared_ptr<const verb_case> by) {
    return [by, use, place](const int64s& in) {
      plan_ptr p = above(*by, use, beside(*by, place, given(in), numbers(kOthers)));
      return evaluate(*p, 10'000'000).value();
    };
  };
  all.expected = by_loops(std::make_shared<const verb_case>(c));
  if (c.passes_errors) all.before_error = all.expected;
  if (c.before_error) {
    verb_case before = c;
    before.expected = c.before_error;
    all.before_error = by_loops(std::make_shared<const verb_case>(before));
  }
  if (c.needs) all.needs = [&c, use](const int64s&, std::size_t k) { return c.needs(use, k); };
  return all;
}

void names_of(const node& n, std::set<std::string_view>& names) {
  names.insert(n.op->name);
  for (auto& input : n.inputs) names_of(*input, names);
}

/// Each byte of some positions changed in several ways: every run from there ends, knows why, and gives back what it took.
void forge_positions(const plan_description& p) {
  const dataset<int64> ds = build(p);
  const std::string name = describe(p);
  consumption by_ones;  // no leftovers: a position says where the stage itself stands
  by_ones.ask_max = 1;
  by_ones.marks_every = 1;
  by_ones.save = true;
  by_ones.on_error = error_policy::skip;
  by_ones.files = files_of(p);
  consumed whole = consume(ds, by_ones);
  CAPTURE(name);
  REQUIRE(whole.complaint() == "");
  std::size_t tried = 0, refused = 0;
  for (std::size_t place : {std::size_t{1}, whole.elements.size() / 2, whole.elements.size()}) {
    const std::string& good = whole.places[place].bytes;
    if (good.empty()) continue;
    auto check = [&](std::string forged) {
      consumption how;
      how.ask_max = 1;
      how.on_error = error_policy::skip;
      how.from.bytes = testing::sealed_again(std::move(forged));
      how.files = by_ones.files;
      how.elements_max = 200;  // a forged length of the input may be long
      consumed got = consume(ds, how);
      CAPTURE(place, tried, got.mistake, got.why.to_string());
      ++tried;
      refused += !got.complaint().empty();
      bool known = got.mistake.empty() || got.mistake.find("damaged") != std::string::npos ||
                   got.mistake.find("made by another plan: ") != std::string::npos ||  // its functions
                   got.mistake.find("state in version") != std::string::npos;
      CHECK(known);
      CHECK(got.mistake.find("still charged") == std::string::npos);
    };
    constexpr std::size_t kStep = testing::kLooksForRaces ? 5 : 1;
    for (std::size_t at = testing::kEnvelopeBytes; at + 4 < good.size(); at += kStep) {
      for (char byte : {'\0', '\x01', '\x02', '\x07', '\x7f', static_cast<char>(good[at] + 1)}) {
        std::string bad = good;
        bad[at] = byte;
        if (bad != good) check(std::move(bad));
      }
      check(good.substr(0, at) + "\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + good.substr(at + 1));
    }
  }
  CHECK(tried > 20);
  CHECK(refused > 0);
}

/// A use with this source for all inputs.
dataset<int64> over(const verb_case& c, const verb_use& use, const dataset<int64>& source) {
  return c.build({use, std::vector<dataset<int64>>(static_cast<std::size_t>(c.inputs), source), {}});
}

// They get far by few elements, and do not say so: where drop_while begins its elements tell, and a rate_limit that is opened for each
// request would begin with what it may give at once.
const std::set<std::string_view> kFarAndSilent = {"drop_while", "rate_limit"};

}  // namespace

TEST_CASE("verbs that declare that they seek build few elements to get far, and others do not", "[every_verb]") {
  constexpr int64 kInput = 300'000, kFar = 20'000, kFew = 8'000;
  for (const verb_case* c : verb_cases()) {
    if (c->inputs == 0 || c->inner != 0 || c->meets_errors || !c->ordered) continue;
    for (const verb_use& use : uses_of(*c, 3)) {
      auto made = std::make_shared<std::atomic<int64>>(0);
      auto ds = over(*c, use, range(kInput) | map([made](int64 x) {
                                made->fetch_add(1, std::memory_order_relaxed);
                                return x;
                              }));
      CAPTURE(c->name, use.a, use.b, plan_text(*ds.plan()));
      consumed got = consume(ds, {.skip = kFar, .elements_max = 1});
      if (why_not_seekable(*ds.plan()).ok()) CHECK(made->load() < kFew);
      else if (!got.elements.empty() && !kFarAndSilent.contains(c->op())) CHECK(made->load() >= kFew);
    }
  }
}

TEST_CASE("the declared number of elements of a verb is right", "[every_verb]") {
  for (const verb_case* c : verb_cases()) {
    if (c->inputs == 0 || c->inner != 0 || c->meets_errors) continue;
    for (const verb_use& use : uses_of(*c, 3))
      for (int64 n : {0, 1, 7, 60}) {
        auto ds = over(*c, use, range(n));
        const cardinality told = cardinality_of(*ds.plan());
        if (told.kind != cardinality::exact) continue;
        CAPTURE(c->name, use.a, use.b, n, plan_text(*ds.plan()));
        const auto there = static_cast<std::int64_t>(consume(ds, {}).elements.size());
        if (told.is_most()) CHECK(there <= told.elements);
        else CHECK(there == told.elements);
      }
  }
}

TEST_CASE("every operator has a verb case that contains it", "[every_verb]") {
  std::set<std::string_view> described;
  for (auto* c : verb_cases()) {
    CAPTURE(c->name);
    CHECK(find_op(c->op()) != nullptr);
    std::vector<plan_ptr> in(static_cast<std::size_t>(c->inputs), numbers(9));
    std::set<std::string_view> names;
    names_of(*build(*above(*c, uses_of(*c, 1)[0], std::move(in))).plan(), names);
    CHECK(names.count(c->op()) == 1);
    described.insert(c->op());
  }
  // The functions of random plans have no names, so workers cannot have them: tests/runners/distributed_test.cpp runs this
  // operator over all rows instead.
  described.insert("distribute");
  // It becomes other operators when a plan is built: tests/pipeline/files/load_test.cpp.
  described.insert("load");
  // As load; it needs a dispatcher: tests/cli/service_datasets_test.py.
  described.insert("from_dataset_id");
  // Its folder is read when a plan is built, from disk: tests/verbs/mds.tsv.
  described.insert("mds");
  // It needs a folder for each plan: tests/pipeline/files/snapshot_test.cpp.
  described.insert("snapshot");
#if !SLUICE_HAVE_PARQUET
  // Without Arrow C++ the operator only reports how to get it.
  described.insert("parquet");
#endif
  for (auto* op : operators()) {
    CAPTURE(op->name);
    CHECK(described.count(op->name) == 1);
  }
}

// In parts, as it is the longest of all.
TEMPLATE_TEST_CASE_SIG("every verb conforms, in each of its inputs", "[every_verb]", ((std::size_t part), part), 0, 1,
                       2, 3, 4) {
  for (std::size_t k = part; k < verb_cases().size(); k += 5) {
    auto* c = verb_cases()[k];
    if (c->meets_errors) continue;  // the random plans try those, under error_policy::skip
    std::vector<verb_use> uses = uses_of(*c, 1);
    uses.insert(uses.end(), c->conforms_at.begin(), c->conforms_at.end());
    for (const verb_use& use : uses) {
      for (std::size_t place = 0; place != static_cast<std::size_t>(c->inputs); ++place) {
        CAPTURE(c->name, use.a, use.b, place);
        conforms(conformance_of(*c, use, place));
      }
    }
  }
}

TEST_CASE("every verb above a source delivers the elements of its loop, and continues from every place",
          "[every_verb]") {
  trial_counts counts;
  for (auto* c : verb_cases()) {
    for (const verb_use& use : uses_of(*c, 4)) {
      std::vector<plan_ptr> in(static_cast<std::size_t>(c->inputs), numbers(23));
      plan_ptr p = above(*c, use, std::move(in));
      CAPTURE(describe(*p));
      CHECK(trial(*p, 1, {}, counts).value_or("") == "");
      CHECK(error_trial(*p, 1, {}, counts).value_or("") == "");
    }
  }
  CHECK(counts.plans >= 4 * verb_cases().size());
}

TEST_CASE("every verb's knob may change between save and resume", "[every_verb]") {
  for (auto* c : verb_cases()) {
    if (!c->has_knob) continue;
    auto plan_at = [&](int64 setting) {
      const verb_use use{.a = c->inputs ? 4 : 60, .b = 5, .tuned = setting};
      return above(*c, use, std::vector<plan_ptr>(static_cast<std::size_t>(c->inputs), numbers(60)));
    };
    auto at = [&](int64 setting) { return build(*plan_at(setting)); };
    auto in_order = [&](int64s v) {
      if (!c->ordered) std::sort(v.begin(), v.end());
      return v;
    };
    auto saving = [files = files_of(*plan_at(1))](std::uint64_t seed) {
      consumption how;
      how.files = files;
      how.on_error = error_policy::skip;
      how.save = true;
      how.marks_every = 5;
      how.seed = seed;
      return how;
    };
    for (int64 from : {1, 2, 4, 8}) {
      consumed whole = consume(at(from), saving(1));
      CAPTURE(c->name, from);
      REQUIRE(whole.complaint() == "");
      REQUIRE(whole.elements.size() >= 30);
      for (int64 to : {1, 2, 4, 8}) {
        if (from == to) continue;
        for (std::size_t place : {std::size_t{0}, std::size_t{7}, std::size_t{23}, whole.elements.size() - 1}) {
          CAPTURE(to, place);
          consumption how = saving(place + 2);
          how.from = whole.places[place];
          consumed rest = consume(at(to), how);
          CHECK(rest.complaint() == "");
          CHECK(in_order(rest.elements) == in_order(without_first(whole.elements, place)));
        }
      }
    }
  }
}

TEST_CASE("no run over files continues when they have changed", "[every_verb]") {
  std::size_t refused = 0;
  for (auto* c : verb_cases()) {
    if (!c->files) continue;
    plan_ptr p = above(*c, {.a = c->inputs ? 4 : 24, .b = 5},
                       std::vector<plan_ptr>(static_cast<std::size_t>(c->inputs), numbers(24)));
    consumption how;
    how.files = files_of(*p);
    how.save = true;
    how.ask_max = 1;
    how.on_error = error_policy::skip;  // which does not drop them: they are no bad elements
    consumed whole = consume(build(*p), how);
    CAPTURE(describe(*p));
    REQUIRE(whole.complaint() == "");
    REQUIRE(whole.elements.size() > 5);
    // A listing is what it was although its files are others, and what it lists need not be read from its start.
    auto others = std::make_shared<test_files>(*how.files);
    others->replaced = true;
    for (auto& [path, bytes] : how.files->bytes) others->bytes[path.substr(0, path.rfind('/') + 1) + "zz"] = bytes;
    for (std::size_t place : {std::size_t{1}, whole.elements.size() / 2, whole.elements.size() - 1}) {
      CAPTURE(place);
      how.from = whole.places[place];
      CHECK(consume(build(*p), how).complaint() == "");
      consumption changed = how;
      changed.files = others;
      consumed got = consume(build(*p), changed);
      // An interleave may give what other slots have before it comes to a file that is known.
      CHECK(got.elements.size() < whole.elements.size() - place);
      CHECK(got.why.code() == status_code::failed_precondition);
      ++refused;
    }
  }
  CHECK(refused >= 24);
}

TEST_CASE("a forged position of any verb does no harm: it ends, in an error or with elements", "[every_verb]") {
  for (auto* c : verb_cases()) {
    // Any number that a forged position says is passed over epoch by epoch, until somebody stops it.
    if (c->name == "repeat forever") continue;
    std::vector<plan_ptr> in(static_cast<std::size_t>(c->inputs), numbers(24));
    plan_ptr p = above(*c, {.a = c->inputs ? 4 : 24, .b = 5}, std::move(in));
    forge_positions(*p);
  }
}

}  // namespace sluice::lib::every_verb_test
