// SPDX-License-Identifier: Apache-2.0
#include "optimizer/ahead.hpp"

#include <absl/container/flat_hash_set.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/text/path_scheme.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/node_history.hpp"
#include "plan/plan_parts.hpp"
#include "sluice/element/type_of.hpp"
#include "sluice/engine/dataset_options.hpp"
#include "sluice/op/interleave.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// Returns true if the node reads a stream: what is read ahead of the consumer is lost when the run ends.
bool reads_stream(const node& n) {
  struct streams final : part_visitor {
    bool found = false;
    void path(const file_path& p) override {
      std::error_code unknown;
      found |= p.value == "-" || std::filesystem::is_fifo(p.value, unknown);
    }
  };
  streams here;
  visit_parts(n, here);
  return here.found;
}

bool may_fail(const node& n, absl::flat_hash_set<const node*>& seen) {
  if (!seen.insert(&n).second) return false;
  if (facts_of(n).may_fail) return true;
  for (const node_ptr& input : n.inputs)
    if (may_fail(*input, seen)) return true;
  return false;
}

/// Returns true for a zip whose inputs may fail. It ends with the input that ends first; where one ends and another fails,
/// the sizes of requests and the elements that a resume skips decide which comes first.
bool ends_or_fails(const node& n) { return n.op->name == "zip" && may_fail_within(n); }

/// Returns the reason why no stage downstream of `n` may work ahead, as "sleep(1s) paces its elements"; empty if it may.
std::string why_not_ahead(const node& n, absl::flat_hash_set<const node*>& seen) {
  if (!seen.insert(&n).second) return {};
  const stage_facts f = facts_of(n);
  std::string_view why;
  const dataset_options* options = n.op->facts.options ? &n.op->facts.options(n) : nullptr;
  const bool is_policy = options ? options->on_error == error_policy::skip : n.op->facts.sets_error_policy;
  if (n.errors.on_error == error_policy::skip || is_policy) why = "may drop bad elements";
  else if (f.has_effects) why = "may have side effects";
  else if (options && options->order == order::sloppy) why = "delivers in sloppy order";
  else if (f.is_live && !f.keeps_order && n.op->shape == op_info::stage) why = "delivers in sloppy order";
  else if (f.is_live) why = "is live";
  else if (n.op->name == "sleep" || n.op->name == "rate_limit") why = "paces its elements";
  else if (ends_or_fails(n)) return "zip may end or fail, depending on the sizes of requests, as its inputs may fail";
  else if (reads_stream(n)) why = "reads a stream, which cannot be read again";
  if (!why.empty()) return stage_text(n) + " " + std::string(why);
  for (const node_ptr& input : n.inputs)
    if (std::string reason = why_not_ahead(*input, seen); !reason.empty()) return reason;
  std::string inside;
  for_each_plan(n, [&](const node_ptr& inner) {
    if (inside.empty()) inside = why_not_ahead(*inner, seen);
  });
  return inside;
}

/// Returns true for the list of names that a split of a plan reads, in the place of the list_files of the whole plan.
bool has_names(const node& n) { return n.history && n.history->is_split_bound && n.type == &type_of<std::string>(); }

const field* field_of_parallelism(const node& n) {
  for (const field& f : n.op->arguments().fields)
    if (f.name == "parallelism" && f.type->is_knob()) return &f;
  return nullptr;
}

}  // namespace

std::string why_not_ahead(const node& n, const in_force& settings) {
  if (settings.is_sloppy) return "a with_options downstream sets order=sloppy";
  if (settings.drops) return "bad elements may be dropped";
  absl::flat_hash_set<const node*> seen;
  return why_not_ahead(n, seen);
}

bool may_fail_within(const node& n) {
  absl::flat_hash_set<const node*> seen;
  return may_fail(n, seen);
}

bool names_remote_files(const node& n) {
  struct names final : part_visitor {
    bool found = false;
    void path(const file_path& p) override { found |= detail::is_remote(p.value); }
  };
  names here;
  visit_parts(n, here);
  bool is_pattern = false;
  for (const field& f : n.op->arguments().fields)
    if ((n.op->name == "list_files" && f.type->takes_text()) || has_names(n))
      is_pattern |= printed(*f.type, argument_list::at(n.arguments.get(), f)).find("://") != std::string::npos;
  if (here.found || is_pattern) return true;
  for (const node_ptr& input : n.inputs)
    if (names_remote_files(*input)) return true;
  return false;
}

bool is_interleave_of_remote(const node& n) {
  if (n.op->name != "interleave" || n.as<interleave_arguments>().options.cycle_length.value < 2) return false;
  return n.as<interleave_arguments>().options.order == order::deterministic && names_remote_files(*n.inputs[0]);
}

const knob* parallelism_of(const node& n) {
  const field* f = field_of_parallelism(n);
  return f ? static_cast<const knob*>(argument_list::at(n.arguments.get(), *f)) : nullptr;
}

node with_parallelism(const node& n, knob parallelism) {
  const argument_list& list = n.op->arguments();
  std::shared_ptr<void> copied = list.copy(n.arguments.get());
  const field* f = field_of_parallelism(n);
  const void* at = argument_list::at(copied.get(), *f);
  *static_cast<knob*>(const_cast<void*>(at)) = parallelism;  // a member of the copy, which is not const
  node copy = n;
  copy.arguments = arguments(list.tag, std::move(copied));
  return copy;
}

}  // namespace sluice::lib
