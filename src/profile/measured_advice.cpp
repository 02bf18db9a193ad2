// SPDX-License-Identifier: Apache-2.0
#include "profile/measured_advice.hpp"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "base/seconds.hpp"
#include "plan/plan_parts.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/op/batch.hpp"
#include "sluice/op/repeat.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// The number of files that the advice proposes to read at the same time: the examples of the documents.
constexpr int kFilesAtOnce = 4;
/// Work that takes less than this share of the run's time gains nothing that a user would notice.
constexpr double kShareMin = 0.1;
constexpr double kSecondsMin = 0.1;
/// A function that takes less than this for an element does little more than to be called.
constexpr double kCheapCall = 200e-9;
/// Below this number of calls the mean time is that of the first ones.
constexpr std::uint64_t kCallsMin = 10'000;
/// A map that makes elements smaller than this share saves memory that is worth a change of the plan, from this size on.
constexpr double kSmaller = 0.5, kSavedBytesMin = 1 << 20;

std::string figure(double n, const std::array<const char*, 4>& units, double step) {
  std::size_t unit = 0;
  while (n >= step && unit + 1 < units.size()) n /= step, ++unit;
  return n >= 99.95 ? absl::StrFormat("%.0f %s", n, units[unit]) : absl::StrFormat("%.3g %s", n, units[unit]);
}
std::string seconds_figure(double s) { return figure(s * 1e9, {"ns", "µs", "ms", "s"}, 1000); }
std::string bytes_figure(double bytes) { return figure(bytes, {"B", "KiB", "MiB", "GiB"}, 1024); }

class figures_of_run {
 public:
  figures_of_run(const node& plan, const measured_run& run, std::vector<measured_note>& notes)
      : plan_(plan), run_(run), notes_(notes) {
    for (const site_report& s : run.sites) by_path_.emplace(s.path, &s);
  }

  void advise() {
    look_at_source();
    const node* downstream = nullptr;
    for (const node* at = &plan_;; at = at->inputs[0].get()) {  // inner plans and inputs of combines have no known path
      if (at->op->name == "repeat") look_at_epochs(*at);
      if (at->op->name == "map" && downstream && downstream->op->name == "batch") look_at_calls(*at, *downstream);
      if (at->op->name == "map") look_at_buffer(*at, *at->inputs[0]);
      downstream = at;
      if (at->op->shape != op_info::stage) break;
    }
  }

 private:
  void say(std::string_view kind, std::string text) { notes_.push_back({kind, std::move(text)}); }

  const site_report* site_of(const node& n) const { return site_at(derive(0, n.site)); }
  const site_report* site_at(std::uint64_t path) const {
    auto found = by_path_.find(path);
    return found == by_path_.end() ? nullptr : found->second;
  }
  double share(double seconds) const { return seconds / std::max(1e-9, seconds_of(run_.machine.elapsed)); }

  /// A reader that the rest of the plan waits for, and that reads one file at a time.
  void look_at_source() {
    const run_verdict& v = run_.verdict;
    const bool is_input_bound = v.kind == bound::input_moderately || v.kind == bound::input_highly;
    const site_report* s = site_at(v.path);
    if (!is_input_bound || !s || !s->inputs.empty() || s->elements == 0 || s->read_bytes == 0) return;
    int at_once = kFilesAtOnce;
    if (v.cause == limit_cause::stage) at_once = std::min<int>(at_once, static_cast<int>(run_.machine.workers));
    else if (v.cause != limit_cause::disk && v.cause != limit_cause::network) return;
    if (at_once < 2 || reads_several(*s)) return;
    const double each = seconds_of(s->busy + s->waited) / static_cast<double>(s->elements);
    say("source_limit", absl::StrCat(s->name, " takes ", seconds_figure(each), " for an element; interleave of ",
                                     at_once, " files at a time: about ", seconds_figure(each / at_once)));
  }

  /// Returns true if the stage that opens the reader for each of its elements has several of them open.
  bool reads_several(const site_report& reader) const {
    return std::ranges::any_of(run_.sites, [&](const site_report& s) {
      return std::ranges::find(s.inputs, reader.path) != s.inputs.end() && s.name.starts_with("interleave");
    });
  }

  /// The last stage of the chain upstream of `repeat` up to which each epoch yields the same elements; null: none.
  static const node* same_in_each_epoch(const node& repeat) {
    const node* last = nullptr;
    for (const node* at = repeat.inputs[0].get();; at = at->inputs[0].get()) {
      const stage_facts f = facts_of(*at);
      if (f.draws || f.is_live || f.has_effects || at->op->facts.opens_input_again) last = nullptr;
      else if (!last && at->op->name != "prefetch") last = at;
      if (at->op->shape == op_info::combine) return nullptr;
      if (at->op->shape == op_info::source) break;
    }
    return last;
  }

