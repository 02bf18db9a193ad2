// SPDX-License-Identifier: Apache-2.0
#include "splits/layout.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "plan/codecs/argument_codec.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "plan/plan_parts.hpp"
#include "sluice/engine/dataset_options.hpp"
#include "sluice/op/range.hpp"
#include "sluice/plan/facts.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// Plans with more stages and inputs than this are refused: a node that several nodes read is visited for each of them.
constexpr std::size_t kPathsMax = 200'000;

/// The reason why a plan cannot be split at a node.
struct obstacle {
  const node* at = nullptr;
  std::string why;
  bool is_final = false;  ///< running the stage in the client is no remedy
};

/// What stages downstream mean for a node.
struct downstream {
  bool drops = false;               ///< bad elements may be dropped
  const node* sloppy_by = nullptr;  ///< the stage that lets others deliver in sloppy order
  bool is_beside = false;           ///< one of several inputs of a stage
  bool is_followed = false;         ///< the elements of another input follow
  /// Of repeats that run in the client: how often they open the node, and their number.
  cardinality openings = cardinality::of(1);
  int repeats = 0;

  downstream upstream_of(const node& n) const {
    downstream d = *this;
    if (n.op->facts.options) {
      const dataset_options& o = n.op->facts.options(n);
      d.drops |= o.on_error == error_policy::skip;
      if (o.order == order::sloppy) d.sloppy_by = &n;
    } else if (n.op->facts.sets_error_policy) {
      d.drops = true;
    }
    return d;
  }
  downstream in_epochs(cardinality epochs) const {
    downstream d = *this;
    const bool is_endless = epochs.kind == cardinality::infinite || openings.kind == cardinality::infinite;
    d.openings = is_endless ? cardinality::forever() : openings.times(epochs.elements);
    ++d.repeats;
    return d;
  }
  downstream in_input() const {
    downstream d = *this;
    d.is_beside = true;
    return d;
  }
};

[[noreturn]] void refuse_splitting(const node& at, std::string_view why) {
  throw error(
      failed_precondition_error(absl::StrCat("the plan cannot be split: ", stage_text(at), " ", std::string(why))));
}

/// Returns true if a function uses the numbers of the elements for more than its draws.
bool uses_numbers(const node& n) {
  bool found = false;
  for_each_function(n, [&found](const function_ptr& f) {
    const bool only_draws = f->is_expression && f->draws && f->name.find("index(") == f->name.npos;
    found |= f->uses_place && !only_draws;
  });
  return found;
}

template <class F> bool any_within(const node& n, const F& holds) {
  if (holds(n)) return true;
  for (const node_ptr& input : n.inputs)
    if (any_within(*input, holds)) return true;
  return false;
}

/// Returns true for a stage that stores all elements in a file or folder, beside the plan that they are of (cache, snapshot).
bool keeps_on_disk(const node& n) {
  const field* path = n.op->arguments().find("on_mismatch") ? n.op->arguments().find("path") : nullptr;
  return path && printed(*path->type, argument_list::at(n.arguments.get(), *path)) != "\"\"";
}

/// Returns true if a plan that the stage opens delivers in sloppy order.
bool opens_sloppy(const node& n) {
  bool found = false;
  for_each_plan(n, [&found](const node_ptr& p) { found |= any_within(*p, is_sloppy); });
  return found;
}

bool draws_within(const node& n) {
  return any_within(n, [](const node& one) { return facts_of(one).draws; });
}

/// Returns true if the stage checks the number of its inputs (assert_cardinality): whether it fails depends on all of them.
bool checks_all(const node& n) { return n.op->splits.rule == split_rule::all_before && facts_of(n).may_fail; }

/// Returns true for a stage that may end before its inputs, one of which may fail after that end (zip): the whole plan may
/// report that error, and no split would.
bool may_end_before_error(const node& n) {
  if (n.op->splits.rule != split_rule::together) return false;
  auto may_fail = [](const node_ptr& input) {
    return any_within(*input, [](const node& one) { return facts_of(one).may_fail; });
  };
  auto is_as_long = [&n](const node_ptr& input) { return cardinality_of(*input) == cardinality_of(*n.inputs[0]); };
  return !std::ranges::all_of(n.inputs, is_as_long) && std::ranges::any_of(n.inputs, may_fail);
}

