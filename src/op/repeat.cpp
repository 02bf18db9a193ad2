// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/repeat.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "coro/positions/absent_stage.hpp"
#include "engine/inner/inner_input.hpp"
#include "engine/inner/next_epoch.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/plain_stages.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "plan/node_history.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

constexpr std::uint64_t kForEver = ~std::uint64_t{0};

/// The epoch, and the position in it. The input is opened again for each epoch, because its shuffles draw by the
/// epoch's number.
struct repeat_state {
  std::uint64_t epoch = 0;
  // this epoch has delivered an element; an endless repeat ends with the first epoch that delivers none
  bool any = false;
  inner_input input;

  void save(position_writer& w) {
    w.number(epoch);
    w.number(any);
    input.save(w);
  }
  void load(position_reader& r) {
    epoch = r.number();
    any = r.number() != 0;
    input.load(r);
  }
  bool may_wait() const { return input.may_wait(); }
};

/// Returns true if a stage of the plan states another size than its input has (assert_cardinality): an epoch that is read
/// to its end fails, so none may be skipped by its size.
bool contradicts_size(const node& plan) {
  for (const node_ptr& input : plan.inputs)
    if (contradicts_size(*input)) return true;
  return facts_of(plan).outputs == output_count::one_per_input && plan.inputs.size() == 1 &&
         cardinality_of(plan) != cardinality_of(*plan.inputs[0]);
}

/// Returns true if other consumers may take all elements of an epoch: a stage upstream names a job (distribute).
bool shares_epochs(const node& n) {
  const field* job = n.op->arguments().find("job");
  if (job && printed(*job->type, argument_list::at(n.arguments.get(), *job)) != "\"\"") return true;
  return std::ranges::any_of(n.inputs, [](const node_ptr& input) { return shares_epochs(*input); });
}

/// Returns the number of elements of each epoch if whole epochs may be skipped without opening them; else 0.
std::uint64_t known_epoch(const node_ptr& plan, const open_context& context) {
  cardinality each = cardinality_of(*plan);
  const bool is_known = each.kind == cardinality::exact && !each.is_most() && context.on_error == error_policy::stop &&
                        why_not_seekable(*plan).ok() && !contradicts_size(*plan);
  return is_known ? static_cast<std::uint64_t>(each.elements) : 0;
}

/// The epochs of one repeat: their number, and the contexts of their streams.
struct repeat_epochs {
  open_context context;
  std::uint32_t site = 0;
  std::uint64_t times = 0;
  std::shared_ptr<epoch_links> links;  ///< null: no stage upstream prepares the next epoch

  open_context of(const repeat_state& st) const {
    open_context inner = context.in_epoch(site, st.epoch);
    if (!links) return inner;
    inner.epoch.links = links;
    if (st.epoch + 1 < times) inner.epoch.next_passes = context.in_epoch(site, st.epoch + 1).passes;
    if (st.input.resumes(st.epoch)) links->take(inner.passes);  // it was prepared for the start of the epoch
    return inner;
  }
};

erased_stream repeat_loop(outlet out, saved<repeat_state> st, node_ptr plan, repeat_epochs epochs) {
  const open_context& context = epochs.context;
  const std::uint64_t times = epochs.times;
  const std::uint64_t each = known_epoch(plan, context);
  // A declared size is verified by running the plan, so one epoch runs.
  const bool is_said_to_be_empty = cardinality_of(*plan) == cardinality::of(0);
  const bool ends_if_empty = is_said_to_be_empty || (times == kForEver && !shares_epochs(*plan));
  for (; st->epoch < times; ++st->epoch) {
    // At the start of an epoch, whole epochs are skipped by their number.
    if (each && out.to_pass() >= each && st->input.restored.empty()) {
      const std::uint64_t skipped = std::min(out.to_pass() / each, times - st->epoch);
      out.pass(skipped * each);
      st->epoch += skipped;
      if (st->epoch >= times) break;
    }
    open_context inner = epochs.of(*st);
    status why = st->input.open(inner, plan, st->epoch);
    if (!why.ok()) co_await fail(std::move(why));
    erased_stream& in = st->input.in;
    for (;;) {
      std::uint64_t passed = out.pass(demand::kAll);
      auto b = co_await in.next_block({passed, out.wanted(), out.wanted_bytes()});
      if (!b) {
        std::uint64_t missing = passed ? in.skip_left() : 0;
        if (missing < passed) st->any = true;
        out.unpass(std::min(missing, passed));
        break;
      }
      st->any = true;
      co_yield b;
    }
    // As in tf.data, repeat() ends here, since it would loop forever. repeat(n) continues, since the next epoch may
    // have elements.
    if (!st->any && ends_if_empty) break;
    if (!st->any) co_await yield_now();  // n may be large, and no other task has run meanwhile
    st->any = false;
  }
}

erased_stream open_repeat(const node& n, open_context& context) {
  std::int64_t times = n.as<repeat_arguments>().times;
  outlet out(*n.type);
  if (times == 0) return empty_stage(out);
  saved<repeat_state> st;
  repeat_epochs epochs{context, n.site, times < 0 ? kForEver : static_cast<std::uint64_t>(times), {}};
  if (n.history && n.history->overlaps_epochs) epochs.links = std::make_shared<epoch_links>();
  return repeat_loop(out, std::move(st), n.inputs[0], std::move(epochs));
}

/// repeat(1): its only epoch is its input, whose position its record contains.
class absent_repeat final : public absent_stage {
 public:
  absent_repeat() : absent_stage(true) {}
  void save(position_writer& w, std::uint64_t made, std::shared_ptr<const position_writer> input) override {
    w.number(ended_);
    w.number(!ended_ && made != 0);
    if (ended_) w.text({});
    else w.blob(std::move(input));
    // No streams were opened after a mark: the choices of the input are part of its position.
    const inner_openings none;
    none.save(w, none.here());
  }
  void load(position_reader& r, std::uint64_t, std::string& input) override {
    const std::uint64_t epoch = r.number();
    r.number();
    std::string position(r.text());
    inner_openings openings;
    openings.load(r);
    if (epoch > 1) r.fail();
    input = openings.position_of(epoch, std::move(position));
    ended_ = epoch == 1 && input.empty();
  }
  bool has_ended() const override { return ended_; }

 private:
  bool ended_ = false;  // the consumer has skipped the whole epoch, so the input was never opened
};

std::unique_ptr<absent_stage> make_absent_repeat(const node&) { return std::make_unique<absent_repeat>(); }

cardinality repeated(const node& n, cardinality once) {
  std::int64_t times = n.as<repeat_arguments>().times;
  if (times >= 0) return once.times(times);
  return once.kind == cardinality::unknown || once == cardinality::of(0) ? once : cardinality::forever();
}

}  // namespace

const op_info repeat_op{
    .name = "repeat",
    .doc = "the input several times; -1: forever",
    .arguments = arguments_of<repeat_arguments>,
    .type = same_type,
    .facts = {.always = {.forwards = true, .may_fail = false},
              .size = [](const node& n) { return repeated(n, cardinality_of(*n.inputs[0])); },
              .rows = [](const node& n) { return repeated(n, row_cardinality_of(*n.inputs[0])); },
              .seeks = seeks_with_inputs,
              .members = member_use::passed,
              .opens_input_again = true},
    .splits = {.rule = split_rule::repeats},
    .lowering = {.open = open_repeat, .absent = make_absent_repeat},
};

preserving repeat(count_or_all times) { return {repeat_op, arguments::of(repeat_arguments{times})}; }

}  // namespace sluice::lib
