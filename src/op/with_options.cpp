// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/with_options.hpp"

#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {
namespace {

erased_stream open_with_options(const node& n, open_context& context) {
  return context.with_options(n, n.as<with_options_arguments>().options).open(n.inputs[0]);
}

const element_type* type_with_options(const node& n, std::string& why) {
  const dataset_options& o = n.as<with_options_arguments>().options;
  if (!o.on_error && !o.order && !o.optimize.is_given()) why = "needs an option: on_error, order or optimize";
  if (o.errors_max.is_given() && o.on_error != error_policy::skip) why = "errors_max needs on_error=skip";
  return why.empty() ? n.inputs[0]->type : nullptr;
}

cardinality size_with_options(const node& n) {
  cardinality in = cardinality_of(*n.inputs[0]);
  bool may_drop = n.as<with_options_arguments>().options.on_error == error_policy::skip;
  return may_drop && in != cardinality::of(0) ? cardinality{} : in;
}

/// Returns true unless stages upstream drop bad elements or deliver elements as they are ready.
bool keeps_numbers(const node& n) {
  const dataset_options& o = n.as<with_options_arguments>().options;
  return o.on_error != error_policy::skip && o.order != order::sloppy;
}

class run_switch_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override {
    if (get(p).is_given()) to.plain(get(p).is_on() ? "true" : "false");
    else to.nothing();
  }
  void read(void* p, const argument& a, reading& r) const override {
    auto& field = *static_cast<run_switch*>(p);
    const bool is_nothing = a.kind == argument::null || a.text == "nothing";
    if (!is_nothing && a.text != "true" && a.text != "false") r.expected(a, "true or false");
    field = is_nothing ? run_switch() : run_switch(a.text == "true");
  }
  bool is_knob() const override { return true; }
  bool equal(const void* a, const void* b) const override { return get(a).value == get(b).value; }
  std::string type_name() const override { return "bool or nothing"; }

 private:
  static const run_switch& get(const void* p) { return *static_cast<const run_switch*>(p); }
};

}  // namespace

template <> const codec& codec_of<run_switch>() {
  static const run_switch_codec c;
  return c;
}

const op_info with_options_op{
    .name = "with_options",
    .doc = "error policy, order and rewriting of the stages upstream",
    .arguments = arguments_of<with_options_arguments>,
    .type = type_with_options,
    .spec = same_spec,
    .facts = {.always = {.outputs = output_count::at_most_one_per_input,
                         .forwards = true,
                         .keeps_order = true,
                         .may_fail = false,
                         .uses_place = false},
              .size = size_with_options,
              .seeks = keeps_numbers,
              .sets_error_policy = true,
              .options = [](const node& n) -> const dataset_options& {
                return n.as<with_options_arguments>().options;
              }},
    .lowering = {.open = open_with_options},
};

preserving with_options(dataset_options o) { return {with_options_op, arguments::of(with_options_arguments{o})}; }

}  // namespace sluice::lib
