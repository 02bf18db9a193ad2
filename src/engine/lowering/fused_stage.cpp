// SPDX-License-Identifier: Apache-2.0
#include "engine/lowering/fused_stage.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "coro/positions/position_records.hpp"
#include "engine/batching/column_input.hpp"
#include "engine/lowering/excluded_elements.hpp"
#include "engine/lowering/open_context.hpp"
#include "plan/node_history.hpp"

namespace sluice::lib {
namespace {

node_work work_of(const node& n) { return n.op->lowering.work(n); }

bool is_filter(const node& n) { return work_of(n).is_filter; }

bool joins_input(const node& n) { return n.history && n.history->joins_input; }

/// Returns true if the record of a removed stage follows that of `n`.
bool has_removed(const node& n) { return n.history && !n.history->removed.empty(); }

/// The nodes that run as the stage of `n`, the most upstream first.
std::vector<const node*> nodes_of_stage(const node& n) {
  // Rules may have moved stages after the nodes were marked, so everything is checked again.
  std::vector<const node*> nodes{&n};
  bool needs_place = work_of(n).function->uses_place;
  while (joins_input(*nodes.back()) && nodes.size() != kFusedMost) {
    const node& in = *nodes.back()->inputs[0];
    if (!is_fusable(in) || !why_not_fused(in).empty() || has_removed(in)) break;
    if (needs_place && is_filter(in)) break;
    needs_place |= work_of(in).function->uses_place;
    nodes.push_back(&in);
  }
  std::ranges::reverse(nodes);
  return nodes;
}

/// One of the nodes of the stage.
struct part {
  function_ptr function;
  const block_function* map = nullptr;  ///< null: a filter
  const predicate_function* filter = nullptr;
  std::uint64_t seed = 0;
  error_gate gate;
  stage_identity identity;
  slab room;  ///< for the outputs of a map that is not the last one
  // Of a filter.
  std::uint64_t made = 0;     ///< the ordinal after its last output
  std::uint64_t to_pass = 0;  ///< the number of outputs that a resume makes again before its next one
  // Not yet added to the counts of the node.
  std::uint64_t elements = 0, passed = 0, blocks = 0;

  part(function_ptr f, error_gate g, const node& n)
      : function(std::move(f)), gate(std::move(g)), identity(identity_of(n)), room(*n.type) {
    map = dynamic_cast<const block_function*>(function.get());
    filter = dynamic_cast<const predicate_function*>(function.get());
  }
  void count(std::uint32_t n) {
    elements += n;
    blocks += n != 0;
  }
};

/// The functions of a stage, and their input.
class fused_work {
 public:
  fused_work(const fused_work&) = delete;
  /// `first`: the most upstream node. `columns`: of an input that has its rows in columns; else null.
  fused_work(std::vector<part> all, erased_stream from, const node& first, std::unique_ptr<one_pass> pass,
             std::unique_ptr<column_input> columns)
      : in(std::move(from)),
        parts(std::move(all)),
        excluded_(first),
        pass_(std::move(pass)),
        columns_(std::move(columns)) {
    last_filter = last_map = parts.size();
    for (std::size_t k = 0; k != parts.size(); ++k) (parts[k].filter ? last_filter : last_map) = k;
    kept_.resize(parts.size());
  }
  ~fused_work() { add_counts(); }

  /// Returns the request for the next inputs.
  demand next_inputs(const outlet& out) {
    if (columns_) columns_->before_request(in);
    return {excluded_.from(in.consumed()), has_filter() ? out.ask() : out.wanted(), out.wanted_bytes()};
  }
  /// Computes the outputs for `b`. `why`: the error after them, or ok.
  block compute(outlet& out, const block& b, status& why);
  bool has_filter() const { return last_filter != parts.size(); }
  bool draws() const {
    return std::ranges::any_of(parts, [](const part& p) { return p.function->draws; });
  }
  /// Counts the inputs until the end of the block, which has n elements, or until the end of the input.
  void note_inputs(std::uint32_t n);
  /// Adds what was counted to the records of the nodes. The stream downstream counts for the last one.
  void add_counts();
  /// Returns the position of the input, with the records of all filters except the last one.
  mark place();
  void restore(position_records& from);
  /// Returns the ordinal of the next element that the last filter, or a stage without filters, gets.
  std::uint64_t consumed() const;

  erased_stream in;
  std::vector<part> parts;  ///< the most upstream first
  std::size_t last_filter, last_map;
  /// 0: the stream of elements begins again, and the filters have made nothing of it.
  std::uint64_t begun = 1;

