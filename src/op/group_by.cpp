// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/group_by.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/batching/column_input.hpp"
#include "engine/batching/group_index.hpp"
#include "engine/expressions/expression_forms.hpp"
#include "engine/held/collected_stage.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"

namespace sluice::lib {
namespace {

/// The number of rows whose values are computed before they are added to their groups.
constexpr std::uint32_t kComputedAtOnce = 1024;
/// The bytes counted for each group besides its key's code and its states: an entry of the table, and the key.
constexpr std::size_t kGroupBytes = 64;

/// The members of an element: the key is the first, and the aggregates follow.
struct row_layout {
  const element_type* type = nullptr;
  std::vector<std::size_t> offsets{};
};

const aggregate_function& aggregates_of(const group_by_arguments& a) {
  return static_cast<const aggregate_function&>(*a.aggregates.value);
}

std::string name_of_key(const group_by_arguments& a) {
  const std::string column = column_named_by(*a.key.value);
  return column.empty() ? "key" : column;
}

/// Lists the members in their order: the key, and the aggregates.
std::vector<member> members_of(const group_by_arguments& a) {
  std::vector<member> members{{name_of_key(a), 0, a.key.value->out}};
  for (const member& m : aggregates_of(a).out->members) members.push_back({m.name, 0, m.type});
  return members;
}

/// Returns a layout without a type, and `why`, if the struct that the program gave does not have these members.
row_layout layout_in(const element_type& wanted, const std::vector<member>& members, std::string& why) {
  row_layout layout;
  if (wanted.kind != kind::structure || wanted.members.size() != members.size()) {
    why = absl::StrCat("the key and the aggregates are ", members.size(), " members, and ", wanted.name, " has ",
                       wanted.members.size());
    return layout;
  }
  for (const member& m : members) {
    const auto at =
        std::find_if(wanted.members.begin(), wanted.members.end(), [&](const member& w) { return w.name == m.name; });
    if (at == wanted.members.end()) why = absl::StrCat(wanted.name, " has no member ", m.name);
    else if (at->type != m.type)
      why = absl::StrCat(m.name, " is ", m.type->name, ", and in ", wanted.name, " it is ", at->type->name);
    if (!why.empty()) return layout;
    layout.offsets.push_back(at->offset);
  }
  layout.type = &wanted;
  return layout;
}

row_layout group_layout_of(const group_by_arguments& a, std::string& why) {
  const std::vector<member> members = members_of(a);
  for (std::size_t k = 1; k != members.size(); ++k)
    if (members[k].name == members[0].name) {
      why = absl::StrCat("the key has the name ", members[0].name, ", and so has an aggregate; give it another");
      return {};
    }
  if (aggregates_of(a).wanted) return layout_in(*aggregates_of(a).wanted, members, why);
  row_layout layout{struct_of("", members), {}};
  for (const member& m : layout.type->members) layout.offsets.push_back(m.offset);
  return layout;
}

class keyed_groups final : public collector {
 public:
  keyed_groups(const group_by_arguments& a, row_layout layout, std::shared_ptr<run_context> run, const error_gate& gate)
      : key_(a.key.value),
        aggregates_(a.aggregates.value),
        layout_(std::move(layout)),
        index_(static_cast<const key_function&>(*key_)),
        states_(aggregates_of(a).make()),
        memory_(std::move(run), gate.line(purpose::state), gate.label(), "its groups",
                "use fewer keys, or compute fewer aggregates") {}

  /// Reads rows of columns from now on.
  void read_columns(std::unique_ptr<column_input> columns) { columns_ = std::move(columns); }
  void before_request(erased_stream& in) override {
    if (columns_) columns_->before_request(in);
  }
  status take(erased_stream& in) override {
    while (in.left() != 0) {
      const std::uint32_t n = std::min(in.left(), kComputedAtOnce);
      std::uint32_t done = 0;
      status why;
      if (columns_) {
        const column_view rows = columns_->rows(in.peek().data(), in.left(), n);
        why = compute(rows, done, [&](std::uint32_t k) { return states_->compute_rows(rows.front(k)); });
      } else {
        const block view(nullptr, &in.type(), in.peek().data(), n);
        why = compute(view, done, [&](std::uint32_t k) { return states_->compute(view.first(k)); });
      }
      in.drop(done);
      if (!why.ok()) return why;
    }
    return {};
  }
  status charge() override {
    status fits = memory_.resize(key_bytes_ + keys_.size() * kGroupBytes + states_->bytes());
    return fits.ok() ? std::move(fits) : memory_.refused(absl::StrCat("its ", keys_.size(), " groups"));
  }
  status finish(final_elements& results) override {
    if (next_ == 0) sort();
    while (next_ != order_.size()) {
      const std::uint32_t group = order_[next_++];
      char* to = results.room();
      status why = states_->build(group, to, layout_.offsets.data() + 1);
      if (!why.ok()) return why;
      static_cast<const key_function&>(*key_).build_key(index_.code_of(keys_[group]), to + layout_.offsets[0]);
      results.add_made();
    }
    return {};
  }

