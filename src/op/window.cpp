// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/window.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "element/spec_parts.hpp"
#include "engine/batching/windows.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

namespace {

/// Builds lists of elements.
class list_windows final : public window_form {
 public:
  explicit list_windows(const element_type& list) : list_(list) {}
  status form(held_elements& held, std::uint64_t n, std::uint64_t moved, std::uint64_t stride, held_memory& memory,
              char* to, std::size_t& made_bytes, std::uint64_t&, std::uint64_t) override {
    const element_type& type = held.type();
    std::size_t copied_bytes =
        moved == n ? 0 : held.owned_bytes(held.at(moved * stride), n - moved, stride * type.size);
    std::size_t bytes = n * type.size + copied_bytes;
    status fits = memory.change(bytes, 0);
    if (fits.ok()) made_bytes = bytes + held.collect(list_, to, 0, n, moved, stride);
    else memory.shrink_by(bytes);
    return fits;
  }

 private:
  const element_type& list_;
};

erased_stream open_window(const node& n, open_context& context) {
  outlet out(*n.type);
  return windows_loop(out, context.open(n.inputs[0]), shape_of(n.as<window_arguments>()),
                      std::make_unique<list_windows>(*n.type), context.run, context.gate(n));
}

const element_type* list_of_input(const node& n, std::string& why) {
  const element_type& in = *n.inputs[0]->type;
  why = window_mistake(shape_of(n.as<window_arguments>()), in);
  if (!why.empty()) return nullptr;
  const element_type* list = list_of(&in);
  if (!list)
    why = "there is no list of " + in.name +
          " here (of numbers, texts and records there is): batch groups them as columns, and in C++ window takes any "
          "element";
  return list;
}

}  // namespace

const op_info window_op{
    .name = "window",
    .doc = "lists of consecutive elements; each begins some elements later",
    .arguments = arguments_of<window_arguments>,
    .make_canonical = leave_out_usual_shift<window_arguments>,
    .type = list_of_input,
    .spec =
        [](const node& n) {
          auto& a = n.as<window_arguments>();
          return spec_of_list(element_spec_of(*n.inputs[0]), a.options.drop_remainder ? a.size.value : spec::kUnknown);
        },
    .facts = {.always = {.outputs = output_count::one_per_group, .keeps_order = true, .skips_inputs = true},
              .size =
                  [](const node& n) {
                    return windows_of(cardinality_of(*n.inputs[0]), shape_of(n.as<window_arguments>()));
                  },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::groups},
    .lowering = {.open = open_window},
};

}  // namespace sluice::lib
