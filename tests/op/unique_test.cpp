// SPDX-License-Identifier: Apache-2.0
// sluice/op/unique.hpp
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/plan_texts.hpp"
#include "verbs/unique_model.hpp"

namespace sluice::lib::unique_test {
namespace {

using namespace test;
using namespace unique_case;
using int64 = std::int64_t;

}  // namespace

TEST_CASE("unique conforms for numbers, texts, records, structs of tensors") {
  auto repeated = [](const int64s& in) {
    int64s out = in;
    for (int64& x : out) x /= 3;
    return first_of_each(out);
  };
  auto third = [](int64 x) { return x / 3; };
  conformance c{.stage = [third](const auto& in) { return in | map(third) | unique(); }, .expected = repeated};
  conforms(c);
  conforms_as<as_text>([](const auto& in) { return in | unique(); }, {.expected = first_of_each});
  conforms_as<as_tensor>([](const auto& in) { return in | unique(); }, {.expected = first_of_each});
}

TEST_CASE("unique without files reports when its hashes exceed the memory budget, and their number") {
  runtime rt({.workers = 1, .memory_budget_bytes = 1 << 20});
  consumed c = consume_on(rt, range(1'000'000) | unique({.spill = "off"}), {});
  CHECK(c.why.code() == status_code::resource_exhausted);
  CHECK_THAT(c.why.to_string(), Catch::Contains("unique: with") && Catch::Contains("the hashes of its") &&
                                    Catch::Contains("different elements"));
  CHECK(c.elements.size() > 10'000);
  CHECK(consume_on(rt, range(1'000'000) | map([](int64 x) { return x % 1000; }) | unique(), {}).elements.size() ==
        1000);
}

// Numbers that often come again, soon and much later.
dataset<int64> repeating(int64 n) {
  return range(n) | map([](int64 i) { return static_cast<int64>(draw(7, static_cast<std::uint64_t>(i), 400'000)); });
}

TEST_CASE("where the budget does not hold the hashes, they go to files, and the elements are the same") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("sluice-unique-test-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  const auto n = static_cast<int64>(cases(1'000'000));
  const int64s all = consume(repeating(n), {}).elements, expected = first_of_each(all);
  for (unsigned workers : {1u, 2u}) {
    runtime rt({.workers = workers, .memory_budget_bytes = 1 << 20});
    consumed c = consume_on(rt, repeating(n) | unique({.spill = folder.string()}), {.ask_max = 500});
    CHECK(c.complaint() == "");
    CHECK((c.elements == expected));
    auto texts = repeating(n) | map([](int64 x) { return std::to_string(x); }) | unique({.spill = folder.string()}) |
                 map([](const std::string& s) { return int64{std::atoll(s.c_str())}; });
    CHECK((consume_on(rt, texts, {}).elements == expected));
  }
  CHECK(fs::is_empty(folder));
  fs::remove(folder);
}

TEST_CASE("unique continues from any element while its hashes are in files, also in a simulation") {
  auto ds = repeating(200'000) | unique();
  const int64s expected = consume(ds, {}).elements;
  for (std::size_t taken : {std::size_t{1}, std::size_t{30'000}, expected.size() - 1}) {
    simulation world(taken);
    runtime rt(world, {.workers = 2, .memory_budget_bytes = 1 << 19});
    consumption how;
    how.elements_max = taken;
    how.ask_max = 1000;
    how.save = true;
    consumed first = consume_on(rt, ds, how);
    CHECK(first.elements.size() >= taken);
    CHECK((first.elements == first_of(expected, first.elements.size())));
    consumption rest;
    std::size_t at = first.places.size();
    while (at-- && first.places[at].empty()) {}
    rest.from = first.places.at(at);
    consumed second = consume_on(rt, ds, rest);
    CHECK(second.complaint() == "");
    CHECK((second.elements == without_first(expected, at)));
  }
}

TEST_CASE("a folder that accepts no files is named in the error, after the elements that fit into memory") {
  runtime rt({.workers = 1, .memory_budget_bytes = 1 << 20});
  consumed c = consume_on(rt, range(1'000'000) | unique({.spill = "/no/such/folder"}), {});
  CHECK(c.why.code() == status_code::resource_exhausted);
  CHECK_THAT(c.why.to_string(), Catch::Contains("unique") && Catch::Contains("/no/such/folder") &&
                                    Catch::Contains("cannot be made") && Catch::Contains("No such file"));
  CHECK(c.elements.size() > 10'000);
}

TEST_CASE("a full disk is an error, and the files are gone") {
  // No file may be larger: what ENOSPC does, done by a limit of the process, whose signal is ignored.
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  auto* handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small{64 << 10, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  consumed c;
  {
    runtime rt({.workers = 1, .memory_budget_bytes = 1 << 20});
    c = consume_on(rt, range(1'000'000) | unique(), {});
  }
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  CHECK(c.why.code() == status_code::resource_exhausted);
  CHECK_THAT(c.why.to_string(), Catch::Contains("cannot be written"));
}

TEST_CASE("a stop while hashes are written or looked up ends the run, and gives everything back") {
  for (std::size_t after : {std::size_t{10'000}, std::size_t{50'000}, std::size_t{120'000}}) {
    runtime rt({.workers = 2, .memory_budget_bytes = 1 << 20});
    consumption how;
    how.ask_max = 700;
    how.stop_after = after;
    consumed c = consume_on(rt, repeating(1'000'000) | unique(), how);
    CHECK(c.mistake.empty());
    CHECK(c.why.code() == status_code::cancelled);
  }
}

TEST_CASE("unique prints as text, and is read again; elements that cannot be compared are refused") {
  round_trips(*(range(10) | unique()).plan(), "range(10) | unique");
  auto elsewhere = range(10) | unique({.spill = "/var/tmp"});
  round_trips(*elsewhere.plan(), "range(10) | unique(spill=\"/var/tmp\")");
  CHECK(fingerprint(*elsewhere.plan()) == fingerprint(*(range(10) | unique()).plan()));
  CHECK_THROWS_WITH(range(3) | map([](int64) { return std::unique_ptr<int>(); }) | unique(),
                    Catch::Contains("cannot be compared"));
}

}  // namespace sluice::lib::unique_test
