// SPDX-License-Identifier: Apache-2.0
#include "engine/inner/inner_plans.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ahead/open_channel.hpp"
#include "engine/lowering/open_context.hpp"
#include "plan/plan_parts.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {
namespace {

/// The number of blocks in an inner channel: one being read, one ready, one being built.
constexpr std::uint32_t kInnerSlots = 3;

/// Returns the path that a chain's source reads, so that errors of later stages name it. Null: no path, or several.
std::shared_ptr<const std::string> file_of(const node_ptr& plan) {
  const node* source = plan.get();
  while (source->op->shape == op_info::stage) source = source->inputs[0].get();
  struct paths final : part_visitor {
    std::vector<std::string> all;
    void path(const file_path& p) override { all.push_back(p.value); }
  };
  paths found;
  visit_parts(*source, found);
  return found.all.size() == 1 ? std::make_shared<const std::string>(std::move(found.all[0])) : nullptr;
}

}  // namespace

inner_plans::inner_plans(const node& n, const plan_or_function& inner, const open_context& context,
                         live_knob* parallelism, order in)
    : function_(inner.function),
      reader_(inner.plan ? new prepared_reader{reader_template(inner.plan)} : nullptr),
      site_(n.site),
      type_(n.type),
      context_(context.inside_of(n)),
      gate_(context.gate(n)),
      order_(in),
      record_(context.site(n)),
      signal_(std::make_shared<ready_signal>(context.run)) {
  // A function may open plans whose functions open plans …: each level adds a tree of streams to the call depth.
  context_.depth += n.depth;
  context_.labels_are_known = context_.labels_are_known && reader_;
  if (!parallelism) return;
  permits_ = std::make_shared<pump_permits>(context.run, *parallelism);
  parallelism->follow(permits_);
}

node_ptr inner_plans::plan_for(const block& outer) const {
  if (reader_) return reader_->plan.with_path(outer.type().text(outer.data()));
  return static_cast<const plan_function&>(*function_).plan_for(outer.data());
}

std::shared_ptr<const std::string> inner_plans::file_for(const block& outer, const node_ptr& plan) const {
  if (!reader_ || !reader_->plan.is_chain()) return file_of(plan);
  if (reader_->names_file == true) return std::make_shared<const std::string>(outer.type().text(outer.data()));
  if (reader_->names_file == false) return nullptr;
  std::shared_ptr<const std::string> file = file_of(plan);
  reader_->names_file = file != nullptr;
  return file;
}

result<inner_stream> inner_plans::open(const block& outer, std::uint64_t ordinal, inner_openings& openings,
                                       std::string position) const {
  node_ptr plan;
  try {
    plan = plan_for(outer);
  } catch (...) { return current_exception_status(); }
  if (context_.depth + plan->depth > kPlanDepthMax)
    return invalid_argument_error("the plans opened inside of each other have more than " +
                                  std::to_string(kPlanDepthMax) + " stages below each other");
  position = openings.position_of(ordinal, std::move(position));
  const bool from_a_place = !position.empty();
  open_context inside = context_.in_inner_plan(site_, ordinal);
  if (auto file = file_for(outer, plan)) inside.file = std::move(file);
  auto resumed = inside.resume(plan, std::move(position));
  if (!resumed.ok()) return resumed.why();
  openings.opened(ordinal, *resumed, from_a_place);
  inner_stream inner;
  inner.in = *std::move(resumed);
  if (!parallel()) return inner;
  channel_options options;
  options.limits = {kInnerSlots};
  options.pump.permits = permits_;
  options.signal = signal_;
  options.direct_where_light = order_ == order::deterministic;
  channel_memory memory(context_.run, record_, gate_.label());
  opened_channel opened = open_channel(std::move(memory), std::move(inner.in), *type_, std::move(options));
  inner.in = std::move(opened.out);
  inner.ahead = std::move(opened.link);
  return inner;
}

}  // namespace sluice::lib
