// SPDX-License-Identifier: Apache-2.0
#include "base/files/whole_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/files/system_calls.hpp"

namespace sluice::lib {
namespace {

status open_for_writing(locked_target& at, int& fd) { return at.is_regular() ? at.create(fd) : at.open_as_it_is(fd); }

/// Closes `fd`, and renames the file to its final name.
status close_and_publish(locked_target& at, int& fd) {
  status why;
  if (at.is_regular() && !sync_file(fd)) why = at.failed("cannot write");
  if (::close(std::exchange(fd, -1)) != 0 && errno != EINTR && why.ok()) why = at.failed("cannot write");
  if (!at.is_regular()) return why;
  if (why.ok()) why = at.publish();
  if (!why.ok()) at.discard();
  return why;
}

void give_up(locked_target& at, int& fd) {
  if (fd < 0) return;
  ::close(std::exchange(fd, -1));
  if (at.is_regular()) at.discard();
}

}  // namespace

whole_file::~whole_file() { give_up(at_, file_); }

status whole_file::begin(std::string path) {
  status why = at_.take(std::move(path));
  return why.ok() ? open_for_writing(at_, file_) : why;
}

status whole_file::write(std::string_view bytes) {
  return write_all(file_, bytes) ? status() : at_.failed("cannot write");
}

status whole_file::finish() {
  status why = close_and_publish(at_, file_);
  at_.release();
  return why;
}

status replaced_file::open(std::string path) {
  status why = at_.take(std::move(path));
  if (!why.ok() || at_.is_regular()) return why;
  int fd = -1;
  why = at_.open_as_it_is(fd);
  if (why.ok()) ::close(fd);
  return why;
}

status replaced_file::replace(std::string_view bytes) {
  int fd = -1;
  status why = open_for_writing(at_, fd);
  if (!why.ok()) return why;
  if (write_all(fd, bytes)) return close_and_publish(at_, fd);
  why = at_.failed("cannot write");
  give_up(at_, fd);
  return why;
}

}  // namespace sluice::lib
