// SPDX-License-Identifier: Apache-2.0
// Every plan that can be split: each split runs by itself, from its JSON and its plan's text, and also resumed in its
// middle. The elements of all splits are those of the stream, and the client over them yields what the row expects.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/data/stored_elements.hpp"
#include "engine/lowering/open_context.hpp"
#include "runners/row_run.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/engine/detail/functions.hpp"
#include "sluice/io/memory_files.hpp"
#include "sluice/op/from_elements.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/splits/split_plan.hpp"
#include "support/budget.hpp"
#include "support/random/random_numbers.hpp"

namespace sluice::lib::split_test {
namespace {

using namespace test;
using texts = std::vector<std::string>;

/// Larger streams are compared by their first splits.
constexpr std::size_t kElementsMost = 5'000;
constexpr std::uint64_t kRoundsMost = 4;
constexpr std::size_t kSplitsMost = 200;

/// Elements of any type, as a source.
struct kept_elements final : elements_function {
  slab all;
  texts printed;
  explicit kept_elements(const element_type& t) : all(t) { out = &t; }
  void add(block b) {
    for (std::uint32_t i = 0; i != b.size(); ++i) print(b.type(), b.at(i), printed.emplace_back());
    const std::uint32_t n = b.size();
    char* to = all.extend(n);
    b.move_front(to, n);
    all.add_live(n);
  }
  std::size_t size() const override { return all.size(); }
  void copy(std::size_t first, std::size_t n, void* to) const override {
    const element_type& t = all.type();
    t.copy(t, to, const_cast<slab&>(all).begin() + first * t.size, n, t.size, t.size);
  }
};
using kept_ptr = std::shared_ptr<kept_elements>;

/// What a stream yields each time that a repeat of the client opens it.
struct kept_openings final : elements_function {
  std::vector<kept_ptr> each;
  mutable std::atomic<std::size_t> opened = 0;
  explicit kept_openings(const element_type& t) { out = &t; }
  std::size_t size() const override { return 0; }
  void copy(std::size_t, std::size_t, void*) const override {}
  function_ptr next() const {
    const std::size_t i = opened++;
    return i < each.size() ? function_ptr(each[i]) : function_ptr(std::make_shared<kept_elements>(*out));
  }
};

/// The source of kept elements. Their number is unknown to the stages downstream, as that of a stream.
const op_info kept_op{
    .name = "kept",
    .doc = "elements of a test",
    .shape = op_info::source,
    .arguments = from_elements_op.arguments,
    .type = [](const node& n, std::string&) { return n.as<from_elements_arguments>().function.value->out; },
    .lowering = {.open = [](const node& n, open_context&) {
      const auto& openings = static_cast<const kept_openings&>(*n.as<from_elements_arguments>().function.value);
      return stored_elements(openings.next());
    }}};

struct run_of_part {
  iterate_options how = {};
  std::size_t elements_max = ~std::size_t{0};
  kept_elements* to = nullptr;
  std::string end = "...";
  std::size_t resumed_at = 0;  ///< a position is saved before this element
  checkpoint saved = {};
};

task<void> run_into(runtime* rt, node_ptr plan, run_of_part* part) {
  any_stream s = open_run(*rt, plan, part->how);
  while (part->to->size() < part->elements_max) {
    if (part->to->size() == part->resumed_at) part->saved = s.position();
    const std::size_t stop = part->to->size() < part->resumed_at ? part->resumed_at : part->elements_max;
    demand d;
    d.elements = static_cast<std::uint32_t>(std::min<std::size_t>(stop - part->to->size(), 7));
    auto b = co_await s.try_next_block(d);
    if (!b.view) {
      part->end = b.why.ok() ? "end" : b.why.to_string();
      break;
    }
    part->to->add(b.view);
  }
  auto end = cleanup(std::move(s));
  co_await end;
}

std::string listed(const texts& elements) {
  std::string out;
  for (const std::string& e : elements) out += (out.empty() ? "[" : ",") + e;
  return out + (out.empty() ? "[]" : "]");
}

bool is_prefix(const texts& part, const texts& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

texts sorted(texts t) {
  std::sort(t.begin(), t.end());
  return t;
}

/// The place where a table of docs/splits.md says that an operator runs if its plan does not seek; empty: a plan with it
/// is refused.
std::string expected_place(const op_info& op) {
  // The first two are refused, and the next two are in C++ only: tests/splits/split_plan_test.cpp tries them. No row runs a
  // snapshot, and load and from_dataset_id become the plans that they name.
  for (const char* name :
       {"global_shuffle", "weighted_flat_map", "from_elements", "transform", "snapshot", "load", "from_dataset_id"})
    if (op.name == name) return "";
  // Without its library an operator exists, and its table is not read.
#if !SLUICE_HAVE_PARQUET
  if (op.name == "parquet") return "";
#endif
  if (op.name == "sql" && !SLUICE_HAVE_SQLITE) return "";
  switch (op.splits.rule) {
    case split_rule::groups:
    case split_rule::all_before:
    case split_rule::together: return "client";
    case split_rule::listing:
    case split_rule::repeats:
    case split_rule::one_after_another: return "parts";
    case split_rule::this_process: return "";
    default: return "worker";
  }
}

/// The operators that have been seen on workers, in the client, and split by numbers or lists.
struct placements {
  std::map<std::string, std::set<std::string>> seen;
  std::size_t split = 0, refused = 0, with_client = 0, ordered = 0;

  /// Operators whose inputs or elements are splits, so that no worker runs them.
  void note_parts(const node& n) {
    if (expected_place(*n.op) == "parts") seen[std::string(n.op->name)].insert("parts");
    for (const node_ptr& input : n.inputs) note_parts(*input);
  }
  void note(const node& n, const std::string& place) {
    seen[std::string(n.op->name)].insert(place);
    for (const node_ptr& input : n.inputs) note(*input, place);
  }
};

class trial {
 public:
  trial(runtime& rt, const row& r, const split_options& o, placements& places)
      : rt_(rt), row_(r), options_(o), places_(places) {}

  std::string difference() {
    const node_ptr plan = plan_of(row_);
    std::unique_ptr<split_plan> parts;
    try {
      parts = std::make_unique<split_plan>(plan, options_);
    } catch (const error& e) {
      ++places_.refused;
      const std::string why = e.what();
      return why.find("cannot be split") != why.npos ? "" : "refused without a reason: " + why;
    }
    ++places_.split;
    std::vector<node_ptr> streams;
    for (std::uint32_t i = 0; i != parts->streams().size(); ++i) {
      const element_type& t = parts->type_of_stream(i);
      if (!t.copy) return {};
      auto openings = std::make_shared<kept_openings>(t);
      if (std::string wrong = run_openings(*parts, i, *openings); !wrong.empty()) return wrong;
      streams.push_back(make_source(kept_op, arguments::of(from_elements_arguments{function_ptr(openings)})));
    }
    return run_client(*parts, streams);
  }

 private:
  std::string run_openings(const split_plan& parts, std::uint32_t stream, kept_openings& to) {
    const split_stream& s = parts.streams()[stream];
    const bool is_endless = s.rounds.kind != cardinality::exact;
    const std::uint64_t rounds = is_endless ? kRoundsMost : static_cast<std::uint64_t>(s.rounds.elements);
    const std::uint64_t each =
        s.rounds_each.kind != cardinality::exact ? rounds : static_cast<std::uint64_t>(s.rounds_each.elements);
    is_cut_ |= is_endless;
    std::size_t elements = 0;
    for (std::uint64_t round = 0, opening = 0; round < rounds; round += each, ++opening) {
      to.each.push_back(std::make_shared<kept_elements>(parts.type_of_stream(stream)));
      std::string wrong = run_stream(parts, stream, opening, {round, round + each}, *to.each.back());
      if (!wrong.empty()) return wrong;
      is_cut_ |= (elements += to.each.back()->size()) >= kElementsMost || opening == kSplitsMost;
      if (is_cut_ || fails_) break;
    }
    return {};
  }

  struct round_range {
    std::uint64_t first, end;
  };
  std::string run_stream(const split_plan& parts, std::uint32_t stream, std::uint64_t opening, round_range rounds,
                         kept_elements& all) {
    const split_stream& s = parts.streams()[stream];
    const node_ptr whole = parse_plan(s.text);
    bool is_cut = s.rounds_each.kind != cardinality::exact;
    bool fails = false;
    std::size_t splits = 0;
    for (std::uint64_t round = rounds.first;
         round != rounds.end && !fails && splits <= kSplitsMost && !is_cut_at(all, is_cut); ++round)
      for (const plan_split& one : listed_splits(parts, stream, round, fails)) {
        if (is_cut |= ++splits > kSplitsMost; splits > kSplitsMost || is_cut_at(all, is_cut)) break;
        if (std::string wrong = run_split(parts, one, all, fails); !wrong.empty()) return wrong;
        if (fails) break;
      }
    is_cut_ |= is_cut;
    fails_ |= fails;
    return compare_stream(s, whole, opening, all, is_cut, fails);
  }

  /// An error of a list that the plan reads is an error of the plan.
  std::vector<plan_split> listed_splits(const split_plan& parts, std::uint32_t stream, std::uint64_t round,
                                        bool& fails) {
    auto listing = parts.splits(rt_, stream, round);
    auto made = sync_wait_result(rt_.root(), std::move(listing));
    fails |= !made.ok();
    return made.ok() ? std::move(*made) : std::vector<plan_split>();
  }

  /// Each split counts its own errors.
  static bool has_limit(const std::string& text) {
    return text.find("errors_max") != text.npos || text.find("errors_share") != text.npos;
  }
  static bool fails_at(const std::string& end) { return end != "end" && end != "..."; }
  static bool is_cut_at(const kept_elements& all, bool& is_cut) {
    return is_cut |= all.size() >= kElementsMost, all.size() >= kElementsMost;
  }

  /// Runs one split, and again from its middle.
  std::string run_split(const split_plan& parts, const plan_split& one, kept_elements& all, bool& fails) {
    const plan_split sent = plan_split::from_json(one.json());
    if (sent != one) return "another split after its JSON: " + one.json();
    const std::string text = plan_text(*parts.plan_of(sent));
    const node_ptr plan = parse_plan(text);
    places_.note(*plan, "worker");
    places_.note_parts(*parse_plan(parts.streams()[one.stream].text));
    kept_elements whole(*plan->type);
    run_of_part first{.how = {.seed = sent.seed, .epoch = sent.epoch}, .elements_max = kElementsMost, .to = &whole};
    sync_wait(rt_, run_into(&rt_, plan, &first));
    const std::size_t half = whole.size() / 2;
    kept_elements start(*plan->type), rest(*plan->type);
    run_of_part before{.how = first.how, .elements_max = half + 1, .to = &start, .resumed_at = half};
    sync_wait(rt_, run_into(&rt_, plan, &before));
    run_of_part after{.how = {.from = before.saved}, .elements_max = kElementsMost - half, .to = &rest};
    sync_wait(rt_, run_into(&rt_, plan, &after));
    const texts tail(whole.printed.begin() + static_cast<std::ptrdiff_t>(half), whole.printed.end());
    fails = fails_at(first.end);
    const bool is_same = rest.printed == tail && fails_at(after.end) == fails;
    // A resumed run counts its errors from 0, and reads a file that is too large from another place.
    if (!is_same && !has_limit(text) && text.find("bytes_max") == text.npos)
      return "the split " + text + " ends with " + first.end + ", and resumed at element " + std::to_string(half) +
             " with " + after.end + " after " + listed(rest.printed) + " instead of " + listed(tail);
    if (whole.size()) all.add(whole.all.view());
    return {};
  }

  /// Compares the elements of the splits with those of the stream as one plan.
  std::string compare_stream(const split_stream& s, const node_ptr& whole, std::uint64_t opening,
                             const kept_elements& all, bool is_cut, bool fails) {
    if (!s.is_exact) return {};
    kept_elements direct(*whole->type);
    run_of_part run{.how = {.seed = options_.seed, .epoch = opening},
                    .elements_max = is_cut ? all.size() : kElementsMost,
                    .to = &direct};
    sync_wait(rt_, run_into(&rt_, whole, &run));
    const bool direct_fails = fails_at(run.end);
    const std::string places =
        listed(all.printed) + " where the stream yields " + listed(direct.printed) + " " + run.end;
    if (is_cut) return s.keeps_order && !is_prefix(direct.printed, all.printed) ? places : "";
    if (has_limit(s.text)) return {};
    if (direct_fails != fails) return "one of the two fails: " + places;
    if (fails)
      return s.keeps_order && !is_prefix(direct.printed, all.printed) && !is_prefix(all.printed, direct.printed)
                 ? places
                 : "";
    const bool same = s.keeps_order ? all.printed == direct.printed : sorted(all.printed) == sorted(direct.printed);
    return same ? "" : places;
  }

  std::string run_client(const split_plan& parts, const std::vector<node_ptr>& streams) {
    bool is_ordered = !is_cut_ && !fails_;
    for (const split_stream& s : parts.streams()) is_ordered &= s.keeps_order && s.is_exact;
    const node_ptr client = parts.client_plan(streams);
    for (const client_stage& stage : parts.client_stages())
      places_.seen[stage.text.substr(0, stage.text.find('('))].insert("client");
    places_.with_client += !parts.client_stages().empty();
    places_.ordered += is_ordered;
    row_outcome o = run_on(rt_, client, {.elements_max = most_of(row_), .seed = options_.seed});
    // A stage of the client knows neither the number of elements of a stream, nor that workers drop some of them.
    const bool relies_on_drops = row_.plan.find("index_flat_map") != std::string::npos;
    if (!is_ordered || has_limit(row_.plan) || relies_on_drops) return {};
    row expected = row_;
    if (fails_at(row_.end) && fails_at(o.end))
      expected.end = o.end;  // which names no file: the elements come from memory
    return complaint(expected, o);
  }

  runtime& rt_;
  const row& row_;
  const split_options& options_;
  placements& places_;
  bool is_cut_ = false, fails_ = false;
};

placements try_rows(const split_options& o) {
  placements places;
  runtime two({.workers = 2});
  every_row([&](const row& r) -> std::string {
    if (!r.is_of_a_run()) return {};
    return trial(two, r, o, places).difference();
  });
  return places;
}

/// Draws plans over integers: sources of each kind, one after another and together, and stages of each rule.
class random_plan {
 public:
  explicit random_plan(std::uint64_t seed) : random_(seed) {}

  std::string text(int depth = 0) {
    std::string plan = source(depth);
    for (std::size_t left = random_.below(5); left-- != 0;) plan += " | " + stage();
    return plan;
  }

 private:
  std::string number(std::uint64_t least, std::uint64_t most) {
    return std::to_string(least + random_.below(most - least + 1));
  }

  std::string source(int depth) {
    switch (random_.below(depth < 2 ? 11 : 8)) {
      case 0: return "range(" + number(0, 40) + ", start=3)";
      case 1: return "range(" + number(0, 60) + ") | filter(it % 3 != " + number(0, 2) + ")";
      case 2: return "from_tensor_slices([5, 3, 8, 1, 1, 9, 4])";
      case 3:
        return "list_files(\"mem://s/*.txt\") | interleave(lines, cycle_length=" + number(1, 3) +
               ") | map(int64(to_number(it)))";
      case 4: return "list_files(\"mem://s/*.txt\") | shuffle(3) | flat_map(lines) | map(int64(to_number(it)))";
      case 5: return "lines(\"mem://s/[ab].txt\") | map(int64(to_number(it)))";
      case 6:
        return "list_files(\"mem://s/*.txt\", shuffle=true) | take(2) | flat_map(fixed_length(3) | "
               "map(int64(to_number(string(it)[0:2]))))";
      case 7: return "fixed_length(\"mem://s/b.txt\", 3) | map(int64(to_number(string(it)[0:2])))";
      case 8: return "concatenate(" + text(depth + 1) + ", " + text(depth + 1) + ")";
      case 9: return "zip(" + text(depth + 1) + ", " + text(depth + 1) + ") | map(first * 100 + second)";
      default:
        return "sample_from_datasets([" + text(depth + 1) + ", " + text(depth + 1) + "], seed=" + number(1, 9) + ")";
    }
  }

  std::string stage() {
    switch (random_.below(18)) {
      case 0: return "filter(it % 4 != " + number(0, 3) + ")";
      case 1: return "map(it * 2 + 1)";
      case 2: return "map(it + random(10))";
      case 3: return "filter(random() < 0.7)";
      case 4: return "enumerate | map(second * 100 + first)";
      case 5: return "shuffle(" + number(1, 9) + ")";
      case 6: return "shuffle(" + number(1, 9) + ", seed=" + number(1, 9) + ")";
      case 7: return "batch(" + number(1, 5) + ") | unbatch";
      case 8: return "take(" + number(0, 30) + ")";
      case 9: return "skip(" + number(0, 9) + ")";
      case 10: return "shard(2, " + number(0, 1) + ")";
      case 11: return "repeat(" + number(1, 3) + ")";
      case 12: return "flat_map([it, it + 1])";
      case 13: return "interleave([it, -it], cycle_length=2)";
      case 14: return "prefetch(2)";
      case 15: return "map(it + index())";
      case 16: return "cache";
      default: return "window(3) | flat_map(it)";
    }
  }

  random_numbers random_;
};

bool some_rows() { return !runs_all_rows() || cases(10) != 10; }

}  // namespace

TEST_CASE("the splits of rows are the elements of the rows, and the client yields what the row expects") {
  const placements p = try_rows({.splits = 3, .seed = 1});
  if (some_rows()) return;
  CHECK(p.split > 1000);
  CHECK(p.with_client > 300);
  CHECK(p.ordered > 1000);
  std::string missing;
  for (const op_info* op : operators()) {
    const std::string place = expected_place(*op);
    const auto found = p.seen.find(std::string(op->name));
    if (!place.empty() && (found == p.seen.end() || !found->second.contains(place)))
      missing += " " + std::string(op->name);
  }
  CHECK(missing == "");
}

TEST_CASE("splits of one element each are the elements of the rows") {
  const placements p = try_rows({.split_elements = 1, .seed = 1});
  if (!some_rows()) CHECK(p.split > 1000);
}

TEST_CASE("with at_least_once batches and shuffles run on workers, and each split yields the same again") {
  placements p = try_rows({.splits = 2, .visitation = visitation::at_least_once, .seed = 1});
  if (some_rows()) return;
  for (const char* name : {"batch", "shuffle", "window", "padded_batch"}) {
    INFO(name);
    CHECK(p.seen[name].contains("worker"));
  }
}

TEST_CASE("random plans are split in random ways") {
  runtime two({.workers = 2});
  memory_files files = add_memory_files(two);
  for (const char* name : {"a", "b", "c"}) {
    std::string lines;
    for (int i = 10; i != 25; ++i) lines += std::to_string(i + name[0] % 3 * 20) + "\n";
    files.put(std::string("mem://s/") + name + ".txt", lines);
  }
  const char* wanted = std::getenv("SLUICE_TEST_PLANS");
  const std::uint64_t plans = wanted ? std::stoull(wanted) : cases(600);
  placements places;
  for (std::uint64_t seed = first_seed(); seed != first_seed() + plans; ++seed) {
    random_numbers random(mix(seed));
    row r;
    r.plan = random_plan(seed).text();
    const row_outcome direct = run_on(two, plan_of(r), {.elements_max = kElementsMost});
    r.elements = direct.elements;
    r.end = direct.end;
    split_options o;
    o.seed = 1;
    switch (random.below(4)) {
      case 0: o.splits = 1 + random.below(9); break;
      case 1: o.split_elements = 1 + random.below(9); break;
      case 2: o.split_bytes = 1 + random.below(60); break;
      default: break;
    }
    if (random.below(5) == 0) o.visitation = visitation::at_least_once;
    INFO("seed " << seed << ": " << r.plan);
    CHECK(trial(two, r, o, places).difference() == "");
  }
  CHECK(places.split > plans / 2);
}

}  // namespace sluice::lib::split_test
