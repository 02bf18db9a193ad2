// SPDX-License-Identifier: Apache-2.0
// Files that take their name when they are whole, on every back end and simulated.
#include "io/each_backend.hpp"
#include "sluice/io/simulated_file_system.hpp"

namespace sluice::lib::writer_test {
using namespace sluice::lib::testing;

namespace {

buffer_ref buffer_of(const std::string& bytes) {
  buffer_ref b(buffer::make(bytes.size()));
  std::copy(bytes.begin(), bytes.end(), b->data());
  return b;
}

task<file_info> write_pieces(file_system& files, std::string path, std::string bytes, std::size_t piece) {
  auto out = co_await files.create(std::move(path));
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    buffer_ref from = buffer_of(bytes);
    co_await out->write(std::move(from), at, std::min(piece, bytes.size() - at));
  }
  file_info info = co_await out->commit();
  co_return std::move(info);
}

task<> write_and_drop(file_system& files, std::string path) {
  auto out = co_await files.create(std::move(path));
  buffer_ref from = buffer_of("never to be seen");
  co_await out->write(std::move(from), 0, 16);
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t files_in(const std::string& folder) {
  std::size_t n = 0;
  for ([[maybe_unused]] auto& entry : std::filesystem::directory_iterator(folder)) ++n;
  return n;
}

}  // namespace

TEST_CASE("a written file takes its name when it is complete, and has the written bytes") {
  FOR_EACH_BACKEND(f);
  std::string bytes = random_bytes(300'001, 3), path = f.folder.path("out");
  auto info = f.run(write_pieces(*f.files, path, bytes, 70'000));
  REQUIRE(info.ok());
  CHECK(contents(path) == bytes);
  auto stat = f.run(f.files->stat(path));
  REQUIRE(stat.ok());
  CHECK(*info == *stat);
  CHECK(files_in(f.folder.path("")) == 1);
}

TEST_CASE("a dropped writer leaves the existing file, and nothing beside it") {
  FOR_EACH_BACKEND(f);
  std::string path = f.folder.write("out", "as it was");
  auto before = open_descriptors();
  CHECK(f.run(write_and_drop(*f.files, path)).ok());
  CHECK(contents(path) == "as it was");
  CHECK(files_in(f.folder.path("")) == 1);
  CHECK(open_descriptors() == before);
}

TEST_CASE("a second writer is refused while the first is active, and an unwritable path is named") {
  FOR_EACH_BACKEND(f);
  std::string path = f.folder.path("out");
  auto first = f.run(f.files->create(path));
  REQUIRE(first.ok());
  auto second = f.run(f.files->create(path));
  CHECK(second.why().code() == status_code::unavailable);
  CHECK(second.why().where().file == path);
  first->reset();
  auto third = f.run(f.files->create(path));
  CHECK(third.ok());
  auto nowhere = f.run(f.files->create(f.folder.path("no/such/folder")));
  CHECK(nowhere.why().code() == status_code::not_found);
  CHECK(nowhere.why().where().file == f.folder.path("no/such/folder"));
}

TEST_CASE("simulated files are written as real ones are") {
  simulation world(7);
  simulated_file_system files(world);
  CHECK(sync_wait(world, write_pieces(files, "out", "some bytes", 3)).size_bytes == 10);
  CHECK(files.contents("out") == "some bytes");
  sync_wait(world, write_and_drop(files, "out"));
  CHECK(files.contents("out") == "some bytes");
  sync_wait(world, write_and_drop(files, "new"));
  CHECK(files.contents("new") == std::nullopt);
  auto first = sync_wait(world, files.create("out"));
  CHECK_THROWS_WITH(sync_wait(world, files.create("out")), "unavailable: out: another writer has it open");
}

}  // namespace sluice::lib::writer_test
