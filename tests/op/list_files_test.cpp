// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "pipeline/file_world.hpp"
#include "pipeline/outcome.hpp"
#include "support/op_conformance.hpp"
#include "support/verb_case.hpp"

namespace sluice::lib::list_files_test {
namespace {

using namespace testing;
using names = std::vector<std::string>;

void put_files(file_world& w) {
  for (const char* name : {"b/10", "b/9", "a/2", "a/1", "b/1", "a/B", "c/1"}) w.files->put(name, "x");
}
names sorted(names all) {
  std::sort(all.begin(), all.end());
  return all;
}

// --- For the random plans: one file more than elements are asked for, since a pattern that nothing matches is an error. ---

std::string folder_of(const test::verb_use& use) { return test::path_of("list", use.a, use.b); }
std::string patterns_of(const test::verb_use& use) {
  const std::string all = folder_of(use) + "/*";
  return use.b % 3 ? all : all + "," + folder_of(use) + "/0";
}
test::test_files numbered_files(const test::verb_use& use) {
  test::test_files files;
  for (std::int64_t i = 0; i <= use.a; ++i) files.bytes[folder_of(use) + "/" + std::to_string(i)] = "";
  return files;
}
std::int64_t number_of_name(const std::string& path) { return std::atoll(path.c_str() + path.rfind('/') + 1); }

list_files_options order_of(const test::verb_use& use) {
  return {.shuffle = use.b % 2 == 1, .seed = static_cast<std::int64_t>(use.b)};
}
test::int64s listed_numbers(const test::verb_lists& l) {
  names all;
  for (std::int64_t i = 0; i <= l.a; ++i) all.push_back(std::to_string(i));
  all = sorted(std::move(all));
  if (l.b % 3 == 0) all.push_back("0");
  const std::uint64_t by = l.drawn_by(l.b);
  if (l.b % 2)
    for (std::size_t left = all.size(); left > 1; --left) std::swap(all[left - 1], all[draw(by, left, left)]);
  test::int64s out;
  for (const std::string& name : all) out.push_back(l.element(std::atoll(name.c_str())));
  return out;
}

const test::register_verb list_files_case("list_files",
                                          {.inputs = 0,
                                           .size = test::some_length,
                                           .files = numbered_files,
                                           .build =
                                               [](const test::verb_plan& p) {
                                                 return list_files(patterns_of(p), order_of(p)) |
                                                        map([from = p.opened_for](const std::string& path) {
                                                          return test::source_element(number_of_name(path), from);
                                                        });
                                               },
                                           .expected = listed_numbers});

}  // namespace

TEST_CASE(
    "a list that does not fit the budget is refused at the pattern where it does not, before the next is listed") {
  file_world w(1, 100'000);
  for (int i = 0; i != 2000; ++i) w.files->put("a/a-long-name-of-a-file-" + std::to_string(i), "x");
  outcome got = run(w.rt, list_files("a/*,nothing/*"));
  CAPTURE(got.message());
  CHECK(got.elements.empty());
  CHECK(got.why.code() == status_code::resource_exhausted);
  CHECK(w.rt.ledger().report().used_bytes == 0);
}

TEST_CASE("list_files sorts the matches of all patterns together, by bytes") {
  file_world w;
  put_files(w);
  CHECK(run(w.rt, list_files("a/*")).elements == names{"a/1", "a/2", "a/B"});
  CHECK(run(w.rt, list_files("b/*,a/*")).elements == names{"a/1", "a/2", "a/B", "b/1", "b/10", "b/9"});
}

TEST_CASE("list_files shuffles all of them, by the seed and the epoch alone") {
  file_world w;
  put_files(w);
  list_files_options seven{.shuffle = true, .seed = 7};
  names once = run(w.rt, list_files("*/*", seven)).elements;
  names all = {"a/1", "a/2", "a/B", "b/1", "b/10", "b/9", "c/1"};
  CHECK(once != all);
  CHECK(sorted(once) == all);
  CHECK(run(w.rt, list_files("*/*", seven)).elements == once);
  CHECK(run(w.rt, list_files("*/*", {.shuffle = true, .seed = 8})).elements != once);
  names twice = run(w.rt, list_files("*/*", seven) | repeat(2)).elements;
  REQUIRE(twice.size() == 14);
  CHECK(names(twice.begin(), twice.begin() + 7) == once);
  CHECK(names(twice.begin() + 7, twice.end()) != once);
  CHECK(sorted(names(twice.begin() + 7, twice.end())) == all);
}

TEST_CASE("list_files continues from every place, shuffled or not") {
  file_world w;
  put_files(w);
  for (bool shuffle : {false, true}) {
    auto ds = list_files("*/*", {.shuffle = shuffle, .seed = 7}) | repeat(2);
    outcome whole = run(w.rt, ds);
    REQUIRE(whole.elements.size() == 14);
    for (std::size_t i = 0; i != whole.places.size(); ++i) {
      CAPTURE(shuffle, i);
      iterate_options o;
      o.from = whole.places[i];
      CHECK(run(w.rt, ds, o).elements ==
            names(whole.elements.begin() + static_cast<std::ptrdiff_t>(i), whole.elements.end()));
    }
  }
}

TEST_CASE("list_files prints as text, and is read again") {
  test::round_trips(*list_files("a-*", {.shuffle = true, .seed = 7}).plan(),
                    "list_files(\"a-*\", shuffle=true, seed=7)");
}

}  // namespace sluice::lib::list_files_test
