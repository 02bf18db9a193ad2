// SPDX-License-Identifier: Apache-2.0
#include "runtime/known_files.hpp"

#include <algorithm>
#include <utility>

#include "sluice/base/hash.hpp"

namespace sluice::lib {

known_files::known_files(std::shared_ptr<memory_ledger> ledger)
    : ledger_(std::move(ledger)), line_(ledger_->line(purpose::read_ahead, "listed files")) {}

known_files::~known_files() {
  for (auto& [key, info] : infos_) ledger_->release(bytes_of(info), line_);
}

std::size_t known_files::bytes_of(const file_info& info) {
  constexpr std::size_t kEntryBytes = 2 * sizeof(std::pair<std::uint64_t, file_info>);  // a table is at least half full
  return kEntryBytes + (info.version.capacity() > std::string().capacity() ? info.version.capacity() + 1 : 0);
}

void known_files::add(std::string_view path, const file_info& info) {
  const std::uint64_t key = stable_hash(path);
  const bool has_room = ledger_->used_bytes() < ledger_->budget_bytes() / 2;
  absl::MutexLock lock(&mutex_);
  auto at = infos_.find(key);
  if (at != infos_.end()) {
    const std::size_t before = bytes_of(at->second);
    at->second = info;
    ledger_->change(before, bytes_of(at->second), line_);
  } else if (has_room && infos_.size() < kKept) {
    at = infos_.emplace(key, info).first;
    ledger_->charge(bytes_of(at->second), line_);
  }
}

std::optional<file_info> known_files::take(std::string_view path) {
  absl::MutexLock lock(&mutex_);
  if (infos_.empty()) return std::nullopt;
  auto at = infos_.find(stable_hash(path));
  if (at == infos_.end()) return std::nullopt;
  ledger_->release(bytes_of(at->second), line_);
  std::optional<file_info> info = std::move(at->second);
  infos_.erase(at);
  return info;
}

void known_files::given_up_to(std::weak_ptr<const std::vector<std::string>> names, std::size_t given) {
  absl::MutexLock lock(&mutex_);
  names_ = std::move(names);
  given_ = given;
}

std::vector<std::string> known_files::coming_behind(std::string_view path, bool waited) {
  /// After this number of files in a row for which no reader waited, opening files early brings no benefit.
  constexpr int kWithoutWaitMax = 64;
  std::vector<std::string> coming;
  absl::MutexLock lock(&mutex_);
  auto names = names_.lock();
  if (!names || given_ == 0 || given_ > names->size() || (*names)[given_ - 1] != path) return coming;
  without_wait_ = waited ? 0 : without_wait_ + 1;
  if (waited) early_wanted_ = std::clamp<std::size_t>(early_wanted_ * 2, 2, kEarlyMax);
  else if (without_wait_ >= kWithoutWaitMax) early_wanted_ = 0;
  const std::size_t end = std::min(names->size(), given_ + early_wanted_);
  for (std::size_t i = given_; i < end && early_.size() + coming.size() < kEarlyMax; ++i)
    if (!early_.contains(stable_hash((*names)[i]))) coming.push_back((*names)[i]);
  return coming;
}

bool known_files::put_early(std::string_view path, std::shared_ptr<early_file> opened) {
  absl::MutexLock lock(&mutex_);
  return early_.size() < kEarlyMax && early_.emplace(stable_hash(path), std::move(opened)).second;
}

std::shared_ptr<early_file> known_files::take_early(std::string_view path) {
  absl::MutexLock lock(&mutex_);
  if (early_.empty()) return nullptr;
  auto at = early_.find(stable_hash(path));
  if (at == early_.end()) return nullptr;
  std::shared_ptr<early_file> opened = std::move(at->second);
  early_.erase(at);
  return opened;
}

}  // namespace sluice::lib
