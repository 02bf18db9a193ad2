// SPDX-License-Identifier: Apache-2.0
// Lets system calls of a program fail, or kills it there: LD_PRELOAD=libfault_shim.so. For tests only.
//
//   SLUICE_FAULT_UNDER=FOLDER   only calls on files below this folder count (io_uring_enter and sockets count always)
//   SLUICE_FAULT=CALL:N:WHAT    the Nth such call does WHAT; N+ means the Nth and all after it. WHAT: an error's name, such
//                               as ENOSPC; kill: SIGKILL instead of the call; kill_after: SIGKILL as soon as the call has
//                               been made; short: writes half of what it should. Several are separated by commas
//   SLUICE_FAULT_LOG=FILE       appends a line for every call: "CALL PATH"
//
// CALL is the name of the function; open64 and others of its kind count as open. io_uring_enter is seen where liburing
// enters the kernel: io_uring_submit, io_uring_submit_and_wait and …_timeout. send and recv include sendmsg and recvmsg; only
// those recv that return bytes count, and their faults come after the call.
// Each of open and open64 is defined here by its own name: the headers must not rename them.
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

struct io_uring;
struct io_uring_cqe;
struct __kernel_timespec;

namespace {

constexpr const char* kCalls[] = {"open",   "write",          "pwrite", "writev", "pread",     "preadv2",
                                  "fsync",  "fdatasync",      "rename", "unlink", "ftruncate", "flock",
                                  "fchmod", "io_uring_enter", "send",   "recv"};
std::atomic<long> counts[std::size(kCalls)];

struct named_error {
  const char* name;
  int number;
};
constexpr named_error kErrors[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM},
                                   {"EBADR", EBADR},   {"EINTR", EINTR},   {"EACCES", EACCES}, {"EAGAIN", EAGAIN},
                                   {"ENOLCK", ENOLCK}, {"EDQUOT", EDQUOT}};

enum class action { none, fail, kill, kill_after, cut_short };

struct fault {
  int call = -1;
  long at = 0;
  bool continues = false;
  action does = action::none;
  int error = 0;
};

int number_of(const char* call) {
  for (std::size_t i = 0; i != std::size(kCalls); ++i)
    if (!std::strcmp(kCalls[i], call)) return static_cast<int>(i);
  return -1;
}

/// A fault that cannot be read would be a test that cannot fail.
[[noreturn]] void refuse(const char* text) {
  std::fprintf(stderr, "fault_shim: cannot read SLUICE_FAULT=%s\n", text);
  _exit(99);
}

fault read_fault(const char* text) {
  fault f;
  char call[32] = {}, what[32] = {}, plus[2] = {};
  if (std::sscanf(text, "%31[^:]:%ld%1[+]:%31[^,]", call, &f.at, plus, what) == 4) f.continues = true;
  else if (std::sscanf(text, "%31[^:]:%ld:%31[^,]", call, &f.at, what) != 3) refuse(text);
  f.call = number_of(call);
  if (f.call < 0) refuse(text);
  f.does = !std::strcmp(what, "kill")         ? action::kill
           : !std::strcmp(what, "kill_after") ? action::kill_after
           : !std::strcmp(what, "short")      ? action::cut_short
                                              : action::fail;
  for (auto& e : kErrors)
    if (!std::strcmp(e.name, what)) f.error = e.number;
  if (f.does == action::fail && !f.error) refuse(text);
  return f;
}

struct faults {
  static constexpr std::size_t kMost = 4;
  fault list[kMost];
  std::size_t count = 0;

  faults() {
    const char* text = std::getenv("SLUICE_FAULT");
    for (; text && *text; text += *text == ',') {
      if (count == kMost) refuse(text);
      list[count++] = read_fault(text);
      text += std::strcspn(text, ",");
    }
  }
};

template <class F> F real(const char* name) { return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name)); }

bool is_below(const char* path) {
  static const char* const under = std::getenv("SLUICE_FAULT_UNDER");
  return under && !std::strncmp(path, under, std::strlen(under));
}

bool path_of(int fd, char (&path)[4096]) {
  char link[64];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  auto n = ::readlink(link, path, sizeof path - 1);
  if (n <= 0) return false;
  path[n] = 0;
  return true;
}

void log(int call, const char* path) {
  static const char* const file = std::getenv("SLUICE_FAULT_LOG");
  if (!file) return;
  static const int fd =
      real<int (*)(const char*, int, ...)>("open")(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  char line[4200];
  int n = std::snprintf(line, sizeof line, "%s %s\n", kCalls[call], path);
  (void)!real<ssize_t (*)(int, const void*, size_t)>("write")(fd, line, static_cast<size_t>(n));
}

/// Counts a call. What to do in its place; errno is set where it is to fail.
action meet(int call, const char* path) {
  static const faults known;
  log(call, path);
  long n = ++counts[call];
  for (const fault& f : known.list) {
    if (call != f.call || (f.continues ? n < f.at : n != f.at)) continue;
    if (f.does == action::kill) ::kill(::getpid(), SIGKILL);
    errno = f.error;
    return f.does;
  }
  return action::none;
}

action meet_path(const char* name, const char* path) {
  char absolute[4096];
  if (path[0] != '/') {
    if (!::getcwd(absolute, sizeof absolute)) return action::none;
    std::size_t n = std::strlen(absolute);
    std::snprintf(absolute + n, sizeof absolute - n, "/%s", path);
    path = absolute;
  }
  return is_below(path) ? meet(number_of(name), path) : action::none;
}

action meet_fd(const char* name, int fd) {
  char path[4096];
  int saved = errno;
  bool counts_here = path_of(fd, path) && is_below(path);
  errno = saved;
  return counts_here ? meet(number_of(name), path) : action::none;
}

/// The result of a call that has been made.
template <class T> T finish(action does, T result) {
  if (does == action::kill_after) ::kill(::getpid(), SIGKILL);
  return result;
}

/// A recv that returned bytes is a message that arrived.
ssize_t finish_recv(ssize_t bytes) {
  if (bytes <= 0) return bytes;
  int saved = errno;
  action does = meet(number_of("recv"), "socket");
  if (does == action::fail) return -1;
  errno = saved;
  return finish(does, bytes);
}

}  // namespace

