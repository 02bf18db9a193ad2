// SPDX-License-Identifier: Apache-2.0
#include "sluice/splits/split_plan.hpp"

#include <absl/strings/str_cat.h>

#include <utility>

#include "plan/codecs/arguments_of.hpp"
#include "sluice/plan/text.hpp"
#include "splits/layout.hpp"
#include "splits/split_bounds.hpp"

namespace sluice::lib {
namespace {

[[noreturn]] void refuse_split(const plan_split& s, std::string_view why) {
  throw error(invalid_argument_error(
      absl::StrCat("split ", s.number, " of round ", s.round, " is not one of this plan: ", std::string(why))));
}

/// A copy of a stage over another input. The stages upstream may be others, so its site is computed again, as plan text
/// computes it.
node_ptr over_input(const node& stage, node_ptr input) {
  node copy = stage;
  copy.inputs = {std::move(input)};
  copy.site = 0;
  copy.history = {};
  return make_node(std::move(copy));
}

bool is_literal(const std::string& item, bool is_name) {
  if (is_name) return item.size() >= 2 && item.front() == '"' && item.back() == '"';
  return !item.empty() && item.find_first_not_of("-0123456789") == item.npos;
}

node_ptr items_of(const split_part& p, const plan_split& s) {
  if (s.items.empty()) refuse_split(s, "it has no items");
  std::string text;
  for (const std::string& item : s.items) {
    if (!is_literal(item, p.at->type == &type_of<std::string>())) refuse_split(s, absl::StrCat("its item is ", item));
    absl::StrAppend(&text, text.empty() ? "" : ", ", item);
  }
  node_ptr list = parse_plan(absl::StrCat("from_tensor_slices([", text, "])"));
  if (list->type != p.at->type || list->op->shape != op_info::source) refuse_split(s, "its items are of another type");
  return as_split_bound(list);
}

class worker_plan {
 public:
  explicit worker_plan(const plan_split& s) : split_(s) {}

  /// The plan that ends with `n`, whose parts are `p`, for the split.
  node_ptr of(const node_ptr& n, const split_part& p) const {
    if (n != p.at) {
      node_ptr input = of(n->inputs[0], p);
      const node_ptr stage = n == p.opener ? opener_of(n, p) : n;
      return input == stage->inputs[0] ? stage : over_input(*stage, std::move(input));
    }
    switch (p.kind) {
      case split_part::numbers: return range_of(n, split_.first, split_.elements);
      case split_part::items: return items_of(p, split_);
      case split_part::file: return has_range(p) ? range_of(n, split_.first, split_.elements) : n;
      case split_part::whole: return n;
      case split_part::rounds: return of(n->inputs[0], p.inputs[0]);
      case split_part::sequence: break;
    }
    for (std::size_t i = 0; i != p.inputs.size(); ++i)
      if (split_.part - p.inputs[i].leaf < p.inputs[i].leaves) return of(n->inputs[i], p.inputs[i]);
    refuse_split(split_, "it has no such part");
  }

 private:
  bool has_range(const split_part& p) const {
    if (split_.first == 0 && !split_.elements) return false;
    if (!ranged_source(p)) refuse_split(split_, "it is a range of a file that is not split");
    return true;
  }
  node_ptr opener_of(const node_ptr& n, const split_part& p) const {
    return has_range(p) ? with_range_in_file(n, split_.first, split_.elements) : n;
  }

  const plan_split& split_;
};

const stream_layout& stream_of(const split_layout& layout, std::uint32_t stream) {
  if (stream >= layout.streams.size())
    throw error(invalid_argument_error(
        absl::StrCat("splits: the plan has ", layout.streams.size(), " streams, and none with number ", stream)));
  return layout.streams[stream];
}

std::vector<node_ptr> shown_streams(const split_layout& layout) {
  std::vector<node_ptr> shown;
  for (const stream_layout& s : layout.streams)
    shown.push_back(shown_stream(static_cast<std::int64_t>(shown.size()), s.root->type));
  return shown;
}

}  // namespace

split_plan::split_plan(node_ptr plan, const split_options& o)
    : layout_(std::make_shared<const split_layout>(layout_of(plan, o))) {}
split_plan::split_plan(const plan_holder& dataset, const split_options& o) : split_plan(dataset.plan(), o) {}

const node_ptr& split_plan::plan() const { return layout_->plan; }
const std::vector<split_stream>& split_plan::streams() const { return layout_->infos; }
const std::vector<client_stage>& split_plan::client_stages() const { return layout_->stages; }
const element_type& split_plan::type_of_stream(std::uint32_t stream) const {
  return *stream_of(*layout_, stream).root->type;
}
std::string split_plan::client_text() const {
  if (layout_->client.stream >= 0) return {};
  std::string text = plan_text(*client_plan(shown_streams(*layout_)));
  constexpr std::string_view kOnlyStream = "splits(0) | ";
  if (layout_->streams.size() == 1 && text.starts_with(kOnlyStream)) text.erase(0, kOnlyStream.size());
  return text;
}

task<std::vector<plan_split>> split_plan::splits(runtime& rt, std::uint32_t stream, std::uint64_t round) const {
  stream_of(*layout_, stream);  // checks that it exists
  const cardinality rounds = layout_->infos[stream].rounds;
  if (rounds.kind == cardinality::exact && round >= static_cast<std::uint64_t>(rounds.elements))
    throw error(invalid_argument_error(
        absl::StrCat("splits: the stream has ", rounds.elements, " rounds, and none with number ", round)));
  return list_splits(rt, layout_, stream, round);
}

node_ptr split_plan::plan_of(const plan_split& s) const {
  const stream_layout& stream = stream_of(*layout_, s.stream);
  if (s.part >= stream.parts.leaves) refuse_split(s, "it has no such part");
  return with_settings(worker_plan(s).of(stream.root, stream.parts), stream.settings);
}

node_ptr split_plan::client_plan(const std::vector<node_ptr>& streams) const {
  if (streams.size() != layout_->streams.size())
    throw error(invalid_argument_error(
        absl::StrCat("splits: the client reads ", layout_->streams.size(), " streams, and gets ", streams.size())));
  for (std::size_t i = 0; i != streams.size(); ++i)
    if (!streams[i] || streams[i]->type != layout_->streams[i].root->type)
      throw error(invalid_argument_error(
          absl::StrCat("splits: stream ", i, " has elements of ", layout_->streams[i].root->type->name)));
  return client_of(layout_->client, streams);
}

}  // namespace sluice::lib
