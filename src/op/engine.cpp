// SPDX-License-Identifier: Apache-2.0
#include "op/engine.hpp"

#include "sluice/base/random.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib {

erased_stream empty_stage(outlet out) {
  if (out.wanted() == 0) co_yield out.made(0);  // a coroutine needs a yield; nobody asks for nothing
}

erased_stream failed_stage(outlet, status why) {
  status told = std::move(why);
  co_await fail(std::move(told));
}

erased_stream make_user_stage(const stream_function& f, erased_stream in, status& why) {
  erased_stream made;
  const stage_base* source = in ? in.stage() : nullptr;
  try {
    made = f.open(std::move(in));
    if (!made) why = failed_precondition_error("the function returned an empty stream instead of a coroutine's");
  } catch (...) { why = current_exception_status(); }
  why = why.in_stage(f.label);
  // The function may have put several coroutines on top of each other.
  for (stage_base* s = made.stage(); s && s != source; s = s->input_stage()) {
    s->set_label(f.label);
    if (source && s->input_stage() == source) s->number_errors();
  }
  return made;
}

erased_stream open_user_stage(const node& n, erased_stream in) {
  status why;
  erased_stream made = make_user_stage(static_cast<const stream_function&>(*n.function), std::move(in), why);
  if (made) return made;
  outlet out(*n.type);
  return failed_stage(out, std::move(why));
}

block tail_of(const block& whole, std::uint32_t first) {
  char* at = whole.at(first);
  slab* owner = whole.owner();
  if (owner->begin() < at) {
    auto passed = static_cast<std::uint32_t>(static_cast<std::size_t>(at - owner->begin()) / whole.type().size);
    block(owner, &whole.type(), owner->begin(), passed).drop_front(passed);
  }
  return {owner, &whole.type(), at, whole.size() - first};
}

void save_inner(position_writer& w, erased_stream& in, const std::string& restored) {
  if (!in) return w.text(restored);
  auto inner = std::make_shared<position_writer>();
  in.position(*inner);
  w.blob(std::move(inner));
}

const element_type* same_type(const node& n, std::string&) { return n.inputs[0]->type; }

const element_type* type_of_function(const node& n, std::string& why) {
  const stage_function& f = *n.function;
  if (!n.inputs.empty() && f.in != n.inputs[0]->type) {
    why = "expects " + f.in->name + ", and gets " + n.inputs[0]->type->name;
    return nullptr;
  }
  return f.out;
}

const element_type* type_of_inner(const node& n, std::string& why) {
  if (!n.reader) return type_of_function(n, why);
  if (!n.inputs[0]->type->text) {
    why = "a reader takes paths (strings), and gets " + n.inputs[0]->type->name;
    return nullptr;
  }
  return n.reader->type;
}

bool error_gate::skips() const { return run_->on_error == error_policy::skip; }

status error_gate::settle(const status& why, std::uint64_t element) const {
  status told = why.in_stage(label_, element);
  if (!skips() || why.code() == status_code::cancelled || why.code() == status_code::resource_exhausted) return told;
  return run_->count_error(told) ? status() : told;
}

erased_stream open_context::open(const node_ptr& plan) const {
  open_context context = *this;
  erased_stream s = plan->op->open(*plan, context);
  if (s.stage()->label().empty()) s.stage()->set_label(plan->op->name);  // take(-1) is its input's stage
  const op_info& op = *plan->op;
  s.stage()->set_identity({plan->site, op.state_version, op.state_version_oldest, op.shape == op_info::source});
  s.set_environment(run.get());
  return s;
}

result<erased_stream> open_context::resume(const node_ptr& plan, std::string position) const {
  erased_stream s = open(plan);
  s.may_go_back();
  if (position.empty()) return s;
  position_records records(std::move(position));
  s.restore(records);
  status fits = records.finish();
  if (!fits.ok()) return fits;
  return s;
}

open_context::open_context(std::shared_ptr<run_context> r, const node& plan, std::uint64_t epoch) : run(std::move(r)) {
  *this = in_epoch(site_above("repeat", &plan), epoch);
}

// The first epoch is the plan without a repeat, so it mixes nothing in; the repeat's site keeps nested ones apart. Its
// scope does not count: two aligned pipelines that are inputs of one combine stay aligned through their repeats.
open_context open_context::in_epoch(std::uint32_t site, std::uint64_t number) const {
  open_context inner = *this;
  if (number != 0) inner.passes = derive(passes, derive(std::uint64_t{site} + (std::uint64_t{combines} << 32), number));
  return inner;
}

open_context open_context::in_inner_plan(std::uint32_t site, std::uint64_t ordinal) const {
  constexpr std::uint64_t kOuter = 0x6f75'7465'7200;  // so that no ordinal is an epoch
  open_context inner = *this;
  inner.scope = derive(scope, site);
  inner.outers = derive(outers, kOuter + mix(ordinal));
  inner.passes = derive(passes, kOuter + mix(ordinal));
  return inner;
}

open_context open_context::in_input(const node& combine, std::size_t index) const {
  open_context inner = *this;
  inner.scope = derive(derive(scope, combine.site), index);
  ++inner.combines;
  return inner;
}

std::uint32_t open_context::limit_of(knob k) const {
  if (!k.is_autotuned()) return static_cast<std::uint32_t>(std::min<std::int64_t>(k.value, 1 << 16));
  return std::max(2u, run->rt->workers() * 2);
}

error_gate open_context::gate(const node& n) const {
  std::string label(n.op->name);
  if (n.function && !n.function->name.empty()) label.append("(").append(n.function->name).append(")");
  return {run.get(), std::move(label)};
}

std::uint64_t open_context::seed_of(const node& n, std::int64_t own, bool same_each_epoch) const {
  bool drawn = own == sluice::lib::seed::kDrawn;
  std::uint64_t seed = drawn ? derive(derive(run->seed, scope), n.site) : static_cast<std::uint64_t>(own);
  if (same_each_epoch) return outers ? mix(seed + outers) : seed;
  return mix(seed + passes);
}

}  // namespace sluice::lib
