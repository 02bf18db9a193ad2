// SPDX-License-Identifier: Apache-2.0
// The frames that a worker sends to one consumer that reads compressed ones. All reads of the consumer share the
// measurement and the decision (core/compression_switch.hpp).
//
//   std::shared_ptr<sent_frames> to = all.of(request);                // null: the consumer wants frames as they are
//   if (const auto codec = to->codec_for_next()) …
//   to->sent(raw, wire, now);
//
// Thread: any.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/core/compression_switch.hpp"
#include "service/core/messages.hpp"
#include "service/wire/packed_frames.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib {

class sent_frames {
 public:
  sent_frames(std::string consumer, std::vector<frame_codec> codecs, bool is_forced);

  std::optional<frame_codec> codec_for_next() const;
  void packed(frame_codec c, std::uint64_t raw_bytes, std::uint64_t packed_bytes, duration took);
  void sent(std::uint64_t raw_bytes, std::uint64_t wire_bytes, time_point now);
  /// The measurement of a consumer. `blocked`: how long its worker has waited meanwhile until it could send.
  void measured(const measured_request& m, duration blocked);
  compression_status describe() const;

 private:
  const std::string consumer_;
  const std::vector<frame_codec> codecs_;
  const bool is_forced_;
  mutable mutex mutex_;
  compression_switch switch_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t raw_bytes_ ABSL_GUARDED_BY(mutex_) = 0, sent_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

/// The consumers of a worker. When there are more than kConsumersMax, those that have left are forgotten.
class sent_frames_by_consumer {
 public:
  static constexpr std::size_t kConsumersMax = 16;
  /// Returns null if the consumer reads no codec that this build has. Errors: unimplemented: it asks for a codec always, and
  /// this build does not have it.
  result<std::shared_ptr<sent_frames>> of(const read_request& r);
  std::vector<compression_status> describe() const;

 private:
  mutable mutex mutex_;
  std::map<std::string, std::shared_ptr<sent_frames>> all_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib
