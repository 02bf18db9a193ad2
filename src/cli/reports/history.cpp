// SPDX-License-Identifier: Apache-2.0
#include "cli/reports/history.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text/redacted.hpp"

namespace sluice::lib::cli {
namespace {

/// Points come from a timer, which may be early by this share of the interval.
constexpr double kEarly = 0.9;

}  // namespace

std::size_t run_history::number_of(const site_report& s, const channel_report& c) {
  auto is_same = [&](const channel_name& n) { return n.path == s.path && n.name == c.name; };
  auto at = std::find_if(channels_.begin(), channels_.end(), is_same);
  if (at == channels_.end()) {
    const std::string stage = s.number ? absl::StrCat(s.name, " #", s.number) : s.name;
    at = channels_.insert(channels_.end(), {s.path, stage, c.name});
  }
  return static_cast<std::size_t>(at - channels_.begin());
}

void run_history::add(double seconds, std::uint64_t elements, std::uint64_t bytes, std::size_t memory_bytes,
                      const std::vector<site_report>& sites) {
  mutex_lock lock(mutex_);
  if (!points_.empty() && seconds - points_.back().seconds < interval_ * kEarly) return;
  point p{seconds, elements, bytes, memory_bytes, {}};
  for (const site_report& s : sites)
    for (const channel_report& c : s.channels) {
      const std::size_t i = number_of(s, c);
      if (p.channels.size() <= i) p.channels.resize(i + 1);
      p.channels[i] = c;
    }
  points_.push_back(std::move(p));
  if (points_.size() < kPointsMax) return;
  for (std::size_t i = 0; i < points_.size() / 2; ++i) points_[i] = std::move(points_[2 * i + 1]);
  points_.resize(points_.size() / 2);
  interval_ = 2 * std::max(interval_, points_.back().seconds / static_cast<double>(kPointsMax));
}

nlohmann::ordered_json run_history::json() const {
  using json = nlohmann::ordered_json;
  mutex_lock lock(mutex_);
  json all{{"seconds", json::array()},
           {"elements", json::array()},
           {"bytes", json::array()},
           {"memory_bytes", json::array()},
           {"channels", json::array()}};
  for (const point& p : points_) {
    all["seconds"].push_back(p.seconds);
    all["elements"].push_back(p.elements);
    all["bytes"].push_back(p.bytes);
    all["memory_bytes"].push_back(p.memory_bytes);
  }
  for (std::size_t i = 0; i != channels_.size(); ++i) {
    json blocks = json::array(), blocks_max = json::array(), elements = json::array(), elements_max = json::array();
    for (const point& p : points_) {
      const bool is_known = i < p.channels.size() && p.channels[i].channels != 0;
      blocks.push_back(is_known ? json(p.channels[i].blocks) : json());
      blocks_max.push_back(is_known ? json(p.channels[i].blocks_max) : json());
      elements.push_back(is_known ? json(p.channels[i].elements) : json());
      elements_max.push_back(is_known && p.channels[i].elements_max ? json(p.channels[i].elements_max) : json());
    }
    all["channels"].push_back({{"path", absl::StrCat(absl::Hex(channels_[i].path, absl::kZeroPad16))},
                               {"stage", detail::redacted(channels_[i].stage)},
                               {"name", detail::redacted(channels_[i].name)},
                               {"blocks", std::move(blocks)},
                               {"blocks_max", std::move(blocks_max)},
                               {"elements", std::move(elements)},
                               {"elements_max", std::move(elements_max)}});
  }
  return all;
}

}  // namespace sluice::lib::cli
