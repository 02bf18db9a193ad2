// SPDX-License-Identifier: Apache-2.0
#include "store/cache_file.hpp"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <utility>

#include "base/files/system_calls.hpp"
#include "sluice/base/crc32c.hpp"
#include "store/cache_frame.hpp"

namespace sluice::lib {
namespace {

/// The disk begins to store that many bytes at once, so that sync() takes less time. Fewer take more calls, and more are
/// more to wait for.
constexpr std::uint64_t kBegunBytes = std::uint64_t{8} << 20;

/// Returns true if the path still names the open file.
bool is_file_at(int fd, const std::string& path) {
  struct stat open{}, named{};
  return ::fstat(fd, &open) == 0 && ::stat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

using file_number = std::pair<std::uint64_t, std::uint64_t>;  // device and inode

file_number number_of(int fd) {
  struct stat is{};
  if (::fstat(fd, &is) != 0) return {};
  return {static_cast<std::uint64_t>(is.st_dev), static_cast<std::uint64_t>(is.st_ino)};
}

/// The files that objects of this process have locked: a lock does not name the process that has it.
struct locked_files {
  mutex access;
  std::set<file_number> all ABSL_GUARDED_BY(access);

  static locked_files& of_process() {
    static locked_files one;
    return one;
  }
  void add(int fd) {
    mutex_lock lock(access);
    all.insert(number_of(fd));
  }
  void remove(int fd) {
    mutex_lock lock(access);
    all.erase(number_of(fd));
  }
  bool have(int fd) {
    mutex_lock lock(access);
    return all.contains(number_of(fd));
  }
};

}  // namespace

status cache_file::error_of(const char* what, int error) const {
  const std::string text = absl::StrCat("the cache ", what, ": ", std::strerror(error));
  switch (error) {
    case ENOENT: return not_found_error(text).in_file(path_);
    case EACCES:
    case EROFS:
    case EPERM: return permission_denied_error(text).in_file(path_);
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return resource_exhausted_error(text).in_file(path_);
    case EISDIR: return failed_precondition_error(absl::StrCat(text, "; a cache is a file")).in_file(path_);
    default: return unavailable_error(text).in_file(path_);
  }
}

status cache_file::damage(std::uint64_t at, std::string_view what) const {
  if (is_temporary_)
    return data_loss_error(absl::StrCat("the cache is damaged: ", std::string(what),
                                        "; the disk of its temporary file does not return what was written"))
        .in_file(path_, at);
  return data_loss_error(absl::StrCat("the cache is damaged: ", std::string(what),
                                      "; remove the file, or write on_mismatch=rebuild, to make the elements again"))
      .in_file(path_, at);
}

result<std::unique_ptr<cache_file>> cache_file::open(std::string path, bool rebuilds) {
  std::unique_ptr<cache_file> made(new cache_file(std::move(path)));
  // Between the open and the lock another process may replace the file.
  for (int tries = 0; tries != 100; ++tries) {
    status why = made->open_file(true);
    if (!why.ok()) return why;
    made->can_write();
    if (is_file_at(made->file_, made->path_)) break;
  }
  mutex_lock lock(made->mutex_);
  status why = made->scan_head();
  made->is_damaged_ = rebuilds && why.code() == status_code::data_loss;
  if (!why.ok() && !made->is_damaged_) return why;
  return made;
}

result<std::unique_ptr<cache_file>> cache_file::open_to_read(std::string path) {
  std::unique_ptr<cache_file> made(new cache_file(std::move(path)));
  status why = made->open_file(false);
  if (!why.ok()) return why;
  mutex_lock lock(made->mutex_);
  why = made->scan_head();
  if (!why.ok()) return why;
  return made;
}

result<std::unique_ptr<cache_file>> cache_file::temporary() {
  const char* named = std::getenv("TMPDIR");
  std::string path = absl::StrCat(named && *named ? named : "/tmp", "/sluice-cache-XXXXXX");
  const int fd = ::mkostemp(path.data(), O_CLOEXEC);
  std::unique_ptr<cache_file> made(new cache_file(path));
  made->is_temporary_ = true;
  if (fd < 0) return made->error_of("cannot be continued in a temporary file", errno);
  ::unlink(path.c_str());  // the system frees it with the descriptor, also of a process that is killed
  made->file_ = fd;
  made->may_write_ = true;
  mutex_lock lock(made->mutex_);
  made->is_writer_ = true;
  return made;
}

status cache_file::open_file(bool creates) {
  close_file();
  if (creates) file_ = open_again(path_, O_RDWR | O_CREAT, 0666);
  may_write_ = file_ >= 0;
  if (file_ < 0 && (!creates || errno == EACCES || errno == EROFS)) file_ = open_again(path_, O_RDONLY);
  if (file_ < 0) return error_of("cannot be opened", errno);
  struct stat kind{};
  if (::fstat(file_, &kind) == 0 && !S_ISREG(kind.st_mode))
    return failed_precondition_error("a cache is a regular file").in_file(path_);
  return {};
}

cache_file::~cache_file() { close_file(); }

void cache_file::close_file() noexcept {
  mutex_lock lock(mutex_);
  if (std::exchange(is_writer_, false) && !is_temporary_) locked_files::of_process().remove(file_);
  if (file_ >= 0) ::close(std::exchange(file_, -1));  // releases the lock
}

bool cache_file::take_lock() {
  if (is_writer_ || !may_write_) return is_writer_;
  is_writer_ = try_lock(file_);
  if (is_writer_) locked_files::of_process().add(file_);
  return is_writer_;
}

bool cache_file::is_written_elsewhere() const { return may_write_ && !locked_files::of_process().have(file_); }

bool cache_file::can_write() {
  mutex_lock lock(mutex_);
  return take_lock();
}

std::string cache_file::head() const {
  mutex_lock lock(mutex_);
  return head_;
}

std::uint64_t cache_file::length() const {
  mutex_lock lock(mutex_);
  return length_;
}

std::uint64_t cache_file::size_bytes() const {
  struct stat now{};
  return ::fstat(file_, &now) == 0 ? static_cast<std::uint64_t>(now.st_size) : 0;
}

status cache_file::scan_head() {
  std::array<char, kFrameHeaderBytes> bytes{};
  const std::ptrdiff_t got = read_at(file_, bytes.data(), bytes.size(), 0);
  if (got < 0) return error_of("cannot be read", errno);
  frame_header h;
  const bool is_header =
      got == static_cast<std::ptrdiff_t>(kFrameHeaderBytes) && parse_frame_header({bytes.data(), bytes.size()}, h);
  std::string body(is_header ? h.body_bytes() : 0, '\0');
  std::ptrdiff_t of_body = 0;
  if (is_header) of_body = read_at(file_, body.data(), body.size(), kFrameHeaderBytes);
  if (of_body < 0) return error_of("cannot be read", errno);
  const bool is_cut =
      got == 0 || (is_header && static_cast<std::size_t>(of_body) != body.size()) ||
      (got < static_cast<std::ptrdiff_t>(kFrameHeaderBytes) && (got < 4 || has_frame_magic({bytes.data(), 4})));
  if (is_cut) {  // new, or its first writer was killed
    if (got != 0 && is_writer_ && !cut_file(file_, 0)) return error_of("cannot be shortened", errno);
    return {};
  }
  if (!has_frame_magic({bytes.data(), 4}))
    return failed_precondition_error("the file is not a cache of sluice; name another path for the cache")
        .in_file(path_);
  if (!is_header || h.kind != frame_kind::head || crc32c(body) != h.crc)
    return damage(0, "the checksum of its head is wrong");
  head_ = std::move(body);
  scanned_ = kFrameHeaderBytes + head_.size();
  return {};
}

status cache_file::write_frame(const std::vector<std::string_view>& parts) {
  const std::ptrdiff_t written = write_parts_at(file_, parts, scanned_);
  if (written < 0) {
    const int error = errno;
    cut_file(file_, scanned_);  // an incomplete frame does not count, whether this succeeds or not
    return error_of("cannot be written", error);
  }
  scanned_ += static_cast<std::size_t>(written);
  return {};
}

status cache_file::begin(std::string_view head) {
  mutex_lock lock(mutex_);
  frame_header h{.kind = frame_kind::head};
  scanned_ = 0;
  status why = write_frame({frame_of(h, {}, head)});
  if (why.ok()) head_ = head;
  return why;
}

status cache_file::replace(std::string_view head) {
  const std::string beside = absl::StrCat(path_, ".new-", ::getpid());
  const int made = open_again(beside, O_RDWR | O_CREAT | O_TRUNC, 0666);
  if (made < 0) return error_of("cannot be replaced", errno);
  mutex_lock lock(mutex_);
  frame_header h{.kind = frame_kind::head};
  const std::string frame = frame_of(h, {}, head);
  if (!try_lock(made) || !write_all(made, frame) || ::rename(beside.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::close(made);
    ::unlink(beside.c_str());
    return error_of("cannot be replaced", error);
  }
  locked_files::of_process().add(made);
  locked_files::of_process().remove(file_);
  ::close(std::exchange(file_, made));
  head_ = head;
  scanned_ = frame.size();
  length_ = kUnknown;
  return {};
}

status cache_file::append(stored_block& b, const byte_parts& elements) {
  mutex_lock lock(mutex_);
  frame_header h{.ordinal = b.ordinal, .count = b.count};
  if (b.position.size() + elements.size() > kFrameBodyBytesMax)
    return resource_exhausted_error("an element is too large for a cache: 3 GiB are the most").in_file(path_);
  const std::uint64_t at = scanned_;
  std::vector<std::string_view> parts = elements.parts();
  const std::string begin = begin_of_frame(h, b.position, parts);
  parts.insert(parts.begin(), begin);
  status why = write_frame(parts);
  b.offset = at + kFrameHeaderBytes + b.position.size();
  b.bytes = h.element_bytes;
  b.crc = h.crc;
  if (at < begun_) begun_ = 0;  // the file was replaced
  if (why.ok() && !is_temporary_ && scanned_ - begun_ >= kBegunBytes) {
    begin_sync(file_, begun_, scanned_ - begun_);
    begun_ = scanned_;
  }
  return why;
}

status cache_file::finish(std::uint64_t length) {
  mutex_lock lock(mutex_);
  if (length_ == length) return {};
  frame_header h{.kind = frame_kind::end, .ordinal = length};
  status why = write_frame({frame_of(h, {}, {})});
  if (why.ok()) length_ = length;
  return why;
}

status cache_file::sync() {
  int written = -1;  // a descriptor of this call's own: replace() closes the other one
  {
    mutex_lock lock(mutex_);
    written = ::fcntl(file_, F_DUPFD_CLOEXEC, 0);
  }
  status why;
  if (written < 0 || !sync_file(written)) why = error_of("cannot be synchronized", errno);
  if (written >= 0) ::close(written);
  return why;
}

bool cache_file::has_grown() const {
  mutex_lock lock(mutex_);
  return !is_writer_ && size_bytes() > scanned_;
}

status cache_file::scan(std::vector<stored_block>& found) {
  mutex_lock lock(mutex_);
  if (head_.empty()) {
    status why = scan_head();
    if (!why.ok() || head_.empty()) return why;
  }
  return scan_frames(found);
}

status cache_file::scan_frames(std::vector<stored_block>& found) {
  for (;;) {
    std::array<char, kFrameHeaderBytes> bytes{};
    const std::ptrdiff_t got = read_at(file_, bytes.data(), bytes.size(), scanned_);
    if (got < 0) return error_of("cannot be read", errno);
    if (got == 0) return {};
    frame_header h;
    const bool is_whole = got == static_cast<std::ptrdiff_t>(kFrameHeaderBytes);
    if (is_whole && (!parse_frame_header({bytes.data(), bytes.size()}, h) || h.kind == frame_kind::head))
      return damage(scanned_, "the checksum of a block's header is wrong");
    if (!is_whole || scanned_ + kFrameHeaderBytes + h.body_bytes() > size_bytes()) break;
    stored_block b{.ordinal = h.ordinal,
                   .count = h.count,
                   .position = std::string(h.position_bytes, '\0'),
                   .offset = scanned_ + kFrameHeaderBytes + h.position_bytes,
                   .bytes = h.element_bytes,
                   .crc = h.crc};
    if (read_at(file_, b.position.data(), b.position.size(), scanned_ + kFrameHeaderBytes) < 0)
      return error_of("cannot be read", errno);
    scanned_ += kFrameHeaderBytes + h.body_bytes();
    if (h.kind == frame_kind::end) length_ = h.ordinal;
    else found.push_back(std::move(b));
  }
  // An incomplete frame: the writer is writing it, or was killed.
  if (is_writer_ && !cut_file(file_, scanned_)) return error_of("cannot be shortened", errno);
  return {};
}

result<std::string> cache_file::read(const stored_block& b) {
  std::string elements(b.bytes, '\0');
  const std::ptrdiff_t got = read_at(file_, elements.data(), elements.size(), b.offset);
  if (got < 0) return error_of("cannot be read", errno);
  if (static_cast<std::size_t>(got) != elements.size()) return damage(b.offset, "a block ends beyond the file");
  if (crc32c(elements, crc32c(b.position)) != b.crc) return damage(b.offset, "the checksum of a block is wrong");
  return elements;
}

status cache_file::drop() {
  if (!can_write())
    return unavailable_error("another process writes this cache; try again when it has ended").in_file(path_);
  return ::unlink(path_.c_str()) == 0 ? status() : error_of("cannot be removed", errno);
}

}  // namespace sluice::lib
