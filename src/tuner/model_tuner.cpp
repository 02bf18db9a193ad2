// SPDX-License-Identifier: Apache-2.0
#include "tuner/model_tuner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/rates.hpp"

namespace sluice::lib {
namespace {

/// The longest time between two looks, as a multiple of the shortest one.
constexpr int kPeriodsMax = 20;
/// Fewer calls, or elements of the run, are no measurement.
constexpr double kSamples = 4, kWatchedSamples = 16, kSampledElements = 64;
/// The number of reads in flight, times this, are measured after a step.
constexpr double kReadRounds = 4;
/// One element of at most this number of slow ones is timed.
constexpr double kElementsPerSample = 8;
/// The number of rounds of tasks that compute at the same time over which the gain of a step is measured.
constexpr double kTaskRounds = 16;
/// Calls take at most their mean and this number of standard deviations, nearly always.
constexpr double kSlowerCalls = 2;
/// Calls whose times have at least this standard deviation, as a share of the mean, contain some that are much slower.
constexpr double kDiffers = 0.5;
/// Few calls of which some are slow differ by up to this number of standard errors from others, nearly always.
constexpr double kDoubts = 4;
/// The number of rounds of calls over which a smaller number of calls is measured: they may begin and end together.
constexpr double kCallRounds = 4;
/// The number of bursts over which the gain of a step is measured, if the step was made because of bursts.
constexpr double kBursts = 3;
/// A stage whose calls, or work, take less than this share of the run's time does not matter.
constexpr double kMatters = 0.05;
/// Looks without a measurement after which the period grows.
constexpr std::uint64_t kShortLooks = 16;
/// Smaller gains are not worth a step.
constexpr double kGainMin = 0.02;
/// A step that brings less than this share of what was expected is undone.
constexpr double kEffective = 0.1;
constexpr double kSlower = 0.95, kKeepsUp = 0.9;
constexpr std::uint64_t kBlockedLooks = 200;
/// The number of measurements for which lower values wait until the run is as fast as expected.
constexpr int kPostponed = 16;
/// A value is lowered if the difference is at least this share of it.
constexpr double kLowering = 0.1;
constexpr std::size_t kSettingsKept = 4, kErrorsKept = 32;

duration duration_of(double seconds) { return duration(static_cast<duration::rep>(seconds * 1e9)); }

}  // namespace

model_tuner::model_tuner(budgets b, duration period)
    : budgets_(b), period_min_(period), period_max_(period * kPeriodsMax), period_(period), knobs_(b.workers) {}

bool model_tuner::is_measured(const figures& f, double samples) const {
  const bool is_check = phase_ == phase::checking;
  const double rounds = is_check && step_ && step_->is_for_fewer ? kCallRounds : 1;
  if (f.stages.empty() || f.elements < samples || f.seconds <= 0) return false;
  for (const stage_figures& s : f.stages) {
    const bool is_chosen = std::any_of(s.knobs.begin(), s.knobs.end(), [](auto& k) { return k.name == "parallelism"; });
    for (const tunable_knob& k : s.knobs) {
      const bool shows_reads =
          k.name != "reads_in_flight" || s.reads <= 0 ||
          (s.reads * s.made >= kReadRounds * static_cast<double>(k.value) && f.seconds >= 2 * s.read);
      if (is_check && !shows_reads) return false;
    }
    if (!is_chosen || !s.works_ahead || s.is_light || s.opens_plans) continue;
    // Calls that began together end together: a shorter time than that of a call may see all of them, or none.
    if (s.calls < samples || f.seconds < rounds * s.call) return false;
    if (is_check && !s.awaits && s.calls < kTaskRounds * s.running) return false;
  }
  return true;
}

void model_tuner::set(const std::vector<knob_setting>& all, decision& d) {
  for (const knob_setting& s : all) {
    if (known_knobs::entry* e = knobs_.find(s.path, s.knob)) e->value = s.value;
    d.set.push_back(s);
  }
}

/// A run is slower during a burst, or a slow call, than between two of them, so the gain of a step is measured over several.
double model_tuner::samples_needed(const observation& now) const {
  if (phase_ == phase::measuring) return kSamples;
  if (phase_ == phase::watching || !step_ || !step_->is_for_bursts) return kWatchedSamples;
  const double every = std::max(static_cast<double>(now.consumer.stall_every), step_->slow_every);
  return std::clamp(kBursts * every, kSampledElements, kSampledElements * 16);
}

/// The elements of the run among which one has a slow call of this stage; 0: its calls do not differ much, or it is unknown.
double model_tuner::slow_every(const stage_figures& s) {
  const bool has_slow_calls = s.awaits && s.slow_share > 0 && s.deviation > kDiffers * s.call;
  return has_slow_calls ? 1 / (s.slow_share * std::max(s.visits, 1e-12)) : 0;
}

/// A step raises knobs if the run gains from it, and lowers those that are much too high.
bool model_tuner::is_worth_it(const allocation& a) {
  const bool gains = a.rate_now > 0 && a.rate > (1 + kGainMin) * a.rate_now;
  for (const knob_value& v : a.settings) {
    if (v.value > v.was && (gains || v.is_starved || v.knob != "parallelism")) return true;
    if (static_cast<double>(v.was - v.value) > kLowering * static_cast<double>(v.was)) return true;
  }
  return false;
}

/// The run is as fast as the model expects, so that lower values that the model allows can be tried. At its beginning a
/// run is slower, and so is one whose bursts the model does not know.
bool model_tuner::keeps_up(const allocation& a, const figures& f) {
  return a.rate > 0 && f.elements / f.seconds >= kKeepsUp * a.rate;
}

void model_tuner::allocate_now(const figures& f, bool is_correction, decision& d) {
  allocation a = allocate(f, budgets_);
  bool is_postponed = false;
  // Fewer elements show no burst: what looks too high may be used by one.
  const bool is_late = !keeps_up(a, f), shows_no_burst = averaged_ < kSampledElements;
  if (is_late || shows_no_burst) {
    for (knob_value& v : a.settings) {
      if (v.is_fewer && !shows_no_burst) continue;  // the model expects too much of the present number
      is_postponed |= static_cast<double>(v.was - v.value) > kLowering * static_cast<double>(v.was);
      v.value = std::max(v.value, v.was);
    }
  }
  rate_ = a.rate;
  limit_ = a.limit;
  for (const knob_value& v : a.settings)
    if (known_knobs::entry* e = knobs_.find(v.path, v.knob)) e->reason = v.reason;
  if (is_postponed && !is_worth_it(a) && postponed_ < kPostponed) {
    ++postponed_;
    phase_ = phase::measuring;
    return;
  }
  // Each number of reads that was faster makes the next one worth a try.
  const bool tries_reads = std::any_of(a.settings.begin(), a.settings.end(), [](auto& v) { return v.is_reads; });
  // Each number of calls that was as fast makes a smaller one worth a try.
  const bool tries_fewer =
      std::any_of(a.settings.begin(), a.settings.end(), [](auto& v) { return v.is_fewer && v.value < v.was; });
  if (!is_worth_it(a) || (is_correction && corrections_left_ == 0 && !tries_reads && !tries_fewer)) {
    phase_ = phase::watching;
    return;
  }
  if (is_correction && !tries_reads && !tries_fewer) --corrections_left_;
  const double rate = f.elements / f.seconds;
  // Elements that come in bursts make the rate of a short time too high, and the start makes that of a longer one too low.
  step made;
  made.before = averaged_ < kSampledElements ? std::max(rate, average_) : average_;
  made.expected = a.rate;
  made.raises = a.rate > (1 + kGainMin) * a.rate_now;
  made.is_for_reads = tries_reads;
  made.is_for_fewer = tries_fewer;
  std::vector<knob_setting> all;
  for (const knob_value& v : a.settings) {
    if (v.value == v.was) continue;
    all.push_back({v.path, v.knob, v.value});
    made.undo.push_back({v.path, v.knob, v.was});
    made.is_for_bursts |= v.is_starved;
    if (known_knobs::entry* e = knobs_.find(v.path, v.knob); e && v.is_starved) e->floor = v.value;
    if (v.value < v.was || v.knob != "parallelism") continue;
    for (const stage_figures& s : f.stages)
      if (s.path == v.path) made.slow_every = std::max(made.slow_every, slow_every(s));
  }
  made.is_for_bursts |= made.slow_every > 0;
  // A rate between two bursts would make the rate over bursts look like a loss. A few elements do not show the rate.
  if (made.is_for_reads) made.before = rate;
  if (made.is_for_bursts) made.before = averaged_ < kSampledElements ? 0 : average_;
  set(all, d);
  ++steps_;
  step_ = std::move(made);
  phase_ = phase::settling;
}

/// Blocks that were begun with the old values must leave their channels first. Finished elements may wait for a slow one.
duration model_tuner::settle_time(const figures& f) const {
  double longest = 0;
  for (const stage_figures& s : f.stages)
    longest += std::max(s.call + kSlowerCalls * s.deviation, slow_every(s) > 0 ? s.longest : 0);
  return duration_of(std::min(longest, 60.0)) + period_min_;
}

void model_tuner::remember_settings(const figures& f) {
  const auto remember = [this](const stage_figures& s, std::string_view knob, const scaling_point& measured) {
    known_knobs::entry* e = knobs_.find(s.path, knob);
    if (!e) return;
    if (e->settings.size() == kSettingsKept) e->settings.erase(e->settings.begin());
    e->settings.push_back(measured);
  };
  for (const stage_figures& s : f.stages) {
    if (s.calls >= kSamples && s.call > 0) {
      remember(s, "parallelism", {s.running, s.call, s.deviation, s.calls});
      if (known_knobs::entry* e = knobs_.find(s.path, "parallelism"))
        e->spread = std::max(e->spread, s.deviation / s.call);
    }
    if (s.reads * s.made >= kSamples && s.read > 0) remember(s, "reads_in_flight", {s.reading, s.read, 0, 0});
  }
}

/// Sets the knobs as before the step; calls to the number at which more were not faster, if that is above what was too few. The
/// blocks of the step must leave before the costs are watched, or their end would look like a change.
void model_tuner::undo(const step& made, decision& d) {
  std::vector<knob_setting> all = made.undo;
  for (knob_setting& s : all) {
    known_knobs::entry* e = knobs_.find(s.path, s.knob);
    if (!e) continue;
    const double useful = s.knob == "parallelism" ? std::ceil(fit_scaling(e->settings).useful) : kNoLimit;
    const bool is_between = e->value > s.value || useful > static_cast<double>(e->value);
    if (is_between && useful < static_cast<double>(std::max(s.value, e->value)))
      s.value = std::max<std::int64_t>(2, static_cast<std::int64_t>(useful));
    e->blocked_until = looks_ + kBlockedLooks;
    if (!made.raises) e->floor = std::max(e->floor, s.value);
    else if (e->floor > s.value) e->floor = 1;  // more have not ended the waits for bursts
  }
  set(all, d);
  detectors_.clear();
  phase_ = phase::settling;
}

void model_tuner::check_step(const figures& f, decision& d) {
  const step made = *std::exchange(step_, std::nullopt);
  // The waits of a reader depend on its reads in flight: they have another usual value now.
  if (std::ranges::any_of(made.undo, [](auto& s) { return s.knob == "reads_in_flight"; })) detectors_.clear();
  const double rate = f.elements / f.seconds;
  remember_settings(f);
  if (made.expected > 0 && errors_.size() < kErrorsKept) errors_.push_back(std::abs(rate / made.expected - 1));
  const bool is_ineffective = made.raises && rate - made.before < kEffective * (made.expected - made.before);
  const bool reads_gain_nothing = made.is_for_reads && rate < (1 + kGainMin) * made.before;
  if (is_ineffective || reads_gain_nothing || rate < kSlower * made.before) {
    undo(made, d);
    return;
  }
  figures corrected = f;
  knobs_.enter(corrected, looks_);
  allocate_now(corrected, true, d);
}

/// Own times are estimated from samples, so few elements do not show them: those of a longer time do.
figures model_tuner::measured(const observation& now) {
  figures f = figures_between(*window_, now);
  const figures longer = figures_between(*base_, now);
  average_ = longer.seconds > 0 ? longer.elements / longer.seconds : 0;
  averaged_ = longer.elements;
  if (f.consumer_samples <= kWatchedSamples) f.consumer = longer.consumer;
  for (std::size_t i = 0; i != f.stages.size(); ++i) {
    f.stages[i].own = longer.stages[i].own;
    f.stages[i].outside = longer.stages[i].outside;
    f.stages[i].pull = longer.stages[i].pull;
    f.stages[i].longest = longer.stages[i].longest;
    f.stages[i].slow_share = longer.stages[i].slow_share;
  }
  knobs_.enter(f, looks_);
  return f;
}

/// If more calls at the same time are not faster, each takes as much longer: that is no change of its cost.
double model_tuner::share_of_useful(const stage_figures& s) {
  return s.running > s.scales.useful ? s.scales.useful / s.running : 1;
}

/// A short time may contain none of the slow calls that others have.
double model_tuner::spread_of(const stage_figures& s) {
  const tunable_knob* k = rate_model::knob(s, "parallelism");
  return k ? k->spread : 0;
}

bool model_tuner::has_changed(const figures& f) {
  bool any = false;
  auto enter = [&](std::uint64_t path, int which, double cost, double doubt, double share) {
    any |= detectors_[{path, which}].enter(cost, doubt, share);
  };
  const double rate = f.elements / f.seconds;
  for (const stage_figures& s : f.stages)
    if (s.calls >= kWatchedSamples && s.visits * s.call * rate > kMatters)
      enter(s.path, 0, s.call * share_of_useful(s), 2 * s.deviation / std::sqrt(s.calls),
            kDoubts * spread_of(s) / std::sqrt(s.calls));
  if (f.consumer * rate > kMatters) enter(0, 2, f.consumer, 0, 0);
  return any;
}

/// The same for times that are sampled.
bool model_tuner::has_changed_slowly(const figures& longer) {
  bool any = false;
  const double rate = longer.elements / longer.seconds;
  for (const stage_figures& s : longer.stages) {
    if (s.visits * (s.own + s.outside) * rate <= kMatters) continue;
    const double each = s.own + s.outside, root = std::sqrt(std::max(1.0, s.made / kElementsPerSample));
    double& spread = own_spreads_[s.path];  // as for calls: a short time may contain no stall of a source
    spread = std::max(spread, s.own_deviation / each);
    any |= detectors_[{s.path, 1}].enter(each, 2 * s.own_deviation / root, kDoubts * spread / root);
  }
  return any;
}

void model_tuner::begin_again(const observation& now) {
  ++changes_;
  for (known_knobs::entry& e : knobs_.all()) e.forget();
  detectors_.clear();
  base_ = window_;
  sampled_ = now;
  phase_ = phase::measuring;
  corrections_left_ = 2;
  postponed_ = 0;
  period_ = period_min_;
}

void model_tuner::watch(const figures& f, const observation& now, decision& d) {
  if (has_changed(f)) return begin_again(now);
  figures longer = figures_between(*sampled_, now);
  if (longer.elements >= kSampledElements) {
    sampled_ = now;
    if (has_changed_slowly(longer)) return begin_again(now);
    knobs_.enter(longer, looks_);
    for (std::size_t i = 0; i != longer.stages.size(); ++i) {
      longer.stages[i].longest = f.stages[i].longest;  // since the beginning or the last change
      longer.stages[i].slow_share = f.stages[i].slow_share;
    }
    const allocation a = allocate(longer, budgets_);
    // The waits of a long time show bursts, and whether all calls and reads are in use, which the short ones may have missed.
    const auto is_tried = [](auto& v) { return v.is_starved || v.is_fewer || v.is_reads; };
    if (std::any_of(a.settings.begin(), a.settings.end(), is_tried)) return allocate_now(longer, false, d);
  }
  if (++watched_ < recheck_after_) return;
  // Early measurements have few samples: what they missed is found later, at growing intervals.
  recheck_after_ *= 2;
  watched_ = 0;
  corrections_left_ = 1;
  phase_ = phase::measuring;
}

decision model_tuner::look(const observation& now) {
  decision d;
  ++looks_;
  set(knobs_.note(now.sites), d);
  if (!window_) window_ = base_ = sampled_ = now;
  if (phase_ == phase::settling && now.at >= settled_at_) {
    begin_window(now);
    sampled_ = now;
    phase_ = step_ ? phase::checking : phase::watching;
  }
  figures f = measured(now);
  if (phase_ != phase::settling && is_measured(f, samples_needed(now))) {
    const phase was = phase_;
    if (phase_ == phase::measuring) {
      remember_settings(f);
      allocate_now(f, false, d);
    } else if (phase_ == phase::checking) {
      check_step(f, d);
    } else {
      watch(f, now, d);
    }
    if (phase_ == phase::settling) settled_at_ = now.at + settle_time(f);
    begin_window(now);
    period_ = phase_ == phase::watching && was == phase::watching ? std::min(period_ * 2, period_max_) : period_min_;
    newest_ = std::move(f);
  } else if (looks_ > kShortLooks) {
    period_ = std::min(period_ * 2, period_max_);
  }
  d.next = phase_ == phase::settling ? std::max(period_min_, settled_at_ - now.at) : period_;
  return d;
}

tuning_report model_tuner::report() const {
  tuning_report r;
  r.is_on = true;
  r.looks = looks_;
  r.steps = steps_;
  r.changes = changes_;
  r.elements_second = rate_;
  r.limit = limit_;
  if (!errors_.empty()) {
    std::vector<double> sorted = errors_;
    std::sort(sorted.begin(), sorted.end());
    r.error_median = sorted[sorted.size() / 2];
  }
  for (const known_knobs::entry& e : knobs_.all())
    r.knobs.push_back({e.path, e.stage, e.knob, e.value, e.began, e.most, e.is_requested,
                       e.reason.empty() ? "too few elements were measured" : e.reason});
  if (newest_) {
    figures f = *newest_;
    knobs_.enter(f, looks_);
    r.what_ifs = try_changes(f, budgets_);
  }
  return r;
}

}  // namespace sluice::lib
