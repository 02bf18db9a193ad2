// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/pad_to_cardinality.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "element/tensors/padding.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "plan/plan_parts.hpp"
#include "sluice/coro/detail/block_fit.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/element/tensor.hpp"
#include "sluice/plan/facts.hpp"

namespace sluice::lib {
namespace {

bool has_named_members(const element_type& t) { return t.kind == kind::structure && !t.whole; }

const member* member_called(const element_type& t, const std::string& name) {
  for (auto& m : t.members)
    if (m.name == name) return &m;
  return nullptr;
}

/// The offsets of the element and of the bool in the output.
struct padded_layout {
  std::size_t element_at = 0, mask_at = 0;
  /// The type that is value-initialised at element_at if no element exists.
  const element_type* element = nullptr;
};

padded_layout mask_layout_of(const element_type& in, const element_type& out, const std::string& mask_key) {
  if (has_named_members(in)) return {0, member_called(out, mask_key)->offset, &in};
  return {out.members[0].offset, out.members[1].offset, &in};
}

status too_many(std::uint64_t n) {
  return failed_precondition_error("the input must be padded to " + std::to_string(n) + " elements, and has more");
}

/// Gives padding elements with tensors the dtypes and shapes of the last valid element, so that all elements stack.
class zero_tensors {
 public:
  explicit zero_tensors(const element_type& in) : members_(padded_members(in)), specs_(members_.size()) {
    std::erase_if(members_, [](const padded_member& m) { return !m.is_tensor(); });
    specs_.resize(members_.size());
  }
  bool has_any() const { return !members_.empty(); }
  void learn(const char* element) {
    for (std::size_t i = 0; i != members_.size(); ++i) {
      auto& t = *std::launder(reinterpret_cast<const tensor*>(element + members_[i].offset));
      specs_[i] = tensor_spec{t.dtype(), tensor_shape(t.shape())};
    }
    has_learnt_ = true;
  }
  /// Completes n elements that were built without a value.
  void put(char* element, std::uint32_t n, std::size_t stride_bytes) const {
    for (std::uint32_t k = 0; has_learnt_ && k != n; ++k, element += stride_bytes)
      for (std::size_t i = 0; i != members_.size(); ++i)
        *std::launder(reinterpret_cast<tensor*>(element + members_[i].offset)) =
            tensor::zeros(specs_[i].dtype, specs_[i].shape);
  }

 private:
  std::vector<padded_member> members_;
  std::vector<tensor_spec> specs_;
  bool has_learnt_ = false;
};

/// The number of padding elements delivered; with tensors, also whether the first element after the position is the
/// last valid one, which was delivered before.
struct padding_state {
  bool has_tensors = false;
  std::uint64_t padded = 0;
  bool last_is_given = false;

