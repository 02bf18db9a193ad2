// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output_checkpoint.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/files/system_calls.hpp"
#include "pipeline/checkpoint_bytes.hpp"
#include "sluice/pipeline/checkpoint_file.hpp"

namespace sluice::lib {

namespace {

status no_target(const std::string& path, const std::string& what) {
  return failed_precondition_error(what + ", and a checkpoint would replace it: name another file").in_file(path);
}

/// A checkpoint may replace only another checkpoint or an empty file. Opens nothing that could block.
status check_replaceable(const std::string& path) {
  struct stat is{};
  if (::stat(path.c_str(), &is) != 0)
    return errno == ENOENT ? status() : errno_error(errno, "cannot examine the checkpoint's file").in_file(path);
  if (S_ISDIR(is.st_mode)) return no_target(path, "is a folder");
  if (!S_ISREG(is.st_mode)) return no_target(path, "is a pipe, a socket or a device");
  if (is.st_size == 0) return {};
  const int fd = open_again(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return errno_error(errno, "cannot read the file that the checkpoint would replace").in_file(path);
  char head[kCheckpointHeadBytes];
  const auto n = read_at(fd, head, sizeof head, 0);
  const int why = errno;
  ::close(fd);
  if (n < 0) return errno_error(why, "cannot read the file that the checkpoint would replace").in_file(path);
  if (!begins_as_checkpoint({head, static_cast<std::size_t>(n)})) return no_target(path, "is no checkpoint of sluice");
  return {};
}

}  // namespace

status output_checkpoint::open(const std::string& path) {
  is_wanted_ = !path.empty();
  if (!is_wanted_) return {};
  status why = check_replaceable(path);
  if (why.ok()) why = file_.open(path);
  // Another process may have created a file at this path before this one had the lock.
  return why.ok() ? check_replaceable(path) : why;
}

status output_checkpoint::save(const std::string& position, element_sink& sink) {
  output_place place;
  status why = sink.commit(place);
  if (!why.ok()) return why;
  sink.keep();
  return file_.replace(checkpoint_bytes({position}, to_bytes(place)));
}

result<resumed> read_resumed(const std::string& path) {
  resumed from;
  std::string place;
  auto at = load_checkpoint(path, &place);
  if (!at.ok()) return at.why();
  from.at = *std::move(at);
  status why = read_place(place, from.output);
  if (!why.ok()) return why.in_file(path);
  return from;
}

}  // namespace sluice::lib