 private:
  /// Adds the rows to their groups, up to the first one that fails. `done`: their number.
  template <class Rows, class Compute> status compute(const Rows& rows, std::uint32_t& done, Compute compute_values) {
    status why = index_.look_at(rows);
    applied computed = compute_values(index_.looked_at());
    if (!computed.why.ok()) why = std::move(computed.why);
    done = computed.done;
    if (done != 0) add_first(done);  // otherwise there may be no group yet
    index_.forget_view();
    return why;
  }
  /// Adds the first n rows of the view to their groups. REQUIRES: n > 0.
  void add_first(std::uint32_t n) {
    if (index_.is_one_key()) {
      const std::uint32_t group = group_of(0);
      states_->add_to(group, n, static_cast<std::uint32_t>(keys_.size()));
      return;
    }
    groups_.resize(n);
    for (std::uint32_t i = 0; i != n; ++i) groups_[i] = group_of(i);
    states_->add(groups_.data(), n, static_cast<std::uint32_t>(keys_.size()));
  }
  /// Returns the group of row i of the view, and begins it if it is missing.
  std::uint32_t group_of(std::uint32_t i) {
    std::size_t group = index_.group_of(i);
    if (group == group_index::kNone) {
      keys_.push_back(index_.key_of(i));
      key_bytes_ += 2 * keys_.back().code.size();  // here and in the table
      group = keys_.size();                        // in the index groups are numbered from 1, because 0 stands for none
      index_.add(keys_.back(), group);
    }
    return static_cast<std::uint32_t>(group - 1);
  }
  void sort() {
    order_.resize(keys_.size());
    for (std::size_t i = 0; i != order_.size(); ++i) order_[i] = static_cast<std::uint32_t>(i);
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) { return keys_[a] < keys_[b]; });
  }

  const function_ptr key_, aggregates_;
  const row_layout layout_;
  group_index index_;
  std::unique_ptr<aggregate_states> states_;
  std::unique_ptr<column_input> columns_;  ///< null: the input's elements are read
  held_memory memory_;
  std::vector<known_key> keys_;  ///< of the groups, in the order in which they began
  std::size_t key_bytes_ = 0;
  std::vector<std::uint32_t> groups_;  ///< of the elements of the view
  std::vector<std::uint32_t> order_;   ///< the groups by their keys
  std::size_t next_ = 0;               ///< within order_
};

/// Opens the input with its rows in columns, if that costs less; returns an empty stream otherwise.
erased_stream open_columns_of(const node& n, const open_context& context, keyed_groups& groups) {
  auto& a = n.as<group_by_arguments>();
  const node_ptr& input = n.inputs[0];
  if (!input->op->lowering.has_columns || !static_cast<const key_function&>(*a.key.value).reads_columns ||
      !aggregates_of(a).reads_columns)
    return {};
  auto columns = std::make_unique<column_input>(*input->type);
  erased_stream in = context.open_rows(input, columns->landing());
  if (in) groups.read_columns(std::move(columns));
  return in;
}

erased_stream open_group_by(const node& n, open_context& context) {
  auto& a = n.as<group_by_arguments>();
  outlet out(*n.type);
  error_gate gate = context.gate(n);
  std::string why;
  auto from = std::make_unique<keyed_groups>(a, group_layout_of(a, why), context.run, gate);
  saved<saved_final_elements> results(saved_final_elements{
      std::make_unique<final_elements>(*n.type, context.run, gate, "the groups to be delivered", "use fewer keys")});
  erased_stream in = open_columns_of(n, context, *from);
  if (!in) in = context.open(n.inputs[0]);
  return collected_stage(std::move(out), std::move(results), std::move(in), std::move(from), std::move(gate));
}

const element_type* group_by_type(const node& n, std::string& why) {
  auto& a = n.as<group_by_arguments>();
  if (!type_of_function(n, a.key.value, why)) return nullptr;
  why = text_for_column(*a.key.value, "key");
  if (!why.empty()) return nullptr;
  if (!type_of_function(n, a.aggregates.value, why)) return nullptr;
  return group_layout_of(a, why).type;
}

}  // namespace

group_by_arguments group_by_aggregates(expression aggregates, const element_type& made) {
  group_by_arguments a;
  a.aggregates.value = expression_function(std::move(aggregates), {}, &made);
  return a;
}
function_ptr group_key_by_expression(expression key) { return expression_function(std::move(key)); }

const op_info group_by_op{
    .name = "group_by",
    .doc = "one element for each key, with aggregates: count, sum, mean, min, max, first",
    .arguments = arguments_of<group_by_arguments>,
    .type = group_by_type,
    .facts = {.members = member_use::read},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_group_by},
};

}  // namespace sluice::lib