  void save(position_writer& w) const {
    w.number(padded);
    if (has_tensors) w.number(last_is_given);
  }
  void load(position_reader& r) {
    padded = r.number();
    if (has_tensors) last_is_given = r.number() != 0;
  }
};

/// Sets the bool of n elements.
void set_mask(char* to, std::uint32_t n, const padded_layout& at, std::size_t stride_bytes, bool is_valid) {
  for (std::uint32_t i = 0; i != n; ++i) std::memcpy(to + i * stride_bytes + at.mask_at, &is_valid, sizeof is_valid);
}

/// `there`: the number of input elements if the plan declares it, else 0.
erased_stream pad_to_cardinality_loop(outlet out, saved<padding_state> st, erased_stream in, std::uint64_t n,
                                      std::uint64_t there, padded_layout at, error_gate gate) {
  const element_type& type = out.type();
  block_fit fit(type);
  zero_tensors zeros(in.type());
  if (zeros.has_any()) in.may_go_back();
  if (st->last_is_given) {
    bool found = co_await in.ready({0, 1});
    if (!found) co_await fail(damaged_position());
    zeros.learn(in.peek().data());
    in.drop(1);
  }
  while (st->padded == 0) {
    // The last valid element must be read, because it determines the shape of the padding.
    const std::uint64_t unseen = !zeros.has_any() ? demand::kAll : there - std::min(there, in.consumed() + 1);
    const std::uint64_t passed = out.pass(unseen);
    // Requests no more elements than the limit, or one that shows an excess, so that no view is left over at a
    // co_yield.
    const std::uint64_t may_come = n - std::min(n, in.consumed() + passed);
    const auto asked = std::max<std::uint32_t>(1, fit.at_most(out.wanted_of(may_come)));
    bool more = co_await in.ready({passed, asked, out.wanted_bytes()});
    if (!more && passed) out.unpass(in.skip_left());
    const std::uint64_t before = in.consumed(), all = before + in.left();
    if (!more && all <= n) break;
    const auto k =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(std::min(in.left(), out.wanted()), n - std::min(n, before)));
    if (k == 0) {
      if (before > n) out.unpass(std::min(passed, before - n));
      status located = gate.located(too_many(n));
      co_await fail(std::move(located));
    }
    char* to = out.room(k);
    in.move_to(to + at.element_at, k, type.size);
    set_mask(to, k, at, type.size, true);
    block made = out.made(k);
    fit.made(made, out.wanted_bytes());
    if (zeros.has_any()) {
      zeros.learn(to + (k - 1) * type.size + at.element_at);
      st->last_is_given = true;
      in.hold_from(in.consumed() - 1);
    }
    co_yield made;
  }
  if (in.consumed() > n || st->padded > n - in.consumed()) co_await fail(damaged_position());
  const std::uint64_t missing = n - in.consumed();
  while (st->padded != missing) {
    st->padded += out.pass(missing - st->padded);
    const std::uint32_t k = fit.at_most(out.wanted_of(missing - st->padded));
    if (k == 0) break;
    char* to = out.room(k);
    at.element->construct(*at.element, to + at.element_at, k, type.size);
    set_mask(to, k, at, type.size, false);
    out.made(k);
    zeros.put(to + at.element_at, k, type.size);
    st->padded += k;
    co_yield out.made(k);
  }
}

erased_stream open_pad_to_cardinality(const node& n, open_context& context) {
  auto& a = n.as<pad_to_cardinality_arguments>();
  outlet out(*n.type);
  padding_state start;
  start.has_tensors = zero_tensors(*n.inputs[0]->type).has_any();
  saved<padding_state> st(start);
  padded_layout at = mask_layout_of(*n.inputs[0]->type, *n.type, a.options.mask_key);
  const cardinality size = cardinality_of(*n.inputs[0]);
  const bool is_known = size.kind == cardinality::exact && context.on_error == error_policy::stop;
  return pad_to_cardinality_loop(out, std::move(st), context.open(n.inputs[0]),
                                 static_cast<std::uint64_t>(a.elements.value),
                                 is_known ? static_cast<std::uint64_t>(size.elements) : 0, at, context.gate(n));
}

/// Returns true if no element of `n` can be bad, so that no stage downstream drops elements. A stage that keeps the
/// type and has no function passes its elements on.
bool drops_nothing(const node& n) {
  bool has_function = false;
  for_each_function(n, [&](const function_ptr&) { has_function = true; });
  if (n.op->shape == op_info::source) return true;
  const bool may_drop = facts_of(n).may_fail && (has_function || n.inputs[0]->type != n.type);
  return !may_drop &&
         std::all_of(n.inputs.begin(), n.inputs.end(), [](const node_ptr& in) { return drops_nothing(*in); });
}

/// Returns a structure of the input's members and the bool, with the members' layout unchanged.
const element_type* with_mask(const element_type& in, const std::string& mask_key, std::string& why) {
  if (mask_key.empty()) return why = "mask_key is empty: the member needs a name", nullptr;
  if (const member* known = member_called(in, mask_key)) {
    if (known->type == &type_of<bool>()) return &in;
    return why = "the member " + mask_key + " marks valid elements, so it must be a bool, not " + known->type->name +
                 "; name another member with mask_key",
           nullptr;
  }
  std::vector<member> members = in.members;
  members.push_back({mask_key, 0, &type_of<bool>()});
  const element_type* out = struct_of("", std::move(members));
  for (std::size_t i = 0; i != in.members.size(); ++i)
    if (out->members[i].offset != in.members[i].offset || out->size < in.size)
      return why = "no member can be added to " + in.name + ", which is laid out in its own way", nullptr;
  return out;
}

const element_type* masked_type(const node& n, std::string& why) {
  auto& a = n.as<pad_to_cardinality_arguments>();
  const element_type& in = *n.inputs[0]->type;
  if (!in.construct) return why = "elements of " + in.name + " cannot be made without a value", nullptr;
  cardinality there = cardinality_of(*n.inputs[0]);
  if (there.kind == cardinality::infinite) return why = "the input never ends, so there is nothing to pad", nullptr;
  if (a.elements.value < 0)
    return why = "elements must be at least 0, and is " + std::to_string(a.elements.value), nullptr;
  if (there.kind == cardinality::exact && there.elements > a.elements.value && drops_nothing(*n.inputs[0])) {
    why = "the input has " + std::to_string(there.elements) +
          " elements, more than elements=" + std::to_string(a.elements.value);
    return nullptr;
  }
  if (has_named_members(in)) return with_mask(in, a.options.mask_key, why);
  if (a.options.mask_key != pad_to_cardinality_options().mask_key)
    return why = "mask_key names a member, and " + in.name + " has none: the element becomes a pair", nullptr;
  return pair_of(&in, &type_of<bool>());
}

}  // namespace

const op_info pad_to_cardinality_op{
    .name = "pad_to_cardinality",
    .doc = "appends invalid elements until there are n",
    .arguments = arguments_of<pad_to_cardinality_arguments>,
    .type = masked_type,
    .spec =
        [](const node& n) {
          spec s = same_spec(n), all = spec_of(*n.type);
          if (n.type == n.inputs[0]->type) return s;
          if (!has_named_members(*n.inputs[0]->type)) all.parts[0] = std::move(s);
          else std::move(s.parts.begin(), s.parts.end(), all.parts.begin());
          return all;
        },
    .facts = {.size = [](const node& n) { return cardinality::of(n.as<pad_to_cardinality_arguments>().elements); },
              // An input with more elements than n is an error, which a skip to the end must not pass.
              .seeks =
                  [](const node& n) {
                    const cardinality in = cardinality_of(*n.inputs[0]);
                    return in.kind == cardinality::exact &&
                           in.elements <= n.as<pad_to_cardinality_arguments>().elements;
                  }},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_pad_to_cardinality},
};

node_ptr detail::padded_in_place(const node_ptr& in, const pad_to_cardinality_arguments& a) {
  node_ptr made = make_stage(pad_to_cardinality_op, arguments::of(a), in);
  if (made->type == in->type) return made;
  throw_status(invalid_argument_error("pad_to_cardinality: " + in->type->name + " needs a member `bool " +
                                      a.options.mask_key + "`, which marks valid elements"));
}

}  // namespace sluice::lib
