// SPDX-License-Identifier: Apache-2.0
#include "runtime/known_files.hpp"

#include <utility>

#include "sluice/base/hash.hpp"

namespace sluice::lib {

known_files::known_files(std::shared_ptr<memory_ledger> ledger)
    : ledger_(std::move(ledger)), line_(ledger_->line(purpose::read_ahead, "listed files")) {}

known_files::~known_files() {
  for (auto& [key, info] : infos_) ledger_->release(bytes_of(info), line_);
}

std::size_t known_files::bytes_of(const file_info& info) {
  constexpr std::size_t kEntryBytes = 2 * sizeof(std::pair<std::uint64_t, file_info>);  // a table is half full, or more
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

}  // namespace sluice::lib
