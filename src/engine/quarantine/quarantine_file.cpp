// SPDX-License-Identifier: Apache-2.0
#include "engine/quarantine/quarantine_file.hpp"

#include <absl/container/flat_hash_set.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <utility>

#include "base/files/locked_target.hpp"
#include "base/files/system_calls.hpp"
#include "engine/quarantine/quarantine_entry.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/base/small_file.hpp"
#include "sluice/format/tfrecord_frames.hpp"

namespace sluice::lib {
namespace {

constexpr std::string_view kQuarantineFull =
    "this file is full: bad elements that were dropped after these are not kept";
constexpr const char* kCannotOpen = "cannot open the file for bad elements";
/// The locks that this process holds.
class lock_table {
 public:
  status lock(const std::string& path, quarantine_lock& to) {
    std::string target;
    if (status why = locked_target::resolve(path, target); !why.ok()) return why;
    // The first entry creates the file, which must not change its name here.
    std::error_code unknown;
    const std::filesystem::path name = std::filesystem::weakly_canonical(std::filesystem::absolute(target), unknown);
    mutex_lock guard(mutex_);
    held_lock& lock = held_[name.string()];
    if (lock.users == 0) {
      lock.target = std::make_unique<locked_target>();
      if (status why = lock.target->take(path); !why.ok()) {
        held_.erase(name.string());
        // A file may be written although its folder may not. The lock on the file itself is then the only one.
        return why.code() == status_code::permission_denied ? status() : why;
      }
    }
    ++lock.users;
    to = {lock.target.get(), [this, key = name.string()](const locked_target*) { release(key); }};
    return {};
  }

 private:
  struct held_lock {
    std::unique_ptr<locked_target> target;
    std::size_t users = 0;
  };
  void release(const std::string& key) {
    mutex_lock guard(mutex_);
    if (const auto found = held_.find(key); --found->second.users == 0) held_.erase(found);
  }

  mutex mutex_;
  std::map<std::string, held_lock> held_ ABSL_GUARDED_BY(mutex_);
};

lock_table& locks_of_process() {
  static lock_table table;
  return table;
}

class quarantine_file final : public quarantine_sink {
 public:
  quarantine_file(std::string path, std::size_t entries_max, std::uint64_t bytes_max, const quarantine_table* run)
      : path_(std::move(path)),
        run_(run),
        json_(path_.ends_with(".jsonl") || path_.ends_with(".json")),
        entries_max_(entries_max),
        bytes_max_(bytes_max) {}
  ~quarantine_file() override {
    if (file_ < 0) return;
    ::fdatasync(file_);
    ::close(file_);
  }

