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
  const bool is_empty = !o.on_error && !o.order && !o.optimize.is_given() && o.rules.list.empty() &&
                        !o.trust.is_given() && !o.cpu_budget.is_given() && !o.warm_start.is_given() &&
                        !o.statistics.is_given() && !o.external_state.is_given();
  if (is_empty)
    why =
        "needs an option: on_error, order, optimize, rules, trust, cpu_budget, warm_start, statistics or "
        "external_state";
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

class external_state_setting_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override {
    if (get(p).is_given()) state().print(&get(p).value, to);
    else to.nothing();
  }
  void read(void* p, const argument& a, reading& r) const override {
    external_state_setting read;
    if (a.kind != argument::null && a.text != "nothing") {
      external_state value{};
      state().read(&value, a, r);
      read = value;
    }
    *static_cast<external_state_setting*>(p) = read;
  }
  std::string check(const void* p) const override { return get(p).is_given() ? state().check(&get(p).value) : ""; }
  bool is_knob() const override { return true; }
  bool equal(const void* a, const void* b) const override {
    return get(a).is_given() == get(b).is_given() && get(a).value == get(b).value;
  }
  std::string type_name() const override { return state().type_name() + " or nothing"; }

 private:
  static const external_state_setting& get(const void* p) { return *static_cast<const external_state_setting*>(p); }
  static const codec& state() { return codec_of<external_state>(); }
};

class rule_settings_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override { list_.print(&get(p), to); }
  void read(void* p, const argument& a, reading& r) const override {
    list_.read(&static_cast<rule_settings*>(p)->list, a, r);
  }
  /// Optimizing the plan checks the names: operators do not know the rules.
  std::string check(const void* p) const override {
    for (const std::string& setting : get(p))
      if (!setting.ends_with("=on") && !setting.ends_with("=off"))
        return " must be a list of texts such as \"push_take=off\" and \"push_take=on\", and has \"" + setting + "\"";
    return {};
  }
  bool is_knob() const override { return true; }
  bool equal(const void* a, const void* b) const override { return get(a) == get(b); }
  std::string type_name() const override { return "list of NAME=on, NAME=off"; }

 private:
  static const std::vector<std::string>& get(const void* p) { return static_cast<const rule_settings*>(p)->list; }
  const detail::list_codec<std::string> list_;
};

class worker_limit_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override {
    if (get(p).is_given()) to.plain(std::to_string(get(p).value));
    else to.nothing();
  }
  void read(void* p, const argument& a, reading& r) const override {
    auto& field = *static_cast<worker_limit*>(p);
    if (a.kind == argument::null || a.text == "nothing") {
      field = worker_limit();
      return;
    }
    std::int64_t value = 0;
    codec_of<std::int64_t>().read(&value, a, r);
    field = worker_limit(value);
  }
  std::string check(const void* p) const override {
    const worker_limit& l = get(p);
    return l.is_given() && l.value < 1 ? " must be at least 1, and is " + std::to_string(l.value) : std::string();
  }
  bool is_knob() const override { return true; }
  bool equal(const void* a, const void* b) const override {
    return get(a).is_given() == get(b).is_given() && get(a).value == get(b).value;
  }
  std::string type_name() const override { return "count or nothing"; }

 private:
  static const worker_limit& get(const void* p) { return *static_cast<const worker_limit*>(p); }
};

}  // namespace

template <> const codec& codec_of<rule_settings>() {
  static const rule_settings_codec c;
  return c;
}

template <> const codec& codec_of<worker_limit>() {
  static const worker_limit_codec c;
  return c;
}

template <> const codec& codec_of<external_state_setting>() {
  static const external_state_setting_codec c;
  return c;
}

template <> const codec& codec_of<run_switch>() {
  static const run_switch_codec c;
  return c;
}

const op_info with_options_op{
    .name = "with_options",
    .doc = "error policy, order, rewriting and work of the stages upstream",
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
              .members = member_use::passed,
              .sets_error_policy = true,
              .options = [](const node& n) -> const dataset_options& {
                return n.as<with_options_arguments>().options;
              }},
    .splits = {.rule = split_rule::settings},
    .lowering = {.open = open_with_options},
};

preserving with_options(dataset_options o) { return {with_options_op, arguments::of(with_options_arguments{o})}; }

}  // namespace sluice::lib
