// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/reflect.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice::lib::reflect_test {

namespace {

struct base {
  int a;
};
struct derived : base {
  double b;
};
struct move_only {
  std::unique_ptr<int> p;
  const int constant = 3;
};
struct not_default {
  explicit not_default(int) {}
};
struct holds_one {
  not_default inner;
  std::string name;
};
template <class T> struct generic {
  T first;
  std::vector<T> second;
};
struct arrays {
  int before;
  float values[4];
  char text[2][3];
  int after;
};
struct nested {
  arrays inner;
  std::map<int, std::string> table;
  std::optional<std::string> maybe;
};
struct empty {};
struct many {
  int a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24;
};

template <class T> std::string names() {
  std::string all;
  for (auto n : sluice::lib::member_names<T>) all += std::string(n) + " ";
  return all;
}

}  // namespace

TEST_CASE("members are counted and named, for every kind of member") {
  CHECK(names<move_only>() == "p constant ");
  CHECK(names<holds_one>() == "inner name ");
  CHECK(names<generic<int>>() == "first second ");
  CHECK(names<arrays>() == "before values text after ");
  CHECK(names<nested>() == "inner table maybe ");
  CHECK(names<empty>() == "");
  CHECK(member_count<many> == 24);
  struct local {
    int x;
    int y;
  };
  CHECK(names<local>() == "x y ");
}

TEST_CASE("members are reached by reference") {
  arrays a{1, {1, 2, 3, 4}, {}, 5};
  with_members(a, [](int& before, float(&values)[4], auto&, int& after) {
    before = 10;
    values[3] = 40;
    after = 50;
  });
  CHECK(a.before == 10);
  CHECK(a.values[3] == 40);
  CHECK(a.after == 50);
}

TEST_CASE("tuple-like and non-aggregate types are not reflected") {
  STATIC_REQUIRE(!reflectable<std::array<int, 3>>);
  STATIC_REQUIRE(!reflectable<std::pair<int, int>>);
  STATIC_REQUIRE(!reflectable<std::string>);
  STATIC_REQUIRE(!reflectable<int>);
  STATIC_REQUIRE(reflectable<nested>);
}

namespace {

struct needs_a_value {
  explicit needs_a_value(int x) : value(x) {}
  needs_a_value(needs_a_value&&) noexcept = default;
  int value;
};
struct has_one {
  std::string text;
  needs_a_value one;
  std::vector<needs_a_value> several;
};
struct has_arrays {
  float v[4];
  needs_a_value one;
  int w[2];
};

}  // namespace

TEST_CASE("members that cannot be default-constructed count as others do") {
  CHECK(member_count<has_one> == 3);
  CHECK(member_count<has_arrays> == 3);
  CHECK(member_names<has_one>[2] == "several");
}

}  // namespace sluice::lib::reflect_test
