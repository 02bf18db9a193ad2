// SPDX-License-Identifier: Apache-2.0
#include "runtime/seen_inputs.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "sluice/base/assert.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/coro/position.hpp"

namespace sluice::lib {
namespace {

// The key of a path has 48 bits: among 1,000 files two have the same key once in 10⁸ runs, and then a resume is
// refused, never wrong. The time and the inode have 24 bits: one change in 16 million that leaves the size unchanged is
// not detected.
constexpr std::uint64_t kKeyMask = (std::uint64_t{1} << 48) - 1;
constexpr std::size_t kKeyBytes = 6;
constexpr std::uint32_t kDigestMask = (1u << 24) - 1;
constexpr std::size_t kDigestBytes = 3;

std::uint64_t key_of_file(std::string_view path) { return stable_hash(path) & kKeyMask; }
std::uint64_t key_of_listing(std::string_view pattern) { return stable_hash(pattern, 0x6c697374) & kKeyMask; }

std::uint32_t digest(std::uint64_t value) { return static_cast<std::uint32_t>(mix(value)) & kDigestMask; }
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

status changed(std::string_view what) {
  return failed_precondition_error(
      absl::StrCat("is not what the checkpoint was made with: ", std::string(what), "; ", std::string(kGoOn)));
}

}  // namespace

const seen_inputs::version* seen_inputs::contradiction(const entry& e, std::uint32_t epoch, const state& now) {
  bool known = false;
  for (const version& v : e.versions) {
    if (!has(v.saved_in, epoch)) continue;
    if (!(v.seen == now)) return &v;
    known = true;
  }
  if (known || !e.unconfirmed || e.versions.back().seen == now) return nullptr;
  return &e.versions.back();
}

bool seen_inputs::note(std::uint64_t key, std::uint64_t epoch, const state& now, state& before) {
  stale_ = true;
  entry& e = entries_[key];
  const std::uint32_t in = short_epoch(epoch);
  const version* other = contradiction(e, in, now);
  if (other) {  // a caller that continues despite the error uses the current state
    before = other->seen;
    e.versions.clear();
  }
  e.unconfirmed = false;
  auto at = std::find_if(e.versions.begin(), e.versions.end(), [&](const version& v) { return v.seen == now; });
  version latest;
  latest.seen = now;
  if (at != e.versions.end()) {
    latest = std::move(*at);
    e.versions.erase(at);
  }
  if (!has(latest.epochs, in)) latest.epochs.push_back(in);
  if (latest.epochs.size() > kEpochsKept) latest.epochs.erase(latest.epochs.begin());
  e.versions.push_back(std::move(latest));
  if (e.versions.size() > kVersionsKept) e.versions.erase(e.versions.begin());
  return other == nullptr;
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

status seen_inputs::file_opened(std::string_view path, std::uint64_t epoch, const input_identity& now) {
  state is{now.size_bytes, digest(static_cast<std::uint64_t>(now.modified_ns)), digest(mix(now.inode) ^ now.device)};
  state was;
  absl::MutexLock lock(&mutex_);
  const std::uint64_t key = key_of_file(path);
  const bool same = note(key, epoch, is, was);
  keep_open(entries_[key]);
  if (same) return {};
  if (was.amount != is.amount)
    return changed(absl::StrCat("it had ", was.amount, " bytes then, and has ", is.amount, " now"));
  if (was.which != is.which) return changed("it is of the same size, but another file in the same place");
  return changed("it is of the same size, but was written to since");
}

void seen_inputs::file_closed(std::string_view path) {
  absl::MutexLock lock(&mutex_);
  const std::uint64_t key = key_of_file(path);
  entry& e = entries_[key];
  if (--e.open == 0) keep_closed(key, e);
}

status seen_inputs::listed(std::string_view pattern, std::uint64_t epoch, const std::vector<std::string>& names) {
  std::uint64_t all = names.size();
  for (const std::string& n : names) all = mix(all ^ stable_hash(n));
  state is{names.size(), digest(all), digest(all + 1)};
  state was;
  absl::MutexLock lock(&mutex_);
  const std::uint64_t key = key_of_listing(pattern);
  const bool same = note(key, epoch, is, was);
  entry& e = entries_[key];
  if (e.open == 0) keep_closed(key, e);
  if (same) return {};
  return failed_precondition_error(absl::StrCat(
      "the files that match \"", std::string(pattern), "\" are not those the checkpoint was made with: there were ",
      was.amount, ", and there are ", is.amount, was.amount == is.amount ? " others; " : "; ", std::string(kGoOn)));
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
  w.number(entries_.size());
  auto put = [&w](std::uint64_t key, const entry& e) {
    put_bytes(w, key, kKeyBytes);
    w.number(e.versions.size());
    for (const version& v : e.versions) {
      w.number(v.seen.amount);
      put_bytes(w, v.seen.change, kDigestBytes);
      put_bytes(w, v.seen.which, kDigestBytes);
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

bool seen_inputs::restore(std::string_view bytes) {
  if (bytes.empty()) return true;
  absl::MutexLock lock(&mutex_);
  SLUICE_REQUIRES(entries_.empty(), "an input was opened");
  position_reader r(bytes);
  for (std::size_t n = r.count(); n && r.ok(); --n) {
    const std::uint64_t key = take_bytes(r, kKeyBytes);
    entry e;
    const std::size_t versions = r.count();
    if (versions == 0 || versions > kVersionsKept) return false;
    for (std::size_t i = 0; i != versions; ++i) {
      version v;
      v.seen.amount = r.number();
      v.seen.change = static_cast<std::uint32_t>(take_bytes(r, kDigestBytes));
      v.seen.which = static_cast<std::uint32_t>(take_bytes(r, kDigestBytes));
      for (std::size_t epochs = versions == 1 ? 0 : r.count(); epochs; --epochs)
        v.saved_in.push_back(static_cast<std::uint32_t>(take_bytes(r, sizeof(std::uint32_t))));
      if (v.saved_in.size() > 2 * kEpochsKept)
        v.saved_in.erase(v.saved_in.begin(), v.saved_in.end() - static_cast<std::ptrdiff_t>(2 * kEpochsKept));
      e.versions.push_back(std::move(v));
    }
    e.unconfirmed = true;
    e.closed_at = ++clock_;  // all files stay, however many were open: the position may open them again
    closed_.emplace(e.closed_at, key);
    if (!entries_.emplace(key, std::move(e)).second) return false;
  }
  stale_ = true;
  return r.ok() && r.done();
}

}  // namespace sluice::lib
