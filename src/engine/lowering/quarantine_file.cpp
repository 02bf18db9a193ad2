// SPDX-License-Identifier: Apache-2.0
#include "engine/lowering/quarantine_file.hpp"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
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
#include "engine/lowering/error_gate.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/element/type.hpp"
#include "sluice/format/example.hpp"
#include "sluice/format/tfrecord_frames.hpp"

namespace sluice::lib {
namespace {

constexpr std::string_view kQuarantineFull =
    "this file is full: bad elements that were dropped after these are not kept";
constexpr const char* kCannotOpen = "cannot open the file for bad elements";
constexpr std::string_view kFirstMember = "{\"error\":";
/// The first bytes of the entry of feature "error" in a tf.Example. Entries are recognized by them, so that the reader
/// of whole examples need not be linked.
constexpr std::string_view kFirstFeature =
    "\x0a\x05"
    "error";

/// Writes one entry, member by member, in either form.
class entry_writer {
 public:
  explicit entry_writer(bool json) : json_(json) {}
  void text(std::string_view name, std::string_view value) {
    if (!json_) {
      example_.bytes(name, value);
      return;
    }
    begin(name);
    print_json_text(value, line_);
  }
  void number(std::string_view name, std::uint64_t value) {
    if (value == provenance::kUnknown) return;
    if (!json_) {
      example_.int64(name, static_cast<std::int64_t>(value));
      return;
    }
    begin(name);
    absl::StrAppend(&line_, value);
  }
  /// Returns the entry in the form in which the file stores it.
  std::string finish() {
    if (json_) return line_ + "}\n";
    std::string framed;
    append_tfrecord(framed, example_.finish());
    return framed;
  }

 private:
  void begin(std::string_view name) {
    absl::StrAppend(&line_, line_.empty() ? "{\"" : ",\"", std::string(name), "\":");
  }
  bool json_;
  std::string line_;
  example_writer example_;
};

std::string entry_of(const dropped_error& e, bool json) {
  const provenance& at = e.why.where();
  entry_writer w(json);
  w.text("error", e.why.message());
  w.text("code", to_string(e.why.code()));
  if (!at.stage.empty()) w.text("stage", at.stage);
  if (!at.file.empty()) w.text("file", at.file);
  w.number("offset", at.offset_bytes);
  w.number("record", at.record_index);
  w.number("element", at.element);
  if (e.times > 1) w.number("times", e.times);
  if (e.bytes) w.text("bytes", *e.bytes);
  if (e.bytes && e.bytes->size() == error_gate::kKeptBytesMax) w.text("cut", "these are the first bytes of it");
  return w.finish();
}

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
  quarantine_file(std::string path, std::size_t entries_max, std::uint64_t bytes_max)
      : path_(std::move(path)),
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
    std::string entry = entry_of(e, json_);
    if (there_.contains(stable_hash(entry))) return {};
    // The last place is reserved for the entry that states that the file is full.
    if (there_.size() + 1 >= entries_max_ || size_ + entry.size() > bytes_max_) {
      is_full_ = true;
      dropped_error full;
      full.why = status(status_code::resource_exhausted, kQuarantineFull);
      entry = entry_of(full, json_);
      if (there_.contains(stable_hash(entry))) return {};
    }
    return append(entry).in_file(path_);
  }

 private:
  status open() {
    status why = locks_of_process().lock(path_, lock_);
    if (!why.ok()) return why;
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0) return errno_error(errno, kCannotOpen);
    struct stat s{};
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0)
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
      const ssize_t got = ::pread(file_, bytes.data() + had, bytes.size() - had, static_cast<off_t>(read));
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
    return ::ftruncate(file_, static_cast<off_t>(size_)) == 0 ? status()
                                                              : errno_error(errno, "cannot remove an incomplete entry");
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
        if (record.find(kFirstFeature) == record.npos) return not_ours();
      }
      there_.insert(stable_hash(rest.substr(0, length)));
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
    there_.insert(stable_hash(entry));
    return {};
  }

  static constexpr std::size_t kReadBytes = std::size_t{1} << 20;

  std::string path_;
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
                                                      std::uint64_t bytes_max) {
  return std::make_unique<quarantine_file>(std::move(path), entries_max, bytes_max);
}

status check_quarantine_file(const std::string& path, quarantine_lock& lock) {
  return quarantine_file(path, kQuarantineEntriesMax, kQuarantineBytesMax).check(lock);
}

}  // namespace sluice::lib
