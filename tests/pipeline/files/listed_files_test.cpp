// SPDX-License-Identifier: Apache-2.0
// What a listing knew of its files goes to the readers that open them: how often the file system is asked what a file is, and what
// becomes of files that are others by the time they are opened.
#include <catch2/catch.hpp>

#include <filesystem>

#include "io/temporary_folder.hpp"
#include "pipeline/file_world.hpp"
#include "pipeline/input_files.hpp"
#include "pipeline/outcome.hpp"

namespace sluice::lib::listed_files_test {
using namespace sluice::lib::testing;
namespace lib = sluice::lib;

namespace {

struct simulated_disk : file_world {
  std::string path(const std::string& name) const { return "d/" + name; }
  void write(const std::string& name, std::string bytes) { files->put(path(name), std::move(bytes)); }
  void remove(const std::string& name) { files->remove(path(name)); }
};

struct real_disk {
  temporary_folder folder;
  runtime rt{runtime_options{.workers = 2}};
  std::string path(const std::string& name) const { return folder.path(name); }
  void write(const std::string& name, const std::string& bytes) {
    remove(name);
    folder.write(name, bytes);
  }
  void remove(const std::string& name) { std::filesystem::remove(folder.path(name)); }
};

texts whole_lines(const std::string& file, int n) {
  texts all;
  for (int i = 0; i != n; ++i) all.push_back(file + std::to_string(i));
  return all;
}
std::string bytes_of(const texts& lines) { return file_bytes(file_format::lines, lib::compression::none, lines); }

template <class Disk> void write_files(Disk& d, const texts& names, int lines_each) {
  for (const std::string& n : names) d.write(n, bytes_of(whole_lines(n, lines_each)));
}
template <class Text> texts joined(std::initializer_list<Text> parts) {
  texts all;
  for (const texts& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// Paths of listed files; `change` is called when the first has been listed, and none opened yet.
dataset<std::string> changed_paths(const std::string& pattern, std::function<void()> change) {
  return list_files(pattern) | map([change, done = std::make_shared<bool>(false)](const std::string& path) {
           if (!std::exchange(*done, true)) change();
           return path;
         });
}

const texts kNames = {"a", "b", "c"};

}  // namespace

TEMPLATE_TEST_CASE("a file that is replaced between its listing and its open is read in its new state", "[listed]",
                   simulated_disk, real_disk) {
  for (lib::compression c : {lib::compression::none, lib::compression::gzip})
    for (file_format f : kFormats)
      for (std::size_t now : {100u, 9'000u}) {  // fewer elements than before, and more
        CAPTURE(name_of(f), static_cast<int>(c), now);
        TestType d;
        const texts before = some_elements(3'000, 1), after = some_elements(now, 2);
        for (const std::string& n : kNames) d.write(n, file_bytes(f, c, before));
        auto paths = changed_paths(d.path("?"), [&] { d.write("b", file_bytes(f, c, after)); });
        with_reader(f, "", [&](auto, auto reader) {
          outcome got = run(d.rt, paths | flat_map(reader));
          CHECK(got.message() == "ok");
          CHECK((got.elements == joined({before, after, before})));
          CHECK(got.report.inputs_changed == 0);
        });
      }
}

TEMPLATE_TEST_CASE("a file that is removed between its listing and its open is not found, or is dropped as a whole",
                   "[listed]", simulated_disk, real_disk) {
  for (bool skips : {false, true}) {
    TestType d;
    write_files(d, kNames, 3);
    auto paths = changed_paths(d.path("?"), [&] { d.remove("b"); });
    iterate_options how;
    if (skips) how.on_error = error_policy::skip;
    outcome got = run(d.rt, paths | flat_map(lines), how);
    if (skips) {
      CHECK(got.message() == "ok");
      CHECK(got.elements == joined({whole_lines("a", 3), whole_lines("c", 3)}));
      CHECK(got.report.errors == 1);
      got.why = got.report.first_errors.at(0);
    } else {
      CHECK(got.elements == whole_lines("a", 3));
    }
    CHECK(got.why.code() == lib::status_code::not_found);
    CHECK(got.why.where().file == d.path("b"));
  }
}

namespace {

/// How often a file was opened, and how often somebody asked what it is, in a run.
struct asked {
  std::uint64_t opens = 0, looks = 0;
  friend bool operator==(const asked&, const asked&) = default;
  friend std::ostream& operator<<(std::ostream& to, const asked& a) {
    return to << a.opens << " opens, " << a.looks << " looks";
  }
};

template <class T> asked in_run(simulated_disk& d, const dataset<T>& ds, std::size_t elements) {
  const asked before{d.files->opens(), d.files->looks()};
  outcome got = run(d.rt, ds);
  CHECK(got.message() == "ok");
  CHECK(got.elements.size() == elements);
  CHECK(d.rt.ledger().used_bytes() == 0);
  return {d.files->opens() - before.opens, d.files->looks() - before.looks};
}

}  // namespace

TEST_CASE("the facts of a listed file are not requested again, unless it is read twice, or under another path") {
  simulated_disk d;
  texts names;
  for (int i = 0; i != 20; ++i) names.push_back("f" + std::to_string(i));
  write_files(d, names, 5);
  auto listed = list_files("d/f*");
  CHECK(in_run(d, listed | interleave(lines, {.cycle_length = 4}), 100) == asked{20, 0});
  CHECK(in_run(d, listed | interleave(lines, {.cycle_length = 4, .parallelism = 3}), 100) == asked{20, 0});
  CHECK(in_run(d, listed | shuffle(100) | flat_map(tfrecord | take(0)), 0) == asked{0, 0});
  CHECK(in_run(d, listed | shuffle(100) | prefetch(4) | flat_map(lines) | repeat(3), 300) == asked{60, 0});
  CHECK(in_run(d, listed | skip(15) | flat_map(lines), 25) == asked{5, 0});

  auto twice = [](const std::string& path) { return concatenate(lines(path), lines(path)); };
  CHECK(in_run(d, listed | flat_map(twice), 200) == asked{40, 20});
  for (const std::string& n : names) d.files->put("e/" + n, "one\n");
  auto elsewhere = [](const std::string& path) { return "e" + path.substr(1); };
  CHECK(in_run(d, listed | map(elsewhere) | flat_map(lines), 20) == asked{20, 20});
  CHECK(in_run(d, from_elements(texts{"d/f0", "d/f1"}) | flat_map(lines), 10) == asked{2, 2});

  // What the listing said is no longer true of one of them, which the first read of it notices.
  auto paths = changed_paths("d/f*", [&] { d.write("f7", "another\n"); });
  CHECK(in_run(d, paths | flat_map(lines), 96) == asked{21, 1});
  // Nobody knows how long an empty file is until somebody looks: there is no first read that would tell.
  d.write("f8", "");
  CHECK(in_run(d, listed | flat_map(lines), 91) == asked{20, 1});
}

TEST_CASE("the facts in a listing save each reader the time of one answer") {
  static constexpr lib::duration kAnswer = std::chrono::milliseconds(10);
  auto time_of = [](const std::function<dataset<std::string>()>& paths) {
    lib::simulation world(3);
    runtime rt(world, {.workers = 2});
    auto made = std::make_unique<simulated_file_system>(
        world, lib::simulated_io{.delay_min = kAnswer, .delay_max = kAnswer, .page_cache_hits = 0, .heads = 0});
    for (int i = 0; i != 8; ++i) made->put("d/f" + std::to_string(i), "one\n");
    set_files(rt, std::move(made));
    lib::duration before = world.elapsed();
    CHECK(run(rt, paths() | flat_map(lines({.reads_in_flight = 1}))).elements.size() == 8);
    return world.elapsed() - before;
  };
  texts names;
  for (int i = 0; i != 8; ++i) names.push_back("d/f" + std::to_string(i));
  auto asked_each = time_of([&] { return from_elements(names); });
  CHECK(asked_each == 8 * 2 * kAnswer);
  auto listed = time_of([] { return list_files("d/f*"); });
  CHECK(listed - 8 * kAnswer <= 9 * kAnswer);  // pages of one to four files, and an empty one
  CHECK(listed - 8 * kAnswer >= 3 * kAnswer);
}

TEST_CASE("a run that resumes inside a listed file requests its facts, and refuses another file") {
  simulated_disk d;
  write_files(d, kNames, 50);
  auto ds = list_files("d/?") | flat_map(lines);
  outcome whole = run(d.rt, ds);
  REQUIRE(whole.elements.size() == 150);
  for (std::size_t at : {0u, 1u, 49u, 50u, 60u, 149u, 150u}) {
    CAPTURE(at);
    outcome rest = run(d.rt, ds, {.from = whole.places[at]});
    CHECK(rest.message() == "ok");
    CHECK((rest.elements == texts(whole.elements.begin() + static_cast<std::ptrdiff_t>(at), whole.elements.end())));
  }
  d.write("b", bytes_of(whole_lines("B", 50)));
  outcome refused = run(d.rt, ds, {.from = whole.places[60]});
  CHECK(refused.why.code() == lib::status_code::failed_precondition);
  CHECK(refused.why.where().file == "d/b");
  CHECK(refused.elements.empty());
}

}  // namespace sluice::lib::listed_files_test
