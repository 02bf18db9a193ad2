// SPDX-License-Identifier: Apache-2.0
// The policy of the tuner: one allocation from the model, at most two corrections, then it watches for changes.
//
// A step is undone if it has not brought a tenth of what it should, or if the run has become slower; its knobs then stay
// for a while. A change of a cost, or of the consumer, starts the measurement again, at the shortest period.
// Thread: one call at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/change_detector.hpp"
#include "tuner/known_knobs.hpp"
#include "tuner/policy.hpp"

namespace sluice::lib {

class model_tuner final : public tuning_policy {
 public:
  /// `period`: the shortest time between two looks.
  model_tuner(budgets b, duration period);

  decision look(const observation& now) override;
  tuning_report report() const override;

 private:
  enum class phase : std::uint8_t { measuring, settling, checking, watching };
  struct step {
    double before = 0, expected = 0;  ///< rates
    std::vector<knob_setting> undo;
    double slow_every = 0;  ///< elements of the run among which one has a slow call of a stage that is raised
    bool raises = false;
    bool is_for_bursts = false;
    bool is_for_reads = false;
    bool is_for_fewer = false;
  };

  bool is_measured(const figures& f, double samples) const;
  static bool keeps_up(const allocation& a, const figures& f);
  void begin_window(const observation& now) { window_ = now; }
  figures measured(const observation& now);
  void allocate_now(const figures& f, bool is_correction, decision& d);
  double samples_needed(const observation& now) const;
  static bool is_worth_it(const allocation& a);
  static double slow_every(const stage_figures& s);
  void check_step(const figures& f, decision& d);
  void undo(const step& made, decision& d);
  void watch(const figures& f, const observation& now, decision& d);
  static double share_of_useful(const stage_figures& s);
  static double spread_of(const stage_figures& s);
  bool has_changed(const figures& f);
  bool has_changed_slowly(const figures& longer);
  void begin_again(const observation& now);
  void remember_settings(const figures& f);
  duration settle_time(const figures& f) const;
  void set(const std::vector<knob_setting>& all, decision& d);

  const budgets budgets_;
  const duration period_min_, period_max_;
  duration period_;
  phase phase_ = phase::measuring;
  /// Since the last step or measurement; since the beginning or the last change; and for sampled times, some of each.
  std::optional<observation> window_, base_, sampled_;
  duration settled_at_{};
  known_knobs knobs_;
  int corrections_left_ = 2, postponed_ = 0;
  std::uint64_t watched_ = 0, recheck_after_ = 32;  ///< windows
  std::optional<step> step_;
  std::map<std::pair<std::uint64_t, int>, change_detector> detectors_;
  std::map<std::uint64_t, double> own_spreads_;  ///< the largest deviation of a stage's own time, by that time
  std::uint64_t looks_ = 0, steps_ = 0, changes_ = 0;
  std::optional<figures> newest_;
  double rate_ = 0, average_ = 0;  ///< expected; and measured since the beginning or the last change
  double averaged_ = 0;            ///< the elements of average_
  std::string limit_;
  std::vector<double> errors_;
};

}  // namespace sluice::lib
