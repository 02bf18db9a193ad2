// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/site_table.hpp"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cmath>
#include <forward_list>
#include <iterator>
#include <list>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "runtime/sites/channel_record.hpp"
#include "runtime/sites/site_edges.hpp"
#include "runtime/sites/site_record.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {
namespace {

std::uint64_t read(const stage_counts::number& n) { return n.load(std::memory_order_relaxed); }

duration nanoseconds(std::uint64_t n) { return duration(static_cast<duration::rep>(n)); }

/// Extrapolates to all of `elements` from `sampled` elements with the sum `of_sampled`; at most 1e17.
std::uint64_t scaled(std::uint64_t of_sampled, std::uint64_t sampled, std::uint64_t elements) {
  if (sampled == 0) return 0;
  // A skip may count 2^63 elements, and their product with a time is no 64-bit number. In ns the limit is three years.
  constexpr double kMost = 1e17;
  const double all = static_cast<double>(of_sampled) / static_cast<double>(sampled) * static_cast<double>(elements);
  return static_cast<std::uint64_t>(std::min(all, kMost));
}

/// Appends the paths of the inputs that are not `known`. In place of an operator without a stage, its inputs are used.
void add_paths(const site_record& r, absl::flat_hash_set<std::uint64_t>& known, std::vector<std::uint64_t>& to) {
  for (const site_record* input : r.inputs())
    if (!input->has_stage()) add_paths(*input, known, to);
    else if (known.insert(input->path()).second) to.push_back(input->path());
}

/// The number of sites of a run that are found by a search.
constexpr std::size_t kSearched = 16;

/// Sets the mean time for one element and its deviation from the sums over `elements` elements.
void set_each(site_report& r, double ns, double squares, double elements) {
  if (elements <= 0) return;
  const double mean = ns / elements;
  r.each = duration(static_cast<duration::rep>(mean));
  r.each_deviation = duration(static_cast<duration::rep>(std::sqrt(std::max(0.0, squares / elements - mean * mean))));
}

void add_waits(site_report& r, const stage_counts::rare_counts& c) {
  for (std::size_t i = 0; i != kWaitReasons; ++i) {
    site_wait& w = r.waits_by_reason[i];
    w.times = read(c.waits[i].times);
    w.took = duration(static_cast<duration::rep>(read(c.waits[i].ns)));
    const bool delays = delays_stage(static_cast<wait_reason>(i));
    (delays ? r.waits : r.room_waits) += w.times;
    (delays ? r.waited : r.room_waited) += w.took;
  }
  // Several tasks beside the stage wait at the same time, so their waits are no part of the stage's own.
  site_wait& pool = r.waits_by_reason[static_cast<std::size_t>(wait_reason::call_pool)];
  pool.times += read(c.task_pool_waits.times);
  pool.took += duration(static_cast<duration::rep>(read(c.task_pool_waits.ns)));
}

void add_rare(site_report& r, const stage_counts::rare_counts& c) {
  add_waits(r, c);
  r.in_task_elements = read(c.computed_elements);
  r.read_bytes = read(c.read_bytes);
  r.reads = read(c.reads);
  r.reads_took = nanoseconds(read(c.reads_ns));
  r.first_bytes = read(c.first_bytes);
  r.first_byte_took = nanoseconds(read(c.first_byte_ns));
  r.requests = read(c.requests);
  r.answered_after = nanoseconds(read(c.answered_ns));
}

/// Appends an element to a short list.
template <class T, class... A> T& add_last(std::forward_list<T>& to, A&&... of) {
  auto last = to.before_begin();
  while (std::next(last) != to.end()) ++last;
  return *to.emplace_after(last, std::forward<A>(of)...);
}

void set_sizes(site_report& r, const stage_counts& c) {
  const stage_counts::rare_counts* rare = c.find_rare();
  const std::uint8_t usual = c.usual_class.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i != kSizeClasses; ++i) {
    const stage_counts::size_class* of = i == usual ? &c.usual_size : rare ? &rare->by_size[i] : nullptr;
    const std::uint64_t elements = of ? read(of->elements) : 0;
    if (elements == 0) continue;
    const bool is_last = i + 1 == kSizeClasses;
    r.by_size.push_back({.bytes_max = is_last ? 0 : bytes_max_of_class(i),
                         .elements = elements,
                         .took = duration(static_cast<duration::rep>(read(of->ns)))});
  }
  const auto sized = static_cast<double>(read(c.sized_elements));
  if (sized <= 0) return;
  r.each_bytes = c.sized_bytes.load(std::memory_order_relaxed) / sized;
  const double squares = c.sized_square.load(std::memory_order_relaxed) / sized;
  r.each_bytes_deviation = std::sqrt(std::max(0.0, squares - r.each_bytes * r.each_bytes));
  r.largest_bytes = read(c.largest_bytes);
}

