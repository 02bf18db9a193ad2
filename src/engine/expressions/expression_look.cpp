// SPDX-License-Identifier: Apache-2.0
// Expressions that are computed for their effects or errors: inspect(check(it)).
#include <algorithm>
#include <memory>

#include "engine/expressions/expression_forms.hpp"
#include "sluice/engine/detail/look_functions.hpp"

namespace sluice::lib {

namespace {

struct expression_look final : look_function {
  compiled_expression c;

  expression_look(const expression& e, const element_type& in_type) : c(e, in_type, nullptr, {.is_looked_at = true}) {
    describe_expression(*this, e, c, &in_type);
    captured = c.used.values();
  }

  applied look(const block& elements) const override {
    const element_type& t = c.p->type();
    constexpr std::uint32_t kAtOnce = 256;
    const std::uint32_t most = std::min(elements.size(), kAtOnce);
    std::unique_ptr<char[]> bytes(new char[most * t.size + t.align]);
    void* at = bytes.get();
    std::size_t space = most * t.size + t.align;
    auto* values = static_cast<char*>(std::align(t.align, most * t.size, at, space));
    applied a;
    while (a.done != elements.size() && a.why.ok()) {
      std::uint32_t n = std::min(elements.size() - a.done, most);
      std::uint32_t made = c.p->apply(elements.at(a.done), n, values, 0, 0, a.why);
      if (!t.trivially_destroyed) t.destroy(t, values, made);
      a.done += made;
    }
    return a;
  }
};

}  // namespace

function_ptr make_expression_look(const expression& e, const element_type& in) {
  return std::make_shared<expression_look>(e, in);
}

}  // namespace sluice::lib
