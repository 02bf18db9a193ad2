// SPDX-License-Identifier: Apache-2.0
#include "engine/lowering/user_stage.hpp"

#include <utility>

#include "engine/lowering/plain_stages.hpp"
#include "sluice/coro/element_stage.hpp"

namespace sluice::lib {

erased_stream make_user_stage(const function_ptr& function, erased_stream in, status& why) {
  auto& f = static_cast<const stream_function&>(*function);
  erased_stream made;
  const stage_base* source = in ? in.stage() : nullptr;
  try {
    made = f.open(std::move(in));
    if (!made) why = failed_precondition_error("the function returned an empty stream instead of a coroutine's");
  } catch (...) { why = current_exception_status(); }
  why = why.in_stage(f.label);
  // The function may have built several coroutines, each reading the next.
  for (stage_base* s = made.stage(); s && s != source; s = s->input_stage()) {
    s->set_label(f.label);
    s->keep(function);
    element_stage* own = element_stage::of(s);
    if (own && source && s->input_stage() == source) own->number_errors();
  }
  return made;
}

erased_stream open_user_stage(const node& n, const function_ptr& function, erased_stream in) {
  status why;
  erased_stream made = make_user_stage(function, std::move(in), why);
  if (made) return made;
  outlet out(*n.type);
  return failed_stage(out, std::move(why));
}

}  // namespace sluice::lib