/// Returns true if a leaf draws within two repeats or more, whose epochs are counted together.
bool draws_in_epochs(const split_part& p, int repeats) {
  if (p.is_leaf()) return p.draws && repeats > 1;
  for (const split_part& input : p.inputs)
    if (draws_in_epochs(input, repeats + (p.kind == split_part::rounds))) return true;
  return false;
}

/// Returns true if a leaf draws when its splits run.
bool leaf_draws(const split_part& p) {
  if (p.is_leaf()) return p.draws && p.kind != split_part::items;
  for (const split_part& input : p.inputs)
    if (leaf_draws(input)) return true;
  return false;
}

class finder {
 public:
  explicit finder(const split_options& o) : options_(o) {}

  /// Finds the parts by which the plan that ends with `n` is split, or returns why it cannot be.
  std::optional<obstacle> find(const node_ptr& n, const downstream& d, stream_layout& stream, split_part& to) {
    visit();
    if (is_numbered(*n, d)) return leaf(split_part::numbers, n, d, to);
    if (keeps_on_disk(*n))
      return obstacle{n.get(), "keeps all elements on disk, and each split has some of them; place it after distribute",
                      true};
    bool has_listing = false;
    switch (n->op->splits.rule) {
      case split_rule::numbered: return obstacle{n.get(), why_no_numbers(*n, d)};
      case split_rule::listing: return leaf(split_part::items, n, d, to);
      case split_rule::one_file: return find_file(n, d, to);
      case split_rule::one_split: return leaf(split_part::whole, n, d, to);
      case split_rule::this_process:
        return obstacle{n.get(),
                        "yields elements that exist in this process only; use a source that every worker can open, "
                        "such as tfrecord(\"PATH\")",
                        true};
      case split_rule::each_element:
      case split_rule::settings: return find_upstream(n, d, stream, to);
      case split_rule::repeats: return find_rounds(n, d, stream, to);
      case split_rule::one_after_another: return find_sequence(n, d, stream, to);
      case split_rule::groups:
        if (is_list(*n, has_listing) && has_listing) return leaf(split_part::items, n, d, to);
        if (options_.visitation != visitation::at_least_once) return obstacle{n.get(), "has a state that spans splits"};
        stream.has_groups = true;
        stream.keeps_order = false;
        return find_upstream(n, d, stream, to);
      case split_rule::all_before:
      case split_rule::together:
      case split_rule::unstated: break;
    }
    if (is_list(*n, has_listing) && has_listing) return leaf(split_part::items, n, d, to);
    if (n->op->splits.rule == split_rule::together) return obstacle{n.get(), "combines elements of all its inputs"};
    if (n->op->splits.rule == split_rule::all_before)
      return obstacle{n.get(), "depends on all elements before, and those of other splits are not known"};
    return obstacle{n.get(), "states no rule for splitting"};
  }

 private:
  void visit() {
    if (++visits_ > kPathsMax)
      throw error(failed_precondition_error(absl::StrCat(
          "the plan cannot be split: its inputs are shared so often that it has more than ", kPathsMax, " paths")));
  }

  static std::optional<obstacle> leaf(split_part::kind_type kind, const node_ptr& n, const downstream& d,
                                      split_part& to) {
    to.kind = kind;
    to.at = n;
    to.draws = draws_within(*n);
    to.is_beside = d.is_beside;
    return {};
  }

