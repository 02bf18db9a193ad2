// SPDX-License-Identifier: Apache-2.0
#include "tuner/known_knobs.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

namespace sluice::lib {
namespace {

/// A requested parallelism begins at this value, or at twice the number of workers if that is more.
constexpr std::int64_t kRequestedBegins = 16;
/// Room beyond the number of elements by which a channel was drawn down.
constexpr double kDrawnHeadroom = 1.25;

/// The elements in the stage's channels, at most one for each block that they may have.
double fill_of(const site_report& s) {
  double elements = 0;
  for (const channel_report& c : s.channels) elements += static_cast<double>(std::min(c.elements, c.blocks_max));
  return elements;
}

}  // namespace

known_knobs::entry* known_knobs::find(std::uint64_t path, std::string_view knob) {
  for (entry& e : all_)
    if (e.path == path && e.knob == knob) return &e;
  return nullptr;
}

void known_knobs::entry::note_fill(double elements) {
  fill_most = std::max(fill_most, elements);
  drawn = std::max(drawn, fill_most - elements);
}

void known_knobs::entry::forget() {
  settings.clear();
  blocked_until = 0;
  floor = 1;
  fill_most = drawn = 0;
}

std::vector<knob_setting> known_knobs::note(const std::vector<site_report>& sites) {
  std::vector<knob_setting> lowered;
  const std::int64_t begins = std::max<std::int64_t>(kRequestedBegins, 2 * std::int64_t{workers_});
  const std::int64_t tried = std::max<std::int64_t>(kCallsTried, 2 * std::int64_t{workers_});
  for (const site_report& s : sites) {
    for (const knob_report& k : s.knobs) {
      if (entry* known = find(s.path, k.name)) {
        known->value = k.value;
        known->note_fill(fill_of(s));
        continue;
      }
      entry& e = all_.emplace_back();
      e.path = s.path;
      e.stage = s.number ? absl::StrCat(s.name, " #", s.number) : s.name;
      e.knob = k.name;
      e.value = e.began = k.value;
      e.is_requested = !k.is_free;
      e.most = !k.is_free ? k.value : k.name == "elements" ? k.most : std::min(k.most, std::max(tried, k.value));
      if (e.is_requested && k.name == "parallelism" && k.value > begins) {
        e.value = begins;
        lowered.push_back({e.path, e.knob, begins});
      }
    }
  }
  return lowered;
}

void known_knobs::enter(figures& f, std::uint64_t look) const {
  for (stage_figures& s : f.stages) {
    s.knobs.clear();
    for (const entry& e : all_) {
      if (e.path != s.path) continue;
      // A reader has used this many finished elements between two bursts of its input.
      const auto drawn = s.awaits ? static_cast<std::int64_t>(std::ceil(kDrawnHeadroom * e.drawn)) : 1;
      s.knobs.push_back({e.knob, e.value, e.most, e.is_requested, std::max(e.floor, std::min(drawn, e.value)),
                         look < e.blocked_until, e.floor, e.spread});
      if (e.knob == "parallelism") {
        s.scales = fit_scaling(e.settings);
        for (const scaling_point& p : e.settings) s.fewest = std::min(s.fewest, p.running);
      }
      if (e.knob != "reads_in_flight") continue;
      const read_scaling reads = fit_reads(e.settings);
      s.read_alone = reads.alone;
      s.reads_useful = reads.useful;
    }
  }
}

}  // namespace sluice::lib
