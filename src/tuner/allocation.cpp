// SPDX-License-Identifier: Apache-2.0
#include "tuner/allocation.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/rates.hpp"

namespace sluice::lib {
namespace {

/// Room for differences between calls that the deviation does not show yet.
constexpr double kHeadroom = 1.1;
/// A deviation of less than this share is none, and a number that is this close to a whole one is whole.
constexpr double kSpreadMin = 0.05, kWhole = 0.02;
/// A parallelism is raised if all of it is in use for this share of the time, and to at most this multiple in one step.
constexpr double kLimited = 0.02, kRaise = 4;
/// A share of the time in which the consumer waits that a larger parallelism may end.
constexpr double kStarving = 0.03;
/// The share of its time that a consumer may lose to slow calls, and the elements that show bursts.
constexpr double kSlowLoss = 0.02, kElementsOfBursts = 64;
constexpr double kStallHeadroom = 1.25, kMoreThanStall = 1.25;
/// The share of the ledger that the chosen values may fill.
constexpr double kMemoryShare = 0.8;
/// A wait of the consumer below this share of its time needs no larger buffer.
constexpr double kWaitShare = 0.02;
/// Reads in flight are raised by this factor, if this share of them is in use.
constexpr double kMoreReads = 2, kReadsUsed = 0.5;
/// Fewer calls are tried if all are in use for this share of the time, and nothing below these shares of the present number, or
/// of the number that is useful, was measured.
constexpr double kAllUsed = 0.5, kFewestOfNow = 0.75, kFewestOfUseful = 0.8;
/// Calls that have differed by this share may have slowed each other down: the first ones began alone.
constexpr double kSlowedDown = 0.2;
/// A block of a channel that has no size in elements of its own.
constexpr double kPrefetchBlock = 256, kPrefetchBlocks = 8;

std::string grouped_number(std::int64_t n) {
  std::string digits = absl::StrCat(n);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

class allocator {
 public:
  allocator(const figures& f, const budgets& b) : f_(f), b_(b), model_(f, b) {}

  allocation made() {
    allocation a;
    bound_ = model_.rate(model_.largest());
    rate_ = bound_.rate;
    if (std::isfinite(rate_)) fit_memory();
    for (const stage_figures& s : f_.stages)
      for (const tunable_knob& k : s.knobs) a.settings.push_back(value_of(s, k));
    const rate_bound now = model_.rate(model_.present());
    a.rate_now = std::isfinite(now.rate) ? now.rate : 0;
    a.rate = std::isfinite(rate_) ? std::min(rate_, model_.rate(chosen(rate_)).rate) : 0;
    a.limit = is_short_of_memory_ ? "the memory budget" : bound_.text(f_, 1);
    return a;
  }

 private:
  std::size_t index_of(const stage_figures& s) const { return static_cast<std::size_t>(&s - f_.stages.data()); }

  /// The parallelism that stage i needs for this rate; 0: it has no such knob, or nothing to choose it by.
  double needed(std::size_t i, double rate) const {
    const stage_figures& s = f_.stages[i];
    if (s.opens_plans) {
      double longest = 0;
      for (std::size_t k = 1; k < s.inputs.size(); ++k) longest = std::max(longest, model_.task_of(s.inputs[k]));
      return longest > 0 ? std::min(std::ceil(rate * longest * kHeadroom) + 1, std::ceil(s.scales.useful)) : 0;
    }
    if (s.calls <= 0 || s.call <= 0) return 0;
    const double calls = std::min(model_.calls_for(i, rate), s.scales.useful);
    const double spread = s.deviation < kSpreadMin * s.call ? 0 : std::min(1.0, s.deviation / s.call);
    if (s.awaits) {
      // One more has its place while the element that it is made from is awaited.
      const double both = spread == 0 ? kHeadroom * calls : with_slow_calls(s, calls, rate, spread);
      return std::max(2.0, std::min(std::ceil(std::max(both, calls + 1) - kWhole), std::ceil(s.scales.useful)));
    }
    const auto workers = static_cast<double>(b_.workers);
    // Tasks of equal times that keep all workers busy end together: one more would begin alone.
    if (calls >= (1 - kWhole) * workers && spread == 0) return std::max(2.0, workers);
    const double tasks = std::min(calls, workers) / kUtilization;
    return std::max(2.0, std::ceil(tasks * (1 + spread / 2) - kWhole) + 1);
  }

  /// The order of elements lets a slow call keep the finished ones behind it. While the slowest one is in flight, the
  /// others that the consumer takes meanwhile must be, too. Seldom ones may delay it for kSlowLoss of the time.
  double with_slow_calls(const stage_figures& s, double calls, double rate, double spread) const {
    if (s.slow_share <= 0) return calls * (kHeadroom + 2 * spread);
    return kHeadroom * std::max(calls, rate * s.visits * s.longest - kSlowLoss / s.slow_share);
  }

  std::int64_t limited(const stage_figures& s, const tunable_knob& k, double value) const {
    if (k.is_blocked || s.is_light || value <= 0) return k.value;
    const double useful = std::ceil(s.scales.useful);
    if (k.name == "parallelism" && is_starving(s)) {
      const double more = std::max(elements_of_stall(s), more_than(static_cast<double>(k.value), value));
      value = std::max(value, std::min(more, useful));
    }
    if (k.name == "parallelism")
      value = std::max(value, std::min(useful, static_cast<double>(std::min(k.floor, k.most))));
    if (k.name == "parallelism" && value > static_cast<double>(k.value)) {
      if (!is_saturated(s)) return k.value;
      value = std::min(value, kRaise * static_cast<double>(k.value));
    }
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(value, 1e9)), 1, k.most);
  }