  /// The time in which the stage and those upstream of it have computed, or waited for files.
  double seconds_up_to(const site_report& s, absl::flat_hash_set<std::uint64_t>& seen) const {
    if (!seen.insert(s.path).second) return 0;
    double all = seconds_of(s.busy);
    for (wait_reason r : {wait_reason::disk, wait_reason::network})
      all += seconds_of(s.waits_by_reason[static_cast<std::size_t>(r)].took);
    for (std::uint64_t path : s.inputs)
      if (const site_report* in = site_at(path)) all += seconds_up_to(*in, seen);
    return all;
  }

  /// The number of elements of one epoch; 0: unknown.
  std::uint64_t epoch_of(const node& repeat, const node& last, std::uint64_t made) const {
    const cardinality known = cardinality_of(last);
    if (known.kind == cardinality::exact) return static_cast<std::uint64_t>(known.elements);
    const std::int64_t times = repeat.as<repeat_arguments>().times;
    return run_.is_whole && times > 0 ? made / static_cast<std::uint64_t>(times) : 0;
  }

  void look_at_epochs(const node& repeat) {
    const node* last = same_in_each_epoch(repeat);
    const site_report* s = last && last->op->shape == op_info::stage ? site_of(*last) : nullptr;
    if (!s || s->elements == 0) return;
    const std::uint64_t each = epoch_of(repeat, *last, s->elements);
    if (each == 0 || s->elements < 2 * each) return;
    absl::flat_hash_set<std::uint64_t> seen;
    const double epochs = static_cast<double>(s->elements) / static_cast<double>(each);
    const double seconds = seconds_up_to(*s, seen), saved = seconds * (1 - 1 / epochs);
    if (share(saved) < kShareMin || saved < kSecondsMin) return;
    say("cache",
        absl::StrCat(stage_text(*last), " makes the same ", each, " elements in each of ",
                     absl::StrFormat("%.3g", epochs), " epochs, in ", seconds_figure(seconds),
                     "; cache() after it keeps them in memory (", bytes_figure(static_cast<double>(s->bytes) / epochs),
                     ", of at most half of the memory budget) and saves ", seconds_figure(saved)));
  }

  /// A map whose results are smaller than the elements that the buffer before it holds. The rule shrink_before_buffers moves those
  /// whose types say so; the size of texts, lists and tensors is known by measurement only.
  void look_at_buffer(const node& map, const node& buffer) {
    if ((buffer.op->name != "shuffle" && buffer.op->name != "prefetch") || map.type->trivially_destroyed) return;
    const stage_facts f = facts_of(map);
    if (f.draws || f.uses_place || f.has_effects || !f.keeps_order) return;
    const site_report *made = site_of(map), *held = site_of(buffer);
    if (!made || !held || made->each_bytes <= 0 || made->each_bytes > kSmaller * held->each_bytes) return;
    double bytes = 0;
    for (const ledger_line_report& l : held->memory) bytes += static_cast<double>(l.peak_bytes);
    const double left = bytes * made->each_bytes / held->each_bytes;
    if (bytes - left < kSavedBytesMin) return;
    say("shrink",
        absl::StrCat(
            made->name, " makes elements of ", bytes_figure(made->each_bytes), " from those of ",
            bytes_figure(held->each_bytes), " that ", stage_text(buffer), " holds; upstream of it, the buffer needs ",
            bytes_figure(left), " and not ", bytes_figure(bytes),
            f.may_fail ? ", but its errors come at other elements" : "; the plan that --tuned-plan writes runs so"));
  }

  /// A map by a function of single elements, before a batch.
  void look_at_calls(const node& map, const node& batch) {
    bool is_expression = false;
    for_each_function(map, [&](const function_ptr& f) { is_expression |= f->is_expression; });
    const site_report* s = site_of(map);
    if (is_expression || !s || s->elements < kCallsMin) return;
    const double seconds = seconds_of(s->busy), each = seconds / static_cast<double>(s->elements);
    if (each > kCheapCall || share(seconds) < kShareMin) return;
    const auto rows = static_cast<std::uint64_t>(batch.as<batch_arguments>().size);
    say("vectorize",
        absl::StrCat(s->name, " takes ", seconds_figure(each), " for an element, not much more than its call, and ",
                     absl::StrFormat("%.0f %%", 100 * share(seconds)), " of the time; as a map of batches, after ",
                     stage_text(batch), ", it is called ", (s->elements + rows - 1) / rows, " times and not ",
                     s->elements));
  }

  const node& plan_;
  const measured_run& run_;
  std::vector<measured_note>& notes_;
  absl::flat_hash_map<std::uint64_t, const site_report*> by_path_;
};

}  // namespace

std::vector<measured_note> measured_advice(const node& plan, const measured_run& run) {
  std::vector<measured_note> notes;
  figures_of_run(plan, run, notes).advise();
  return notes;
}

}  // namespace sluice::lib
