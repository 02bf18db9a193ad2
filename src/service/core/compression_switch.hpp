// SPDX-License-Identifier: Apache-2.0
// Decides whether a worker compresses the frames that it sends to one consumer, from what both of them measure. Without I/O
// and clock.
//
//   compression_switch sw({.codecs = 2, .forced = {}});
//   if (const auto codec = sw.codec_for_next()) …                  // compress this frame, then sw.packed(…)
//   sw.sent(wire_bytes, now);                                      // after each frame
//   sw.limited(waited);                                            // both sides have waited for the link
//
// Rule:   a window has at least 1 MiB and 500 ms. If both sides have waited for half of it, the link limits the elements,
//         and its time per byte is that of the window. A codec gains, per byte, that time for the share of bytes that it
//         saves, and costs the time to compress and to decompress. Compression begins if it saves 5 % and the gain is 1.5
//         times the cost, and ends when it saves less than 2 % or the gain is less than the cost.
// Trials: the figures of a codec come from single frames while compression is off. A trial that does not pay is repeated
//         after 1, 2, 4 … 64 windows.
// Probes: while compression is on and the link does not limit, its rate is unknown. After 16, 32 … 1024 such windows one
//         or more are sent as they are. If the link limits again, compression continues at once.
// Thread: not safe for concurrent use.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

class compression_switch {
 public:
  static constexpr std::size_t kCodecsMax = 2;
  static constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 20;
  static constexpr duration kWindowTime = std::chrono::milliseconds(500);
  struct settings {
    std::size_t codecs = 0;                  ///< the number of codecs that both sides have
    std::optional<std::size_t> forced = {};  ///< this codec always, without measurement
  };
  explicit compression_switch(settings s) : settings_(s) {
    if (s.forced) on_ = s.forced;
  }

  /// The codec of the next frame; nullopt: it is sent as it is.
  std::optional<std::size_t> codec_for_next() const;
  /// A frame was compressed. `packed_bytes` may exceed `raw_bytes`; the frame is then sent as it is.
  void packed(std::size_t codec, std::uint64_t raw_bytes, std::uint64_t packed_bytes, duration took);
  /// The consumer has decompressed frames of this size.
  void unpacked(std::uint64_t raw_bytes, duration took);
  /// For this time the worker has waited until it could send, and the consumer until something arrived.
  void limited(duration d) { limited_ += d; }
  /// A frame was sent.
  void sent(std::uint64_t wire_bytes, time_point now);

  bool is_on() const { return on_.has_value(); }
  std::optional<std::size_t> codec() const { return on_; }
  std::uint64_t switches() const { return switches_; }  ///< on and off, without probes
  std::uint64_t probes() const { return probes_; }
  /// Bytes per second when the link last limited; 0: it never did.
  double link_bytes_per_second() const { return link_ns_ > 0 ? 1e9 / link_ns_ : 0; }

 private:
  static constexpr double kBegin = 1.5, kBeginRatio = 0.95, kContinueRatio = 0.98;
  static constexpr std::uint64_t kTrialAfterMax = 64, kProbeAfterMin = 16, kProbeAfterMax = 1024, kProbeWindows = 3;

  /// Nanoseconds per byte before compression, and the bytes that are left of each.
  struct figures {
    std::uint64_t raw = 0, small = 0;  ///< of this window
    duration took{};
    double ratio = 1, pack_ns = 0, unpack_ns = 0;
    bool is_known = false, has_unpacked = false;
    double cost() const { return pack_ns + (has_unpacked ? unpack_ns : pack_ns / 2); }
    double gain(double link_ns) const { return (1 - ratio) * link_ns; }
    bool may_begin(double link_ns) const { return ratio <= kBeginRatio && gain(link_ns) >= kBegin * cost(); }
    bool may_continue(double link_ns) const { return ratio <= kContinueRatio && gain(link_ns) >= cost(); }
  };
  void close_window(duration took);
  void settle_figures();
  void decide_off(bool is_limited);
  void decide_on(bool is_limited);
  void turn_on(std::size_t codec);
  void turn_off();
  std::optional<std::size_t> best() const;

  settings settings_;
  std::array<figures, kCodecsMax> codecs_{};
  std::optional<std::size_t> on_;
  std::optional<std::size_t> trial_;        ///< the codec of the next trial
  std::optional<std::size_t> last_packed_;  ///< the codec of the last compressed frame
  std::optional<std::size_t> probed_;       ///< the codec that was on before the probe that runs
  std::uint64_t bytes_ = 0;                 ///< of this window
  time_point begun_{};
  bool has_begun_ = false;
  duration limited_{};
  double link_ns_ = 0;
  std::uint64_t trial_in_ = 0, trial_after_ = 1;                ///< windows
  std::uint64_t unlimited_ = 0, probe_after_ = kProbeAfterMin;  ///< windows
  std::uint64_t switches_ = 0, probes_ = 0;
};

}  // namespace sluice::lib
