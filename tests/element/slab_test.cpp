// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <memory>
#include <random>
#include <string>

#include "sluice/element/slab.hpp"

namespace sluice::lib::slab_test {

namespace {

/// Counts its living objects: what a block forgets or destroys twice shows.
struct counted {
  static inline int living = 0;
  std::string text;
  explicit counted(int v) : text("value number " + std::to_string(v)) { ++living; }
  counted(counted&& o) noexcept : text(std::move(o.text)) { ++living; }
  counted& operator=(counted&&) = default;
  ~counted() { --living; }
};

void fill(slab& s, int first, int n) {
  auto* to = reinterpret_cast<counted*>(s.reserve(static_cast<std::size_t>(n)));
  for (int i = 0; i != n; ++i) ::new (static_cast<void*>(to + i)) counted(first + i);
  s.set_live(0, static_cast<std::size_t>(n));
}

std::string text_of(int v) { return "value number " + std::to_string(v); }

}  // namespace

TEST_CASE("a slab destroys exactly its live elements") {
  {
    slab s(type_of<counted>());
    fill(s, 0, 10);
    CHECK(counted::living == 10);
    fill(s, 10, 4);
    CHECK(counted::living == 4);
    auto b = s.view();
    b.drop_front(1);
    CHECK(counted::living == 3);
    CHECK(b.as<counted>()[0].text == text_of(11));
    slab other(std::move(s));
    CHECK(other.size() == 3);
    CHECK(s.size() == 0);
  }
  CHECK(counted::living == 0);
}

TEST_CASE("a slab keeps its room from block to block") {
  slab s(type_of<std::int64_t>());
  char* first = s.reserve(100);
  s.set_live(0, 100);
  CHECK(s.reserve(50) == first);
  CHECK(s.reserve(100) == first);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
}

TEST_CASE("extend keeps the live elements and makes room after them") {
  {
    slab s(type_of<counted>());
    for (int i = 0; i != 100; ++i) {
      ::new (static_cast<void*>(s.extend(1))) counted(i);
      s.add_live(1);
    }
    s.view().drop_front(50);
    ::new (static_cast<void*>(s.extend(200))) counted(100);
    s.add_live(1);
    auto* all = s.view().as<counted>();
    REQUIRE(s.size() == 51);
    for (int i = 0; i != 51; ++i) CHECK(all[i].text == text_of(50 + i));
  }
  CHECK(counted::living == 0);
}

TEST_CASE("a slab that is filled at the back and emptied at the front stays within twice its contents") {
  slab s(type_of<std::string>());
  std::size_t next = 0, first = 0;
  for (int round = 0; round != 10'000; ++round) {
    std::size_t n = 1 + static_cast<std::size_t>(round) % 7;
    bool grows = s.must_grow(n);
    std::size_t room = s.capacity();
    auto* to = reinterpret_cast<std::string*>(s.extend(n));
    CHECK((grows || s.capacity() == room));
    for (std::size_t i = 0; i != n; ++i) ::new (static_cast<void*>(to + i)) std::string(std::to_string(next++));
    s.add_live(n);
    while (s.size() > 100) {
      REQUIRE(*reinterpret_cast<std::string*>(s.begin()) == std::to_string(first++));
      s.view().drop_front(1);
    }
  }
  CHECK(s.capacity() < 500);
}

TEST_CASE("more elements than there is memory for are refused before anything is written") {
  slab s(type_of<std::int64_t>());
  s.extend(3);
  s.add_live(3);
  for (std::size_t n : {~std::size_t{0}, ~std::size_t{0} / 8, std::size_t{1} << 61, std::size_t{1} << 60}) {
    CHECK_THROWS_AS(s.extend(n), std::bad_alloc);
    CHECK_THROWS_AS(slab(type_of<std::int64_t>()).reserve(n), std::bad_alloc);
  }
  CHECK(s.size() == 3);
}

TEST_CASE("truncating a view leaves the elements after it alone") {
  {
    slab s(type_of<counted>());
    fill(s, 0, 10);
    auto b = s.view().first(6);
    b.truncate(2);
    CHECK(counted::living == 6);
    REQUIRE(b.size() == 2);
    CHECK(b.as<counted>()[0].text == text_of(0));
    CHECK(b.as<counted>()[1].text == text_of(1));
    auto rest = s.view();
    REQUIRE(rest.size() == 6);
    CHECK(rest.as<counted>()[2].text == text_of(6));
  }
  CHECK(counted::living == 0);
}

TEST_CASE("random moves, drops and truncations lose and double nothing") {
  auto seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  {
    slab s(type_of<counted>()), out(type_of<counted>());
    for (int round = 0; round != 300; ++round) {
      fill(s, 0, 1 + static_cast<int>(random() % 20));
      auto b = s.view().first(static_cast<std::uint32_t>(1 + random() % s.size()));
      int next = 0;
      while (b) {
        REQUIRE(b.as<counted>()->text == text_of(next));
        auto n = static_cast<std::uint32_t>(1 + random() % b.size());
        next += static_cast<int>(n);
        if (random() % 2) {
          b.drop_front(n);
        } else {
          b.move_front(out.extend(n), n);
          out.add_live(n);
        }
        REQUIRE(counted::living == static_cast<int>(s.size() + out.size()));
      }
    }
  }
  CHECK(counted::living == 0);
}

}  // namespace sluice::lib::slab_test
