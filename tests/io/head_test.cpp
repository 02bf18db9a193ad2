// SPDX-License-Identifier: Apache-2.0
// Files whose first bytes are read while they are opened, and opens that need no back end.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <vector>

#include "io/each_backend.hpp"
#include "io/local/cached_open.hpp"
#include "sluice/coro/scope.hpp"

namespace sluice::lib::head_test {
using namespace sluice::lib::testing;

namespace {

struct opened_file {
  std::unique_ptr<file> from;
  buffer_ref head;
  std::string beginning() const { return {head->data(), from->head_bytes()}; }
};

task<opened_file> open_with_head(file_system& files, std::string path, std::size_t bytes, page_cache how) {
  opened_file o;
  o.head = buffer_ref(buffer::make(bytes));
  open_options options;
  options.head = o.head;
  options.head_bytes = bytes;
  options.cache = how;
  auto opening = files.open(std::move(path), std::move(options));
  o.from = co_await opening;
  co_return o;
}

/// The rest of it, by reads.
task<std::string> read_from(file& f, std::uint64_t offset) {
  constexpr std::size_t kPiece = 100'000;
  std::string bytes;
  buffer_ref to(buffer::make(kPiece));
  for (;;) {
    buffer_ref share = to;
    auto reading = f.read_at(offset + bytes.size(), std::move(share), 0, kPiece);
    const std::size_t n = co_await reading;
    if (n == 0) co_return bytes;
    bytes.append(to->data(), n);
  }
}

/// From here on the file system expects that beginnings are not in memory. False: it was.
bool miss(fixture& f) {
  const std::string cold = f.folder.write("cold", random_bytes(50'000, 3));
  evict(cold);
  auto opened = f.run(f.files->open(cold));
  REQUIRE(opened.ok());
  char byte = 0;
  return (*opened)->try_read_at(0, &byte, 1).must_wait;
}

}  // namespace

TEST_CASE("a head is the file's beginning or empty, for any size of either, and the rest is read as usual") {
  const std::size_t before = open_descriptors();
  FOR_EACH_BACKEND(f);
  if (!miss(f)) WARN("nothing can be evicted here: no head is read");
  for (page_cache how : {page_cache::keep, page_cache::drop, page_cache::direct})
    for (std::size_t size : {0u, 1u, 4096u, 16'384u, 300'000u})
      for (std::size_t head : {1u, 16'384u, 65'536u})
        for (bool cold : {true, false}) {
          CAPTURE(static_cast<int>(how), size, head, cold);
          const std::string bytes = random_bytes(size, 7);
          const std::string path = f.folder.write("a", bytes);
          if (cold) evict(path);
          auto got = f.run(open_with_head(*f.files, path, head, how));
          REQUIRE(got.ok());
          CHECK(got->from->size_bytes() == size);
          const std::string begins = got->beginning();
          CHECK((begins.empty() || begins == bytes.substr(0, head)));
          auto rest = f.run(read_from(*got->from, begins.size()));
          REQUIRE(rest.ok());
          CHECK((begins + *rest == bytes));
        }
  f.files.reset();  // waits for what the kernel and the back end still have
  CHECK(open_descriptors() == before);
}

TEST_CASE("after an uncached beginning the next ones are read with their opens, and after a cached one they are not") {
  FOR_EACH_BACKEND(f);
  if (!miss(f)) {
    WARN("nothing can be evicted here");
    return;
  }
  const std::string path = f.folder.write("a", random_bytes(16'384, 8));
  auto got = f.run(open_with_head(*f.files, path, 16'384, page_cache::keep));
  REQUIRE(got.ok());
  CHECK(got->from->head_bytes() == 16'384);
  auto opened = f.run(f.files->open(path));
  REQUIRE(opened.ok());
  char byte = 0;
  REQUIRE((*opened)->try_read_at(0, &byte, 1).bytes == 1);
  got = f.run(open_with_head(*f.files, path, 16'384, page_cache::keep));
  REQUIRE(got.ok());
  CHECK(got->from->head_bytes() == 0);
}

TEST_CASE("anything but a regular file opens as without a head, and none of it is read") {
  FOR_EACH_BACKEND(f);
  (void)miss(f);
  const std::string fifo = f.folder.path("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const int writer = ::open(fifo.c_str(), O_RDWR);
  REQUIRE(::write(writer, "words", 5) == 5);
  auto stream = f.run(open_with_head(*f.files, fifo, 4096, page_cache::keep));
  REQUIRE(stream.ok());
  CHECK(stream->from->info().is_stream);
  CHECK(stream->from->head_bytes() == 0);
  ::close(writer);
  auto said = f.run(read_from(*stream->from, 0));
  REQUIRE(said.ok());
  CHECK(*said == "words");
  auto made_up = f.run(open_with_head(*f.files, "/proc/self/limits", 4096, page_cache::keep));
  REQUIRE(made_up.ok());
  CHECK(made_up->from->head_bytes() == 0);
  said = f.run(read_from(*made_up->from, 0));
  REQUIRE(said.ok());
  CHECK(said->starts_with("Limit"));
  auto folder = f.run(open_with_head(*f.files, f.folder.path("."), 4096, page_cache::keep));
  CHECK(folder.why().code() == status_code::invalid_argument);
  auto none = f.run(open_with_head(*f.files, f.folder.path("none"), 4096, page_cache::keep));
  CHECK(none.why().code() == status_code::not_found);
  CHECK(none.why().where().file == f.folder.path("none"));
}

namespace {

task<> open_many(file_system& files, const std::vector<std::string>& paths, std::size_t& opened) {
  for (const std::string& path : paths) {
    auto opening = open_with_head(files, path, 16'384, page_cache::keep);
    auto got = co_await opening.as_result();
    if (got.ok()) ++opened;
  }
}

task<std::size_t> stopped_opens(file_system& files, const std::vector<std::string>& paths) {
  environment* env = co_await this_environment();
  std::size_t opened = 0;
  scope all(*env);
  for (int i = 0; i != 16; ++i) all.spawn(open_many(files, paths, opened));
  all.request_stop();
  co_await all.join();  // of what has failed nobody hears: opens take it
  co_return opened;
}

}  // namespace

TEST_CASE("opens with heads that are stopped at any moment leak no descriptor") {
  const std::size_t before = open_descriptors();
  FOR_EACH_BACKEND(f);
  std::vector<std::string> paths;
  for (int i = 0; i != 40; ++i) paths.push_back(f.folder.write("f" + std::to_string(i), random_bytes(16'384, 9)));
  for (int round = 0; round != 5; ++round) {
    for (const std::string& path : paths) evict(path);
    (void)miss(f);
    auto got = f.run(stopped_opens(*f.files, paths));
    REQUIRE(got.ok());
  }
  f.files.reset();
  CHECK(open_descriptors() == before);
}

TEST_CASE("a file is opened without the back end only where one beside it was, and that is on a local file system") {
  temporary_folder folder;
  const std::string a = folder.write("a", "1"), b = folder.write("b", "2"), other = folder.write("c/d", "3");
  detail::cached_open here;
  CHECK(here.open(a, O_RDONLY) == -EAGAIN);
  const int fd = ::open(a.c_str(), O_RDONLY);
  struct stat s{};
  REQUIRE(::stat(b.c_str(), &s) == 0);  // the way to it is in memory
  here.opened(a, fd);
  ::close(fd);
  const std::int64_t got = here.open(b, O_RDONLY | O_CLOEXEC);
  if (got == -EAGAIN) WARN("this kernel or file system opens nothing so");
  else REQUIRE(got >= 0);
  if (got >= 0) ::close(static_cast<int>(got));
  CHECK(here.open(other, O_RDONLY) == -EAGAIN);
  CHECK(here.open(folder.path("none"), O_RDONLY) == -EAGAIN);  // the back end says what is wrong
  const int proc = ::open("/proc/self/status", O_RDONLY);
  here.opened("/proc/self/status", proc);
  ::close(proc);
  CHECK(here.open("/proc/self/status", O_RDONLY) == -EAGAIN);
}

}  // namespace sluice::lib::head_test
