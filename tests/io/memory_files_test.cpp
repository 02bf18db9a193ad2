// SPDX-License-Identifier: Apache-2.0
// sluice/io/memory_files.hpp
#include "sluice/io/memory_files.hpp"

#include <catch2/catch.hpp>

#include <thread>

#include "pipeline/outcome.hpp"
#include "sluice/io/read_file.hpp"
#include "sluice/runtime/simulation.hpp"

namespace sluice::lib::memory_files_test {
using namespace sluice::lib::testing;

namespace {

using names = std::vector<std::string>;

task<file_info> write_text(file_system& files, std::string path, std::string text) {
  auto creating = files.create(std::move(path));
  std::unique_ptr<file_writer> out = co_await creating;
  buffer_ref from(buffer::make(text.size() + 1));
  std::copy(text.begin(), text.end(), from->data());
  const std::size_t half = text.size() / 2;
  buffer_ref share = from;
  auto first = out->write(std::move(share), 0, half);
  co_await first;
  auto second = out->write(std::move(from), half, text.size() - half);
  co_await second;
  auto ending = out->commit();
  file_info info = co_await ending;
  co_return std::move(info);
}

task<std::size_t> pages_of(file_system& files, std::string pattern, names* all) {
  std::unique_ptr<listing> found = files.list(std::move(pattern));
  std::size_t pages = 0;
  for (;;) {
    auto listing_more = found->next();
    std::vector<listed_file> page = co_await listing_more;
    if (page.empty()) break;
    ++pages;
    for (listed_file& f : page) all->push_back(f.path);
  }
  co_return pages;
}

std::string numbered_lines(int n) {
  std::string text;
  for (int i = 0; i != n; ++i) text += std::to_string(i) + "\n";
  return text;
}

}  // namespace

TEST_CASE("a file put into memory is read by its path, also through a simulation's runtime") {
  simulation world(4);
  runtime simulated(world);
  runtime real({.workers = 2});
  for (runtime* rt : {&simulated, &real}) {
    memory_files files = add_memory_files(*rt);
    files.put("mem://a", "some text");
    CHECK(sync_wait(*rt, read_file(*rt, "mem://a")) == "some text");
    CHECK(sync_wait(*rt, read_file(*rt, "MEM://a")) == "some text");
    CHECK(sync_wait(*rt, files_of(*rt).stat("mem://a")).size_bytes == 9);
    CHECK(files.get("mem://a") == "some text");
    CHECK(files.size() == 1);
    CHECK(files.size_bytes() == 9);
    CHECK_THROWS_WITH(sync_wait(*rt, read_file(*rt, "mem://b")), "not_found: mem://b: there is no such file");
    CHECK_THROWS_WITH(sync_wait(*rt, files_of(*rt).stat("mem://b")), "not_found: mem://b: there is no such file");
    CHECK_THROWS_WITH(files.put("a", ""), "invalid_argument: a: files in memory have paths that begin with mem://");
    CHECK_THROWS_WITH(add_memory_files(*rt), "invalid_argument: a file system for mem:// was added before");
    CHECK(files.remove("mem://a"));
    CHECK_FALSE(files.remove("mem://a"));
    CHECK_FALSE(files.get("mem://a"));
  }
}

TEST_CASE("files in memory are listed by pattern, sorted, in pages") {
  runtime rt;
  memory_files files = add_memory_files(rt);
  for (const char* name : {"mem://t/x", "mem://t/a/x", "mem://t/a-b/x", "mem://t/.h/x", "mem://u"})
    files.put(name, "1");
  CHECK(sync_wait(rt, glob(files_of(rt), "mem://t/**/x")) == names{"mem://t/a-b/x", "mem://t/a/x", "mem://t/x"});
  CHECK(sync_wait(rt, glob(files_of(rt), "mem://**")).size() == 4);
  CHECK(sync_wait(rt, glob(files_of(rt), "mem://u")) == names{"mem://u"});
  CHECK_THROWS_WITH(sync_wait(rt, glob(files_of(rt), "mem://v")), "not_found: mem://v: there is no such file");
  CHECK_THROWS_WITH(sync_wait(rt, glob(files_of(rt), "mem://v*")),
                    "not_found: no file matches the pattern \"mem://v*\"");
  for (int i = 0; i != 2500; ++i) files.put("mem://many/" + std::to_string(i), "");
  names all;
  CHECK(sync_wait(rt, pages_of(files_of(rt), "mem://many/*", &all)) == 3);
  CHECK(all.size() == 2500);
  CHECK(std::is_sorted(all.begin(), all.end()));
}

TEST_CASE("a file in memory appears when it is complete, and has one writer at a time") {
  runtime rt;
  memory_files files = add_memory_files(rt);
  files.put("mem://a", "before");
  {
    std::unique_ptr<file_writer> out = sync_wait(rt, files_of(rt).create("mem://a"));
    buffer_ref from(buffer::make(16));
    sync_wait(rt, out->write(std::move(from), 0, 16));
    CHECK(files.get("mem://a") == "before");
    CHECK_THROWS_WITH(sync_wait(rt, files_of(rt).create("mem://a")),
                      "unavailable: mem://a: another writer has it open");
  }
  CHECK(files.get("mem://a") == "before");
  file_info info = sync_wait(rt, write_text(files_of(rt), "mem://a", "and after"));
  CHECK(files.get("mem://a") == "and after");
  CHECK(info == sync_wait(rt, files_of(rt).stat("mem://a")));
}

TEST_CASE("an open file in memory can be read after it is replaced, and a listed one is detected as changed") {
  runtime rt;
  memory_files files = add_memory_files(rt);
  files.put("mem://a", "before");
  std::unique_ptr<file> open = sync_wait(rt, files_of(rt).open("mem://a"));
  open_options known;
  known.known = open->info();
  files.put("mem://a", "before");  // the same bytes are the same file
  CHECK(sync_wait(rt, files_of(rt).open("mem://a", known))->size_bytes() == 6);
  files.put("mem://a", "and after");
  char bytes[6];
  CHECK(open->try_read_at(0, bytes, 6).bytes == 6);
  CHECK(std::string_view(bytes, 6) == "before");
  CHECK_THROWS_WITH(sync_wait(rt, files_of(rt).open("mem://a", known)),
                    "failed_precondition: mem://a: is another file than the one that was listed");
}

TEST_CASE("a plan over files in memory continues from every place, in another runtime with the same bytes") {
  runtime rt;
  memory_files files = add_memory_files(rt);
  for (const char* name : {"mem://d/a", "mem://d/e/b"}) files.put(name, numbered_lines(7));
  auto ds = list_files("mem://d/**") | interleave(lines, {.cycle_length = 2});
  outcome whole = run(rt, ds);
  REQUIRE(whole.why.ok());
  REQUIRE(whole.elements.size() == 14);
  for (std::size_t i = 0; i != whole.places.size(); ++i) {
    runtime other;
    memory_files same = add_memory_files(other);
    for (const char* name : {"mem://d/a", "mem://d/e/b"}) same.put(name, numbered_lines(7));
    iterate_options o;
    o.from = whole.places[i];
    outcome rest = run(other, ds, o);
    CHECK(rest.why.ok());
    CHECK(rest.elements == names(whole.elements.begin() + static_cast<std::ptrdiff_t>(i), whole.elements.end()));
  }
  runtime changed;
  memory_files others = add_memory_files(changed);
  for (const char* name : {"mem://d/a", "mem://d/e/b"}) others.put(name, numbered_lines(8));
  iterate_options o;
  o.from = whole.places[5];
  CHECK(run(changed, ds, o).why.code() == status_code::failed_precondition);
}

TEST_CASE("files in memory are shared by runtimes, and put and read on any thread") {
  memory_files files;
  runtime a, b;
  add_memory_files(a, files);
  add_memory_files(b, files);
  std::thread writer([files]() mutable {
    for (int i = 0; i != 500; ++i) files.put("mem://n", std::string(100, static_cast<char>('a' + i % 26)));
  });
  files.put("mem://n", std::string(100, 'a'));
  for (int i = 0; i != 200; ++i) {
    std::string text = sync_wait(i % 2 ? a : b, read_file(i % 2 ? a : b, "mem://n"));
    CHECK(text == std::string(100, text[0]));
  }
  writer.join();
}

}  // namespace sluice::lib::memory_files_test