/// Adds what the stages upstream have delivered.
void add_inputs(std::vector<site_report>& all) {
  const std::vector<std::vector<std::size_t>> edges = site_edges(all);
  for (std::size_t i = 0; i != all.size(); ++i) {
    all[i].bytes_in = all[i].read_bytes;
    for (std::size_t in : edges[i]) {
      all[i].elements_in += all[in].elements;
      all[i].bytes_in += all[in].bytes;
    }
  }
}

}  // namespace

void live_knob::set(std::int64_t value) {
  value_.store(std::clamp(value, least_, most_), std::memory_order_release);
  std::vector<std::shared_ptr<knob_follower>> followers;
  {
    mutex_lock lock(mutex_);
    for (auto& f : followers_)
      if (auto alive = f.lock()) followers.push_back(std::move(alive));
  }
  for (auto& f : followers) f->knob_changed();
}

void live_knob::follow(std::weak_ptr<knob_follower> f) {
  mutex_lock lock(mutex_);
  if (followers_.size() == followers_max_) {
    std::erase_if(followers_, [](auto& gone) { return gone.expired(); });
    followers_max_ = std::max<std::size_t>(16, followers_.size() * 2);
  }
  followers_.push_back(std::move(f));
}

live_knob& site_record::knob(std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most,
                             bool is_free) {
  small_lock lock(mutex_);
  auto& knobs = made_parts().knobs;
  for (auto& [known, k] : knobs)
    if (known == name) return k;
  return add_last(knobs, std::piecewise_construct, std::forward_as_tuple(name),
                  std::forward_as_tuple(value, least, most, is_free))
      .second;
}

void site_record::add_input(const site_record& input) {
  small_lock lock(mutex_);
  if (!input_) input_ = &input;
  if (input_ == &input) return;
  std::unique_ptr<parts::inputs>& others = made_parts().other_inputs;
  if (!others) others = std::make_unique<parts::inputs>();
  if (others->known.insert(&input).second) others->all.push_back(&input);
}

std::vector<const site_record*> site_record::inputs() const {
  small_lock lock(mutex_);
  std::vector<const site_record*> all;
  if (input_) all.push_back(input_);
  const parts::inputs* others = parts_ ? parts_->other_inputs.get() : nullptr;
  if (others) all.insert(all.end(), others->all.begin(), others->all.end());
  return all;
}

size_estimate& site_record::file_sizes() {
  small_lock lock(mutex_);
  return made_parts().file_sizes;
}

live_knob* site_record::find_knob(std::string_view name) {
  small_lock lock(mutex_);
  if (!parts_) return nullptr;
  for (auto& [known, k] : parts_->knobs)
    if (known == name) return &k;
  return nullptr;
}

ledger_line& site_record::line(purpose p) {
  small_lock lock(mutex_);
  auto& lines = made_parts().lines;
  for (auto& [known, line] : lines)
    if (known == p) return line.get();
  return add_last(lines, p, ledger_.open_line(p, name_)).second.get();
}

channel_record& site_record::channel(std::string_view name) {
  small_lock lock(mutex_);
  auto& channels = made_parts().channels;
  for (channel_record& c : channels)
    if (c.name() == name) return c;
  return add_last(channels, std::string(name), ledger_.open_line(purpose::channel, name));
}

error_account& site_record::account(std::uint64_t errors_max, error_account* around) {
  small_lock lock(mutex_);
  auto& accounts = made_parts().accounts;
  for (error_account& a : accounts)
    if (a.errors_max == errors_max && a.around == around) return a;
  error_account& made = add_last(accounts);
  made.stage = name_;
  made.errors_max = errors_max;
  made.around = around;
  return made;
}

void site_record::report_errors(std::vector<stage_errors>& to, std::uint64_t number) const {
  small_lock lock(mutex_);
  if (!parts_) return;
  for (const error_account& a : parts_->accounts)
    if (a.counted || a.has_limit()) to.push_back({name_, number, a.own, a.counted, a.errors_max});
}

