// SPDX-License-Identifier: Apache-2.0
#include "cli/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/system_calls.hpp"
#include "sluice/format/crc32c.hpp"

namespace sluice::lib::cli {

output_file::~output_file() {
  if (file_ < 0) return;
  if (is_named_) (void)cut_file(file_, named_bytes_);  // else the next resume does
  ::close(file_);
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

status output_file::go_on(const std::string& path, const output_place& from, std::uint64_t& cut_bytes) {
  path_ = path;
  cut_bytes = 0;
  status why = at_.take(path);
  if (!why.ok()) return why;
  std::error_code unknown;
  if (from.empty()) {
    if (!std::filesystem::exists(at_.target(), unknown)) return create();
    return failed_precondition_error(
               "is there, and the checkpoint was taken by a run without an output file: remove it, name another path, "
               "or let --new-output replace it")
        .in_file(path);
  }
  bool has_partial = false, has_target = false;
  why = take_up(at_.partial(), from, has_partial);
  // What cannot be looked at may be the output: it is not passed over, and later removed. A link is none of ours.
  bool is_other = why.code() == status_code::failed_precondition || why.code() == status_code::invalid_argument;
  if (!why.ok() && !is_other) return why;
  if (!why.ok()) {
    status other = take_up(at_.target(), from, has_target);
    if (!other.ok()) return has_target || !has_partial ? other : why;
    at_.discard();  // a later life of the run died before its first checkpoint
    is_partial_ = false;
  }
  is_named_ = true;  // before anything can fail: the destructor must not remove it
  named_bytes_ = from.length_bytes;
  struct stat is{};
  if (::fstat(file_, &is) != 0) return at_.failed("cannot look at");
  cut_bytes = static_cast<std::uint64_t>(is.st_size) - from.length_bytes;
  if (!cut_file(file_, from.length_bytes)) return at_.failed("cannot cut back");
  if (::lseek(file_, static_cast<off_t>(from.length_bytes), SEEK_SET) < 0) return at_.failed("cannot cut back");
  length_bytes_ = from.length_bytes;
  crc_ = from.whole_crc;
  return {};
}

status output_file::take_up(const std::string& file, const output_place& from, bool& exists) {
  int fd = open_again(file, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  exists = fd >= 0 || errno != ENOENT;
  if (!exists)
    return failed_precondition_error("the output that the checkpoint goes on with, " + from.path +
                                     ", is not there; --new-output writes the rest into a new file")
        .in_file(path_);
  if (fd < 0) return at_.failed("cannot open");
  status why = check_place(fd, path_, from, file == at_.partial());
  if (why.ok()) file_ = fd;
  else ::close(fd);
  return why;
}

status output_file::write(std::string_view bytes, const std::vector<std::size_t>&, std::size_t& accepted) {
  accepted = 0;
  if (!write_all(file_, bytes)) return at_.failed("cannot write");
  accepted = bytes.size();
  length_bytes_ += bytes.size();
  crc_ = crc32c(bytes, crc_);
  return {};
}

status output_file::commit(output_place& place) {
  struct stat is{};
  if (!sync_file(file_) || ::fstat(file_, &is) != 0) return at_.failed("cannot write");
  if (!is_name_synced_) {
    status why = at_.sync_names();
    if (!why.ok()) return why;
    is_name_synced_ = true;
  }
  place.path = path_;
  place.device = is.st_dev;
  place.inode = is.st_ino;
  place.length_bytes = length_bytes_;
  place.has_whole_crc = true;
  place.whole_crc = crc_;
  return read_tail_crc(file_, length_bytes_, place.tail_crc).in_file(path_);
}

// Before the checkpoint is written, not after: its writer may hear of an error although the checkpoint is there.
void output_file::keep() {
  is_named_ = true;
  named_bytes_ = length_bytes_;
}

status output_file::finish() {
  status why;
  // A resumed file whose name is its own keeps it; its bytes were synchronised by commit().
  if (is_partial_) why = at_.publish();
  if (!why.ok()) return why;  // the destructor keeps what a checkpoint names
  int failed = ::close(std::exchange(file_, -1));
  if (failed && errno != EINTR) why = at_.failed("cannot write");
  at_.release();
  return why;
}

}  // namespace sluice::lib::cli