  /// Returns true if the plan is split by the numbers of its elements.
  bool is_numbered(const node& n, const downstream& d) const { return why_no_numbers(n, d).empty(); }
  std::string why_no_numbers(const node& n, const downstream& d) const {
    if (status why = why_not_seekable(n); !why.ok()) return std::string(why.message());
    const cardinality size = cardinality_of(n);
    if (size.kind == cardinality::unknown || size.is_most()) return "has an unknown number of elements";
    if (size.kind == cardinality::infinite && d.is_followed)
      return "has no end, so the elements of no other input follow";
    const bool is_other = any_within(n, [&d](const node& one) {
      const bool may_drop = d.drops && facts_of(one).may_fail && one.errors.on_error != error_policy::stop;
      const bool reorders = is_sloppy(one) || opens_sloppy(one) || (d.sloppy_by && order_of_delivery(one));
      return may_drop || reorders || checks_all(one) || may_end_before_error(one);
    });
    return is_other ? "may drop, reorder or count elements" : "";
  }

  std::optional<obstacle> find_file(const node_ptr& n, const downstream& d, split_part& to) const {
    struct paths final : part_visitor {
      std::string of_stream;
      void path(const file_path& p) override {
        if (p.value == "-") of_stream = p.value;
      }
    } seen;
    visit_parts(*n, seen);
    if (!seen.of_stream.empty())
      return obstacle{n.get(), "reads standard input, which no other process can read; write it to a file first", true};
    return leaf(split_part::file, n, d, to);
  }

  std::optional<obstacle> find_upstream(const node_ptr& n, const downstream& d, stream_layout& stream, split_part& to) {
    if (uses_numbers(*n))
      return obstacle{n.get(), "uses the number of the element, which is known only after all elements before it"};
    if (std::string why = why_sloppy(*n, d); !why.empty()) return obstacle{n.get(), std::move(why), true};
    if (n->op->facts.freezes_epochs && draws_within(*n))
      return obstacle{
          n.get(),
          "yields the elements of the first epoch again, and a stage upstream of it draws others in each; place it "
          "after distribute",
          true};
    const stage_facts f = facts_of(*n);
    const node_ptr& input = n->inputs[0];
    const downstream upstream = d.upstream_of(*n);
    bool has_listing = false;
    std::optional<obstacle> found;
    if (opens_plans(*n) && !is_numbered(*input, upstream) && is_list(*input, has_listing))
      found = leaf(split_part::items, input, upstream, to);
    else found = find(input, upstream, stream, to);
    if (found) return found;
    if (to.kind == split_part::items && to.at == input && opens_plans(*n)) to.opener = n;
    if (f.draws && leaf_draws(to))
      return obstacle{n.get(), "draws random numbers, and so does a stage upstream that all splits must draw alike"};
    stream.keeps_order &= f.keeps_order;
    stream.draws_by_split |= f.draws;
    return {};
  }

  std::string why_sloppy(const node& n, const downstream& d) const {
    if (options_.visitation != visitation::exactly_once) return {};
    constexpr std::string_view kRemedy =
        "so a split that starts again would yield another sequence; use order=deterministic, or another visitation "
        "than exactly_once";
    if (is_sloppy(n) || opens_sloppy(n)) return absl::StrCat("delivers in sloppy order, ", std::string(kRemedy));
    if (!d.sloppy_by || !order_of_delivery(n) || n.op->facts.options) return {};
    return absl::StrCat("delivers in sloppy order by ", stage_text(*d.sloppy_by), ", ", std::string(kRemedy));
  }

  std::optional<obstacle> find_rounds(const node_ptr& n, const downstream& d, stream_layout& stream, split_part& to) {
    if (d.is_followed && epochs_of(*n).kind == cardinality::infinite)
      return obstacle{n.get(),
                      "has no end, so the elements of no other input follow; put it after the stage that joins them"};
    to.kind = split_part::rounds;
    to.at = n;
    return find(n->inputs[0], d, stream, to.inputs.emplace_back());
  }

  std::optional<obstacle> find_sequence(const node_ptr& n, const downstream& d, stream_layout& stream, split_part& to) {
    to.kind = split_part::sequence;
    to.at = n;
    downstream inside = d.in_input();
    inside.is_followed = true;
    to.inputs.resize(n->inputs.size());
    for (std::size_t i = 0; i != n->inputs.size(); ++i)
      if (std::optional<obstacle> found = find(n->inputs[i], inside, stream, to.inputs[i])) return found;
    stream.keeps_order &= facts_of(*n).keeps_order;
    return {};
  }

