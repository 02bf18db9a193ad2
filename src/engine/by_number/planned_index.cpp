// SPDX-License-Identifier: Apache-2.0
#include "engine/by_number/planned_index.hpp"

#include <absl/base/thread_annotations.h>
#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>
#include <absl/synchronization/mutex.h>
#include <sys/stat.h>

#include "io/paths/file_router.hpp"
#include "io/plan_file_reader.hpp"
#include "sluice/base/small_file.hpp"
#include "sluice/format/record_index.hpp"

namespace sluice::lib {
namespace {

/// One index takes 100 bytes.
constexpr std::size_t kPlannedIndexesKept = 4096;
constexpr std::size_t kPlannedIndexBytesMax = std::size_t{1} << 30;

/// The properties by which a changed index of a local file is noticed. A new index replaces the old one under its name, and
/// so has another inode.
struct index_stamp {
  std::int64_t modified_ns = 0;
  std::uint64_t size_bytes = 0, inode = 0;
  friend bool operator==(const index_stamp&, const index_stamp&) = default;
};
struct planned_index {
  index_stamp of;
  std::uint64_t elements = 0;
};
struct planned_indexes {
  absl::Mutex mutex;
  absl::flat_hash_map<std::string, planned_index> all ABSL_GUARDED_BY(mutex);
};
planned_indexes& known_indexes() {
  static planned_indexes one;
  return one;
}

bool stamp_of(const std::string& path, index_stamp& stamp) {
  struct stat s{};
  if (::stat(path.c_str(), &s) != 0) return false;
  stamp = {std::int64_t{s.st_mtim.tv_sec} * 1'000'000'000 + s.st_mtim.tv_nsec, static_cast<std::uint64_t>(s.st_size),
           s.st_ino};
  return true;
}

status unusable_index(const std::string& path, const status& why) {
  return failed_precondition_error(absl::StrCat("index=required, and its index cannot be used: ",
                                                std::string(why.message()), "; `sluice index ", path, "` builds it"))
      .in_file(path);
}

}  // namespace

result<std::uint64_t> planned_elements(const std::string& path) {
  const std::string at = absl::StrCat(path, std::string(kIndexSuffix));
  const bool is_remote = detail::is_remote(path);
  const std::string local = is_remote ? at : std::string(detail::without_file_scheme(at));
  planned_indexes& known = known_indexes();
  index_stamp stamp;
  const bool is_stamped = !is_remote && stamp_of(local, stamp);
  if (is_stamped) {
    absl::MutexLock lock(&known.mutex);
    auto found = known.all.find(local);
    if (found != known.all.end() && found->second.of == stamp) return found->second.elements;
  }
  result<std::string> bytes =
      is_remote ? detail::read_for_plan(at, kPlannedIndexBytesMax) : read_small_file(local, kPlannedIndexBytesMax);
  if (!bytes.ok()) return unusable_index(path, bytes.why());
  result<record_index> index = read_index(*bytes);
  if (!index.ok()) return unusable_index(path, index.why());
  if (is_stamped) {
    absl::MutexLock lock(&known.mutex);
    if (known.all.size() >= kPlannedIndexesKept) known.all.clear();
    known.all[local] = {stamp, index->elements};
  }
  return index->elements;
}

}  // namespace sluice::lib
