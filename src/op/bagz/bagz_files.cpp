// SPDX-License-Identifier: Apache-2.0
#include "op/bagz/bagz_files.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "engine/files/file_tail.hpp"
#include "io/paths/file_router.hpp"
#include "io/paths/listed.hpp"
#include "io/plan_file_reader.hpp"

namespace sluice::lib {
namespace {

/// A path name@N.suffix, in its parts. `shards`: 0 for name@*.suffix.
struct shard_set {
  std::string begin, suffix;
  std::uint64_t shards = 0;
};

std::optional<shard_set> shard_set_of(const std::string& path) {
  const std::size_t at = path.rfind('@');
  if (at == path.npos || path.find('/', at) != path.npos) return {};
  const std::size_t dot = std::min(path.find('.', at), path.size());
  const std::string number = path.substr(at + 1, dot - at - 1);
  if (number.empty() || number.size() > 5) return {};  // names of shards have five digits
  shard_set set{path.substr(0, at), path.substr(dot)};
  if (number == "*") return set;
  for (const char c : number) {
    if (c < '0' || c > '9') return {};
    set.shards = set.shards * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (set.shards == 0) return {};
  std::error_code unknown;
  const bool exists = !detail::is_remote(path) && std::filesystem::exists(detail::without_file_scheme(path), unknown);
  if (exists) return {};
  return set;
}

std::string shard_name(const shard_set& set, std::uint64_t i, std::uint64_t n) {
  return absl::StrFormat("%s-%05d-of-%05d%s", set.begin, i, n, set.suffix);
}

/// The names of a set of unknown size, of which all shards must exist.
result<std::vector<std::string>> listed_shards(const shard_set& set, const std::string& path) {
  const std::string digits = "[0-9][0-9][0-9][0-9][0-9]";
  auto files = detail::list_for_plan(absl::StrCat(set.begin, "-", digits, "-of-", digits, set.suffix));
  if (!files.ok()) return unlisted(files.why(), path);
  const std::string& first = files->front();
  const std::size_t end = first.size() - set.suffix.size();
  const auto n = static_cast<std::uint64_t>(std::stoul(first.substr(end - 5, 5)));
  for (std::uint64_t i = 0; i != n; ++i)
    if (i >= files->size() || (*files)[i] != shard_name(set, i, n))
      return not_found_error(absl::StrCat("the set of ", n, " shards lacks ", shard_name(set, i, n))).in_file(path);
  if (files->size() != n)
    return failed_precondition_error(
               absl::StrCat("shards of two sets exist, such as ", first, " and ", files->back(), ": write @", n))
        .in_file(path);
  return files;
}

result<record_file> plan_bagz_file(const std::string& path, bool separate_limits) {
  record_file file{path};
  auto tail = read_file_tail(path, kBagzLimitBytes);
  if (!tail.ok()) return tail.why();
  file.size_bytes = tail->size_bytes;
  if (separate_limits) {
    tail = read_file_tail(bagz_limits_path(path), kBagzLimitBytes);
    if (!tail.ok()) return tail.why();
  }
  auto limits = find_bagz_limits(tail->bytes, tail->size_bytes, separate_limits, file.size_bytes);
  if (!limits.ok()) return limits.why().in_file(path);
  file.records = limits->records;
  return file;
}

}  // namespace

std::string bagz_limits_path(const std::string& path) {
  const std::size_t name = path.rfind('/') + 1;  // 0 without a folder
  return absl::StrCat(path.substr(0, name), "limits.", path.substr(name));
}

bool bagz_is_packed(const std::string& path, compression c) {
  return c == compression::automatic ? path.ends_with(".bagz") : c == compression::zstd;
}

std::uint64_t bagz_limit_at(const char* bytes) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t n = 0;
  std::memcpy(&n, bytes, sizeof n);
  return n;
}

result<bagz_limits> find_bagz_limits(std::string_view tail, std::uint64_t size_bytes, bool are_separate,
                                     std::uint64_t records_bytes) {
  if (size_bytes == 0) return bagz_limits{};
  auto damaged = [&](const std::string& what) {
    return data_loss_error(absl::StrCat(what, are_separate
                                                  ? ": the file of limits is damaged, or belongs to another file"
                                                  : ": no Bagz file, or it was cut short (a file whose limits are in "
                                                    "limits.NAME beside it is read with separate_limits=true)"));
  };
  if (tail.size() < kBagzLimitBytes) return damaged(absl::StrCat("it has ", size_bytes, " bytes"));
  const std::uint64_t last = bagz_limit_at(tail.data() + tail.size() - kBagzLimitBytes);
  const std::uint64_t begin = are_separate ? 0 : last;
  if (are_separate ? last > records_bytes : last > size_bytes - kBagzLimitBytes)
    return damaged(absl::StrCat("its last record would end at byte ", last));
  if ((size_bytes - begin) % kBagzLimitBytes != 0)
    return damaged(absl::StrCat("its limits would have ", size_bytes - begin, " bytes, no multiple of 8"));
  return bagz_limits{begin, (size_bytes - begin) / kBagzLimitBytes};
}

bool is_bagz_set(const std::string& path) {
  return shard_set_of(path).has_value() || detail::is_pattern_for_plan(path);
}

bool is_bagz_shard_set(const std::string& path) {
  const auto set = shard_set_of(path);
  return set && (set->suffix == ".bagz" || set->suffix == ".bag");
}

result<std::vector<std::string>> bagz_files(const std::string& path) {
  if (const auto set = shard_set_of(path)) {
    if (set->shards == 0) return listed_shards(*set, path);
    std::vector<std::string> files;
    for (std::uint64_t i = 0; i != set->shards; ++i) files.push_back(shard_name(*set, i, set->shards));
    return files;
  }
  if (detail::is_pattern_for_plan(path)) {
    auto files = detail::list_for_plan(path);
    return files.ok() ? std::move(files) : unlisted(files.why(), path);
  }
  return std::vector<std::string>{path};
}

result<planned_records> plan_bagz(const std::string& path, bool separate_limits) {
  auto names = bagz_files(path);
  if (!names.ok()) return names.why();
  planned_records planned{path};
  for (const std::string& name : *names) {
    // Shards that a pattern matches may have their limits beside them, which match as well.
    const bool is_limits = separate_limits && name.substr(name.rfind('/') + 1).starts_with("limits.");
    if (is_limits) continue;
    auto file = plan_bagz_file(name, separate_limits);
    if (!file.ok()) return file.why();
    if (status why = planned.add(*std::move(file)); !why.ok()) return why;
  }
  return planned;
}

}  // namespace sluice::lib
