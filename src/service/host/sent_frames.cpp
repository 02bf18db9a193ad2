// SPDX-License-Identifier: Apache-2.0
#include "service/host/sent_frames.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

namespace sluice::lib {

sent_frames::sent_frames(std::string consumer, std::vector<frame_codec> codecs, bool is_forced)
    : consumer_(std::move(consumer)),
      codecs_(std::move(codecs)),
      is_forced_(is_forced),
      switch_({.codecs = codecs_.size(), .forced = is_forced ? std::optional<std::size_t>(0) : std::nullopt}) {}

std::optional<frame_codec> sent_frames::codec_for_next() const {
  mutex_lock lock(mutex_);
  const auto i = switch_.codec_for_next();
  return i ? std::optional(codecs_[*i]) : std::nullopt;
}

void sent_frames::packed(frame_codec c, std::uint64_t raw_bytes, std::uint64_t packed_bytes, duration took) {
  const auto i = static_cast<std::size_t>(std::find(codecs_.begin(), codecs_.end(), c) - codecs_.begin());
  mutex_lock lock(mutex_);
  switch_.packed(i, raw_bytes, packed_bytes, took);
}

void sent_frames::sent(std::uint64_t raw_bytes, std::uint64_t wire_bytes, time_point now) {
  mutex_lock lock(mutex_);
  raw_bytes_ += raw_bytes;
  sent_bytes_ += wire_bytes;
  switch_.sent(wire_bytes, now);
}

void sent_frames::measured(const measured_request& m, duration blocked) {
  mutex_lock lock(mutex_);
  switch_.limited(std::min<duration>(blocked, std::chrono::microseconds(m.waited_us)));
  switch_.unpacked(m.unpacked_bytes, std::chrono::nanoseconds(m.unpack_ns));
}

compression_status sent_frames::describe() const {
  mutex_lock lock(mutex_);
  const auto i = switch_.codec();
  return {.consumer = consumer_,
          .codec = i ? std::string(name_of(codecs_[*i])) : "none",
          .is_forced = is_forced_,
          .raw_bytes = raw_bytes_,
          .sent_bytes = sent_bytes_,
          .link_bytes_per_second = static_cast<std::uint64_t>(switch_.link_bytes_per_second()),
          .switches = switch_.switches()};
}

result<std::shared_ptr<sent_frames>> sent_frames_by_consumer::of(const read_request& r) {
  std::vector<frame_codec> codecs;
  if (!r.codecs) return std::shared_ptr<sent_frames>();
  for (const std::string& name : *r.codecs) {
    const auto c = frame_codec_named(name);
    const bool is_new = c && std::find(codecs.begin(), codecs.end(), *c) == codecs.end();
    if (is_new && std::find(frame_codecs().begin(), frame_codecs().end(), *c) != frame_codecs().end())
      codecs.push_back(*c);
  }
  const bool is_forced = r.is_compressed_always.value_or(false);
  if (codecs.empty() && is_forced)
    return unimplemented_error(absl::StrCat("the worker has no ", r.codecs->empty() ? "codec" : r.codecs->front(),
                                            ", which compression= asks for; write compression=automatic"));
  if (codecs.empty()) return std::shared_ptr<sent_frames>();
  if (is_forced) codecs.resize(1);
  std::string key = absl::StrCat(r.consumer, "\n", r.incarnation);
  for (const frame_codec c : codecs) absl::StrAppend(&key, " ", std::string(name_of(c)), is_forced ? "!" : "");
  mutex_lock lock(mutex_);
  if (const auto found = all_.find(key); found != all_.end()) return found->second;
  // Consumers that are gone make room.
  if (all_.size() >= kConsumersMax) std::erase_if(all_, [](const auto& each) { return each.second.use_count() == 1; });
  auto made = std::make_shared<sent_frames>(r.consumer, std::move(codecs), is_forced);
  all_[key] = made;
  return made;
}

std::vector<compression_status> sent_frames_by_consumer::describe() const {
  std::vector<compression_status> all;
  mutex_lock lock(mutex_);
  for (const auto& [key, each] : all_) all.push_back(each->describe());
  return all;
}

}  // namespace sluice::lib