site_report site_record::report(std::uint64_t number) const {
  site_report r;
  r.path = path_;
  r.name = name_;
  r.number = number;
  r.is_inner = is_inner_;
  const stage_counts& c = counts_;
  const stage_counts* of = counts_of_.load(std::memory_order_relaxed);
  const stage_counts& delivered = of ? *of : c;
  r.elements = read(delivered.elements);
  r.passed = read(delivered.passed);
  r.passed -= std::min(r.passed, left_out_.load(std::memory_order_relaxed));
  r.blocks = read(delivered.blocks);
  std::uint64_t sampled = read(c.sampled_elements);
  const std::uint64_t made = read(c.elements);
  const stage_counts::rare_counts* rare = c.find_rare();
  const std::uint64_t in_flight = rare ? read(rare->in_flight_ns) : 0;
  const std::uint64_t tasks = rare ? read(rare->computed_ns) + in_flight : 0;
  r.in_flight = nanoseconds(in_flight);
  r.in_tasks = nanoseconds(tasks);
  r.busy = nanoseconds(scaled(read(c.sampled_ns), sampled, made + read(c.passed)) + tasks);
  if (rare) add_rare(r, *rare);
  if (const std::uint64_t computed = r.in_task_elements)
    set_each(r, static_cast<double>(tasks), rare->computed_square.load(std::memory_order_relaxed),
             static_cast<double>(computed));
  else
    set_each(r, static_cast<double>(read(c.sampled_ns)), c.sampled_square.load(std::memory_order_relaxed),
             static_cast<double>(sampled));
  r.longest = nanoseconds(read(c.longest_ns));
  r.bytes = scaled(read(c.sampled_bytes), sampled, made);
  set_sizes(r, c);
  small_lock lock(mutex_);
  if (!parts_) return r;
  for (auto& [name, k] : parts_->knobs) r.knobs.push_back({name, k.get(), k.least(), k.most(), k.is_free()});
  auto add_memory = [&r](ledger_line_report line) {
    if (line.peak_bytes) r.memory.push_back(std::move(line));
  };
  for (const channel_record& c : parts_->channels) {
    r.channels.push_back(c.report());
    add_memory(c.memory());
  }
  for (auto& [held_for, line] : parts_->lines) {
    ledger_line_report of = line.report();
    of.stage = name_;
    add_memory(std::move(of));
  }
  return r;
}

struct site_table::records {
  explicit records(std::shared_ptr<memory_ledger> l) : ledger(std::move(l)) {}

  const std::shared_ptr<memory_ledger> ledger;
  small_mutex mutex;
  std::list<site_record> all ABSL_GUARDED_BY(mutex);  // the records do not move
  // Most runs have few sites: a search among the first takes less time than the construction of a hash table.
  absl::flat_hash_map<std::uint64_t, site_record*> others_by_path ABSL_GUARDED_BY(mutex);

  site_record* find(std::uint64_t path) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::size_t searched = 0;
    for (site_record& r : all) {
      if (r.path() == path) return &r;
      if (++searched == kSearched) break;
    }
    auto found = others_by_path.find(path);
    return found == others_by_path.end() ? nullptr : found->second;
  }
  site_record& add(std::uint64_t path, std::string name, bool is_inner) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    site_record& made = all.emplace_back(*ledger, path, std::move(name), is_inner);
    if (all.size() > kSearched) others_by_path.emplace(path, &made);
    return made;
  }

  /// Calls `visit(record, number)` for each record, in order; `number` as in site_report.
  template <class Visit> void each(const Visit& visit) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    std::unordered_map<std::string_view, std::uint64_t> times, before;
    for (const site_record& r : all) ++times[r.name()];
    for (const site_record& r : all) visit(r, times[r.name()] > 1 ? ++before[r.name()] : 0);
  }
};

site_table::site_table(std::shared_ptr<memory_ledger> ledger) : records_(new records(std::move(ledger))) {}
site_table::~site_table() { delete records_; }

site_record* site_table::find(std::uint64_t path) const {
  small_lock lock(records_->mutex);
  return records_->find(path);
}

site_record& site_table::add(std::uint64_t path, std::string name, bool is_inner) {
  small_lock lock(records_->mutex);
  site_record* known = records_->find(path);
  return known ? *known : records_->add(path, std::move(name), is_inner);
}

site_record& site_table::find_or_add(std::uint64_t path, bool is_inner, std::string (*name_of)(const void*),
                                     const void* what) {
  small_lock lock(records_->mutex);
  site_record* known = records_->find(path);
  return known ? *known : records_->add(path, name_of(what), is_inner);
}

error_account* site_table::account(site_record& record, std::uint64_t errors_max, error_account* around) {
  error_account& a = record.account(errors_max, around);
  if (a.has_limit()) has_error_limits_.store(true, std::memory_order_relaxed);
  return &a;
}

std::vector<stage_errors> site_table::errors() const {
  small_lock lock(records_->mutex);
  std::vector<stage_errors> all;
  records_->each([&](const site_record& r, std::uint64_t number) { r.report_errors(all, number); });
  return all;
}

std::size_t site_table::size() const {
  small_lock lock(records_->mutex);
  return records_->all.size();
}

std::vector<site_report> site_table::report() const {
  small_lock lock(records_->mutex);
  std::vector<site_report> reports;
  records_->each([&](const site_record& r, std::uint64_t number) {
    if (!r.has_stage()) return;
    reports.push_back(r.report(number));
    absl::flat_hash_set<std::uint64_t> known;
    add_paths(r, known, reports.back().inputs);
  });
  add_inputs(reports);
  return reports;
}

bool site_table::set_knob(std::uint64_t path, std::string_view name, std::int64_t value) {
  site_record* record = find(path);
  live_knob* k = record ? record->find_knob(name) : nullptr;
  if (k) k->set(value);
  return k != nullptr;
}

}  // namespace sluice::lib
