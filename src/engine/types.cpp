// SPDX-License-Identifier: Apache-2.0
#include "engine/types.hpp"

namespace sluice::lib {

const element_type* same_type(const node& n, std::string&) { return n.inputs[0]->type; }

const element_type* type_of_inputs(const node& n, std::size_t inputs, std::string& why) {
  const element_type* type = n.inputs[0]->type;
  for (std::size_t i = 1; i != inputs; ++i) {
    if (n.inputs[i]->type == type) continue;
    why = "the inputs have one type, and input " + std::to_string(i + 1) + " gives " + n.inputs[i]->type->name +
          " where the first gives " + type->name;
    return nullptr;
  }
  return type;
}

const element_type* type_of_function(const node& n, const function_ptr& f, std::string& why) {
  if (!n.inputs.empty() && f->in != n.inputs[0]->type) {
    why = "expects " + f->in->name + ", and gets " + n.inputs[0]->type->name;
    return nullptr;
  }
  return f->out;
}

const element_type* type_of_inner(const node& n, const plan_or_function& inner, std::string& why) {
  if (!inner.plan) return type_of_function(n, inner.function, why);
  if (!n.inputs[0]->type->text) {
    why = "a reader takes paths (strings), and gets " + n.inputs[0]->type->name;
    return nullptr;
  }
  return inner.plan->type;
}

}  // namespace sluice::lib
