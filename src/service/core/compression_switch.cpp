// SPDX-License-Identifier: Apache-2.0
#include "service/core/compression_switch.hpp"

#include <utility>

namespace sluice::lib {
namespace {

double ns_per_byte(duration took, std::uint64_t bytes) {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(took).count()) /
         static_cast<double>(bytes);
}

}  // namespace

std::optional<std::size_t> compression_switch::codec_for_next() const { return on_ ? on_ : trial_; }

void compression_switch::packed(std::size_t codec, std::uint64_t raw_bytes, std::uint64_t packed_bytes, duration took) {
  figures& f = codecs_[codec];
  f.raw += raw_bytes;
  f.small += std::min(raw_bytes, packed_bytes);
  f.took += took;
  last_packed_ = codec;
  if (!trial_ || on_) return;
  // Each codec has one frame of the trial.
  trial_ = codec + 1 < settings_.codecs ? std::optional(codec + 1) : std::nullopt;
}

void compression_switch::unpacked(std::uint64_t raw_bytes, duration took) {
  if (!last_packed_ || raw_bytes == 0) return;
  figures& f = codecs_[*last_packed_];
  const double ns = ns_per_byte(took, raw_bytes);
  f.unpack_ns = f.has_unpacked ? (f.unpack_ns + ns) / 2 : ns;
  f.has_unpacked = true;
}

void compression_switch::sent(std::uint64_t wire_bytes, time_point now) {
  if (!has_begun_) {
    has_begun_ = true;
    begun_ = now;
    limited_ = duration();
    return;  // the time before the first frame is unknown
  }
  bytes_ += wire_bytes;
  const duration took = now - begun_;
  if (took < kWindowTime || bytes_ < kWindowBytes) return;
  close_window(took);
  begun_ = now;
  bytes_ = 0;
  limited_ = duration();
}

void compression_switch::close_window(duration took) {
  const bool is_limited = 2 * limited_ >= took;
  if (is_limited) link_ns_ = ns_per_byte(took, bytes_);
  settle_figures();
  if (settings_.forced) return;
  if (on_) decide_on(is_limited);
  else decide_off(is_limited);
}

void compression_switch::settle_figures() {
  for (figures& f : codecs_) {
    if (f.raw == 0) continue;
    f.ratio = static_cast<double>(f.small) / static_cast<double>(f.raw);
    f.pack_ns = ns_per_byte(f.took, f.raw);
    f.is_known = true;
    f.raw = f.small = 0;
    f.took = duration();
  }
}

/// The codec that gains the most beyond its cost.
std::optional<std::size_t> compression_switch::best() const {
  std::optional<std::size_t> best;
  const auto net = [&](std::size_t i) { return codecs_[i].gain(link_ns_) - codecs_[i].cost(); };
  for (std::size_t i = 0; i != settings_.codecs; ++i)
    if (codecs_[i].is_known && (!best || net(i) > net(*best))) best = i;
  return best;
}

void compression_switch::decide_off(bool is_limited) {
  if (!is_limited) {
    if (!probed_ || ++unlimited_ < kProbeWindows) return;
    // The link is fast now.
    probed_.reset();
    unlimited_ = 0;
    probe_after_ = kProbeAfterMin;
    ++switches_;
    return;
  }
  if (const auto before = std::exchange(probed_, std::nullopt)) {
    probe_after_ = std::min(2 * probe_after_, kProbeAfterMax);
    unlimited_ = 0;
    if (codecs_[*before].may_continue(link_ns_)) on_ = before;
    else ++switches_;
    return;
  }
  if (trial_) return;  // no frame has been tried yet
  const auto codec = best();
  if (codec && codecs_[*codec].may_begin(link_ns_)) return turn_on(*codec);
  if (codec) {  // tried, and it does not pay
    trial_in_ = trial_after_;
    trial_after_ = std::min(2 * trial_after_, kTrialAfterMax);
    for (figures& f : codecs_) f.is_known = false;
    return;
  }
  if (trial_in_ != 0 && --trial_in_ != 0) return;
  if (settings_.codecs != 0) trial_ = 0;
}

void compression_switch::decide_on(bool is_limited) {
  if (!codecs_[*on_].may_continue(link_ns_)) return turn_off();
  if (is_limited) {
    unlimited_ = 0;
    return;
  }
  if (++unlimited_ < probe_after_) return;
  unlimited_ = 0;
  probed_ = std::exchange(on_, std::nullopt);
  ++probes_;
}

void compression_switch::turn_on(std::size_t codec) {
  on_ = codec;
  unlimited_ = 0;
  ++switches_;
}

void compression_switch::turn_off() {
  on_.reset();
  ++switches_;
  trial_in_ = trial_after_;
  trial_after_ = std::min(2 * trial_after_, kTrialAfterMax);
  for (figures& f : codecs_) f.is_known = false;
}

}  // namespace sluice::lib
