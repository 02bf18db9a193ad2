// SPDX-License-Identifier: Apache-2.0
#include "io/local/kernel_features.hpp"

#include <fcntl.h>
#include <liburing.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "io/local/read_flags.hpp"

namespace sluice::lib::detail {
namespace {

constexpr unsigned kEntries = 4;

bool has_setup_flags(unsigned flags) {
  io_uring ring;
  if (::io_uring_queue_init(kEntries, &ring, flags) < 0) return false;
  ::io_uring_queue_exit(&ring);
  return true;
}

/// Returns true if a read with these flags returns bytes, or reports that it would have to wait.
bool reads_with(int flags) {
  const int fd = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char byte = 0;
  iovec piece{&byte, 1};
  const bool does = ::preadv2(fd, &piece, 1, 0, flags) >= 0 || errno == EAGAIN;
  ::close(fd);
  return does;
}

}  // namespace

uring_report look_at_uring() {
  uring_report report;
  io_uring ring;
  io_uring_params params{};
  const int error = ::io_uring_queue_init_params(kEntries, &ring, &params);
  if (error < 0) {
    report.why = errno_error(-error, "io_uring cannot be set up");
    return report;
  }
  if (io_uring_probe* probe = ::io_uring_get_probe_ring(&ring)) {
    auto has = [&](int opcode) { return ::io_uring_opcode_supported(probe, opcode) != 0; };
    report.features = {{"openat", has(IORING_OP_OPENAT), "needed (5.6)"},
                       {"read", has(IORING_OP_READ), "needed (5.6)"},
                       {"async cancel", has(IORING_OP_ASYNC_CANCEL), "needed (5.5)"}};
    ::io_uring_free_probe(probe);
  }
  report.features.push_back(
      {"no dropped completions", (params.features & IORING_FEAT_NODROP) != 0, "completions are never lost (5.5)"});
  report.features.push_back(
      {"cooperative task running", has_setup_flags(IORING_SETUP_COOP_TASKRUN), "fewer interrupts (5.19)"});
  report.features.push_back({"deferred task running",
                             has_setup_flags(IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN),
                             "completions in batches (6.1)"});
  ::io_uring_queue_exit(&ring);
  return report;
}

std::vector<kernel_feature> look_at_reads() {
  return {{"reads that do not wait", reads_with(RWF_NOWAIT),
           "the page cache is read without a thread (4.14; refused by some sandboxes)"},
          {"reads that leave no pages", reads_with(kDontCache), "cache=drop: pages go as they are read (6.14)"}};
}

}  // namespace sluice::lib::detail