  /// Opens the file if it exists; else checks the folder that would contain it.
  status check(quarantine_lock& lock) {
    status why = locks_of_process().lock(path_, lock);
    if (!why.ok()) return why;
    struct stat s{};
    if (::stat(path_.c_str(), &s) == 0) return open().in_file(path_);
    const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
    // A link without a target is not followed here. Writing the first entry reports it.
    if (errno == ENOENT && ::faccessat(AT_FDCWD, folder.empty() ? "." : folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0)
      return {};
    return errno_error(errno, kCannotOpen).in_file(path_);
  }

  status keep(const dropped_error& e) override {
    status why = file_ < 0 ? open() : status();
    if (!why.ok() || is_full_) return why.in_file(path_);
    std::string entry;
    if (!run_) {
      entry = entry_of(e, nullptr, json_);
    } else {
      const run_place at = run_->place();
      entry = entry_of(e, &at, json_);
    }
    if (there_.contains(key_of_entry(entry, json_))) return {};
    // The last place is reserved for the entry that states that the file is full.
    if (there_.size() + 1 >= entries_max_ || size_ + entry.size() > bytes_max_) {
      is_full_ = true;
      dropped_error full;
      full.why = status(status_code::resource_exhausted, kQuarantineFull);
      entry = entry_of(full, nullptr, json_);
      if (there_.contains(key_of_entry(entry, json_))) return {};
    }
    return append(entry).in_file(path_);
  }

 private:
  status open() {
    status why = locks_of_process().lock(path_, lock_);
    if (!why.ok()) return why;
    file_ = open_again(path_, O_RDWR | O_CREAT | O_APPEND, 0666);
    if (file_ < 0) return errno_error(errno, kCannotOpen);
    struct stat s{};
    if (!try_lock(file_))
      why = unavailable_error("another process stores its bad elements in this file; give each run its own file");
    else if (::fstat(file_, &s) != 0 || !S_ISREG(s.st_mode))
      why = invalid_argument_error("bad elements cannot be stored here: this is not a regular file");
    else why = read_entries(static_cast<std::uint64_t>(s.st_size));
    if (why.ok()) return why;
    ::close(file_);
    file_ = -1;
    return why;
  }

  /// Records the entries in the file, and cuts off an incomplete entry at its end.
  status read_entries(std::uint64_t size) {
    std::string bytes;
    std::uint64_t read = 0;
    while (read < size || !bytes.empty()) {
      const std::size_t had = bytes.size();
      bytes.resize(had + static_cast<std::size_t>(std::min<std::uint64_t>(size - read, kReadBytes)));
      const std::ptrdiff_t got = read_at(file_, bytes.data() + had, bytes.size() - had, read);
      if (got < 0) return errno_error(errno, "cannot read the bad elements stored before");
      bytes.resize(had + static_cast<std::size_t>(got));
      read += static_cast<std::uint64_t>(got);
      std::size_t used = 0;
      status why = note_entries(bytes, used);
      if (!why.ok()) return why;
      bytes.erase(0, used);
      size_ += used;
      if (used == 0 && (got == 0 || read == size)) break;
    }
    if (size_ == size) return {};
    const bool may_be_ours = size_ != 0 || begins_entry(bytes);
    if (!may_be_ours) return not_ours();
    return cut_file(file_, size_) ? status() : errno_error(errno, "cannot remove an incomplete entry");
  }

  status note_entries(std::string_view bytes, std::size_t& used) {
    for (;;) {
      const std::string_view rest = bytes.substr(used);
      std::size_t length = 0;
      if (json_) {
        const std::size_t end = rest.find('\n');
        if (end == rest.npos) return {};
        length = end + 1;
        if (!rest.starts_with(kFirstMember)) return not_ours();
      } else {
        std::string_view record;
        const tfrecord_scan s = scan_tfrecords({.bytes = rest}, &record, 1);
        if (!s.why.ok()) return not_ours();
        if (s.records == 0) return {};
        length = s.used_bytes;
        if (!is_example_of_entry(record)) return not_ours();
      }
      there_.insert(key_of_entry(rest.substr(0, length), json_));
      used += length;
    }
  }
  /// Returns true if the bytes are the start of an incomplete entry. Bytes too short to identify do not count, so that
  /// foreign data is never cut off.
  bool begins_entry(std::string_view bytes) const {
    constexpr std::size_t kTelling = 4;
    if (bytes.size() < kTelling) return false;
    if (json_) return bytes.starts_with(kFirstMember.substr(0, bytes.size()));
    if (bytes.size() >= kTfrecordHeaderBytes) return find_tfrecord({.bytes = bytes}, 0, 1) == 0;
    // The length of an entry has eight bytes and is below 16 MiB.
    return bytes.substr(3, 5).find_first_not_of('\0') == bytes.npos;
  }
  static status not_ours() {
    return failed_precondition_error(
        "bad elements cannot be stored here: the file has other content, and was left unchanged; name another path");
  }

  status append(const std::string& entry) {
    std::size_t done = 0;
    while (done < entry.size()) {
      const ssize_t n = ::write(file_, entry.data() + done, entry.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        status why = errno_error(errno, "cannot store a bad element");
        if (::ftruncate(file_, static_cast<off_t>(size_)) != 0)
          return why;  // the file contains whole entries only, or the next opening cuts off the incomplete one
        return why;
      }
      done += static_cast<std::size_t>(n);
    }
    size_ += entry.size();
    there_.insert(key_of_entry(entry, json_));
    return {};
  }

  static constexpr std::size_t kReadBytes = std::size_t{1} << 20;

  std::string path_;
  const quarantine_table* run_;  ///< null: entries have no place of a run
  bool json_;
  std::size_t entries_max_;
  std::uint64_t bytes_max_;
  quarantine_lock lock_;  ///< with file_
  int file_ = -1;
  bool is_full_ = false;
  std::uint64_t size_ = 0;  ///< the size of the whole entries
  absl::flat_hash_set<std::uint64_t> there_;
};

}  // namespace

std::unique_ptr<quarantine_sink> open_quarantine_file(std::string path, std::size_t entries_max,
                                                      std::uint64_t bytes_max, const quarantine_table* run) {
  return std::make_unique<quarantine_file>(std::move(path), entries_max, bytes_max, run);
}

status check_quarantine_file(const std::string& path, quarantine_lock& lock) {
  return quarantine_file(path, kQuarantineEntriesMax, kQuarantineBytesMax, nullptr).check(lock);
}

result<stored_error> read_quarantined(const std::string& path, std::uint64_t number) {
  const bool json = path.ends_with(".jsonl") || path.ends_with(".json");
  auto read = read_small_file(path, kQuarantineBytesMax);
  if (!read.ok()) return read.why();
  std::string_view rest = *read;
  std::uint64_t entries = 0;
  for (; !rest.empty(); ++entries) {
    std::string_view entry;
    std::size_t length = 0;
    if (json) {
      const std::size_t end = rest.find('\n');
      if (end == rest.npos) break;  // an entry that a crash left incomplete
      entry = rest.substr(0, end);
      length = end + 1;
    } else {
      const tfrecord_scan s = scan_tfrecords({.bytes = rest}, &entry, 1);
      if (s.why.ok() && s.records == 0) break;
      if (!s.why.ok()) entry = {};
      length = s.used_bytes;
    }
    if (json ? !entry.starts_with(kFirstMember) : !is_example_of_entry(entry))
      return failed_precondition_error("this is no file of bad elements that a run has dropped").in_file(path);
    if (entries == number) {
      result<stored_error> e = read_entry(entry, json);
      if (!e.ok()) return e.why().in_file(path);
      return e;
    }
    rest.remove_prefix(length);
  }
  if (entries == 0 && !rest.empty())
    return failed_precondition_error("this is no file of bad elements that a run has dropped").in_file(path);
  if (entries == 0) return out_of_range_error("the file has no entry").in_file(path);
  std::string range = entries == 1
                          ? "one entry, with number 0"
                          : std::to_string(entries) + " entries, numbered from 0 to " + std::to_string(entries - 1);
  return out_of_range_error("there is no entry " + std::to_string(number) + ": the file has " + range).in_file(path);
}

}  // namespace sluice::lib
