// SPDX-License-Identifier: Apache-2.0
#include "bench/io_references.hpp"

#include <fcntl.h>
#include <liburing.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <system_error>

namespace sluice::lib::bench {
namespace {

constexpr std::size_t kAlignment = 4096;

std::system_error failed(int error_number, const std::string& what) {
  return std::system_error(error_number, std::generic_category(), what);
}

class opened {
 public:
  opened(const std::string& path, int flags) : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags)) {
    if (number < 0) throw failed(errno, path);
  }
  opened(const opened&) = delete;
  ~opened() { ::close(number); }
  const int number;
};

struct freed {
  void operator()(char* p) const { std::free(p); }
};
using aligned_bytes = std::unique_ptr<char, freed>;
aligned_bytes make_aligned(std::size_t n) {
  return aligned_bytes(
      static_cast<char*>(std::aligned_alloc(kAlignment, (n + kAlignment - 1) / kAlignment * kAlignment)));
}

class ring {
 public:
  ring() {
    io_uring_params p{};
    p.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE | IORING_SETUP_SUBMIT_ALL;
    p.cq_entries = 4096;
    const int error = ::io_uring_queue_init_params(1024, &of_, &p);
    if (error < 0) throw failed(-error, "io_uring");
  }
  ring(const ring&) = delete;
  ~ring() { ::io_uring_queue_exit(&of_); }
  io_uring* get() { return &of_; }
  io_uring_sqe* sqe(std::uint64_t data) {
    io_uring_sqe* made = ::io_uring_get_sqe(&of_);
    if (!made) throw std::runtime_error("the ring is full");
    return made->user_data = data, made;
  }
  /// Submits, waits for one, and calls f(data, result) for all that have come.
  template <class F> void turn(F f) {
    ::io_uring_submit_and_wait(&of_, 1);
    io_uring_cqe* cqe = nullptr;
    while (::io_uring_peek_cqe(&of_, &cqe) == 0) {
      const std::uint64_t data = ::io_uring_cqe_get_data64(cqe);
      const int got = cqe->res;
      ::io_uring_cqe_seen(&of_, cqe);
      f(data, got);
    }
  }

 private:
  io_uring of_{};
};

}  // namespace

void write_back(const std::string& path) {
  opened file(path, 0);
  if (::syncfs(file.number) != 0) throw failed(errno, path);
}

void evict(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    opened file(path, 0);
    ::posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED);
  }
}

std::uint64_t read_by_pread(const std::string& path, std::size_t block_bytes) {
  opened file(path, 0);
  std::vector<char> room(block_bytes);
  std::uint64_t all = 0;
  for (;;) {
    const ssize_t n = ::pread(file.number, room.data(), block_bytes, static_cast<off_t>(all));
    if (n < 0) throw failed(errno, path);
    if (n == 0) return all;
    all += static_cast<std::uint64_t>(n);
  }
}

std::uint64_t read_by_ring(const std::string& path, std::size_t block_bytes, unsigned depth, bool direct) {
  opened file(path, direct ? O_DIRECT : 0);
  struct stat s{};
  ::fstat(file.number, &s);
  const auto size = static_cast<std::uint64_t>(s.st_size);
  aligned_bytes room = make_aligned(block_bytes * depth);
  ring r;
  std::uint64_t next = 0, all = 0;
  unsigned in_flight = 0;
  auto start = [&](std::uint64_t k) {
    if (next >= size) return;
    io_uring_sqe* sqe = r.sqe(k);
    ::io_uring_prep_read(sqe, file.number, room.get() + k * block_bytes, static_cast<unsigned>(block_bytes), next);
    sqe->user_data = k;
    next += block_bytes;
    ++in_flight;
  };
  for (unsigned k = 0; k != depth; ++k) start(k);
  while (in_flight)
    r.turn([&](std::uint64_t k, int got) {
      if (got < 0) throw failed(-got, path);
      all += static_cast<std::uint64_t>(got);  // a short read would show in the sum
      --in_flight;
      start(k);
    });
  return all;
}

