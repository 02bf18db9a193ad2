// SPDX-License-Identifier: Apache-2.0
// The codec of plans that lack their input.
#include "sluice/plan/stage_plan.hpp"

#include <utility>

#include "plan/codecs/arguments_of.hpp"
#include "sluice/plan/function.hpp"

namespace sluice::lib {

namespace {

/// The function that unread stages are bound to.
struct read_stages final : stage_function {
  node_ptr plan;
};

/// Stages as they are written, until their element type is known.
struct unread_stages final : unbound_function {
  argument written;
  const reading::lookup& known;
  unread_stages(argument a, const reading::lookup& l) : written(std::move(a)), known(l) {}

  function_ptr bind(const bind_context& context, bool (*)(const stage_function&)) const override {
    auto made = std::make_shared<read_stages>();
    made->plan = known.stages(written, given_elements(context.in));
    if (made->plan->inputs.empty())
      throw misplaced{written.at, "expects stages, such as batch(5), and the text has none"};
    return made;
  }
};

class stage_plan_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override {
    if (get(p).plan) to.plan(*get(p).plan);
  }
  void read(void* p, const argument& a, reading& r) const override {
    bool may_be = a.kind == argument::plan || a.kind == argument::word || a.kind == argument::object;
    if (!may_be) r.expected(a, kWanted);
    static_cast<stage_plan*>(p)->unread = std::make_shared<unread_stages>(a, r.known());
  }
  bool is_missing(const void* p) const override { return !get(p).plan && !get(p).unread; }
  void bind(void* p, bind_context& context) const override {
    auto& stages = *static_cast<stage_plan*>(p);
    if (!stages.unread) return;
    function_ptr unread = std::exchange(stages.unread, nullptr);
    function_ptr made = static_cast<const unread_stages&>(*unread).bind(context, nullptr);
    stages.plan = static_cast<const read_stages&>(*made).plan;
  }
  bool equal(const void* a, const void* b) const override {
    const node_ptr &x = get(a).plan, &y = get(b).plan;
    return x && y ? same_plan(*x, *y) : x == y && get(a).unread == get(b).unread;
  }
  void visit(const void* p, part_visitor& v) const override {
    if (get(p).plan) v.plan(get(p).plan);
    if (get(p).unread) v.function(get(p).unread);
  }
  bool takes_plan() const override { return true; }
  std::string type_name() const override { return "stages"; }
  std::string wanted(std::string_view name) const override {
    return std::string(kWanted) + " for " + std::string(name);
  }

 private:
  static constexpr const char* kWanted = "stages, such as batch(5)";
  static const stage_plan& get(const void* p) { return *static_cast<const stage_plan*>(p); }
};

}  // namespace

template <> const codec& codec_of<stage_plan>() {
  static const stage_plan_codec c;
  return c;
}

}  // namespace sluice::lib
