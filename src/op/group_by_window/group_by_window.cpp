// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/group_by_window.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "engine/batching/grouping.hpp"
#include "engine/data/given_elements.hpp"
#include "engine/held/held_elements.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "expr/functions/numbers.hpp"
#include "op/group_by_window/window_groups.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {

namespace {

/// The number of elements requested at once. A resume returns to the beginning of a block, so it is small for keys that
/// cost more than a share of a request; the key of a number costs about a nanosecond.
constexpr std::uint32_t kGroupedAtOnce = 256, kNumbersAtOnce = 512;

std::uint32_t asked_at_once(const element_type& t) {
  return owns_nothing(t) ? static_cast<std::uint32_t>(std::min<std::uint64_t>(grouped_at_once(t), kNumbersAtOnce))
                         : kGroupedAtOnce;
}

/// Returns true for a function of a key, or of a structure with a single member `key`: both have the same bytes.
bool sizes_windows_form(const stage_function& f) {
  return dynamic_cast<const block_function*>(&f) != nullptr && !f.draws;
}
const element_type* named_key(const element_type& key) { return struct_of({}, {{"key", 0, &key}}); }

class window_size_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override {
    if (get(p)) to.function(*get(p));
  }
  void read(void* p, const argument& a, reading& r) const override {
    static_cast<window_size_function*>(p)->value = r.function(a, sizes_windows_form, kWanted);
  }
  bool equal(const void* a, const void* b) const override { return one().equal(a, b); }
  /// A function that is not bound yet is bound by make_canonical, when the key's type is known.
  void visit(const void* p, part_visitor& v) const override {
    if (get(p) && !dynamic_cast<const unbound_function*>(get(p).get())) v.function(get(p));
  }
  bool takes_function(const stage_function& f) const override { return sizes_windows_form(f); }
  bool takes_functions() const override { return true; }
  std::string type_name() const override { return "function of the key"; }

 private:
  static constexpr const char* kWanted = "a function of the key, such as key + 1";
  static const codec& one() { return codec_of<function_arg<block_function>>(); }
  static const function_ptr& get(const void* p) { return static_cast<const window_size_function*>(p)->value; }
};

}  // namespace

template <> const codec& codec_of<window_size_function>() {
  static const window_size_codec c;
  return c;
}

namespace {

erased_stream group_by_window_loop(outlet out, saved<saved_windows> kept, erased_stream in, node_ptr reduce,
                                   open_context inside, std::uint32_t site, error_gate gate) {
  window_groups& groups = *kept->groups;
  const bool moves = moves_given(*reduce, in.type());
  const std::uint32_t at_once = asked_at_once(in.type());
  in.hold_from(in.consumed());
  auto fetching = fetch_groups(groups, in);
  co_await fetching;
  for (bool ended = false;;) {
    if (groups.is_leaving()) {
      in.hold_from(groups.oldest());
      status why = groups.open_leaving(inside, site, reduce, moves);
      if (!why.ok()) co_await fail(std::move(why));
      for (;;) {
        const std::uint64_t passed = out.pass(demand::kAll);
        auto b = co_await groups.leaving().next_block({passed, out.wanted(), out.wanted_bytes()});
        if (!b) {
          if (passed) out.unpass(std::min(passed, groups.leaving().skip_left()));
          break;
        }
        co_yield b;
      }
      groups.close_leaving();
      in.hold_from(groups.oldest());
      co_await out.breath();
      continue;
    }
    if (groups.is_full() || (ended && !groups.empty())) {
      groups.let_leave();
      continue;
    }
    if (ended) break;
    bool more = co_await in.ready({0, at_once});
    ended = !more;
    if (ended && in.skip_left()) co_await fail(shorter_input(in.consumed(), groups.next(), gate.label()));
    if (ended) continue;
    applied a = groups.take(in);
    if (a.why.ok()) continue;
    auto settled = gate.settle(out, a.why, groups.next());
    co_await settled;
    groups.pass_bad(in);
  }
}

erased_stream open_group_by_window(const node& n, open_context& context) {
  auto& a = n.as<group_by_window_arguments>();
  outlet out(*n.type);
  error_gate gate = context.gate(n);
  open_context inside = context.inside_of(n);
  inside.depth += n.depth;
  saved<saved_windows> groups(saved_windows{std::make_unique<window_groups>(a, *n.inputs[0]->type, context.run, gate)});
  return group_by_window_loop(out, std::move(groups), context.open(n.inputs[0]), a.reduce.plan, std::move(inside),
                              n.site, std::move(gate));
}

/// The advice for an expression that uses `it` as the key.
constexpr const char* kKeyIsCalled = ", where the key is `key`: write key + 1, and not it + 1";

std::string size_mistake(const group_by_window_arguments& a) {
  const function_ptr& f = a.options.window_size_func.value;
  if (a.window_size && f) return "window_size and window_size_func both set the size of a group";
  if (!a.window_size && !f) return "needs window_size, or window_size_func";
  if (!f) return {};
  const element_type& key = *a.key.value->out;
  if (f->in != &key && f->in != named_key(key))
    return "window_size_func expects " + f->in->name + ", and gets the key, " + key.name;
  if (f->out == named_key(key) && f->out != &key)
    return "window_size_func has to give a whole number, and gives " + f->out->name + kKeyIsCalled;
  if (!expressions::is_integer(expressions::number_of(*f->out)))
    return "window_size_func has to give a whole number, and gives " + f->out->name;
  return {};
}

const element_type* type_of_windows(const node& n, std::string& why) {
  auto& a = n.as<group_by_window_arguments>();
  type_of_function(n, a.key.value, why);
  if (why.empty()) why = size_mistake(a);
  return why.empty() ? a.reduce.plan->type : nullptr;
}

/// Binds an expression of the key to the key's type.
void bind_window_size(arguments& given) {
  auto& size = given.as<group_by_window_arguments>().options.window_size_func.value;
  auto* unbound = dynamic_cast<const unbound_function*>(size.get());
  if (!unbound) return;
  group_by_window_arguments a = given.as<group_by_window_arguments>();
  try {
    a.options.window_size_func.value = unbound->bind({*named_key(*a.key.value->out)}, sizes_windows_form);
  } catch (const expression_error& e) {
    std::string what = "group_by_window: window_size_func: " + e.message();
    if (e.message().find("`it` is " + named_key(*a.key.value->out)->name) != std::string::npos) what += kKeyIsCalled;
    throw expression_error(e.column(), what);
  }
  given = arguments::of(std::move(a));
}

}  // namespace

const op_info group_by_window_op{
    .name = "group_by_window",
    .doc = "groups elements by key and opens a dataset for each group",
    .arguments = arguments_of<group_by_window_arguments>,
    .make_canonical = bind_window_size,
    .type = type_of_windows,
    .spec = [](const node& n) { return element_spec_of(*n.as<group_by_window_arguments>().reduce.plan); },
    .facts = {.size =
                  [](const node& n) {
                    cardinality in = cardinality_of(*n.inputs[0]);
                    return in.kind == cardinality::infinite ? in : cardinality();
                  }},
    .splits = {.rule = split_rule::groups},
    .lowering = {.open = open_group_by_window},
};

}  // namespace sluice::lib