std::uint64_t digest_of_file(const char* bytes, std::size_t n) {
  return n == 0 ? 1 : n + static_cast<unsigned char>(bytes[0]) + static_cast<unsigned char>(bytes[n - 1]) * 256u;
}

std::uint64_t small_files_by_loop(const std::vector<std::string>& paths, std::size_t bytes_max) {
  std::vector<char> room(bytes_max);
  std::uint64_t sum = 0;
  for (const std::string& path : paths) {
    opened file(path, 0);
    struct stat s{};
    ::fstat(file.number, &s);
    const ssize_t n = ::read(file.number, room.data(), bytes_max);
    if (n < 0) throw failed(errno, path);
    sum += digest_of_file(room.data(), static_cast<std::size_t>(n));
  }
  return sum;
}

std::uint64_t small_files_by_ring(const std::vector<std::string>& paths, std::size_t bytes_max, unsigned depth) {
  enum step : std::uint64_t { opens, reads, closes };
  ring r;
  if (const int error = ::io_uring_register_files_sparse(r.get(), depth); error < 0)
    throw failed(-error, "direct descriptors");
  std::vector<char> room(bytes_max * depth);
  std::vector<std::size_t> got_bytes(depth);
  std::uint64_t sum = 0;
  std::size_t next = 0, in_flight = 0;
  auto start = [&](std::uint64_t k) {
    if (next == paths.size()) return;
    const auto slot = static_cast<unsigned>(k);
    io_uring_sqe* sqe = r.sqe(0);
    ::io_uring_prep_openat_direct(sqe, AT_FDCWD, paths[next++].c_str(), O_RDONLY, 0, slot);
    sqe->user_data = k * 4 + opens;
    sqe->flags |= IOSQE_IO_LINK;
    sqe = r.sqe(0);
    ::io_uring_prep_read(sqe, static_cast<int>(slot), room.data() + k * bytes_max, static_cast<unsigned>(bytes_max), 0);
    sqe->user_data = k * 4 + reads;
    sqe->flags |= IOSQE_FIXED_FILE | IOSQE_IO_HARDLINK;
    sqe = r.sqe(0);
    ::io_uring_prep_close_direct(sqe, slot);
    sqe->user_data = k * 4 + closes;
    ++in_flight;
  };
  for (std::uint64_t k = 0; k != depth; ++k) start(k);
  while (in_flight)
    r.turn([&](std::uint64_t data, int got) {
      const std::uint64_t k = data / 4;
      if (got < 0) throw failed(-got, "a small file");
      if (data % 4 == reads) got_bytes[k] = static_cast<std::size_t>(got);
      if (data % 4 != closes) return;
      sum += digest_of_file(room.data() + k * bytes_max, got_bytes[k]);
      --in_flight;
      start(k);
    });
  return sum;
}

std::uint64_t digest_of_block(const char* bytes) {
  return static_cast<unsigned char>(bytes[0]) + static_cast<unsigned char>(bytes[17]) * 256u;
}

std::uint64_t read_at_random(const std::string& path, const std::vector<std::uint64_t>& offsets,
                             std::size_t block_bytes, unsigned depth) {
  opened file(path, O_DIRECT);
  aligned_bytes room = make_aligned(block_bytes * depth);
  ring r;
  std::uint64_t sum = 0;
  std::size_t next = 0, in_flight = 0;
  auto start = [&](std::uint64_t k) {
    if (next == offsets.size()) return;
    io_uring_sqe* sqe = r.sqe(k);
    ::io_uring_prep_read(sqe, file.number, room.get() + k * block_bytes, static_cast<unsigned>(block_bytes),
                         offsets[next++]);
    sqe->user_data = k;
    ++in_flight;
  };
  for (unsigned k = 0; k != depth; ++k) start(k);
  while (in_flight)
    r.turn([&](std::uint64_t k, int got) {
      if (got != static_cast<int>(block_bytes)) throw failed(got < 0 ? -got : EIO, path);
      sum += digest_of_block(room.get() + k * block_bytes);
      --in_flight;
      start(k);
    });
  return sum;
}

}  // namespace sluice::lib::bench