  /// The calls of the stage limit the run, and all of them are in use, but the fewest that were measured are as fast as more; or
  /// no other number was measured, and calls have differed. A server that does some calls at a time makes more of them slower, so
  /// fewer are tried.
  bool may_need_fewer(const stage_figures& s, const tunable_knob& k) const {
    const auto now = static_cast<double>(k.value);
    const bool is_bound = bound_.of == rate_bound::kind::parallel && bound_.stage == index_of(s);
    if (!is_bound || !s.awaits || s.limited < kAllUsed || k.value <= 2 || k.value <= k.least) return false;
    const bool is_known = s.scales.useful < kNoLimit;
    if (is_known) return s.fewest >= kFewestOfUseful * s.scales.useful;
    return k.value == k.most && s.fewest >= kFewestOfNow * now && k.spread >= kSlowedDown;
  }

  /// If not all of its calls are in use, more of them would not be.
  static bool is_saturated(const stage_figures& s) {
    return s.opens_plans || s.limited < 0 || std::max(s.limited, s.starved) >= kLimited;
  }
  /// The consumer waits at times, and finished elements wait for their turn, or for the end of a burst, at others.
  bool is_starving(const stage_figures& s) const {
    const bool shows_bursts = f_.elements >= kElementsOfBursts || f_.stall > 0;
    return shows_bursts && s.awaits && f_.wait_share >= kStarving && s.starved >= kStarving;
  }

  /// The elements that the consumer takes during one of its regular stalls: that number must be finished before it begins.
  double elements_of_stall(const stage_figures& s) const {
    return std::isfinite(rate_) ? std::ceil(rate_ * s.visits * f_.stall * kStallHeadroom) : 0;
  }

  /// The next value for a stage whose present one starves the consumer. The model may know it: its own value, or the elements
  /// of a stall. Otherwise more is tried.
  double more_than(double now, double needed) const {
    if (needed > now) return needed;
    return now * (f_.stall > 0 ? kMoreThanStall : 2);
  }

  std::vector<double> chosen(double rate) const {
    std::vector<double> all;
    for (const stage_figures& s : f_.stages) {
      const tunable_knob* k = rate_model::knob(s, "parallelism");
      all.push_back(k ? static_cast<double>(limited(s, *k, needed(index_of(s), rate))) : 0);
    }
    return all;
  }

  double memory_of(double rate) const {
    const std::vector<double> parallelism = chosen(rate);
    double bytes = 0;
    for (std::size_t i = 0; i != parallelism.size(); ++i)
      bytes += parallelism[i] * f_.stages[i].bytes * f_.stages[i].block_elements;
    return bytes;
  }

  /// Lowers the rate until the elements in flight fit the ledger.
  void fit_memory() {
    const double most = kMemoryShare * b_.memory_bytes;
    if (most <= 0 || memory_of(rate_) <= most) return;
    is_short_of_memory_ = true;
    double low = 0, high = rate_;
    for (int round = 0; round != 40; ++round) {
      const double middle = (low + high) / 2;
      (memory_of(middle) <= most ? low : high) = middle;
    }
    rate_ = low;
  }

