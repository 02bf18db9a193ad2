// SPDX-License-Identifier: Apache-2.0
#include "engine/types.hpp"

namespace sluice::lib {

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

bool is_parallelism(knob k, std::string& why) {
  if (k.value <= kParallelismMax) return true;
  why = "parallelism must be at most " + std::to_string(kParallelismMax) + ", and is " + std::to_string(k.value);
  return false;
}

}  // namespace sluice::lib
