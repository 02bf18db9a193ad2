// SPDX-License-Identifier: Apache-2.0
#include "support/trials/plan_trial.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "support/sequential.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::test {
namespace {

consumed run(const trial_options& o, const dataset<std::int64_t>& ds, const consumption& how) {
  return o.on ? consume_on(*o.on, ds, how) : consume(ds, how);
}

std::string shown(const int64s& v) {
  std::string text = std::to_string(v.size()) + ":";
  for (std::size_t i = 0; i != std::min<std::size_t>(v.size(), 60); ++i) text += " " + std::to_string(v[i]);
  return text + (v.size() > 60 ? " …" : "");
}

/// One plan's trial: draws what to do from its seed, and stops at the first complaint.
class plan_trial {
 public:
  plan_trial(const plan_description& p, std::uint64_t seed, const trial_options& o, trial_counts& counts)
      : plan_(p),
        random_(seed ^ 0x7472'6961'6c00),
        options_(o),
        counts_(counts),
        sloppy_(is_sloppy(p)),
        dataset_(build(p)),
        files_(files_of(p)) {}

  std::optional<std::string> judge() {
    auto expected = evaluate(plan_);
    if (!expected || expected->size() > options_.elements_max) return std::nullopt;
    length_ = expected->size();
    ++counts_.plans;
    counts_.elements += expected->size();
    marks_every_ = std::array<std::uint64_t, 4>{0, 1, 3, 17}[random_.below(4)];
    consumption how = some_way();
    how.save = true;
    consumed full = run_counted(dataset_, how);
    if (!same(full, *expected)) return told("a full run", full, *expected);
    if (sloppy_) expected = full.elements;
    for (const checkpoint& c : full.places) count(c);
    std::size_t step =
        expected->size() <= options_.every_place_max ? 1 : 1 + expected->size() / options_.every_place_max;
    for (std::size_t i = random_.below(step); i < full.places.size(); i += step)
      if (auto wrong = resume(full.places[i], tail(*expected, i), "resumed at element " + std::to_string(i)))
        return wrong;
    return pass_over_some(*expected);
  }

 private:
  consumption some_way() {
    consumption how;
    how.ask_max = random_.below(2) ? 0 : 1 + static_cast<std::uint32_t>(random_.below(40));
    how.marks_every = marks_every_;
    how.on_error = meets_bad_elements(plan_) ? error_policy::skip : error_policy::stop;
    how.seed = random_.below(1u << 30);
    how.turns_knobs = how.seed % 2;
    how.files = files_;
    return how;
  }
  consumed run_counted(const dataset<std::int64_t>& ds, const consumption& how) {
    consumed c = run(options_, ds, how);
    counts_.knobs_turned += c.knobs_turned;
    return c;
  }
  /// Most resumes are under other knobs: a position must not know them.
  plan_ptr some_knobs() {
    if (random_.below(4) == 0) return std::make_shared<plan_description>(plan_);
    ++counts_.retuned;
    return retuned(plan_, random_);
  }
  void count(const checkpoint& c) {
    if (c.empty()) return;
    ++counts_.checkpoints;
    counts_.checkpoint_bytes += c.bytes.size();
    counts_.checkpoint_bytes_max = std::max<std::uint64_t>(counts_.checkpoint_bytes_max, c.bytes.size());
  }
  static int64s tail(const int64s& all, std::size_t from) {
    return int64s(all.begin() + static_cast<std::ptrdiff_t>(std::min(from, all.size())), all.end());
  }
  bool same(const consumed& got, const int64s& expected, bool to_the_end = true) const {
    if (!got.complaint().empty() || (to_the_end && got.length != length_)) return false;
    if (!sloppy_) return got.elements == expected;
    int64s a = got.elements, b = expected;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
  }
  static bool is_part(int64s part, int64s whole) {
    std::sort(part.begin(), part.end());
    std::sort(whole.begin(), whole.end());
    return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
  }
  std::optional<std::string> told(const std::string& what, const consumed& got, const int64s& expected) const {
    std::string wrong = got.length == length_
                            ? "other elements"
                            : "ended at ordinal " + std::to_string(got.length) + " of " + std::to_string(length_);
    return what + ": " + (got.complaint().empty() ? wrong : got.complaint()) + "\n  got      " + shown(got.elements) +
           "\n  expected " + shown(expected);
  }

