// SPDX-License-Identifier: Apache-2.0
#include "output/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/files/system_calls.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/base/crc32c.hpp"

namespace sluice::lib {

output_file::~output_file() {
  if (file_ < 0) return;
  if (is_named_) (void)cut_file(file_, named_bytes_);  // otherwise the next resume cuts it
  ::close(file_);
  if (was_whole_ && is_partial_ && named_bytes_ == whole_bytes_) (void)at_.publish();  // otherwise it stays partial
  if (!is_named_ && is_partial_) at_.discard();
}

bool output_file::is_stream(const std::string& path) {
  struct stat is{};
  return ::stat(path.c_str(), &is) == 0 && !S_ISREG(is.st_mode);
}

status output_file::begin(const std::string& path) {
  path_ = path;
  status why = at_.take(path);
  return why.ok() ? create() : why;
}

status output_file::create() {
  is_name_synced_ = false;
  return at_.create(file_);
}

status output_file::resume(const std::string& path, const std::string& was_named, const shard_place& from,
                           std::uint64_t& cut_bytes) {
  path_ = path;
  cut_bytes = 0;
  status why = at_.take(path);
  if (!why.ok()) return why;
  std::error_code unknown;
  if (!from.is_file()) {
    if (!std::filesystem::exists(at_.target(), unknown)) return create();
    return failed_precondition_error(
               "exists, and the checkpoint was taken by a run without an output file: remove it, or name another "
               "path")
        .in_file(path);
  }
  bool has_partial = false, has_target = false;
  why = take_up(at_.partial(), was_named, from, has_partial);
  // A file that cannot be examined may be the output: it is neither skipped nor later removed. A link is never an
  // output.
  bool is_other = why.code() == status_code::failed_precondition || why.code() == status_code::invalid_argument;
  if (!why.ok() && !is_other) return why;
  if (!why.ok()) {
    status other = take_up(at_.target(), was_named, from, has_target);
    if (!other.ok()) return has_target || !has_partial ? other : why;
    at_.discard();  // an earlier resume of the run died before its first checkpoint
    is_partial_ = false;
  }
  is_named_ = true;  // before anything can fail: the destructor must not remove it
  named_bytes_ = from.length_bytes;
  struct stat is{};
  if (::fstat(file_, &is) != 0) return at_.failed("cannot look at");
  cut_bytes = static_cast<std::uint64_t>(is.st_size) - from.length_bytes;
  if (cut_bytes != 0) {
    why = withdraw();
    if (!why.ok()) return why;
    was_whole_ = false;  // what is cut off may be the end that its format needs
  }
  if (!cut_file(file_, from.length_bytes)) return at_.failed("cannot cut back");
  if (::lseek(file_, static_cast<off_t>(from.length_bytes), SEEK_SET) < 0) return at_.failed("cannot cut back");
  length_bytes_ = from.length_bytes;
  head_bytes_ = from.head_bytes;
  crc_ = from.whole_crc;
  return {};
}

status output_file::take_up(const std::string& file, const std::string& was_named, const shard_place& from,
                            bool& exists) {
  int fd = open_again(file, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  exists = fd >= 0 || errno != ENOENT;
  if (!exists)
    return failed_precondition_error(was_named.empty() || was_named == path_
                                         ? "the output that the checkpoint continues does not exist"
                                         : "does not exist, and the checkpoint continues the output " + was_named +
                                               ": name that one")
        .in_file(path_);
  if (fd < 0) return at_.failed("cannot open");
  status why = check_place(fd, path_, was_named, from, file == at_.partial());
  if (why.ok()) file_ = fd;
  else ::close(fd);
  return why;
}

status output_file::withdraw() {
  if (is_partial_) return {};
  status why = at_.withdraw();
  if (!why.ok()) return why;
  is_partial_ = true;
  was_whole_ = true;
  whole_bytes_ = named_bytes_;
  return {};
}

status output_file::write(std::string_view bytes, const std::vector<std::size_t>&, std::size_t& accepted) {
  accepted = 0;
  is_synced_ = bytes.empty() && is_synced_;
  if (!bytes.empty())
    if (status why = withdraw(); !why.ok()) return why;
  if (!write_all(file_, bytes)) return at_.failed("cannot write");
  accepted = bytes.size();
  const std::uint64_t head = std::min<std::uint64_t>(head_bytes_ - std::min(head_bytes_, length_bytes_), bytes.size());
  length_bytes_ += bytes.size();
  crc_ = crc32c(bytes.substr(static_cast<std::size_t>(head)), crc_);
  return {};
}

status output_file::reserve_head(std::size_t size) {
  head_bytes_ = size;
  return {};
}

status output_file::write_head(std::string_view bytes) {
  SLUICE_REQUIRES(bytes.size() == head_bytes_, "the head has another size than was reserved");
  is_synced_ = false;
  while (!bytes.empty()) {
    const auto at = static_cast<off_t>(head_bytes_ - bytes.size());
    auto n = ::pwrite(file_, bytes.data(), bytes.size(), at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return at_.failed("cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

status output_file::commit(shard_place& place) {
  struct stat is{};
  if (!sync_file(file_) || ::fstat(file_, &is) != 0) return at_.failed("cannot write");
  is_synced_ = true;
  if (!is_name_synced_) {
    status why = at_.sync_names();
    if (!why.ok()) return why;
    is_name_synced_ = true;
  }
  place.device = is.st_dev;
  place.inode = is.st_ino;
  place.length_bytes = length_bytes_;
  place.head_bytes = head_bytes_;
  place.has_whole_crc = true;
  place.whole_crc = crc_;
  return read_tail_crc(file_, head_bytes_, length_bytes_, place.tail_crc).in_file(path_);
}

// Called before the checkpoint is written, not after: its writer may get an error although the checkpoint exists.
void output_file::keep() {
  is_named_ = true;
  named_bytes_ = length_bytes_;
}

status output_file::finish() {
  if (!is_synced_ && !sync_file(file_)) return at_.failed("cannot write");
  status why;
  // A resumed file to which nothing was added keeps its name; its bytes are synchronized.
  if (is_partial_) why = at_.publish();
  if (!why.ok()) return why;  // the destructor retains the bytes that a checkpoint names
  int failed = ::close(std::exchange(file_, -1));
  if (failed && errno != EINTR) why = at_.failed("cannot write");
  at_.release();
  return why;
}

}  // namespace sluice::lib
