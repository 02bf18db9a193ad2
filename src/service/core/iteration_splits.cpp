// SPDX-License-Identifier: Apache-2.0
#include "service/core/iteration_splits.hpp"

#include <absl/strings/numbers.h>

#include <algorithm>
#include <cstring>

namespace sluice::lib {
namespace {

template <class N> void append_fixed(std::string& to, N n) {
  for (std::size_t i = 0; i < sizeof(N); ++i) to.push_back(static_cast<char>(n >> 8 * i));
}
template <class N> N fixed_at(std::string_view from, std::size_t place) {
  N n = 0;
  for (std::size_t i = 0; i < sizeof(N); ++i) n |= static_cast<N>(static_cast<unsigned char>(from[place + i])) << 8 * i;
  return n;
}

}  // namespace

listed_round iteration_splits::prepare(std::uint64_t round, const std::vector<std::string>& payloads,
                                       bool is_last) const {
  listed_round listed;
  listed.record = {.round = round, .first = holder_.size(), .count = payloads.size(), .is_last = is_last};
  listed.record.first_chunk = chunks_.size();
  std::uint32_t count = 0;
  for (const std::string& p : payloads) {
    if (count == 0 || listed.chunks.back().size() + p.size() + 4 > limits_.chunk_bytes) {
      count = 0;
      append_fixed<std::uint32_t>(listed.chunks.emplace_back(), 0);
    }
    std::string& chunk = listed.chunks.back();
    append_fixed(chunk, static_cast<std::uint32_t>(p.size()));
    chunk += p;
    std::string head;
    append_fixed(head, ++count);
    std::memcpy(chunk.data(), head.data(), head.size());
  }
  listed.record.chunks = listed.chunks.size();
  return listed;
}

void iteration_splits::add(listed_round round, store_writes& writes) {
  writes[store_key("round", iteration_, rounds_.size())] = to_json(round.record);
  std::uint64_t first = round.record.first;
  for (std::string& bytes : round.chunks) {
    const auto count = fixed_at<std::uint32_t>(bytes, 0);
    chunks_.push_back({first, std::move(bytes), {}});
    first += count;
  }
  chunks_stored_ = std::max<std::uint64_t>(chunks_stored_, chunks_.size());
  holder_.resize(holder_.size() + round.record.count);
  done_.resize((holder_.size() + 63) / 64);
  if (round.record.is_last) is_all_listed_ = true;
  rounds_.push_back(round.record);
}

std::string iteration_splits::payload(std::uint64_t split) const {
  const auto after = std::upper_bound(chunks_.begin(), chunks_.end(), split,
                                      [](std::uint64_t s, const payload_chunk& c) { return s < c.first; });
  const payload_chunk& c = *std::prev(after);
  if (c.places.empty()) {
    for (std::size_t at = 4; at + 4 <= c.bytes.size(); at += 4 + fixed_at<std::uint32_t>(c.bytes, at))
      c.places.push_back(static_cast<std::uint32_t>(at));
  }
  const std::size_t at = c.places[split - c.first];
  return c.bytes.substr(at + 4, fixed_at<std::uint32_t>(c.bytes, at));
}

const round_record& iteration_splits::round_of(std::uint64_t split) const {
  const auto after = std::upper_bound(rounds_.begin(), rounds_.end(), split,
                                      [](std::uint64_t s, const round_record& r) { return s < r.first; });
  return *std::prev(after);
}

const split_consumer* iteration_splits::holder(std::uint64_t split) const {
  if (split >= holder_.size() || holder_[split] == 0) return nullptr;
  return consumers_[holder_[split] - 1].get();
}

void iteration_splits::set_done(std::uint64_t split, store_writes& writes) {
  if (is_done(split)) return;
  done_[split / 64] |= std::uint64_t{1} << split % 64;
  ++done_count_;
  returned_.erase(split);
  if (holder_[split]) {
    split_consumer& c = *consumers_[holder_[split] - 1];
    c.open.erase(split);
    c.offsets.erase(split);
  }
  write_done(split / limits_.chunk_done, writes);
}

void iteration_splits::set_removed(std::uint64_t split, store_writes& writes) {
  for (std::size_t i = 0; i < rounds_.size(); ++i) {
    if (rounds_[i].first != split || rounds_[i].count == 0) continue;
    rounds_[i].is_removed = true;
    writes[store_key("round", iteration_, i)] = to_json(rounds_[i]);
  }
  if (split == next_) ++next_;  // nobody needs it any more
  set_done(split, writes);
}

split_consumer* iteration_splits::consumer(std::string_view name) {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : consumers_[found->second].get();
}

split_consumer& iteration_splits::add_consumer(std::string_view name, consumer_record record, store_writes& writes) {
  writes[absl::StrCat("/consumer/", iteration_, "/", std::string(name))] = to_json(record);
  index_.emplace(std::string(name), static_cast<std::uint32_t>(consumers_.size()));
  consumers_.push_back(std::make_unique<split_consumer>());
  consumers_.back()->name = std::string(name);
  consumers_.back()->record = std::move(record);
  return *consumers_.back();
}

std::vector<split_consumer*> iteration_splits::consumers() {
  std::vector<split_consumer*> all;
  for (const auto& c : consumers_) all.push_back(c.get());
  return all;
}

void iteration_splits::hold(std::uint64_t split, std::uint32_t holder) {
  holder_[split] = holder;
  if (!is_done(split)) consumers_[holder - 1]->open.insert(split);
}

std::optional<std::uint64_t> iteration_splits::assign(split_consumer& c, store_writes& writes) {
  std::uint64_t split;
  if (!returned_.empty()) {
    split = *returned_.begin();
    returned_.erase(returned_.begin());
  } else {
    while (next_ < holder_.size() && is_done(next_)) ++next_;  // off: of workers that were removed
    if (next_ == holder_.size()) return std::nullopt;
    split = next_++;
  }
  hold(split, index_.find(c.name)->second + 1);
  c.ordinals.push_back(split);
  write_assigned(c, (c.ordinals.size() - 1) / limits_.chunk_assignments, writes);
  return split;
}

void iteration_splits::close(split_consumer& c, store_writes& writes) {
  for (const std::uint64_t split : c.open) {
    holder_[split] = 0;
    returned_.insert(split);
  }
  // Done splits keep no holder either: the consumer does not read them again.
  for (const std::uint64_t split : c.ordinals) holder_[split] = 0;
  for (std::uint64_t i = 0; i * limits_.chunk_assignments < c.ordinals.size(); ++i)
    writes[store_key("assigned", iteration_, i, c.name)] = std::nullopt;
  c.open.clear();
  c.offsets.clear();
  c.ordinals.clear();
  c.record.is_closed = true;
  writes[absl::StrCat("/consumer/", iteration_, "/", c.name)] = to_json(c.record);
}

void iteration_splits::write_assigned(const split_consumer& c, std::uint64_t chunk, store_writes& writes) const {
  std::string value;
  const std::uint64_t first = chunk * limits_.chunk_assignments;
  for (std::uint64_t i = first; i < std::min<std::uint64_t>(first + limits_.chunk_assignments, c.ordinals.size()); ++i)
    append_fixed(value, c.ordinals[i]);
  writes[store_key("assigned", iteration_, chunk, c.name)] = std::move(value);
}

void iteration_splits::write_done(std::uint64_t chunk, store_writes& writes) const {
  const std::uint64_t first = chunk * limits_.chunk_done;
  std::string value((limits_.chunk_done + 7) / 8, '\0');
  for (std::uint64_t i = 0; i < limits_.chunk_done && first + i < holder_.size(); ++i)
    if (is_done(first + i)) value[i / 8] = static_cast<char>(value[i / 8] | 1 << i % 8);
  writes[store_key("done", iteration_, chunk)] = std::move(value);
}

void iteration_splits::remove_all(store_writes& writes) const {
  for (std::uint64_t i = 0; i < rounds_.size(); ++i) writes[store_key("round", iteration_, i)] = std::nullopt;
  for (std::uint64_t i = 0; i < chunks_stored_; ++i) writes[store_key("splits", iteration_, i)] = std::nullopt;
  for (std::uint64_t i = 0; i * limits_.chunk_done < holder_.size(); ++i)
    writes[store_key("done", iteration_, i)] = std::nullopt;
  for (const auto& c : consumers_) {
    writes[absl::StrCat("/consumer/", iteration_, "/", c->name)] = std::nullopt;
    for (std::uint64_t i = 0; i * limits_.chunk_assignments < c->ordinals.size(); ++i)
      writes[store_key("assigned", iteration_, i, c->name)] = std::nullopt;
  }
}

std::string iteration_splits::load(std::string_view kind, std::string_view rest, std::string_view value) {
  if (kind == "consumer") {
    auto record = from_json<consumer_record>(value);
    if (!record.ok()) return std::string(record.why().message());
    store_writes unused;
    add_consumer(rest, std::move(*record), unused);
    return {};
  }
  if (kind == "assigned") return load_assigned(rest, value);
  std::uint64_t number = 0;
  if (!absl::SimpleAtoi(std::string(rest), &number)) return "its key has no number";
  if (kind == "round") {
    auto record = from_json<round_record>(value);
    if (!record.ok()) return std::string(record.why().message());
    if (number != rounds_.size() || record->first != holder_.size() || record->first_chunk != chunks_.size())
      return "it does not follow the round before";
    holder_.resize(holder_.size() + record->count);
    done_.resize((holder_.size() + 63) / 64);
    chunks_.resize(chunks_.size() + record->chunks);
    is_all_listed_ = is_all_listed_ || record->is_last;
    rounds_.push_back(std::move(*record));
  } else if (kind == "splits") {
    chunks_stored_ = std::max(chunks_stored_, number + 1);
    if (number >= chunks_.size()) return {};  // of a round whose listing was interrupted
    if (value.size() < 4) return "it is too short";
    chunks_[number].bytes = std::string(value);
  } else if (kind == "done") {
    if (value.size() != (limits_.chunk_done + 7) / 8) return "it has another length";
    const std::uint64_t first = number * limits_.chunk_done;
    for (std::uint64_t i = 0; i < limits_.chunk_done && first + i < holder_.size(); ++i) {
      if (!(value[i / 8] >> i % 8 & 1)) continue;
      done_[(first + i) / 64] |= std::uint64_t{1} << (first + i) % 64;
      ++done_count_;
    }
  }
  return {};
}

std::string iteration_splits::load_assigned(std::string_view rest, std::string_view value) {
  const auto slash = rest.find('/');
  const split_consumer* known = slash == rest.npos ? nullptr : consumer(rest.substr(slash + 1));
  if (!known) return "its consumer has no record";
  split_consumer& c = *consumers_[index_.find(known->name)->second];
  if (value.size() % 8) return "it has half a number";
  for (std::size_t at = 0; at < value.size(); at += 8) {
    const auto split = fixed_at<std::uint64_t>(value, at);
    if (split >= holder_.size()) return absl::StrCat("it assigns split ", split, " of ", holder_.size());
    if (holder_[split]) return absl::StrCat("it assigns split ", split, ", which '", holder(split)->name, "' has");
    hold(split, index_.find(c.name)->second + 1);
    c.ordinals.push_back(split);
    next_ = std::max(next_, split + 1);
  }
  return {};
}

std::string iteration_splits::finish_loading() {
  std::uint64_t first = 0;
  for (payload_chunk& c : chunks_) {
    if (c.bytes.empty()) return absl::StrCat("the chunk of split ", first, " is missing");
    c.first = first;
    first += fixed_at<std::uint32_t>(c.bytes, 0);
  }
  if (first != holder_.size()) return absl::StrCat("the chunks have ", first, " of ", holder_.size(), " splits");
  while (next_ < holder_.size() && is_done(next_)) ++next_;
  for (std::uint64_t s = 0; s < next_; ++s)
    if (!holder_[s] && !is_done(s)) returned_.insert(s);
  return {};
}

}  // namespace sluice::lib
