// SPDX-License-Identifier: Apache-2.0
// The names that short examples in the documentation use without saying where they come from.
#pragma once

#include <array>
#include <chrono>
#include <cstdio>
#include <ranges>
#include <sluice/sluice.hpp>
#include <string>
#include <utility>
#include <vector>

namespace documentation {

struct sample {
  std::string text;
  std::int64_t label;
};
struct label_count {
  std::int64_t label = 0;
  std::int64_t n = 0;
};
struct size_count {
  std::size_t key = 0;
  std::int64_t n = 0;
};
struct reply {
  std::int64_t status;
};

struct image {
  std::int64_t pixels;
};
struct checked_sample {
  std::int64_t label = 0;
  bool valid = true;
};
struct sentence {
  std::string text;
  std::vector<std::int64_t> tokens;
};

inline sample parse(const sluice::record& r) { return {std::string(r.view()), 0}; }
inline image decode(const sluice::record& r) { return {static_cast<std::int64_t>(r.view().size())}; }
inline image cropped(image x, std::uint64_t by) { return {x.pixels - static_cast<std::int64_t>(by)}; }
inline std::string numbered(const sluice::line& l, sluice::element_index n) {
  return std::to_string(static_cast<std::uint64_t>(n)) + ": " + std::string(l.view());
}
inline sample parse_or_throw(const sluice::record& r) { return parse(r); }
inline std::int64_t f(std::int64_t x) { return x; }
inline sluice::task<reply> fetch(std::int64_t id) {
  reply made{id};
  co_return made;
}
inline sentence tokenise(const sluice::record& r) { return {std::string(r.view()), {1, 2}}; }
inline std::vector<std::string> split(std::string_view text) { return {std::string(text)}; }

inline void log_dropped(const sluice::status& why, std::uint64_t n) {
  std::printf("%lu: %s\n", static_cast<unsigned long>(n), why.to_string().c_str());
}
inline void subscribe(const sluice::channel_sender<std::string>& push, std::uint64_t from) {
  push.try_push(std::to_string(from));
}

inline auto numbers = sluice::range(10);
inline auto ids = sluice::range(10);
inline auto records = sluice::tfrecord("a.tfrecord");
inline auto files = sluice::tfrecord("a.tfrecord");
inline auto samples = records | sluice::map(parse);
inline auto images = records | sluice::map(decode);
inline auto sentences = records | sluice::map(tokenise);
inline auto checked_samples = numbers | sluice::map([](std::int64_t x) { return checked_sample{x, true}; });
inline auto cats = images, dogs = images;
inline auto turns = sluice::range(9) | sluice::map([](std::int64_t x) { return x % 2; });
inline auto batches = numbers | sluice::batch(2);
inline auto pipeline = numbers | sluice::shuffle(4);

}  // namespace documentation
using namespace documentation;
