// SPDX-License-Identifier: Apache-2.0
// Where the kernel refuses io_uring and preadv2, as containers' seccomp profiles do, or stops serving a ring.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <cstddef>
#include <functional>

#include "io/run_task.hpp"
#include "io/temporary_folder.hpp"
#include "sluice/io/open_file_system.hpp"

namespace sluice::lib::sandbox_test {
using namespace sluice::lib::testing;

namespace {

/// This error for these two system calls, for this process from now on.
bool forbid(long a, long b, unsigned error) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(a), 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(b), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// A filter cannot be taken off again, so it is put on a child. 0: body returned true there.
int in_child(const std::function<bool()>& forbidding, const std::function<bool()>& body) {
  pid_t child = ::fork();
  if (child == 0) ::_exit(!forbidding() ? 77 : body() ? 0 : 1);
  int outcome = 0;
  ::waitpid(child, &outcome, 0);
  return WIFEXITED(outcome) ? WEXITSTATUS(outcome) : -1;
}

int in_sandbox(const std::function<bool()>& body) {
  return in_child([] { return forbid(SYS_io_uring_setup, SYS_preadv2, EPERM); }, body);
}

task<std::size_t> size_read(file_system& files, std::string path) {
  auto f = co_await files.open(std::move(path));
  buffer_ref to(buffer::make(1 << 20));
  buffer_ref share = to;
  auto n = co_await f->read_at(0, std::move(share), 0, 1 << 20);
  co_return n;
}

}  // namespace

TEST_CASE("if io_uring is forbidden, auto uses threads, reports why, and reads") {
  temporary_folder folder;
  std::string path = folder.write("a", std::string(300'000, 'x'));
  int outcome = in_sandbox([&] {
    auto files = open_file_system();
    if (!files.ok()) return false;
    if ((*files)->description() !=
        "threads: io_uring is not available: Operation not permitted; SLUICE_IO=threads uses threads without trying")
      return false;
    environment env;
    queue_executor on;
    auto n = run_task(env, on, size_read(**files, path));
    return n.ok() && *n == 300'000;
  });
  if (outcome == 77) WARN("seccomp filters cannot be set here");
  else CHECK(outcome == 0);
}

TEST_CASE("if io_uring is forbidden and required, the error lists the alternatives") {
  int outcome = in_sandbox([] {
    auto files = open_file_system({.backend = io_backend::uring});
    return !files.ok() && files.why().to_string() ==
                              "unavailable: io_uring is not available: Operation not permitted; SLUICE_IO=uring "
                              "requires it; SLUICE_IO=auto or threads uses threads";
  });
  if (outcome == 77) WARN("seccomp filters cannot be set here");
  else CHECK(outcome == 0);
}

TEST_CASE("if a ring cannot be entered, its reads go to threads, and the description has the reason") {
  temporary_folder folder;
  std::string path = folder.write("a", std::string(300'000, 'x'));
  for (auto [number, message] :
       {std::pair(EBADR, "Invalid request descriptor"), std::pair(ENOMEM, "Cannot allocate memory"),
        std::pair(EAGAIN, "Resource temporarily unavailable"), std::pair(EBUSY, "Device or resource busy")}) {
    unsigned error = static_cast<unsigned>(number);
    std::string words = std::string("threads: io_uring stopped working: ") + message;
    CAPTURE(words);
    auto forbidding = [error] { return forbid(SYS_io_uring_enter, SYS_preadv2, error); };
    int outcome = in_child(forbidding, [&] {
      auto files = open_file_system({.backend = io_backend::uring});  // to set a ring up takes no entry
      if (!files.ok()) ::_exit(77);
      environment env;
      queue_executor on;
      for (int i = 0; i != 3; ++i) {
        auto n = run_task(env, on, size_read(**files, path));
        if (!n.ok() || *n != 300'000) return false;
      }
      return (*files)->description() == words;
    });
    if (outcome == 77) WARN("io_uring or seccomp filters cannot be had here");
    else CHECK(outcome == 0);
  }
}

}  // namespace sluice::lib::sandbox_test
