// SPDX-License-Identifier: Apache-2.0
// Expressions as what flat_map and interleave open: the elements of the list that one is, flat_map([it, -it]). flat_map makes one list
// after the other, and opens nothing for it.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "element/blocks.hpp"
#include "engine/elements_of_lists.hpp"
#include "engine/expression_forms.hpp"
#include "engine/stored_elements.hpp"
#include "expr/tree.hpp"
#include "expr/type_limits.hpp"
#include "plan/arguments_of.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/engine/functions.hpp"

namespace sluice::lib {

namespace {

/// The elements of one list.
struct listed_elements final : elements_function {
  slab list;
  const void* items = nullptr;
  std::size_t n = 0;

  /// `made`: holds the list.
  explicit listed_elements(slab made) : list(std::move(made)) {
    const element_type& t = list.type();
    out = t.element;
    n = t.extent;
    items = t.kind == kind::list ? t.items(t, list.begin(), n) : list.begin();
  }
  std::size_t size() const override { return n; }
  void copy(std::size_t first, std::size_t many, void* to) const override {
    out->copy(*out, to, static_cast<const char*>(items) + first * out->size, many, out->size, out->size);
  }
};

struct list_arguments {
  function_arg<listed_elements> elements = {};
};

erased_stream open_list(const node& n, open_context& context) {
  const function_ptr& elements = n.as<list_arguments>().elements.value;
  const slab& list = static_cast<const listed_elements&>(*elements).list;
  auto memory = std::make_shared<held_memory>(context.run, purpose::state, "interleave", "the lists that are open",
                                              "lower cycle_length");
  status fits = memory->resize(list.type().size + list.type().footprint(list.type(), list.begin(), 1));
  if (!fits.ok()) throw error(std::move(fits));
  return stored_elements(elements, std::move(memory));
}

/// No plan says it: it is opened for an element only.
const op_info list_op{
    .name = "elements of a list",
    .doc = "the elements of a list",
    .shape = op_info::source,
    .arguments = arguments_of<list_arguments>,
    .type = [](const node& n, std::string&) { return n.as<list_arguments>().elements.value->out; },
    .open = open_list,
};

struct expression_list final : plan_function, opens_lists {
  compiled_expression c;

  expression_list(const expression& e, const element_type& in_type, const element_type* wanted, function_ptr map)
      : c(e, in_type, wanted, {.is_looked_at = true}) {
    lists = std::move(map);
    const element_type& list = c.p->type();
    if (!is_list(list))
      throw expression_error(
          e.tree().at, absl::StrCat("an expression that is opened for each element is a list or an array, and ",
                                    expressions::cut(e.text()), " is ", expressions::shown(list),
                                    "; what else there is: a reader, or a registered function that returns a dataset"));
    if (!list.element->copy)
      throw expression_error(e.tree().at,
                             absl::StrCat("elements of ", expressions::shown(*list.element), " cannot be copied"));
    describe_expression(*this, e, c, list.element);
    captured = c.used.values();
  }

  node_ptr plan_for(void* element) const override {
    slab made(c.p->type());
    status why;
    if (c.p->apply(static_cast<char*>(element), 1, made.reserve(1), 0, 0, why) == 0) throw error(std::move(why));
    made.set_live(0, 1);
    function_ptr elements = std::make_shared<listed_elements>(std::move(made));
    return make_source(list_op, arguments::of(list_arguments{std::move(elements)}));
  }
};

}  // namespace

function_ptr make_expression_list(const expression& e, const element_type& in, const element_type* wanted,
                                  function_ptr map) {
  return std::make_shared<expression_list>(e, in, wanted, std::move(map));
}

}  // namespace sluice::lib
