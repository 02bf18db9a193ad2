// SPDX-License-Identifier: Apache-2.0
// Lists of expressions that flat_map and interleave open: flat_map([it, -it]). flat_map builds one list after another
// and opens no plan for it.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/data/stored_elements.hpp"
#include "engine/expressions/expression_forms.hpp"
#include "engine/inner/elements_of_lists.hpp"
#include "expr/checking/type_limits.hpp"
#include "expr/tree.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {

namespace {

/// The elements of one list.
struct listed_elements final : elements_function {
  made_list list;
  /// `lists`: the function that builds the list.
  explicit listed_elements(const function_ptr& lists) : list(lists) { out = lists->out->element; }
  std::size_t size() const override { return list.size(); }
  void copy(std::size_t first, std::size_t n, void* to) const override { list.copy(first, n, to); }
};

struct list_arguments {
  function_arg<listed_elements> elements = {};
};

erased_stream open_list(const node& n, open_context& context) {
  const function_ptr& elements = n.as<list_arguments>().elements.value;
  auto memory = std::make_shared<held_memory>(context.run, context.site(n).line(purpose::state), "interleave",
                                              "the lists that are open", "lower cycle_length");
  status fits = memory->resize(static_cast<const listed_elements&>(*elements).list.bytes());
  if (!fits.ok()) throw error(std::move(fits));
  return stored_elements(elements, std::move(memory));
}

/// No plan contains this source: it is opened only for an element.
const op_info list_op{
    .name = "elements of a list",
    .doc = "the elements of a list",
    .shape = op_info::source,
    .arguments = arguments_of<list_arguments>,
    .type = [](const node& n, std::string&) { return n.as<list_arguments>().elements.value->out; },
    .lowering = {.open = open_list},
};

struct expression_list final : plan_function, opens_lists {
  expression_list(const expression& e, const element_type& in_type, const element_type* wanted, function_ptr map) {
    // index() and random() are refused, since the same list is built again later.
    const compiled_expression c(e, in_type, wanted, {.is_looked_at = true});
    const element_type& list = c.p->type();
    if (!is_list(list))
      throw expression_error(
          e.tree().at,
          absl::StrCat("an expression that is opened for each element must be a list or an array, and ",
                       expressions::subject(e.tree()), " is ", expressions::shown(list),
                       "; write one, such as [1, 2], a reader, or a registered function that returns a dataset"));
    if (!list.element->copy)
      throw expression_error(e.tree().at,
                             absl::StrCat("elements of ", expressions::shown(*list.element), " cannot be copied"));
    describe_expression(*this, e, c, list.element);
    captured = c.used.values();
    lists = std::move(map);
  }

  node_ptr plan_for(void* element) const override {
    auto made = std::make_shared<listed_elements>(lists);
    status why = made->list.make(*in, static_cast<char*>(element), 0);
    if (!why.ok()) throw error(std::move(why));
    function_ptr elements = std::move(made);
    return make_source(list_op, arguments::of(list_arguments{std::move(elements)}));
  }
};

}  // namespace

function_ptr make_expression_list(const expression& e, const element_type& in, const element_type* wanted,
                                  function_ptr map) {
  return std::make_shared<expression_list>(e, in, wanted, std::move(map));
}

}  // namespace sluice::lib
