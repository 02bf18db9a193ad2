// SPDX-License-Identifier: Apache-2.0
#include "runtime/seen_inputs.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "base/text/path_scheme.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/coro/position.hpp"

namespace sluice::lib {
namespace {

// The key of a path has 48 bits: among 1,000 files two have the same key once in 10⁸ runs, and then a resume is
// refused, never wrong.
constexpr std::uint64_t kKeyMask = (std::uint64_t{1} << 48) - 1;
constexpr std::size_t kKeyBytes = 6;
constexpr std::uint64_t kFile = 0, kListing = 0x6c697374;  ///< kinds of inputs

// A table begins with a zero, as no table before version 5 does: those begin with the number of entries.
constexpr std::uint64_t kNewTable = 0;
constexpr std::uint64_t kTableVersion = 1;

std::uint64_t input_key(std::string_view name, std::uint64_t kind) { return stable_hash(name, kind) & kKeyMask; }
std::uint32_t short_epoch(std::uint64_t epoch) { return static_cast<std::uint32_t>(epoch ^ (epoch >> 32)); }

void put_bytes(position_writer& w, std::uint64_t value, std::size_t n) { w.raw(&value, n); }
std::uint64_t take_bytes(position_reader& r, std::size_t n) {
  std::uint64_t value = 0;
  r.raw(&value, n);
  return value;
}

bool has(const std::vector<std::uint32_t>& all, std::uint32_t x) {
  return std::find(all.begin(), all.end(), x) != all.end();
}

constexpr std::string_view kGoOn =
    "start without the checkpoint, or continue with changed_inputs::ignore (sluice run --changed-inputs "
    "ignore)";

}  // namespace

file_identity input_rules::identity_of(std::string_view path) const {
  const prefix_identity* best = nullptr;
  for (const prefix_identity& p : identities.list())
    if (path.starts_with(p.prefix) && (!best || p.prefix.size() >= best->prefix.size())) best = &p;
  const file_identity chosen = best ? best->identity : identity;
  if (chosen != file_identity::automatic) return chosen;
  const std::string scheme = detail::scheme_of(path);
  const bool has_etags = scheme == "http" || scheme == "https" || scheme == "s3" || scheme == "gs" || scheme == "mem";
  return has_etags ? file_identity::etag : file_identity::size_and_time;
}

template <class F> void seen_inputs::for_each_saved(entry& e, std::uint32_t epoch, F visit) {
  bool known = false;
  for (version& v : e.versions) {
    if (!has(v.saved_in, epoch)) continue;
    visit(v);
    known = true;
  }
  if (!known && e.unconfirmed && !e.versions.empty()) visit(e.versions.back());
}

void seen_inputs::note(entry& e, std::uint32_t epoch, const input_state& now) {
  stale_ = true;
  // The states that were compared with `now` are that state from here on, so that one version remains of them.
  for_each_saved(e, epoch, [&now](version& v) { v.seen = now; });
  e.unconfirmed = false;
  version latest;
  latest.seen = now;
  for (auto at = e.versions.begin(); at != e.versions.end();) {
    if (!(at->seen == now)) {
      ++at;
      continue;
    }
    latest.epochs.insert(latest.epochs.end(), at->epochs.begin(), at->epochs.end());
    latest.saved_in.insert(latest.saved_in.end(), at->saved_in.begin(), at->saved_in.end());
    at = e.versions.erase(at);
  }
  if (!has(latest.epochs, epoch)) latest.epochs.push_back(epoch);
  if (latest.epochs.size() > kEpochsKept)
    latest.epochs.erase(latest.epochs.begin(), latest.epochs.end() - static_cast<std::ptrdiff_t>(kEpochsKept));
  e.versions.push_back(std::move(latest));
  if (e.versions.size() > kVersionsKept) e.versions.erase(e.versions.begin());
}

std::string seen_inputs::name_before(std::string_view name, std::size_t moves) const {
  std::string before(name);
  for (std::size_t i = 0; i != moves; ++i) before = path_before(moves_[i], before);
  return before;
}

const seen_inputs::entry* seen_inputs::find(std::string_view name, std::uint64_t kind, std::size_t& before) const {
  for (before = 0; before <= moves_.size(); ++before) {
    auto at = entries_.find(input_key(before == 0 ? std::string(name) : name_before(name, before), kind));
    if (at != entries_.end()) return &at->second;
  }
  before = 0;
  return nullptr;
}

std::uint64_t seen_inputs::keyed(std::string_view name, std::uint64_t kind, std::size_t& before) {
  const std::uint64_t key = input_key(name, kind);
  const entry* found = find(name, kind, before);
  if (!found || before == 0) return key;
  const std::uint64_t old_key = input_key(name_before(name, before), kind);
  if (old_key == key) return key;
  auto moved = entries_.extract(old_key);
  if (moved.mapped().closed_at) closed_[moved.mapped().closed_at] = key;
  moved.key() = key;
  entries_.insert(std::move(moved));
  return key;
}

void seen_inputs::keep_open(entry& e) {
  if (e.closed_at) closed_.erase(std::exchange(e.closed_at, 0));
  ++e.open;
}

void seen_inputs::keep_closed(std::uint64_t key, entry& e) {
  if (e.closed_at) closed_.erase(e.closed_at);
  e.closed_at = ++clock_;
  closed_.emplace(e.closed_at, key);
  if (closed_.size() <= kClosedKept) return;
  entries_.erase(closed_.begin()->second);
  closed_.erase(closed_.begin());
}

std::vector<std::uint64_t> seen_inputs::digest_sizes(std::string_view path, std::uint64_t size_bytes) const {
  if (rules_.identity_of(path) != file_identity::content) return {};
  std::vector<std::uint64_t> sizes{size_bytes};
  absl::MutexLock lock(&mutex_);
  std::size_t before = 0;
  const entry* e = rules_.may_grow ? find(path, kFile, before) : nullptr;
  if (!e) return sizes;
  for (const version& v : e->versions)
    if (v.seen.has(input_state::has_content) && v.seen.amount < size_bytes) sizes.push_back(v.seen.amount);
  return sizes;
}

status seen_inputs::file_opened(std::string_view path, std::uint64_t epoch, const input_identity& now) {
  const comparison how{rules_.identity_of(path), rules_.may_grow};
  const std::uint32_t in = short_epoch(epoch);
  std::string difference;
  absl::MutexLock lock(&mutex_);
  std::size_t before = 0;
  entry& e = entries_[keyed(path, kFile, before)];
  for_each_saved(e, in, [&](const version& v) {
    if (difference.empty()) difference = difference_between(v.seen, now, how);
  });
  if (!difference.empty()) e.versions.clear();  // a caller that continues despite the error uses the current state
  note(e, in, state_of(now, how.identity));
  keep_open(e);
  if (difference.empty()) return {};
  return failed_precondition_error(absl::StrCat("is not what the checkpoint was made with: ", difference));
}

void seen_inputs::file_closed(std::string_view path) {
  absl::MutexLock lock(&mutex_);
  const std::uint64_t key = input_key(path, kFile);
  entry& e = entries_[key];
  if (--e.open == 0) keep_closed(key, e);
}

status seen_inputs::listed(std::string_view pattern, std::uint64_t epoch, const std::vector<std::string>& names) {
  const std::uint32_t in = short_epoch(epoch);
  const input_state* other = nullptr;
  absl::MutexLock lock(&mutex_);
  std::size_t before = 0;
  const std::uint64_t key = keyed(pattern, kListing, before);
  entry& e = entries_[key];
  std::vector<std::string> old_names;
  if (before != 0)
    for (const std::string& name : names) old_names.push_back(name_before(name, before));
  for_each_saved(e, in, [&](const version& v) {
    if (!other && !has_same_names(v.seen, before != 0 ? old_names : names)) other = &v.seen;
  });
  const std::uint64_t was = other ? other->amount : names.size();
  const bool is_same = !other;
  if (!is_same) e.versions.clear();
  note(e, in, state_of_names(names));
  if (e.open == 0) keep_closed(key, e);
  if (is_same) return {};
  return failed_precondition_error(absl::StrCat(
      "the files that match \"", std::string(pattern), "\" are not those the checkpoint was made with: there were ",
      was, ", and there are ", names.size(), was == names.size() ? " others; " : "; ", std::string(kGoOn)));
}

void seen_inputs::stream_opened(std::string_view path) {
  absl::MutexLock lock(&mutex_);
  if (stream_.empty()) stream_ = std::string(path);
}

status seen_inputs::resumable() const {
  absl::MutexLock lock(&mutex_);
  if (stream_.empty()) return {};
  return failed_precondition_error(
             "cannot be read again, so there is no checkpoint of a run that reads it; copy it to a file first")
      .in_file(stream_ == "-" ? "standard input" : stream_);
}

std::string seen_inputs::bytes() const {
  absl::MutexLock lock(&mutex_);
  if (entries_.empty()) return {};
  if (!stale_) return bytes_;
  position_writer w;
  w.number(kNewTable);
  w.number(kTableVersion);
  w.number(moves_.size());
  for (const path_rebases& moves : moves_) {
    w.number(moves.list().size());
    for (const path_rebase& m : moves.list()) {
      w.text(m.from);
      w.text(m.to);
    }
  }
  w.number(entries_.size());
  auto put = [&w](std::uint64_t key, const entry& e) {
    put_bytes(w, key, kKeyBytes);
    w.number(e.versions.size());
    for (const version& v : e.versions) {
      v.seen.write(w);
      if (e.versions.size() == 1) continue;  // the file had only one state, so every epoch read it
      w.number(v.epochs.size() + v.saved_in.size());
      for (auto* epochs : {&v.saved_in, &v.epochs})
        for (std::uint32_t epoch : *epochs) put_bytes(w, epoch, sizeof epoch);
    }
  };
  for (auto& [at, key] : closed_) put(key, entries_.find(key)->second);
  for (auto& [key, e] : entries_)
    if (!e.closed_at) put(key, e);
  bytes_ = w.bytes();
  stale_ = false;
  return bytes_;
}

bool seen_inputs::read_entry(position_reader& r, bool is_old) {
  const std::uint64_t key = take_bytes(r, kKeyBytes);
  entry e;
  const std::size_t versions = r.count();
  if (versions == 0 || versions > kVersionsKept) return false;
  for (std::size_t i = 0; i != versions; ++i) {
    version v;
    if (is_old) v.seen.read_digests(r);
    else v.seen.read(r);
    for (std::size_t epochs = versions == 1 ? 0 : r.count(); epochs; --epochs)
      v.saved_in.push_back(static_cast<std::uint32_t>(take_bytes(r, sizeof(std::uint32_t))));
    if (v.saved_in.size() > 2 * kEpochsKept)
      v.saved_in.erase(v.saved_in.begin(), v.saved_in.end() - static_cast<std::ptrdiff_t>(2 * kEpochsKept));
    e.versions.push_back(std::move(v));
  }
  e.unconfirmed = true;
  e.closed_at = ++clock_;  // all files stay, however many were open: the position may open them again
  closed_.emplace(e.closed_at, key);
  return entries_.emplace(key, std::move(e)).second;
}

std::uint64_t seen_input::key_of(std::string_view name, bool is_listing) {
  return input_key(name, is_listing ? kListing : kFile);
}

std::vector<seen_input> inputs_in_table(std::string_view table) {
  std::vector<seen_input> found;
  seen_inputs all;
  if (!all.restore(table)) return found;
  absl::MutexLock lock(&all.mutex_);
  for (const auto& [at, key] : all.closed_) found.push_back({key, all.entries_.find(key)->second.versions.back().seen});
  return found;
}

bool records_move(std::string_view table, const path_rebase& move) {
  position_reader r(table);
  if (table.empty() || r.count() != kNewTable || r.number() != kTableVersion) return false;
  for (std::size_t n = r.count(); n && r.ok(); --n)
    for (std::size_t k = r.count(); k && r.ok(); --k) {
      const std::string from(r.text());
      if (move == path_rebase{from, std::string(r.text())} && r.ok()) return true;
    }
  return false;
}

bool seen_inputs::restore(std::string_view bytes) {
  absl::MutexLock lock(&mutex_);
  if (!rules_.rebase.empty()) moves_.push_back(rules_.rebase);
  if (bytes.empty()) return true;
  SLUICE_REQUIRES(entries_.empty(), "an input was opened");
  position_reader r(bytes);
  std::size_t entries = r.count();
  const bool is_old = entries != kNewTable;
  if (!is_old) {
    if (r.number() != kTableVersion) return false;
    for (std::size_t n = r.count(); n && r.ok(); --n) {
      path_rebases moves;
      for (std::size_t k = r.count(); k && r.ok(); --k) {
        std::string from(r.text());
        moves.add({std::move(from), std::string(r.text())});
      }
      if (!moves_.empty() && moves_.back() == moves) continue;
      if (moves_.size() < kMovesKept) moves_.push_back(std::move(moves));
    }
    entries = r.count();
  }
  for (; entries && r.ok(); --entries)
    if (!read_entry(r, is_old)) return false;
  stale_ = true;
  return r.ok() && r.done();
}

}  // namespace sluice::lib
