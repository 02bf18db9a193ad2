// SPDX-License-Identifier: Apache-2.0
#include "op/engine.hpp"

#include "sluice/base/random.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice {

erased_stream empty_stage(outlet out) {
  if (out.wanted() == 0) co_yield out.made(0);  // a coroutine needs a yield; nobody asks for nothing
}

erased_stream failed_stage(outlet, status why) {
  status told = std::move(why);
  co_await fail(std::move(told));
}

erased_stream open_user_stage(const node& n, const open_context& context, erased_stream in) {
  status why;
  try {
    erased_stream made = static_cast<const stream_function&>(*n.function).open(std::move(in));
    if (made) return made;
    why = failed_precondition_error("the function returned an empty stream instead of a coroutine's");
  } catch (...) { why = current_exception_status(); }
  outlet out(*n.type);
  why = why.in_stage(context.gate(n).label());
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

status restore_inner(erased_stream& in, std::string& restored) {
  in.may_go_back();
  if (restored.empty()) return {};
  position_reader r(restored);
  in.restore(r);
  bool sound = r.ok() && r.done();
  restored.clear();
  return sound ? status() : damaged_position();
}

status damaged_position() {
  return data_loss_error(
      "the checkpoint does not fit this plan, or is damaged; start without it, or from an older one");
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
  ++context.depth;
  erased_stream s = plan->op->open(*plan, context);
  s.stage()->set_label(plan->op->name);
  s.set_environment(run.get());
  return s;
}

open_context open_context::in_epoch(std::uint64_t number) const {
  open_context inner = *this;
  inner.epoch = number == 0 ? epoch : mix(epoch + number);
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

std::uint64_t open_context::seed_of(const node& n, std::int64_t own) const {
  return own != sluice::seed::kDrawn ? static_cast<std::uint64_t>(own) : mix(run->seed ^ fingerprint(n));
}

}  // namespace sluice
