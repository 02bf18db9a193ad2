// SPDX-License-Identifier: Apache-2.0
// What every back end of the real file system must do: one suite, run over each.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <cstring>
#include <random>
#include <thread>

#include "io/each_backend.hpp"

namespace sluice::lib::file_system_test {
using namespace sluice::lib::testing;

namespace {

task<std::string> read_all(file_system& files, std::string path, std::size_t piece) {
  auto f = co_await files.open(std::move(path));
  std::string bytes;
  buffer_ref to(buffer::make(piece));
  for (;;) {
    buffer_ref share = to;
    std::size_t n = co_await f->read_at(bytes.size(), std::move(share), 0, piece);
    bytes.append(to->data(), n);
    if (n < piece) break;
  }
  co_return std::move(bytes);
}

}  // namespace

TEST_CASE("a file is read as it was written, from the page cache and from the disk") {
  FOR_EACH_BACKEND(f);
  for (std::size_t size : {0u, 1u, 4095u, 4096u, 70'000u, 1'000'003u}) {
    CAPTURE(size);
    std::string bytes = random_bytes(size, 5);
    std::string path = f.folder.write("a", bytes);
    for (std::size_t piece : {4096u, 65'536u, 1u << 20}) {
      evict(path);
      for (int round = 0; round < 2; ++round) {
        auto got = f.run(read_all(*f.files, path, piece));
        REQUIRE(got.ok());
        REQUIRE(*got == bytes);
      }
    }
  }
}

namespace {
task<int> read_one(file& f, std::uint64_t offset, const std::string& bytes) {
  buffer_ref to(buffer::make(4096));
  buffer_ref share = to;
  std::size_t n = co_await f.read_at(offset, std::move(share), 0, 4096);
  co_return n == 4096 && std::memcmp(to->data(), bytes.data() + offset, n) == 0 ? 1 : 0;
}
}  // namespace

TEST_CASE("many reads of one file are in flight at once, each into its own buffer, on many threads") {
  FOR_EACH_BACKEND(f);
  std::string bytes = random_bytes(4u << 20, 6);
  std::string path = f.folder.write("a", bytes);
  auto opened = f.run(f.files->open(path));
  REQUIRE(opened.ok());
  evict(path);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      environment env;
      queue_executor on;
      for (int i = 0; i < 200; ++i) {
        auto got = run_task(env, on, read_one(**opened, random() % 1023 * 4096 + random() % 4096, bytes));
        if (got.ok()) right += *got;
      }
    });
  for (auto& t : threads) t.join();
  REQUIRE(right == 800);
}

TEST_CASE("a path that cannot be opened is refused with its name and kind") {
  FOR_EACH_BACKEND(f);
  auto before = open_descriptors();
  auto refused = [&](const std::string& path) {
    auto got = f.run(f.files->open(path));
    REQUIRE_FALSE(got.ok());
    auto stat = f.run(f.files->stat(path));
    if (got.why().code() != status_code::permission_denied) CHECK(stat.why().code() == got.why().code());
    CHECK(got.why().where().file == path);
    return got.why().to_string();
  };
  std::string missing = f.folder.path("missing");
  CHECK(refused(missing) == "not_found: " + missing + ": cannot open: No such file or directory");
  std::string folder = f.folder.path("");
  CHECK(refused(folder) == "invalid_argument: " + folder + ": is a directory, and only files, FIFOs and - can be read");
  CHECK(refused("/dev/null") ==
        "invalid_argument: /dev/null: is a character device, and only files, FIFOs and - can be read");
  std::string long_name = f.folder.path(std::string(300, 'x'));
  CHECK(refused(long_name) == "invalid_argument: " + long_name + ": cannot open: File name too long");

  std::string path = f.folder.path("socket");
  int s = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  REQUIRE(::bind(s, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  CHECK(refused(path) == "invalid_argument: " + path + ": is a socket, and only files, FIFOs and - can be read");
  ::close(s);
  CHECK(open_descriptors() == before);
}

namespace {

task<std::string> read_stream(file_system& files, std::string path) {
  auto f = co_await files.open(std::move(path));
  std::string bytes;
  buffer_ref to(buffer::make(4096));
  for (;;) {
    buffer_ref share = to;
    std::size_t n = co_await f->read_at(bytes.size(), std::move(share), 0, 4096);
    if (n == 0) break;
    bytes.append(to->data(), n);
  }
  co_return std::move(bytes);
}

void write_all(const std::string& path, const std::string& bytes, std::size_t piece) {
  int fd = ::open(path.c_str(), O_WRONLY);  // waits for the reader
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    auto n = std::min(piece, bytes.size() - at);
    if (::write(fd, bytes.data() + at, n) != static_cast<ssize_t>(n)) break;
  }
  ::close(fd);
}

}  // namespace

TEST_CASE("a FIFO is read to its end, in the pieces that arrive, and opening it does not wait") {
  FOR_EACH_BACKEND(f);
  std::string fifo = f.folder.path("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  auto info = f.run(f.files->stat(fifo));
  REQUIRE(info.ok());
  CHECK(info->is_stream);
  auto opened = f.run(f.files->open(fifo));
  REQUIRE(opened.ok());
  CHECK((*opened)->info().is_stream);
  opened->reset();
  for (std::size_t size : {0u, 1u, 100'000u}) {
    std::string bytes = random_bytes(size, 12);
    // One each: the reader before may close its end late, and a writer who met that end would lose what he wrote.
    std::string path = f.folder.path("fifo-" + std::to_string(size));
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    std::thread writer([&] { write_all(path, bytes, 7'001); });
    auto got = f.run(read_stream(*f.files, path));
    writer.join();
    REQUIRE(got.ok());
    CHECK((*got == bytes));
  }
}

TEST_CASE("a stop ends the wait for a FIFO without a writer, and many waiting ones delay no other read") {
  FOR_EACH_BACKEND(f);
  std::vector<std::thread> waiting;
  std::stop_source stop;
  std::atomic<int> cancelled{0};
  for (int i = 0; i < 40; ++i) {  // more than the pool has threads
    std::string fifo = f.folder.path("fifo-" + std::to_string(i));
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    waiting.emplace_back([&f, &stop, &cancelled, fifo] {
      environment env;
      env.stop = stop.get_token();
      queue_executor on;
      auto got = run_task(env, on, read_stream(*f.files, fifo));
      cancelled += got.why().code() == status_code::cancelled;
    });
  }
  std::string bytes = random_bytes(100'000, 13);
  std::string path = f.folder.write("a", bytes);
  evict(path);
  auto read = f.run(read_all(*f.files, path, 4096));
  REQUIRE(read.ok());
  CHECK((*read == bytes));
  stop.request_stop();
  for (auto& t : waiting) t.join();
  CHECK(cancelled == 40);
}

TEST_CASE("files that the kernel makes up have no size, and are read whole") {
  FOR_EACH_BACKEND(f);
  auto opened = f.run(f.files->open("/proc/self/maps"));
  REQUIRE(opened.ok());
  CHECK((*opened)->info().is_stream);
  auto got = f.run(read_stream(*f.files, "/proc/self/maps"));
  REQUIRE(got.ok());
  CHECK(got->size() > 1000);
}

TEST_CASE("a file's state is its size, time, inode and device") {
  FOR_EACH_BACKEND(f);
  std::string path = f.folder.write("a", "12345"), other = f.folder.write("b", "12345");
  auto first = f.run(f.files->open(path));
  REQUIRE(first.ok());
  std::filesystem::rename(other, path);
  auto second = f.run(f.files->open(path));
  REQUIRE(second.ok());
  CHECK((*first)->info().inode != (*second)->info().inode);
  CHECK((*first)->info().device == (*second)->info().device);
  f.folder.write("a", "1234567");
  CHECK((*second)->size_bytes() == 5);
  CHECK((*second)->size_now() == 7);
}

TEST_CASE("a file without read permission is refused with its name") {
  FOR_EACH_BACKEND(f);
  std::string path = f.folder.write("secret", "x");
  REQUIRE(::chmod(path.c_str(), 0) == 0);
  REQUIRE(::chmod(f.folder.path("").c_str(), 0755) == 0);
  // Root may read everything, so be nobody for a moment; glibc makes all threads of the process so.
  const bool root = ::geteuid() == 0;
  if (root) REQUIRE(::seteuid(65534) == 0);
  auto got = f.run(f.files->open(path));
  if (root) REQUIRE(::seteuid(0) == 0);
  REQUIRE_FALSE(got.ok());
  CHECK(got.why().to_string() == "permission_denied: " + path + ": cannot open: Permission denied");
}

TEST_CASE("stat returns the size before a file is opened") {
  FOR_EACH_BACKEND(f);
  std::string path = f.folder.write("a", "12345");
  auto info = f.run(f.files->stat(path));
  REQUIRE(info.ok());
  CHECK(info->size_bytes == 5);
  CHECK(info->modified_ns > 1'500'000'000'000'000'000);
}

TEST_CASE("a glob's matches are sorted by bytes and wildcards do not cross a slash") {
  FOR_EACH_BACKEND(f);
  for (auto name : {"d/b-2", "d/b-10", "d/a", "d/Z", "d/e/b-3"}) f.folder.write(name, "");
  auto all = f.run(glob(*f.files, f.folder.path("d/b-*")));
  REQUIRE(all.ok());
  CHECK(*all == std::vector<std::string>{f.folder.path("d/b-10"), f.folder.path("d/b-2")});
  auto any = f.run(glob(*f.files, f.folder.path("d/[aZ]")));
  REQUIRE(any.ok());
  CHECK(*any == std::vector<std::string>{f.folder.path("d/Z"), f.folder.path("d/a")});
  auto plain = f.run(glob(*f.files, f.folder.path("d/a")));
  REQUIRE(plain.ok());
  CHECK(plain->size() == 1);
}

TEST_CASE("a glob without a match names its pattern") {
  FOR_EACH_BACKEND(f);
  std::string pattern = f.folder.path("nothing-*.tfrecord");
  auto none = f.run(glob(*f.files, pattern));
  REQUIRE_FALSE(none.ok());
  CHECK(none.why().to_string() == "not_found: no file matches the pattern \"" + pattern + "\"");
  std::string plain = f.folder.path("nothing.tfrecord");
  auto missing = f.run(glob(*f.files, plain));
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.why().to_string() == "not_found: " + plain + ": cannot open: No such file or directory");
}

TEST_CASE("a stop that was requested before ends I/O with cancelled and leaves no descriptor") {
  FOR_EACH_BACKEND(f);
  std::string path = f.folder.write("a", random_bytes(100'000, 7));
  auto opened = f.run(f.files->open(path));
  REQUIRE(opened.ok());
  auto before = open_descriptors();
  std::stop_source stop;
  f.env.stop = stop.get_token();
  stop.request_stop();
  auto got = f.run(f.files->open(path));
  REQUIRE_FALSE(got.ok());
  CHECK(got.why().code() == status_code::cancelled);
  auto names = f.run(glob(*f.files, path));
  CHECK(names.why().code() == status_code::cancelled);
  CHECK(open_descriptors() == before);
}

TEST_CASE("a stop during I/O gives either the bytes or cancelled, never anything else, and leaks nothing") {
  FOR_EACH_BACKEND(f);
  std::string bytes = random_bytes(1u << 20, 8);
  std::string path = f.folder.write("a", bytes);
  auto before = open_descriptors();
  unsigned seed = 9;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  int cancelled = 0;
  for (int round = 0; round < 200; ++round) {
    evict(path);
    std::stop_source stop;
    f.env.stop = stop.get_token();
    std::thread stopper([&stop, spins = random() % 20'000] {
      for (std::atomic<unsigned> i{0}; i < spins; ++i) {}
      stop.request_stop();
    });
    auto got = f.run(read_all(*f.files, path, 65'536));
    stopper.join();
    if (got.ok()) {
      REQUIRE(*got == bytes);
    } else {
      REQUIRE(got.why().code() == status_code::cancelled);
      ++cancelled;
    }
  }
  INFO("cancelled " << cancelled);
  CHECK(open_descriptors() <= before + 3);  // what the back end itself opens late: none for threads, an eventfd, a ring
  CHECK(cancelled > 0);
}

TEST_CASE("a coroutine that is destroyed while it waits leaves its buffer to the kernel") {
  auto which = GENERATE(io_backend::threads, io_backend::uring);
  std::string bytes = random_bytes(1u << 20, 10);
  temporary_folder folder;
  std::string path = folder.write("a", bytes);
  auto before = open_descriptors();
  for (int round = 0; round < 50; ++round) {
    queue_executor on;  // never run again: what is posted to it is dropped
    environment env;
    env.exec = &on;
    auto files = open_backend(which);
    if (!files) return;
    evict(path);
    {
      auto abandoned = read_all(*files, path, 65'536);
      abandoned.get().promise().env = &env;
      abandoned.get().resume();
      for (int steps = round % 8; steps > 0 && !abandoned.get().done(); --steps) on.step();
    }
    files.reset();  // waits for what is in flight
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("the back end describes itself") {
  CHECK(open_backend(io_backend::threads)->description() == "threads");
  auto ring = open_backend(io_backend::uring);
  if (ring) CHECK(ring->description() == "io_uring");
}

TEST_CASE("an unknown back end is refused with the names of the known ones") {
  CHECK(*parse_io_backend("") == io_backend::automatic);
  CHECK(*parse_io_backend("auto") == io_backend::automatic);
  CHECK(*parse_io_backend("threads") == io_backend::threads);
  CHECK(*parse_io_backend("uring") == io_backend::uring);
  CHECK(parse_io_backend("aio").why().message() == "\"aio\" is no I/O back end; there are uring, threads and auto");
}

TEST_CASE("SLUICE_IO decides where the options leave it open, and a wrong one is named") {
  const char* before = std::getenv("SLUICE_IO");
  const std::string kept = before ? before : "";
  ::setenv("SLUICE_IO", "threads", 1);
  CHECK(open_file_system().value()->description() == "threads");
  ::setenv("SLUICE_IO", "aio", 1);
  CHECK(open_file_system().why().to_string() ==
        "invalid_argument: SLUICE_IO: \"aio\" is no I/O back end; there are uring, threads and auto");
  CHECK(open_file_system({.backend = io_backend::threads}).ok());  // the options are not open
  if (before) ::setenv("SLUICE_IO", kept.c_str(), 1);
  else ::unsetenv("SLUICE_IO");
}

}  // namespace sluice::lib::file_system_test
