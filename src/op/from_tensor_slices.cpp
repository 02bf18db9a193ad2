// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/from_tensor_slices.hpp"

#include <memory>

#include "engine/data/stored_elements.hpp"
#include "engine/data/tensor_literal.hpp"
#include "engine/lowering/element_specs.hpp"
#include "plan/codecs/arguments_of.hpp"

namespace sluice::lib {
namespace {

const tensor_data& sliced(const node& n) { return n.as<from_tensor_slices_arguments>().tensors.data(); }

/// The slices as elements in memory.
struct slices final : elements_function {
  function_ptr data;  ///< a tensor_data
  explicit slices(const node& n) : data(n.as<from_tensor_slices_arguments>().tensors.value) { out = n.type; }
  std::size_t size() const override { return static_cast<const tensor_data&>(*data).slices(); }
  void copy(std::size_t first, std::size_t n, void* to) const override {
    static_cast<const tensor_data&>(*data).make_slices(first, n, to);
  }
};

}  // namespace

const op_info from_tensor_slices_op{
    .name = "from_tensor_slices",
    .doc = "the slices of tensors along their first dimension",
    .shape = op_info::source,
    .arguments = arguments_of<from_tensor_slices_arguments>,
    .type = [](const node& n, std::string& why) { return sliced(n).slice_type(why); },
    .spec =
        [](const node& n) {
          if (sliced(n).slices() == 0) return spec_of(*n.type);
          return spec_of_made(*n.type, [&](void* to) { sliced(n).make_slices(0, 1, to); });
        },
    .facts = {.always = {.may_fail = false},
              .size = [](const node& n) { return cardinality::of_many(sliced(n).slices()); },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::numbered},
    .lowering = {.open = [](const node& n, open_context&) { return stored_elements(std::make_shared<slices>(n)); }},
};

}  // namespace sluice::lib