  /// Returns true for a plan whose elements are names or numbers in a list that is small enough to be read when the plan
  /// is split. `has_listing`: set if a source of it is a listing.
  bool is_list(const node& n, bool& has_listing) {
    visit();
    if (n.type != &type_of<std::string>() && n.type != &type_of<std::int64_t>()) return false;
    if (n.op->shape == op_info::source) {
      has_listing |= n.op->splits.rule == split_rule::listing;
      if (n.op->splits.rule == split_rule::listing) return true;
      const cardinality size = cardinality_of(n);
      return n.op->splits.rule == split_rule::numbered && size.kind == cardinality::exact &&
             static_cast<std::uint64_t>(size.elements) <= kItemsMax;
    }
    const stage_facts f = facts_of(n);
    if (!f.forwards || f.is_live) return false;
    if (n.op->splits.rule == split_rule::repeats && epochs_of(n).kind == cardinality::infinite) return false;
    for (const node_ptr& input : n.inputs)
      if (!is_list(*input, has_listing)) return false;
    return true;
  }

  const split_options& options_;
  std::size_t visits_ = 0;
};

/// Finds the cut.
class cutter {
 public:
  cutter(split_layout& to) : to_(to), finder_(to.options) {}

  client_tree cut(const node_ptr& n, const downstream& d, const std::vector<node_ptr>& settings) {
    client_tree tree{n};
    stream_layout stream{.root = n};
    const std::optional<obstacle> found = finder_.find(n, d, stream, stream.parts);
    if (!found) {
      check_travels(*n);
      stream.settings = settings;
      stream.openings = d.openings;
      stream.client_repeats = d.repeats;
      std::uint32_t leaves = 0;
      number_leaves(stream.parts, leaves);
      tree.stream = static_cast<std::int64_t>(to_.streams.size());
      to_.streams.push_back(std::move(stream));
      return tree;
    }
    if (found->is_final || n->op->shape == op_info::source) refuse_splitting(*found->at, found->why);
    if (found->at == n.get()) tree.why = found->why;
    std::vector<node_ptr> all = settings;
    if (n->op->splits.rule == split_rule::settings) all.insert(all.begin(), n);
    const std::size_t local = n->inputs.size() - std::min<std::size_t>(n->op->splits.local_inputs, n->inputs.size());
    for (std::size_t i = 0; i != n->inputs.size(); ++i) {
      const node_ptr& input = n->inputs[i];
      downstream upstream = n->op->shape == op_info::combine ? d.in_input() : d.upstream_of(*n);
      if (n->op->splits.rule == split_rule::repeats) upstream = upstream.in_epochs(epochs_of(*n));
      if (i < local) tree.inputs.push_back(cut(input, upstream, all));
      else tree.inputs.push_back({.at = input, .is_local = true});
    }
    to_.stages.push_back({stage_text(*n), tree.why, n});
    return tree;
  }

 private:
  void check_travels(const node& n) const {
    if (!to_.options.must_travel) return;
    if (status why = serialisable(n); !why.ok())
      throw error(failed_precondition_error(
          absl::StrCat("the plan cannot be split among other processes: ", std::string(why.message()))));
  }

  static void number_leaves(split_part& p, std::uint32_t& leaves) {
    p.leaf = leaves;
    if (p.is_leaf()) ++leaves;
    for (split_part& input : p.inputs) number_leaves(input, leaves);
    p.leaves = leaves - p.leaf;
  }

  split_layout& to_;
  finder finder_;
};

/// A source that stands for a stream in the text of the client.
struct stream_arguments {
  integer number = {};
};
const op_info stream_op{.name = "splits",
                        .doc = "the elements of a stream",
                        .shape = op_info::source,
                        .arguments = arguments_of<stream_arguments>};

/// A stage of the client gets a stream of unknown size, which cannot seek.
void check_client(const split_layout& layout) {
  std::vector<node_ptr> streams;
  for (const stream_layout& s : layout.streams) streams.push_back(shown_stream(0, s.root->type));
  try {
    client_of(layout.client, streams);
  } catch (const error& e) {
    throw error(failed_precondition_error(
        absl::StrCat("the plan cannot be split: ", std::string(e.why().message()),
                     ", and the client reads it from workers; a stage upstream of it keeps it from being split by the "
                     "numbers of its elements")));
  }
}

