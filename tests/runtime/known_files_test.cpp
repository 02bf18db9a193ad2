// SPDX-License-Identifier: Apache-2.0
#include "runtime/known_files.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

namespace sluice::lib::known_files_test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

file_info sized(std::uint64_t bytes) {
  file_info info;
  info.size_bytes = bytes;
  return info;
}

}  // namespace

TEST_CASE("the facts of a listed file are used once, and come from the last listing") {
  auto ledger = std::make_shared<memory_ledger>(64 * kMiB);
  known_files known(ledger);
  CHECK_FALSE(known.take("a"));
  known.add("a", sized(1));
  known.add("b", sized(2));
  file_info tagged = sized(3);
  tagged.version = std::string(100, 'v');
  const std::size_t before = ledger->used_bytes();
  known.add("a", tagged);
  CHECK(ledger->used_bytes() >= before + 100);
  CHECK(known.take("a") == tagged);
  CHECK_FALSE(known.take("a"));
  CHECK(known.take("b") == sized(2));
  CHECK(ledger->used_bytes() == 0);
}

TEST_CASE("the facts of listed files are charged, and bounded in number and by half of the budget") {
  auto ledger = std::make_shared<memory_ledger>(64 * kMiB);
  {
    known_files known(ledger);
    for (std::size_t i = 0; i != known_files::kKept + 1000; ++i) known.add(std::to_string(i), sized(i));
    CHECK(ledger->used_bytes() >= known_files::kKept * sizeof(file_info));
    CHECK(known.take("0") == sized(0));
    CHECK(known.take(std::to_string(known_files::kKept - 1)));
    CHECK_FALSE(known.take(std::to_string(known_files::kKept)));
    known.add("new", sized(7));  // in the place of one that was taken
    CHECK(known.take("new") == sized(7));
    known.add("1", sized(9));  // whatever room there is
    CHECK(known.take("1") == sized(9));
  }
  CHECK(ledger->used_bytes() == 0);

  ledger->charge(33 * kMiB, purpose::channel);
  known_files known(ledger);
  known.add("a", sized(1));
  CHECK_FALSE(known.take("a"));
  ledger->release(2 * kMiB, purpose::channel);
  known.add("a", sized(1));
  CHECK(known.take("a"));
  ledger->release(31 * kMiB, purpose::channel);
}

TEST_CASE("the paths after the last delivered one are known, and more of them after each wait") {
  known_files known(std::make_shared<memory_ledger>(64 * kMiB));
  auto names = std::make_shared<std::vector<std::string>>();
  for (int i = 0; i != 100; ++i) names->push_back("f" + std::to_string(i));
  CHECK(known.coming_behind("f0", true).empty());
  known.given_up_to(names, 1);
  CHECK(known.coming_behind("f0", false).empty());
  CHECK(known.coming_behind("f5", true).empty());
  CHECK(known.coming_behind("f0", true) == std::vector<std::string>{"f1", "f2"});
  known.given_up_to(names, 2);
  CHECK(known.coming_behind("f0", true).empty());
  CHECK(known.coming_behind("f1", true).size() == 4);
  CHECK(known.coming_behind("f1", true).size() == 8);
  CHECK(known.coming_behind("f1", true).size() == known_files::kEarlyMax);
  CHECK(known.coming_behind("f1", true).size() == known_files::kEarlyMax);
  for (int i = 0; i != 100; ++i) (void)known.coming_behind("f1", false);
  CHECK(known.coming_behind("f1", false).empty());
  known.given_up_to(names, 100);
  CHECK(known.coming_behind("f99", true).empty());
  known.given_up_to(names, 50);
  names.reset();
  CHECK(known.coming_behind("f49", true).empty());
}

TEST_CASE("a file opened early is used once, at most sixteen are open, and none twice") {
  known_files known(std::make_shared<memory_ledger>(64 * kMiB));
  auto names = std::make_shared<std::vector<std::string>>();
  for (int i = 0; i != 100; ++i) names->push_back("f" + std::to_string(i));
  known.given_up_to(names, 1);
  for (int i = 0; i != 5; ++i) (void)known.coming_behind("f0", true);
  auto some = std::make_shared<early_file>();
  CHECK(known.put_early("f1", some));
  CHECK_FALSE(known.put_early("f1", some));
  CHECK(known.coming_behind("f0", false).front() == "f2");
  for (int i = 2; i != 17; ++i) CHECK(known.put_early("f" + std::to_string(i), some));
  CHECK_FALSE(known.put_early("f17", some));
  CHECK(known.coming_behind("f0", false).empty());
  CHECK(known.take_early("f3") == some);
  CHECK_FALSE(known.take_early("f3"));
  CHECK(known.put_early("f17", some));
}

}  // namespace sluice::lib::known_files_test