  knob_value value_of(const stage_figures& s, const tunable_knob& k) const {
    knob_value v{.path = s.path,
                 .stage = s.name,
                 .knob = k.name,
                 .value = k.value,
                 .was = k.value,
                 .most = k.most,
                 .is_requested = k.is_requested,
                 .reason = {}};
    if (!std::isfinite(rate_)) {
      v.reason = absl::StrCat(grouped_number(k.value), ": nothing was measured that limits the run");
    } else if (k.name == "parallelism") {
      choose_parallelism(s, k, v);
    } else if (k.name == "reads_in_flight") {
      choose_reads(s, k, v);
    } else if (k.name == "elements" && !k.is_requested) {
      choose_buffer(s, k, v);
    } else {
      v.reason = "the number in the plan";
    }
    return v;
  }

  std::string count_text(const knob_value& v) const {
    const std::string most = grouped_number(v.most);
    return absl::StrCat(grouped_number(v.value),
                        v.is_requested ? absl::StrCat(" of ", most, " requested") : absl::StrCat(" of at most ", most));
  }

  void choose_parallelism(const stage_figures& s, const tunable_knob& k, knob_value& v) const {
    const double need = needed(index_of(s), rate_);
    v.value = limited(s, k, need);
    if (s.is_light) {
      v.reason =
          absl::StrCat(grouped_number(v.value), ": moving its blocks to another core costs more than making them");
    } else if (need <= 0) {
      v.reason = absl::StrCat(grouped_number(v.value), ": it has made no element ahead yet");
    } else {
      const char* unit = s.opens_plans ? " inputs at once: " : s.awaits ? " calls in flight: " : " blocks at once: ";
      v.reason = absl::StrCat(count_text(v), unit, each_text(s), why_text(s));
      if (std::ceil(s.scales.useful) <= need) absl::StrAppend(&v.reason, "; more were not faster");
      else if (need > static_cast<double>(v.value) && !is_saturated(s))
        absl::StrAppend(&v.reason, "; not all of them are in use");
      else if (need > static_cast<double>(v.value)) absl::StrAppend(&v.reason, "; it could use more");
      v.is_starved = is_starving(s) && v.value > v.was;
      if (v.is_starved || (v.value == k.floor && need < static_cast<double>(v.value)))
        absl::StrAppend(&v.reason, "; with fewer the consumer waits for bursts");
      if (k.is_blocked) absl::StrAppend(&v.reason, "; another value has not helped");
      if (v.value >= v.was && may_need_fewer(s, k)) {
        v.is_fewer = true;
        v.value = std::max({k.value / 2, k.least, std::int64_t{2}});
        v.reason = absl::StrCat(count_text(v), unit, each_text(s), "fewer may be as fast");
      }
    }
  }
  std::string each_text(const stage_figures& s) const {
    if (!s.opens_plans) return absl::StrCat(time_text_of(s.call), s.awaits ? " each, " : " an element, ");
    double longest = 0;
    for (std::size_t k = 1; k < s.inputs.size(); ++k) longest = std::max(longest, model_.task_of(s.inputs[k]));
    return absl::StrCat(time_text_of(longest / std::max(s.visits, 1e-12)), " an element of an input, ");
  }
  std::string why_text(const stage_figures& s) const {
    return is_short_of_memory_ ? "the memory budget allows no more" : bound_.text(f_, s.visits);
  }

  void choose_reads(const stage_figures& s, const tunable_knob& k, knob_value& v) const {
    const double calls = rate_ * s.visits * s.reads * s.read;
    const double useful = std::ceil(s.reads_useful);
    if (s.reads > 0 && needs_more_reads(s, k)) {
      const rate_bound wanted = rate_without_read_waits(index_of(s));
      const double by_rate = std::ceil(kHeadroom * wanted.rate * s.visits * s.reads * read_alone(s));
      const auto now = static_cast<double>(k.value);
      const bool is_known = std::isfinite(by_rate) && by_rate > now;
      v.value = limited(s, k, std::min({useful, kRaise * now, by_rate > now ? by_rate : kMoreReads * now}));
      v.is_reads = v.value > v.was;
      v.reason = absl::StrCat(count_text(v), " reads in flight: ", time_text_of(read_alone(s)), " each, ",
                              is_known ? wanted.text(f_, s.visits) : "and the stage waits for them");
      return;
    }
    if (s.reads > 0 && useful < static_cast<double>(k.value)) {
      v.value = limited(s, k, useful);
      v.reason = absl::StrCat(count_text(v), " reads in flight: ", time_text_of(s.read), " each; more were not faster");
      return;
    }
    if (s.reads <= 0 || calls * kHeadroom <= static_cast<double>(k.value)) {
      v.reason = absl::StrCat(grouped_number(k.value), s.reads <= 0        ? ": no read has waited"
                                                       : useful < kNoLimit ? ": more reads in flight were not faster"
                                                                           : ": they are enough");
      return;
    }
    v.value = limited(s, k, std::ceil(calls * kHeadroom));
    v.reason = absl::StrCat(count_text(v), " reads in flight: ", time_text_of(s.read), " each, ", why_text(s));
  }