bool draws_beside(const split_part& p) {
  if (p.is_leaf()) return p.is_beside && p.draws;
  for (const split_part& input : p.inputs)
    if (draws_beside(input)) return true;
  return false;
}

}  // namespace

const field* order_of_delivery(const node& n) { return n.op->arguments().find("order"); }

bool is_sloppy(const node& n) {
  const field* f = n.op->facts.options ? nullptr : order_of_delivery(n);
  return facts_of(n).is_live || (f && printed(*f->type, argument_list::at(n.arguments.get(), *f)) == "sloppy");
}

node_ptr shown_stream(std::int64_t number, const element_type* type) {
  node n{.op = &stream_op, .arguments = arguments::of(stream_arguments{number}), .type = type, .site = 1};
  return std::make_shared<const node>(std::move(n));
}

node_ptr client_of(const client_tree& t, const std::vector<node_ptr>& streams) {
  if (t.stream >= 0) return streams[static_cast<std::size_t>(t.stream)];
  if (t.is_local) return t.at;
  node copy = *t.at;
  for (std::size_t i = 0; i != t.inputs.size(); ++i) copy.inputs[i] = client_of(t.inputs[i], streams);
  return make_node(std::move(copy));
}

node_ptr with_settings(node_ptr plan, const std::vector<node_ptr>& settings) {
  for (const node_ptr& setting : settings) {
    node copy = *setting;
    copy.inputs = {std::move(plan)};
    copy.site = 0;
    copy.history = {};
    plan = make_node(std::move(copy));
  }
  return plan;
}

bool opens_plans(const node& n) {
  for (const field& f : n.op->arguments().fields)
    if (f.type->takes_plan()) return true;
  return false;
}

cardinality epochs_of(const node& repeat) {
  node over_one = repeat;
  over_one.inputs = {make_source(range_op, arguments::of(range_arguments{1, {}}))};
  return repeat.op->facts.size(over_one);
}

cardinality rounds_of(const split_part& p) {
  if (p.kind == split_part::numbers)
    return cardinality_of(*p.at).kind == cardinality::infinite ? cardinality::forever() : cardinality::of(1);
  if (p.kind != split_part::rounds) return cardinality::of(1);
  const cardinality epochs = epochs_of(*p.at), inside = rounds_of(p.inputs[0]);
  if (inside.kind == cardinality::infinite) return epochs == cardinality::of(0) ? epochs : inside;
  return epochs.times(inside.elements);
}

split_layout layout_of(const node_ptr& plan, const split_options& options) {
  if (!plan) throw error(invalid_argument_error("splits: the plan is null"));
  if (plan->lacks_path) throw error(invalid_argument_error("splits: the plan lacks its path: it is a reader"));
  if ((options.splits != 0) + (options.split_bytes != 0) + (options.split_elements != 0) > 1)
    throw error(invalid_argument_error("splits: give splits, split_bytes or split_elements, and not two of them"));
  split_layout to{.plan = plan, .options = options, .client = {}};
  to.client = cutter(to).cut(plan, {}, {});
  check_client(to);
  for (const stream_layout& s : to.streams) {
    split_stream info;
    info.text = plan_text(*with_settings(s.root, s.settings));
    info.rounds_each = rounds_of(s.parts);
    const bool is_endless = s.openings.kind == cardinality::infinite || info.rounds_each.kind == cardinality::infinite;
    info.rounds = is_endless ? cardinality::forever() : s.openings.times(info.rounds_each.elements);
    info.keeps_order = s.keeps_order;
    info.draws = s.draws_by_split || leaf_draws(s.parts);
    info.is_exact =
        !s.has_groups && !s.draws_by_split && !draws_beside(s.parts) && !draws_in_epochs(s.parts, s.client_repeats);
    to.infos.push_back(std::move(info));
  }
  return to;
}

}  // namespace sluice::lib