 private:
  template <class Inputs> std::uint64_t first_of(const Inputs& b) const { return in.consumed() - b.size(); }
  bool must_pass(const outlet& out) const;
  template <class Inputs> bool compute_at_once(outlet& out, const Inputs& b, block& made);
  block compute_rows(outlet& out, const column_view& rows, status& why);
  block compute_apart(outlet& out, const block& b, status& why);
  void mapped(part& p, std::size_t k, outlet& out, block& now, std::uint64_t ordinal, status& why) const;
  void filtered(part& p, std::size_t k, outlet& out, block& now, std::uint64_t ordinal, status& why);
  bool is_inner_filter(std::size_t k) const { return parts[k].filter && k != last_filter; }

  const excluded_elements excluded_;
  const std::unique_ptr<one_pass> pass_;         ///< null: one function after the other
  const std::unique_ptr<column_input> columns_;  ///< null: the inputs are elements
  std::vector<element_place> places_;
  std::vector<std::uint32_t> kept_;
  std::uint64_t seen_ = 0;  ///< the ordinal after the last input
  std::uint32_t blocks_ = 0;
};

void fused_work::add_counts() {
  blocks_ = 0;
  for (std::size_t k = 0; k + 1 < parts.size(); ++k) {
    part& p = parts[k];
    stage_counts& counts = p.gate.site().counts();
    stage_counts::add(counts.elements, std::exchange(p.elements, 0));
    stage_counts::add(counts.passed, std::exchange(p.passed, 0));
    stage_counts::add(counts.blocks, std::exchange(p.blocks, 0));
  }
}

/// Returns true if a filter makes outputs that are skipped. The functions downstream of it are not called for these.
bool fused_work::must_pass(const outlet& out) const {
  if (!has_filter()) return false;
  const bool is_last = last_filter == parts.size() - 1;  // the stream downstream skips its outputs
  return (!is_last && out.to_pass() != 0) || std::ranges::any_of(parts, [](const part& p) { return p.to_pass != 0; });
}

void fused_work::note_inputs(std::uint32_t n) {
  if (begun == 0) {
    for (part& p : parts) p.made = 0;
    seen_ = 0;
    begun = 1;
  }
  if (!has_filter())  // elements that are skipped upstream of the stage
    for (part& p : parts) p.passed += in.consumed() - n - seen_;
  seen_ = in.consumed();
  constexpr std::uint32_t kBlocksApart = 64;  // as often as streams add their counts
  if (++blocks_ == kBlocksApart) add_counts();
}

block fused_work::compute(outlet& out, const block& b, status& why) {
  note_inputs(b.size());
  if (columns_) return compute_rows(out, columns_->rows(b.data(), in.left() + b.size(), b.size()), why);
  block made;
  if (pass_ && !must_pass(out) && compute_at_once(out, b, made)) return made;
  return compute_apart(out, b, why);
}

block fused_work::compute_rows(outlet& out, const column_view& rows, status& why) {
  block made;
  if (!must_pass(out) && compute_at_once(out, rows, made)) return made;
  return compute_apart(out, columns_->built(rows), why);
}

template <class Inputs> bool fused_work::compute_at_once(outlet& out, const Inputs& b, block& made) {
  places_.clear();
  for (const part& p : parts) places_.push_back({first_of(b), p.seed});
  std::ranges::fill(kept_, 0);
  if (!pass_->compute(b, out.room(b.size()), places_, kept_.data())) return false;
  std::uint32_t n = b.size();
  for (std::size_t k = 0; k != parts.size(); ++k) {
    part& p = parts[k];
    if (p.filter) {
      n = kept_[k];
      p.made += n;
    }
    p.count(n);
  }
  made = out.made(n);
  return true;
}

block fused_work::compute_apart(outlet& out, const block& b, status& why) {
  block now = b;
  std::uint64_t ordinal = first_of(b);
  for (std::size_t k = 0; k != parts.size(); ++k) {
    part& p = parts[k];
    if (p.map) {
      mapped(p, k, out, now, ordinal, why);
    } else {
      filtered(p, k, out, now, ordinal, why);
      ordinal = p.made;
      p.made += now.size();
    }
    p.count(now.size());
  }
  return last_map == parts.size() ? now : out.made(now.size());
}

void fused_work::mapped(part& p, std::size_t k, outlet& out, block& now, std::uint64_t ordinal, status& why) const {
  char* to = k == last_map ? out.room(now.size()) : p.room.reserve(now.size());
  applied a = p.map->apply(now, to, {ordinal, p.seed});
  if (!a.why.ok()) why = p.gate.located(a.why, ordinal + a.done);
  now = block(nullptr, p.map->out, to, a.done);  // of a type that needs no destruction (why_not_fused)
}

/// Removes the elements that the filter does not keep, and those outputs of it that are skipped.
void fused_work::filtered(part& p, std::size_t k, outlet& out, block& now, std::uint64_t ordinal, status& why) {
  predicate_function::outcome o = p.filter->keep(now, {ordinal, p.seed});
  if (!o.why.ok()) why = p.gate.located(o.why, ordinal + o.seen);
  now = now.first(o.kept);
  std::uint64_t passed = 0;
  if (is_inner_filter(k)) {
    passed = std::min<std::uint64_t>(p.to_pass, now.size());
    p.to_pass -= passed;
  } else if (k != parts.size() - 1) {
    passed = out.pass(now.size());
    for (std::size_t after = k + 1; after != parts.size(); ++after) parts[after].passed += passed;
  }
  if (passed == 0) return;
  p.made += passed;
  p.passed += passed;
  const auto n = static_cast<std::uint32_t>(passed);
  if (now.owner()) return now.drop_front(n);
  const std::size_t size = now.type().size;
  std::memmove(now.data(), now.at(n), (now.size() - n) * size);
  now = now.first(now.size() - n);
}

mark fused_work::place() {
  mark m = in.place();
  for (std::size_t k = 0; k != parts.size(); ++k) {
    if (!is_inner_filter(k)) continue;
    const part& p = parts[k];
    mark outer;
    outer.ordinal = begun ? p.made + p.to_pass : 0;
    outer.residual = p.to_pass;
    outer.site = p.identity.site;
    outer.version = p.identity.version;
    outer.state.record(m, m.ordinal);
    m = std::move(outer);
  }
  return m;
}

void fused_work::restore(position_records& from) {
  std::vector<const position_record*> own(parts.size());
  for (std::size_t k = parts.size(); k-- != 0;) {
    if (!is_inner_filter(k)) continue;
    own[k] = from.take(parts[k].identity.site);
    if (!own[k]) continue;
    if (!own[k]->saved.empty()) from.damaged();
    from.refuse(version_mismatch(*own[k], parts[k].identity, parts[k].gate.label()));
  }
  in.restore(from);
  std::uint64_t ordinal = in.consumed();
  for (std::size_t k = 0; k != parts.size(); ++k) {
    if (!is_inner_filter(k)) continue;
    part& p = parts[k];
    p.made = own[k] ? own[k]->ordinal - own[k]->to_pass : ordinal;
    p.to_pass = own[k] ? own[k]->to_pass : 0;
    ordinal = p.made + p.to_pass;
  }
  seen_ = in.consumed();
}

std::uint64_t fused_work::consumed() const {
  for (std::size_t k = parts.size(); k-- != 0;)
    if (is_inner_filter(k)) return parts[k].made + parts[k].to_pass;
  return in.consumed();
}

/// The saved state of the stage: nothing of its own, and the position of its input.
class fused_state final : public saved_base {
 public:
  explicit fused_state(std::shared_ptr<fused_work> work) : work_(std::move(work)) {}
  fused_work& work() const { return *work_; }

