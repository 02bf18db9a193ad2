// SPDX-License-Identifier: Apache-2.0
#include "op/shard/shard_rest.hpp"

#include <algorithm>
#include <utility>

#include "sluice/coro/demand.hpp"

namespace sluice::lib {

bool delivered_shards::is_prefix() const {
  for (std::size_t i = 0; i + 1 < delivered.size(); ++i)
    if (delivered[i] < delivered[i + 1]) return false;
  return delivered.front() - delivered.back() <= 1;
}

std::uint64_t delivered_shards::delivered_before(std::uint64_t x) const {
  std::uint64_t n = 0;
  for (std::uint64_t r = 0; r != shards; ++r) n += std::min(delivered[r], x > r ? (x - r + shards - 1) / shards : 0);
  return n;
}

status shard_rest::add_one(delivered_shards layer) {
  std::uint64_t all = 0;
  for (std::uint64_t n : layer.delivered) all += n;
  // Whatever the number of shards was, a delivered beginning is the same; two of them one after the other are one.
  if (layer.is_prefix()) layer = {1, {all}};
  if (all == 0 && !layers_.empty()) return {};
  if (layer.shards == 1 && !layers_.empty() && layers_.back().shards == 1) layers_.back().delivered[0] += all;
  else layers_.push_back(std::move(layer));
  return layers_.size() <= kLayersMax
             ? status()
             : failed_precondition_error(
                   "the run was resharded too often while its consumers were at different places; let them reach the "
                   "same number of elements first");
}

status shard_rest::add(delivered_shards layer) {
  const auto [least, most] = std::minmax_element(layer.delivered.begin(), layer.delivered.end());
  const std::uint64_t common = *least;
  if ((*most - common) > kSpreadMax / layer.shards)
    return failed_precondition_error(
        "the consumers are more than 16 million elements apart; let the slower ones continue "
        "before the run is resharded");
  status why = add_one({1, {common * layer.shards}});
  for (std::uint64_t& n : layer.delivered) n -= common;
  if (why.ok()) why = add_one(std::move(layer));
  measure();
  return why;
}

void shard_rest::measure() {
  tail_ = total_ = 0;
  for (const delivered_shards& d : layers_) {
    const std::uint64_t most = *std::max_element(d.delivered.begin(), d.delivered.end());
    tail_ = std::max(tail_, most * d.shards + total_);
    for (std::uint64_t n : d.delivered) total_ += n;
  }
}

std::uint64_t shard_rest::delivered_at(std::uint64_t x, std::uint64_t& number) const {
  number = x;
  for (const delivered_shards& d : layers_) {
    if (d.has_delivered(number)) return d.shards == 1 ? d.delivered[0] - number : 1;
    number -= d.delivered_before(number);
  }
  return 0;
}

std::uint64_t shard_rest::next(std::uint64_t x, std::uint64_t shards, std::uint64_t index) const {
  while (x < tail_) {
    std::uint64_t number = 0;
    const std::uint64_t delivered = delivered_at(x, number);
    if (delivered == 0 && number % shards == index) return x;
    x += std::max<std::uint64_t>(delivered, 1);
  }
  return x + (index + shards - (x - total_) % shards) % shards;
}

std::uint64_t shard_rest::count(std::uint64_t from, std::uint64_t to, std::uint64_t shards, std::uint64_t index) const {
  std::uint64_t n = 0;
  for (from = next(from, shards, index); from < std::min(to, tail_); from = next(from + 1, shards, index)) ++n;
  return n + (from < to ? (to - 1 - from) / shards + 1 : 0);
}

void shard_rest::save(position_writer& w) const {
  if (layers_.empty()) return;  // the record is then that of versions of sluice without this state
  w.number(layers_.size());
  for (const delivered_shards& d : layers_) {
    w.number(d.shards);
    for (std::uint64_t n : d.delivered) w.number(n);
  }
}

void shard_rest::load(position_reader& r) {
  layers_.clear();
  measure();
  if (r.done()) return;
  std::uint64_t all = 0;
  for (std::size_t n = r.count(); n != 0 && r.ok(); --n) {
    delivered_shards d;
    d.shards = r.number();
    if (d.shards == 0 || d.shards > kShardsMax || d.shards > r.remaining().size() || layers_.size() == kLayersMax)
      return r.fail();
    for (std::uint64_t i = 0; i != d.shards; ++i) {
      const std::uint64_t one = r.number();
      if (one > demand::kAll / kShardsMax || (all += one) > demand::kAll / 2) return r.fail();
      d.delivered.push_back(one);
    }
    const auto [least, most] = std::minmax_element(d.delivered.begin(), d.delivered.end());
    if (d.shards > 1 && *most - *least > kSpreadMax / d.shards) return r.fail();
    layers_.push_back(std::move(d));
  }
  if (!r.ok()) layers_.clear();
  measure();
}

}  // namespace sluice::lib