  /// From a place to the end; again from a place in the middle of that; and a third time, dropped half way.
  std::optional<std::string> resume(const checkpoint& from, const int64s& expected, const std::string& what) {
    if (from.empty()) return std::nullopt;
    consumption how = some_way();
    how.from = from;
    how.save = true;
    plan_ptr tuned = some_knobs();
    consumed again = run_counted(build(*tuned), how);
    ++counts_.resumes;
    if (!same(again, expected)) return told(what + " as " + describe(*tuned), again, expected);
    const int64s& order = sloppy_ ? again.elements : expected;
    std::size_t j = random_.below(again.places.size());
    if (again.places[j].empty()) return std::nullopt;
    how = some_way();
    how.from = again.places[j];
    if (random_.below(4) == 0) {
      how.elements_max = random_.below(order.size() + 1);
      ++counts_.dropped;
    }
    tuned = some_knobs();
    consumed third = run_counted(build(*tuned), how);
    ++counts_.resumes;
    int64s rest = tail(order, j);
    bool cut = how.elements_max < rest.size() && third.elements.size() >= how.elements_max;
    if (cut && sloppy_) return third.complaint().empty() ? std::nullopt : told(what + ", again, dropped", third, rest);
    if (cut) rest.resize(third.elements.size());
    if (same(third, rest, !cut)) return std::nullopt;
    return told(what + ", resumed again " + std::to_string(j) + " elements later as " + describe(*tuned), third, rest);
  }

  std::optional<std::string> pass_over_some(const int64s& expected) {
    for (std::size_t i = random_.below(3); i <= expected.size() + 2; i += 1 + expected.size() / 8 + random_.below(4)) {
      consumption how = some_way();
      how.skip = i;
      consumed rest = run_counted(dataset_, how);
      ++counts_.skips;
      int64s left = tail(expected, i);
      if (sloppy_ && rest.complaint().empty() && rest.elements.size() == left.size() &&
          is_part(rest.elements, expected))
        continue;
      if (sloppy_ || !same(rest, left)) return told("passing over " + std::to_string(i), rest, left);
    }
    return sloppy_ ? std::nullopt : pass_over_between(expected);
  }

  /// Before every request some are passed over: what stages have collected by then counts among them.
  std::optional<std::string> pass_over_between(const int64s& expected) {
    consumption how = some_way();
    how.ask_max = 3;
    how.pass_max = 3;
    consumed got = run_counted(dataset_, how);
    ++counts_.skips;
    int64s right;
    for (std::uint64_t o : got.ordinals) right.push_back(o < expected.size() ? expected[o] : -1);
    if (same(got, right)) return std::nullopt;
    return told("passing over some before each request", got, right);
  }

  const plan_description& plan_;
  random_numbers random_;
  const trial_options& options_;
  trial_counts& counts_;
  bool sloppy_;
  dataset<std::int64_t> dataset_;
  std::shared_ptr<const test_files> files_;
  std::uint64_t marks_every_ = 0;
  std::uint64_t length_ = 0;  ///< of the whole stream
};

/// Plans that are one step smaller: a stage less, a smaller number.
std::vector<plan_ptr> smaller(const plan_ptr& p) {
  std::vector<plan_ptr> all;
  auto with = [&](auto change) {
    plan_description q = *p;
    change(q);
    all.push_back(std::make_shared<plan_description>(std::move(q)));
  };
  const bool source = p->in.empty();
  all.insert(all.end(), p->in.begin(), p->in.end());
  for (std::int64_t a : {std::int64_t{1}, p->use.a / 2, p->use.a - 1})
    if (a >= 0 && a < p->use.a && (a > 0 || source)) with([a](auto& q) { q.use.a = a; });
  if (p->use.b) with([](auto& q) { q.use.b = q.use.b / 2; });
  if (source && p->op != &case_named("range")) with([](auto& q) { q.op = &case_named("range"); });
  if (static_cast<int>(p->in.size()) > p->op->inputs) with([](auto& q) { q.in.pop_back(); });
  for (std::size_t k = 0; k != p->in.size(); ++k)
    for (auto& input : smaller(p->in[k])) with([&](auto& q) { q.in[k] = input; });
  for (std::size_t k = 0; k != p->inner.size(); ++k)
    for (auto& inner : smaller(p->inner[k])) with([&](auto& q) { q.inner[k] = inner; });
  return all;
}

}  // namespace