  void save(position_writer&, bool) override {}
  void load(position_reader&) override {}
  void cut() override {}
  bool holds_nothing() const override { return true; }
  bool may_wait() const override { return work_->in.may_wait(); }
  bool owns_input() const override { return true; }
  mark input_place() override { return work_->place(); }
  void restore_input(position_records& from) override { work_->restore(from); }
  std::uint64_t input_consumed() const override { return work_->consumed(); }
  const stream_base* input_stream() const override { return &work_->in; }
  void begins_at(std::uint64_t made) override {
    if (work_->has_filter()) work_->parts[work_->last_filter].made = made;
  }
  void add_counts() override { work_->add_counts(); }

 private:
  std::shared_ptr<fused_work> work_;
};

erased_stream fused_loop(outlet out, one_to_one, fused_state state) {
  fused_work& work = state.work();
  for (;;) {
    while (auto b = co_await work.in.next_block(work.next_inputs(out))) {
      status why;
      block made = work.compute(out, b, why);
      if (!why.ok()) {
        out.hold(made);
        co_await fail(std::move(why));
      }
      if (made) co_yield made;
    }
    work.note_inputs(0);
    work.add_counts();
    if (work.draws()) break;
    auto over = out.again(&work.begun);
    co_await over;
  }
}

/// Opens the input of these nodes with rows in columns, and their pass. Returns an empty stream if either has elements.
erased_stream open_columns(const std::vector<const node*>& nodes, const std::vector<const stage_function*>& functions,
                           const open_context& context, std::unique_ptr<one_pass>& pass,
                           std::unique_ptr<column_input>& columns) {
  const node& first = *nodes.front();
  const node_ptr& input = first.inputs[0];
  const bool has_map = std::ranges::any_of(nodes, [](const node* n) { return !is_filter(*n); });
  const bool is_sensible = input->op->lowering.has_columns && !(first.history && first.history->selects_by_number) &&
                           (nodes.size() != 1 || !has_map) && expressions::is_cheap_to_build(*input->type);
  if (!is_sensible) return {};
  pass = dynamic_cast<const fusable_function&>(*functions[0]).compile(functions, true);
  if (!pass) return {};
  columns = std::make_unique<column_input>(*input->type);
  return context.open_rows(input, columns->landing());
}

/// Returns true if the settings of the run let the nodes run as one stage.
bool may_run_together(const std::vector<const node*>& nodes, const open_context& context) {
  return std::ranges::all_of(nodes, [&](const node* n) {
    const error_policy policy = n->errors.on_error.value_or(context.on_error);
    return policy != error_policy::skip && context.order_of(work_of(*n).order) == order::deterministic;
  });
}

}  // namespace

bool is_fusable(const node& n) {
  return n.op->lowering.work && dynamic_cast<const fusable_function*>(work_of(n).function.get());
}

std::string why_not_fused(const node& n) {
  const node_work work = work_of(n);
  if (!work.function->facts.pure) return "calls a function that may have side effects";
  if (work.works_ahead) return "works ahead with parallelism";
  if (work.order == order::sloppy) return "delivers in sloppy order";
  if (!work.is_filter && !(n.type->trivially_destroyed && n.type->copy)) return "yields values that own memory";
  return {};
}

std::string why_not_joined(const node& n) {
  const node& in = *n.inputs[0];
  if (has_removed(in)) return "follows a removed stage, whose record stands between them";
  const std::vector<const node*> upstream = nodes_of_stage(in);
  if (upstream.size() == kFusedMost) return "would be one too many in one stage";
  const bool follows_filter = std::ranges::any_of(upstream, [](const node* u) { return is_filter(*u); });
  if (follows_filter && work_of(n).function->uses_place) return "uses the number of an element after a filter";
  return {};
}

erased_stream open_fused(const node& n, open_context& context) {
  const bool joins = joins_input(n);
  const bool may_read_columns = n.op->shape == op_info::stage && n.inputs[0]->op->lowering.has_columns;
  if (!(joins || may_read_columns) || !is_fusable(n) || !(joins || is_filter(n))) return {};
  const std::vector<const node*> nodes = nodes_of_stage(n);
  if (!why_not_fused(n).empty() || !may_run_together(nodes, context)) return {};
  for (std::size_t k = nodes.size() - 1; k-- != 0;) context.enter_part(*nodes[k]);
  std::vector<const stage_function*> functions;
  for (const node* one : nodes) functions.push_back(work_of(*one).function.get());
  std::unique_ptr<one_pass> pass;
  std::unique_ptr<column_input> columns;
  erased_stream in = open_columns(nodes, functions, context, pass, columns);
  if (!in) {
    if (nodes.size() < 2) return {};
    columns = nullptr;
    pass = dynamic_cast<const fusable_function&>(*functions[0]).compile(functions, false);
    in = context.open(nodes.front()->inputs[0]);
  }
  std::vector<part> parts;
  parts.reserve(nodes.size());
  const node* last_filter = nullptr;
  for (const node* one : nodes) {
    const node_work work = work_of(*one);
    parts.emplace_back(work.function, context.gate(*one), *one);
    if (work.function->draws) parts.back().seed = context.seed_of(*one, work.seed);
    if (work.is_filter) last_filter = one;
  }
  fused_state state(std::make_shared<fused_work>(std::move(parts), std::move(in), *nodes.front(), std::move(pass),
                                                 std::move(columns)));
  erased_stream s = fused_loop(outlet(*n.type), one_to_one{!last_filter}, std::move(state));
  if (last_filter) s.stage()->set_identity(identity_of(*last_filter));
  return s;
}

}  // namespace sluice::lib
