// SPDX-License-Identifier: Apache-2.0
#include "support/random/random_plan.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sluice/sluice.hpp"

namespace sluice::lib::test {
namespace {

using int64 = std::int64_t;
using cases = std::vector<const verb_case*>;

template <class Which> cases those(Which which) {
  cases some;
  for (auto* c : verb_cases())
    if (which(*c)) some.push_back(c);
  return some;
}

/// What may stand where.
struct choices {
  cases sources = those([](const verb_case& c) { return c.inputs == 0 && !c.files; });
  cases files = those([](const verb_case& c) { return c.inputs == 0 && c.files; });
  cases combines = those([](const verb_case& c) { return c.inputs > 1 && c.ordered; });
  cases stages = those([](const verb_case& c) { return c.inputs == 1 && c.ordered; });
  cases sloppy = those([](const verb_case& c) { return c.inputs == 1 && !c.ordered; });
  cases opening = those([](const verb_case& c) { return c.inputs == 1 && c.inner == 1; });
  cases any_order = those([](const verb_case& c) { return c.inputs == 1 && c.any_order; });
};
const choices& all() {
  static const choices c;
  return c;
}

const verb_case& one_of(const cases& some, random_numbers& random) { return *some[random.below(some.size())]; }

plan_ptr source(random_numbers& random, bool inner) {
  plan_description p;
  p.op = &one_of(random.below(4) ? all().sources : all().files, random);
  p.use.a = static_cast<int64>(random.below(inner ? 7 : random.below(8) ? 30 : 250));
  p.use.b = random.below(1000);
  return std::make_shared<plan_description>(std::move(p));
}

plan_ptr chain(random_numbers& random, int depth, bool inner);

/// `inner_depth`: stages of the plans that it opens, at most.
plan_ptr drawn_above(random_numbers& random, const verb_case& c, std::vector<plan_ptr> in, int inner_depth) {
  plan_description p;
  p.op = &c;
  p.use.a = c.size(random);
  p.use.b = random.below(1000);
  p.in = std::move(in);
  for (int k = 0; k != c.inner; ++k) p.inner.push_back(chain(random, inner_depth, true));
  return std::make_shared<plan_description>(std::move(p));
}

plan_ptr combine(random_numbers& random, int depth, bool inner) {
  const verb_case& c = one_of(all().combines, random);
  std::vector<plan_ptr> in;
  for (std::uint64_t n = static_cast<std::uint64_t>(c.inputs) + random.below(2); n; --n)
    in.push_back(chain(random, static_cast<int>(random.below(static_cast<std::uint64_t>(depth) + 1)), inner));
  return drawn_above(random, c, std::move(in), 0);
}

plan_ptr chain(random_numbers& random, int depth, bool inner) {
  bool combines = depth > 0 && random.below(4) == 0;
  if (combines) --depth;
  plan_ptr p = combines ? combine(random, depth, inner) : source(random, inner);
  while (depth-- > 0) {
    const verb_case& c = one_of(all().stages, random);
    p = drawn_above(random, c, {std::move(p)}, static_cast<int>(random.below(2)));
  }
  return p;
}

plan_ptr sloppy_chain(random_numbers& random, std::uint64_t depth, bool inner, bool inside) {
  plan_ptr p = chain(random, inside ? 0 : static_cast<int>(random.below(2)), inner);
  if (inside) {
    plan_description opening = *drawn_above(random, one_of(all().opening, random), {std::move(p)}, 0);
    opening.inner[0] = sloppy_chain(random, 2, true, !inner && random.below(4) == 0);
    p = std::make_shared<plan_description>(std::move(opening));
  } else {
    p = drawn_above(random, one_of(all().sloppy, random), {std::move(p)}, static_cast<int>(random.below(3)));
  }
  for (std::uint64_t left = random.below(depth - 1); left; --left)
    p = drawn_above(random, one_of(all().any_order, random), {std::move(p)}, 0);
  return p;
}

/// Does one of the plans directly below do `test`?
template <class Test> bool any_below(const plan_description& p, Test test) {
  auto does = [&](const plan_ptr& below) { return test(*below); };
  return std::any_of(p.in.begin(), p.in.end(), does) || std::any_of(p.inner.begin(), p.inner.end(), does);
}

/// `change` done to each plan directly below.
template <class Change> void change_below(plan_description& p, Change change) {
  for (plan_ptr& below : p.in) below = change(*below);
  for (plan_ptr& below : p.inner) below = change(*below);
}

}  // namespace

std::string describe(const plan_description& p) {
  std::string text = p.in.size() == 1 ? describe(*p.in[0]) + " | " : std::string();
  if (!p.op) return text + "given(" + std::to_string(p.given.size()) + ")";
  text += std::string(p.op->name) + "(";
  if (p.in.size() > 1)
    for (const plan_ptr& input : p.in) text += describe(*input) + ", ";
  text += std::to_string(p.use.a) + "," + std::to_string(p.use.b);
  if (p.use.tuned) text += ", tuned " + std::to_string(p.use.tuned);
  for (const plan_ptr& inner : p.inner) text += ", [" + describe(*inner) + "]";
  return text + ")";
}

bool is_sloppy(const plan_description& p) { return (p.op && !p.op->ordered) || any_below(p, is_sloppy); }

namespace {

void add_files_of(const plan_description& p, test_files& to) {
  if (p.op && p.op->files) add_files(to, p.op->files(p.use));
  for (const plan_ptr& below : p.in) add_files_of(*below, to);
  for (const plan_ptr& below : p.inner) add_files_of(*below, to);
}

}  // namespace

std::shared_ptr<const test_files> files_of(const plan_description& p) {
  test_files all;
  add_files_of(p, all);
  return all.bytes.empty() ? nullptr : std::make_shared<const test_files>(std::move(all));
}

bool meets_bad_elements(const plan_description& p) {
  return (p.op && p.op->meets_errors) || any_below(p, meets_bad_elements);
}

plan_ptr above(const verb_case& c, verb_use use, std::vector<plan_ptr> in) {
  plan_description p{.op = &c, .use = use, .in = std::move(in)};
  for (int k = 0; k != c.inner; ++k) p.inner.push_back(above(case_named("range"), {.a = 3 + k}, {}));
  return std::make_shared<plan_description>(std::move(p));
}

plan_ptr retuned(const plan_description& p, random_numbers& random) {
  constexpr std::array<std::int64_t, 6> kSettings = {0, 1, 1, 2, 3, 8};
  plan_description q = p;
  q.use.tuned = kSettings[random.below(kSettings.size())];
  change_below(q, [&random](const plan_description& below) { return retuned(below, random); });
  return std::make_shared<plan_description>(std::move(q));
}

plan_ptr without_channels(const plan_description& p) {
  if (p.op && p.op->only_works_ahead) return without_channels(*p.in[0]);
  plan_description q = p;
  q.use.tuned = 1;
  change_below(q, without_channels);
  return std::make_shared<plan_description>(std::move(q));
}

plan_ptr random_plan(random_numbers& random, random_plan_options o) {
  auto depth = static_cast<std::uint64_t>(o.depth);
  if (!o.sloppy) return chain(random, 1 + static_cast<int>(random.below(depth)), false);
  return sloppy_chain(random, depth, false, o.inside);
}

dataset<std::int64_t> build(const plan_description& p, std::int64_t opened_for) {
  if (!p.op) return from_elements(p.given);
  verb_plan v;
  static_cast<verb_use&>(v) = p.use;
  v.opened_for = opened_for;
  for (const plan_ptr& input : p.in) v.in.push_back(build(*input, opened_for));
  for (const plan_ptr& inner : p.inner) v.inner.push_back([inner](int64 x) { return build(*inner, x); });
  return p.op->build(v);
}

}  // namespace sluice::lib::test
