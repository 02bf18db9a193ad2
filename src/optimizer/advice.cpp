// SPDX-License-Identifier: Apache-2.0
#include "optimizer/advice.hpp"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string>
#include <utility>

#include "plan/plan_parts.hpp"
#include "sluice/op/batch.hpp"
#include "sluice/op/shard.hpp"
#include "sluice/op/shuffle.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

class adviser {
 public:
  explicit adviser(std::vector<rule_note>& notes) : notes_(notes) {}

  void visit(const node& n) {
    if (!seen_.insert(&n).second) return;
    for (const node_ptr& input : n.inputs) visit(*input);
    if (n.op->name == "shuffle") look_upstream_of_shuffle(n);
    if (n.op->name == "flat_map") look_at_readers(n);
    if (n.op->name == "shard" && n.as<shard_arguments>().shards > 1) look_upstream_of_shard(n);
    if (n.op->facts.freezes_epochs) look_upstream_of_frozen(n);
    look_at_inputs(n);
    look_at_functions(n);
  }

 private:
  void say(std::string_view kind, std::string text) {
    const bool is_known = std::ranges::any_of(notes_, [&](const rule_note& known) { return known.text == text; });
    if (!is_known) notes_.push_back({kind, std::move(text)});
  }

  /// Looks through stages that yield one output for each input.
  void look_upstream_of_shuffle(const node& shuffle) {
    const node* at = &shuffle;
    while (at->op->shape == op_info::stage && !at->inputs.empty()) {
      at = at->inputs[0].get();
      if (at->op->name == "repeat")
        return say("shuffle_after_repeat", absl::StrCat(stage_text(shuffle), " after ", stage_text(*at),
                                                        " mixes the epochs; shuffle before repeat yields each element "
                                                        "once in each epoch"));
      if (at->op->name == "batch") {
        const std::int64_t rows = at->as<batch_arguments>().size, held = shuffle.as<shuffle_arguments>().buffer_size;
        const std::string buffer = held > INT64_MAX / rows ? "…" : std::to_string(held * rows);
        return say("shuffle_after_batch", absl::StrCat(stage_text(shuffle), " after ", stage_text(*at),
                                                       " shuffles batches, whose rows stay together; shuffle(", buffer,
                                                       ") before batch shuffles the rows, and holds as many"));
      }
      if (facts_of(*at).outputs != output_count::one_per_input) return;
    }
  }

  /// Finds the stage that keeps a shard from the list of files or the seekable source: all shards then read all elements.
  void look_upstream_of_shard(const node& shard) {
    const node* splits_no_more = nullptr;
    const node* at = shard.inputs[0].get();
    for (; at->op->shape == op_info::stage; at = at->inputs[0].get()) {
      const stage_facts f = facts_of(*at);
      if (!splits_no_more && (f.outputs != output_count::one_per_input || !f.keeps_order)) splits_no_more = at;
    }
    if (!splits_no_more || at->op->shape == op_info::combine) return;
    const std::int64_t shards = shard.as<shard_arguments>().shards;
    const std::string_view gain = at->op->name == "list_files" ? "each shard reads its own files"
                                  : why_not_seekable(*at).ok() ? "nothing is read in vain"
                                                               : "the stages between work for a part of the elements";
    say("shard_late",
        absl::StrCat(stage_text(shard), " after ", stage_text(*splits_no_more), " cannot split the input: of ", shards,
                     " elements that are made, it yields one; directly after ", stage_text(*at), ", ",
                     std::string(gain), ", and the shards have other elements"));
  }

  /// Returns the most downstream stage that draws, of `n` and the stages upstream of it; null: none.
  static const node* drawing(const node& n) {
    if (facts_of(n).draws) return &n;
    for (const node_ptr& input : n.inputs)
      if (const node* found = drawing(*input)) return found;
    return nullptr;
  }

  void look_upstream_of_frozen(const node& n) {
    const node* at = drawing(*n.inputs[0]);
    if (!at) return;
    say("frozen_draws",
        absl::StrCat(stage_text(n), " after ", stage_text(*at), " freezes what ", std::string(at->op->name),
                     " draws: every epoch yields the elements of the first one; ", std::string(at->op->name), " after ",
                     std::string(n.op->name), " draws again in each epoch"));
  }

  void look_at_readers(const node& n) {
    if (n.inputs[0]->op->name != "list_files") return;
    say("one_at_a_time", absl::StrCat(stage_text(n),
                                      " reads one file after another; interleave(…, cycle_length=4) reads "
                                      "four at the same time, and mixes their elements"));
  }

  /// Two inputs of one stage that begin with the same reader of files.
  void look_at_inputs(const node& n) {
    for (std::size_t i = 0; i + 1 < n.inputs.size(); ++i) {
      const node* source = source_of(*n.inputs[i]);
      if (!source || !reads_files(*source)) continue;
      const auto reads_it = [source](const node_ptr& other) {
        const node* of_other = source_of(*other);
        return of_other && same_plan(*source, *of_other);
      };
      const auto times =
          1 + std::ranges::count_if(n.inputs.begin() + static_cast<std::ptrdiff_t>(i) + 1, n.inputs.end(), reads_it);
      if (times > 1)
        return say("read_twice", absl::StrCat(std::string(n.op->name), " reads ", stage_text(*source), " ", times,
                                              " times; one map that yields both parts, or broadcast() in C++, reads it "
                                              "once"));
    }
  }

  static const node* source_of(const node& n) {
    const node* at = &n;
    while (at->op->shape == op_info::stage && at->inputs.size() == 1) at = at->inputs[0].get();
    return at->inputs.empty() ? at : nullptr;
  }

  static bool reads_files(const node& n) {
    struct paths final : part_visitor {
      bool found = false;
      void path(const file_path&) override { found = true; }
    } here;
    visit_parts(n, here);
    return here.found;
  }

  void look_at_functions(const node& n) {
    if (n.op->name != "map" && n.op->name != "filter") return;
    for_each_function(n, [&](const function_ptr& f) {
      if (f->is_expression || f->is_data() || f->facts.pure) return;
      const std::string name = f->name.empty() ? "its function" : f->name;
      say("unknown_function",
          absl::StrCat(stage_text(n), ": no rule moves a stage past ", std::string(n.op->name), ", because ", name,
                       " may have side effects; an expression, or a function declared as pure "
                       "(SLUICE_PURE_FUNCTION), has none"));
    });
  }

  std::vector<rule_note>& notes_;
  absl::flat_hash_set<const node*> seen_;
};

}  // namespace

std::vector<rule_note> advice_for(const node& plan) {
  std::vector<rule_note> notes;
  adviser(notes).visit(plan);
  return notes;
}

}  // namespace sluice::lib