std::string trial_counts::to_string() const {
  auto mean = checkpoints ? checkpoint_bytes / checkpoints : 0;
  return "plans " + std::to_string(plans) + ", elements " + std::to_string(elements) + ", resumes " +
         std::to_string(resumes) + " (retuned " + std::to_string(retuned) + "), knobs turned " +
         std::to_string(knobs_turned) + ", skips " + std::to_string(skips) + ", dropped " + std::to_string(dropped) +
         ", ended by errors_max " + std::to_string(limits) + ", checkpoints of " + std::to_string(mean) +
         " bytes (at most " + std::to_string(checkpoint_bytes_max) + ")";
}

std::optional<std::string> trial(const plan_description& p, std::uint64_t seed, const trial_options& o,
                                 trial_counts& counts) {
  return plan_trial(p, seed, o, counts).judge();
}

std::optional<std::string> error_trial(const plan_description& p, std::uint64_t seed, const trial_options& o,
                                       trial_counts& counts) {
  auto expected = evaluate(p);
  if (!expected || expected->size() > o.elements_max || is_sloppy(p) || !meets_bad_elements(p)) return std::nullopt;
  ++counts.plans;
  random_numbers random(seed ^ 0x6572'726f'7273);
  auto sequential = build(*without_channels(p));
  consumption how;
  how.ask_max = 1;
  how.files = files_of(p);
  how.on_error = error_policy::skip;
  how.errors_max = random.below(consume(sequential, how).errors.back() + 2);
  consumed right = consume(sequential, how);
  counts.elements += right.elements.size();
  counts.limits += !right.why.ok();
  for (int i = 0; i != 4; ++i) {
    how.ask_max = random.below(2) ? 0 : 1 + static_cast<std::uint32_t>(random.below(40));
    how.marks_every = random.below(4);
    how.seed = random.below(1u << 30);
    how.turns_knobs = how.seed % 2;
    plan_ptr tuned = i == 0 ? std::make_shared<plan_description>(p) : retuned(p, random);
    consumed got = run(o, build(*tuned), how);
    counts.knobs_turned += got.knobs_turned;
    if (got.elements == right.elements && got.errors == right.errors && got.mistake.empty() &&
        got.why.to_string() == right.why.to_string())
      continue;
    auto end = [](const consumed& c) { return "\n    " + c.mistake + c.why.to_string(); };
    auto counted = [](const consumed& c) { return "\n    counted " + shown(int64s(c.errors.begin(), c.errors.end())); };
    return "errors_max " + std::to_string(how.errors_max) + ", asked by " + std::to_string(how.ask_max) + ", as " +
           describe(*tuned) + "\n  got " + shown(got.elements) + counted(got) + end(got) + "\n  expected " +
           shown(right.elements) + counted(right) + end(right);
  }
  return std::nullopt;
}

std::string shrunk(plan_ptr p, std::uint64_t seed, const trial_options& o, plan_judge* judge) {
  constexpr int kTrialsMax = 400;
  trial_counts ignored;
  auto complaint = judge(*p, seed, o, ignored);
  if (!complaint) return "(not repeated)";
  for (int left = kTrialsMax; left;) {
    bool found = false;
    for (auto& q : smaller(p)) {
      if (--left == 0) break;
      auto still = judge(*q, seed, o, ignored);
      if (!still) continue;
      p = q;
      complaint = std::move(still);
      found = true;
      break;
    }
    if (!found) break;
  }
  return describe(*p) + "\n  " + *complaint;
}

}  // namespace sluice::lib::test
