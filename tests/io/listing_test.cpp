// SPDX-License-Identifier: Apache-2.0
// Listings: pages of paths with what is known of each, and what an open makes of that.
#include <sys/stat.h>

#include <algorithm>

#include "io/each_backend.hpp"
#include "sluice/io/simulated_file_system.hpp"

namespace sluice::lib::listing_test {
using namespace sluice::lib::testing;

namespace {

struct listed {
  std::vector<listed_file> all;
  std::size_t pages = 0;
};

task<listed> list_all(file_system& files, std::string pattern, list_options o) {
  listed found;
  std::unique_ptr<listing> names = files.list(std::move(pattern), o);
  for (;;) {
    std::vector<listed_file> page = co_await names->next();
    if (page.empty()) break;
    ++found.pages;
    for (listed_file& f : page) found.all.push_back(std::move(f));
  }
  co_return std::move(found);
}

bool sorted(const std::vector<listed_file>& files) {
  return std::is_sorted(files.begin(), files.end(), [](auto& a, auto& b) { return a.path < b.path; });
}

open_options knowing(std::optional<file_info> known) {
  open_options o;
  o.known = std::move(known);
  return o;
}

}  // namespace

TEST_CASE("a listing returns every path once, sorted over all pages, with the requested facts") {
  FOR_EACH_BACKEND(f);
  constexpr std::size_t kFiles = 5'000;
  for (std::size_t i = 0; i != kFiles; ++i) f.folder.write("d/f-" + std::to_string(i), i % 500 ? "" : "twelve bytes");
  f.folder.write("d/f-folder/x", "");
  auto names = f.run(list_all(*f.files, f.folder.path("d/f-*"), {}));
  REQUIRE(names.ok());
  CHECK(names->all.size() == kFiles + 1);
  CHECK(names->pages == 2);
  CHECK(sorted(names->all));
  CHECK(std::none_of(names->all.begin(), names->all.end(), [](auto& l) { return l.info.has_value(); }));

  auto looked = f.run(list_all(*f.files, f.folder.path("d/f-*"), {.with_info = true}));
  REQUIRE(looked.ok());
  REQUIRE(looked->all.size() == kFiles + 1);
  CHECK(sorted(looked->all));
  std::size_t sized = 0;
  for (auto& l : looked->all) {
    if (l.path == f.folder.path("d/f-folder")) {
      CHECK_FALSE(l.info.has_value());
      continue;
    }
    REQUIRE(l.info.has_value());
    sized += l.info->size_bytes == 12;
  }
  CHECK(sized == kFiles / 500);
  auto stat = f.run(f.files->stat(looked->all[0].path));
  REQUIRE(stat.ok());
  CHECK(*looked->all[0].info == *stat);
}

namespace {

/// What a reader sees of a file that it knows from a listing; how it fails, if it does.
task<std::string> read_known(file_system& files, listed_file known) {
  auto opening = files.open(known.path, knowing(known.info));
  std::unique_ptr<file> f = co_await opening;
  buffer_ref to(buffer::make(100));
  buffer_ref share = to;
  auto reading = f->read_at(0, std::move(share), 0, 100);
  std::size_t n = co_await reading;
  co_return std::string(to->data(), n);
}

/// One story for every file system: run(task) gives a result.
template <class Run, class Write, class Remove>
void read_what_was_listed(file_system& files, const std::string& path, Run run, Write write, Remove remove) {
  write("before");
  auto listed = run(list_all(files, path, {.with_info = true}));
  REQUIRE(listed.ok());
  REQUIRE(listed->all.size() == 1);
  auto same = run(read_known(files, listed->all[0]));
  REQUIRE(same.ok());
  CHECK(*same == "before");
  for (const char* after : {"and after", ""}) {
    write(after);
    auto other = run(read_known(files, listed->all[0]));
    REQUIRE_FALSE(other.ok());
    CHECK(other.why().to_string() == "failed_precondition: " + path + ": is another file than the one that was listed");
  }
  remove();
  auto gone = run(read_known(files, listed->all[0]));
  REQUIRE_FALSE(gone.ok());
  CHECK(gone.why().code() == status_code::not_found);
  CHECK(gone.why().where().file == path);
}

}  // namespace

TEST_CASE("a file that differs from its listing is detected by the open, or by the first read") {
  FOR_EACH_BACKEND(f);
  std::string path = f.folder.path("a");
  auto run = [&](auto work) { return f.run(std::move(work)); };
  read_what_was_listed(
      *f.files, path, run, [&](const char* bytes) { f.folder.write("a", bytes); }, [&] { ::unlink(path.c_str()); });
}

TEST_CASE("the same of simulated files, whose opens believe the listing") {
  simulation world(7);
  simulated_file_system files(world);
  auto run = [&](auto work) { return sync_wait_result(world.env(), std::move(work)); };
  read_what_was_listed(
      files, "d/a", run, [&](const char* bytes) { files.put("d/a", bytes); }, [&] { files.remove("d/a"); });
}

TEST_CASE("simulated listings come in small pages and know each file; an open that believes them takes no time") {
  simulation world(6);
  simulated_file_system files(world, {.delay_min = duration(1000), .delay_max = duration(1000)});
  for (int i = 0; i != 20; ++i) files.put("d/" + std::to_string(i), std::string(static_cast<std::size_t>(i), 'x'));
  listed found = sync_wait(world, list_all(files, "d/*", {}));
  REQUIRE(found.all.size() == 20);
  CHECK(found.pages >= 5);
  CHECK(sorted(found.all));
  CHECK(found.all[1].info->size_bytes == 1);  // d/1
  CHECK(world.elapsed() == duration(1000 * static_cast<std::int64_t>(found.pages + 1)));
  auto before = world.elapsed();
  CHECK(sync_wait(world, files.open("d/1", knowing(found.all[1].info)))->size_bytes() == 1);
  CHECK(world.elapsed() == before);
  CHECK(sync_wait(world, files.open("d/1"))->size_bytes() == 1);
  CHECK(world.elapsed() == before + duration(1000));
  CHECK(files.opens() == 2);
  CHECK(files.looks() == 1);
  sync_wait(world, files.stat("d/1"));
  CHECK(files.looks() == 2);
}

}  // namespace sluice::lib::listing_test