extern "C" {

// NOLINTBEGIN: the names are those of the C library
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  auto mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (meet_path("open", path) == action::fail) return -1;
  return real<int (*)(const char*, int, ...)>("open")(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  auto mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open(path, flags, mode);
}
ssize_t write(int fd, const void* bytes, size_t size) {
  action does = meet_fd("write", fd);
  if (does == action::fail) return -1;
  return real<ssize_t (*)(int, const void*, size_t)>("write")(fd, bytes,
                                                              does == action::cut_short ? (size + 1) / 2 : size);
}
ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
  action does = meet_fd("pwrite", fd);
  if (does == action::fail) return -1;
  return finish(does, real<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite")(fd, bytes, size, at));
}
ssize_t pwrite64(int fd, const void* bytes, size_t size, off_t at) { return pwrite(fd, bytes, size, at); }
ssize_t writev(int fd, const iovec* pieces, int n) {
  if (meet_fd("writev", fd) == action::fail) return -1;
  return real<ssize_t (*)(int, const iovec*, int)>("writev")(fd, pieces, n);
}
ssize_t pread(int fd, void* to, size_t size, off_t at) {
  if (meet_fd("pread", fd) == action::fail) return -1;
  return real<ssize_t (*)(int, void*, size_t, off_t)>("pread")(fd, to, size, at);
}
ssize_t pread64(int fd, void* to, size_t size, off_t at) { return pread(fd, to, size, at); }
ssize_t preadv2(int fd, const iovec* pieces, int n, off_t at, int flags) {
  if (meet_fd("preadv2", fd) == action::fail) return -1;
  return real<ssize_t (*)(int, const iovec*, int, off_t, int)>("preadv2")(fd, pieces, n, at, flags);
}
ssize_t preadv64v2(int fd, const iovec* pieces, int n, off_t at, int flags) {
  return preadv2(fd, pieces, n, at, flags);
}
int fsync(int fd) {
  action does = meet_fd("fsync", fd);
  return does == action::fail ? -1 : finish(does, real<int (*)(int)>("fsync")(fd));
}
int fdatasync(int fd) {
  action does = meet_fd("fdatasync", fd);
  return does == action::fail ? -1 : finish(does, real<int (*)(int)>("fdatasync")(fd));
}
int ftruncate(int fd, off_t size) {
  return meet_fd("ftruncate", fd) == action::fail ? -1 : real<int (*)(int, off_t)>("ftruncate")(fd, size);
}
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }
int flock(int fd, int how) {
  return meet_fd("flock", fd) == action::fail ? -1 : real<int (*)(int, int)>("flock")(fd, how);
}
int fchmod(int fd, mode_t mode) {
  return meet_fd("fchmod", fd) == action::fail ? -1 : real<int (*)(int, mode_t)>("fchmod")(fd, mode);
}
int rename(const char* from, const char* to) {
  return meet_path("rename", from) == action::fail ? -1 : real<int (*)(const char*, const char*)>("rename")(from, to);
}
int unlink(const char* path) {
  return meet_path("unlink", path) == action::fail ? -1 : real<int (*)(const char*)>("unlink")(path);
}

ssize_t send(int fd, const void* bytes, size_t size, int flags) {
  action does = meet(number_of("send"), "socket");
  if (does == action::fail) return -1;
  return finish(does, real<ssize_t (*)(int, const void*, size_t, int)>("send")(fd, bytes, size, flags));
}
ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  action does = meet(number_of("send"), "socket");
  if (does == action::fail) return -1;
  return finish(does, real<ssize_t (*)(int, const msghdr*, int)>("sendmsg")(fd, message, flags));
}
ssize_t recv(int fd, void* to, size_t size, int flags) {
  return finish_recv(real<ssize_t (*)(int, void*, size_t, int)>("recv")(fd, to, size, flags));
}
ssize_t recvmsg(int fd, msghdr* message, int flags) {
  return finish_recv(real<ssize_t (*)(int, msghdr*, int)>("recvmsg")(fd, message, flags));
}

int io_uring_submit(io_uring* ring) {
  if (meet(number_of("io_uring_enter"), "") == action::fail) return -errno;
  return real<int (*)(io_uring*)>("io_uring_submit")(ring);
}
int io_uring_submit_and_wait(io_uring* ring, unsigned n) {
  if (meet(number_of("io_uring_enter"), "") == action::fail) return -errno;
  return real<int (*)(io_uring*, unsigned)>("io_uring_submit_and_wait")(ring, n);
}
int io_uring_submit_and_wait_timeout(io_uring* ring, io_uring_cqe** to, unsigned n, __kernel_timespec* time,
                                     sigset_t* mask) {
  if (meet(number_of("io_uring_enter"), "") == action::fail) return -errno;
  return real<int (*)(io_uring*, io_uring_cqe**, unsigned, __kernel_timespec*, sigset_t*)>(
      "io_uring_submit_and_wait_timeout")(ring, to, n, time, mask);
}
// NOLINTEND
}