  /// The time of a read beside few others: the time to its first byte and that of its bytes. More reads than the server or the
  /// disk can serve take longer without being more bytes a second.
  static double read_alone(const stage_figures& s) {
    return s.read_alone > 0 ? std::min(s.read_alone, s.read) : s.read;
  }

  /// The rate that the run would have if the stage never waited for a read.
  rate_bound rate_without_read_waits(std::size_t i) const {
    figures never = f_;
    never.stages[i].outside = 0;
    const rate_model model(never, b_);
    return model.rate(model.largest());
  }

  /// All of its reads are in flight, and it still waits. Whether the server or the disk can serve more is not known before they
  /// are tried.
  static bool needs_more_reads(const stage_figures& s, const tunable_knob& k) {
    const auto now = static_cast<double>(k.value);
    return s.read_wait >= kStarving && s.reading >= kReadsUsed * now && s.reads_useful > kHeadroom * now;
  }

  void choose_buffer(const stage_figures& s, const tunable_knob& k, knob_value& v) const {
    const double upstream = s.inputs.empty() ? 0 : model_.task_of(s.inputs[0]);
    const bool can_catch_up = bound_.of == rate_bound::kind::consumer && upstream * rate_ < 0.95;
    if (f_.stall <= 0 || f_.wait_share < kWaitShare || !can_catch_up || s.is_light) {
      v.reason = absl::StrCat(grouped_number(k.value), f_.wait_share < kWaitShare ? ": the consumer does not wait"
                                                                                  : ": more elements would not help");
      return;
    }
    const double elements = std::ceil(rate_ * s.visits * f_.stall * kStallHeadroom) + 1;
    // A channel has a block for each 256 elements of its limit, at least eight.
    const double blocks = std::ceil(elements / std::max(1.0, s.block_elements));
    const double wanted = blocks <= kPrefetchBlocks ? elements : std::max(elements, blocks * kPrefetchBlock);
    v.value = std::max(k.value, limited(s, k, wanted));
    v.reason = absl::StrCat(grouped_number(v.value), ": the consumer takes ",
                            grouped_number(static_cast<std::int64_t>(elements)), " elements during a stall of ",
                            time_text_of(f_.stall));
  }

  const figures& f_;
  const budgets& b_;
  const rate_model model_;
  rate_bound bound_;
  double rate_ = 0;
  bool is_short_of_memory_ = false;
};

}  // namespace

allocation allocate(const figures& f, const budgets& b) { return allocator(f, b).made(); }

std::vector<what_if> try_changes(const figures& measured, const budgets& b) {
  std::vector<what_if> all;
  // A change of a cost makes the tuner measure again, and try also the values that have not helped before.
  figures f = measured;
  for (stage_figures& s : f.stages)
    for (tunable_knob& k : s.knobs) k.is_blocked = false;
  auto target = [](const figures& of, const budgets& with) {
    const rate_model model(of, with);
    return model.rate(model.largest()).rate;
  };
  const double now = target(f, b);
  if (!std::isfinite(now)) return all;
  auto gain_of = [now](double rate) { return std::isfinite(rate) ? rate / now - 1 : 9.99; };
  for (std::size_t i = 0; i != f.stages.size(); ++i) {
    const stage_figures& s = f.stages[i];
    if (s.visits * (s.own + s.call + s.outside) * now < 0.01) continue;
    figures faster = f;
    stage_figures& t = faster.stages[i];
    if (f.cpu > 0) faster.cpu = std::max(f.cpu / 1e6, f.cpu - s.visits * (s.own + (s.awaits ? 0 : s.call)) / 2);
    t.own /= 2;
    t.outside /= 2;
    t.call /= 2;
    all.push_back({absl::StrCat(s.name, " twice as fast"), s.path, gain_of(target(faster, b))});
  }
  std::sort(all.begin(), all.end(),
            [](const what_if& x, const what_if& y) { return std::pair(y.gain, x.path) < std::pair(x.gain, y.path); });
  if (all.size() > 3) all.resize(3);
  budgets wider = b;
  ++wider.workers;
  all.push_back({"one more core", 0, gain_of(target(f, wider))});
  return all;
}

}  // namespace sluice::lib
