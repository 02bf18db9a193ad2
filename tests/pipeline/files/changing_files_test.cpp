// SPDX-License-Identifier: Apache-2.0
// Files that grow, are cut, replaced or removed while they are read: what stood there at the open is the file, and what
// is missing of it is an error.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"
#include "pipeline/file_world.hpp"
#include "pipeline/input_files.hpp"
#include "support/tree_of.hpp"

namespace sluice::lib::changing_files_test {
namespace {

using namespace testing;
using Catch::Contains;

/// More than a channel and its blocks read ahead.
constexpr std::size_t kMany = 12'000;

struct prepared {
  file_format format;
  compression packed;
  texts elements;
  std::string bytes;
};
std::vector<prepared> all_files(std::size_t elements) {
  std::vector<prepared> all;
  for (file_format f : kFormats)
    for (compression c : kCompressions) {
      prepared p{f, c, some_elements(elements), {}};
      p.bytes = file_bytes(f, c, p.elements);
      all.push_back(std::move(p));
    }
  return all;
}

void append(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::app).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void check_all(const outcome& got, const texts& elements) {
  CAPTURE(got.message(), got.elements.size());
  CHECK(got.why.ok());
  CHECK((got.elements == elements));
}
void check_cut(const outcome& got, const texts& elements, const std::string& path, std::uint64_t ends) {
  CAPTURE(got.message(), got.elements.size());
  CHECK(got.why.code() == status_code::data_loss);
  CHECK(got.why.where().file == path);
  CHECK(got.why.where().offset_bytes == ends);
  CHECK_THAT(got.message(), Contains("cut short while it was read"));
  REQUIRE(got.elements.size() < elements.size());
  CHECK((got.elements == first_of(elements, got.elements.size())));
}

/// Every file, read in every way on one worker and on two; `change` is called after the first element.
template <class Change, class Check> void read_while(Change change, Check check) {
  static const std::vector<prepared> files = all_files(kMany);
  for (unsigned workers : {1u, 2u}) {
    temporary_folder folder;
    runtime rt({.workers = workers});
    for (const prepared& p : files) {
      std::string path = folder.path("a");
      for_each_way(p.format, path, [&](const std::string& how, const dataset<std::string>& ds) {
        CAPTURE(name_of(p.format), to_string(p.packed), how, workers);
        std::filesystem::remove(path);
        folder.write("a", p.bytes);
        check(run_changing(rt, ds, 1, [&] { change(path, p); }), p, path);
      });
    }
  }
}

}  // namespace

TEST_CASE("a file that grows while it is read has the contents of the time of opening") {
  auto grow = [](const std::string& path, const prepared& p) { append(path, p.bytes.substr(0, p.bytes.size() / 3)); };
  read_while(grow, [](const outcome& got, const prepared& p, const std::string&) { check_all(got, p.elements); });
}

TEST_CASE("a file that is cut while it is read is an error that names file and offset, after the elements before it") {
  // At an element's end, and inside of one; of compressed files, somewhere.
  for (std::size_t beside : {0u, 77u}) {
    auto size_of = [&](const prepared& p) {
      std::size_t whole = p.bytes.size() / p.elements.size() * (p.elements.size() - 100);
      if (p.format == file_format::tfrecord && p.packed == compression::none)
        whole = frame_of(p.elements, p.elements.size() - 100);
      return whole - beside;
    };
    auto cut = [&](const std::string& path, const prepared& p) { std::filesystem::resize_file(path, size_of(p)); };
    read_while(cut, [&](const outcome& got, const prepared& p, const std::string& path) {
      check_cut(got, p.elements, path, size_of(p));
    });
  }
}

TEST_CASE("a file that is replaced or removed while it is read is read to its end") {
  bool removes = false;  // by turns
  auto replace = [&](const std::string& path, const prepared& p) {
    if ((removes = !removes)) {
      std::filesystem::remove(path);
      return;
    }
    std::ofstream(path + ".new", std::ios::binary) << p.bytes.substr(p.bytes.size() / 2);
    std::filesystem::rename(path + ".new", path);
  };
  auto whole = [](const outcome& got, const prepared& p, const std::string&) { check_all(got, p.elements); };
  read_while(replace, whole);
}

namespace {

template <class T> task<void> take_one(stream<T>& s, outcome& o) {
  auto x = co_await s.next();
  o.elements.push_back(shown(*x));
}
template <class T> task<void> take_all(stream<T>& s, outcome& o) {
  for (;;) {
    auto x = co_await s.try_next();
    if (!x) {
      o.why = x.why;
      break;
    }
    o.elements.push_back(shown(*x));
  }
}

}  // namespace

TEST_CASE("skipped bytes must have existed, too") {
  temporary_folder folder;
  runtime rt({.workers = 1});
  texts elements = some_elements(kMany);
  std::string path = folder.path("a");
  for (file_format f : kFormats)
    for (std::size_t passed : {kMany - 10, kMany})
      with_reader(f, path, [&](auto ds, auto) {
        CAPTURE(name_of(f), passed);
        folder.write("a", file_bytes(f, compression::none, elements));
        auto s = ds.iterate(rt);
        outcome first, rest;
        sync_wait(rt, take_one(s, first));
        CHECK(first.elements == first_of(elements, 1));
        std::filesystem::resize_file(path, 100'000);
        test::tree_of(s).pass_over(passed - 1);
        sync_wait(rt, take_all(s, rest));
        CAPTURE(rest.message());
        CHECK(rest.elements.empty());
        CHECK(rest.why.code() == status_code::data_loss);
        CHECK(rest.why.where().file == path);
        CHECK_THAT(rest.message(), Contains("cut short while it was read"));
      });
}

TEST_CASE("simulated files that grow or are cut, with short and late reads, are read as real ones") {
  const std::size_t many = 2'000;
  for (const prepared& p : all_files(many))
    for (std::uint64_t seed : {1u, 2u, 3u})
      for_each_way(p.format, "a", [&](const std::string& how, const dataset<std::string>& ds) {
        CAPTURE(name_of(p.format), to_string(p.packed), how, seed);
        {
          file_world w(seed);
          w.files->put("a", p.bytes);
          check_all(run_changing(w.rt, ds, 1, [&] { w.files->append("a", p.bytes); }), p.elements);
        }
        {
          file_world w(seed);
          w.files->put("a", p.bytes);
          check_all(run_changing(w.rt, ds, 1, [&] { w.files->put("a", "x"); }), p.elements);
        }
        if (how != "directly") return;  // what works ahead may be at the end already
        file_world w(seed);
        w.files->put("a", p.bytes);
        std::size_t left = p.bytes.size() - 50;
        check_cut(run_changing(w.rt, ds, 1, [&] { w.files->cut("a", left); }), p.elements, "a", left);
      });
}

}  // namespace sluice::lib::changing_files_test
