// SPDX-License-Identifier: Apache-2.0
#include "engine/data/given_elements.hpp"

#include <memory>
#include <string>
#include <utility>

#include "element/batches/blocks.hpp"
#include "engine/lowering/open_context.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/coro/detail/block_fit.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {

namespace {

struct elements_of_type {
  const element_type* type = nullptr;
};
struct given_elements_arguments {
  elements_of_type elements = {};
};

class element_type_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override { to.text(get(p)->name); }
  void read(void*, const argument& a, reading& r) const override { r.fail(a, "no plan says so"); }
  bool is_missing(const void* p) const override { return !get(p); }
  bool equal(const void* a, const void* b) const override { return get(a) == get(b); }
  std::string type_name() const override { return "type"; }

 private:
  static const element_type* get(const void* p) { return static_cast<const elements_of_type*>(p)->type; }
};

}  // namespace

template <> const codec& codec_of<elements_of_type>() {
  static const element_type_codec c;
  return c;
}

namespace {

erased_stream given_elements_loop(outlet out, saved<std::uint64_t> at, std::shared_ptr<element_group> group) {
  block_fit fit(out.type());
  for (;;) {
    while (*at < group->size()) {
      *at += out.pass(group->size() - *at);
      const std::uint32_t n = fit.at_most(out.wanted_of(group->size() - *at));
      if (n == 0) break;
      block made;
      if (group->moves()) {
        status why = group->hand_over(*at, n, made);
        if (!why.ok()) co_await fail(std::move(why));
      } else {
        group->copy_to(*at, n, out.room(n));
        made = out.made(n);
      }
      *at += n;
      fit.made(made, out.wanted_bytes());
      co_yield made;
    }
    auto ended = out.again(&*at);
    co_await ended;
  }
}

erased_stream open_given_elements(const node& n, open_context& context) {
  if (!context.given)
    throw error(
        failed_precondition_error("the dataset of a group's elements was kept, and is run where there is no group: "
                                  "only what the function that it "
                                  "was given to returns can use it"));
  outlet out(*n.type);
  saved<std::uint64_t> at;
  return given_elements_loop(out, std::move(at), context.given);
}

const op_info given_elements_op{
    .name = kGivenElements,
    .doc = "the elements that a stage passes on",
    .shape = op_info::source,
    .arguments = arguments_of<given_elements_arguments>,
    .type = [](const node& n, std::string&) { return n.as<given_elements_arguments>().elements.type; },
    .lowering = {.open = open_given_elements},
};

std::size_t given_in(const node& plan) {
  if (is_given(plan)) return 1;
  std::size_t all = 0;
  for (const node_ptr& input : plan.inputs) all += given_in(*input);
  return all;
}

/// Returns true if the elements may be requested twice: a function that opens plans may retain their dataset, and a
/// stage may open its input again.
bool may_open_again(const node& plan) {
  bool found = plan.op->facts.opens_input_again;
  for_each_function(plan,
                    [&](const function_ptr& f) { found |= dynamic_cast<const plan_function*>(f.get()) != nullptr; });
  for (const node_ptr& input : plan.inputs) found = found || may_open_again(*input);
  return found;
}

}  // namespace

node_ptr given_elements(const element_type& type) {
  return make_source(given_elements_op, arguments::of(given_elements_arguments{{&type}}));
}

bool moves_given(const node& plan, const element_type& type) {
  return !type.copy || (given_in(plan) == 1 && !may_open_again(plan));
}

void element_group::copy_to(std::uint64_t at, std::uint32_t n, char* to) const {
  SLUICE_REQUIRES(!moves_, "elements that are handed over are not copied");
  const element_type& type = elements_.type();
  type.copy(type, to, elements_.begin() + at * type.size, n, type.size, type.size);
}

status element_group::hand_over(std::uint64_t at, std::uint32_t n, block& some) {
  SLUICE_REQUIRES(moves_, "elements that are copied are not handed over");
  const element_type& type = elements_.type();
  if (at < gone_)
    return failed_precondition_error("the elements of a group, " + type.name +
                                     ", cannot be copied, and are asked for a second time: a repeat, or several "
                                     "inputs of one stage, need elements that can be copied");
  // The skipped elements, and those before them that the stage did not consume.
  const std::size_t over = elements_.size() - (size_ - at);
  if (!type.trivially_destroyed) type.destroy(type, elements_.begin(), over);
  elements_.forget_front(over);
  gone_ = at + n;
  some = block(&elements_, &type, elements_.begin(), n);
  return {};
}

}  // namespace sluice::lib
