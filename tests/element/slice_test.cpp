// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/slice.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "sluice/element/slab.hpp"

namespace sluice::lib::slice_test {

namespace {

/// n records of one buffer in a slab; the buffer keeps one more reference for the test.
buffer_ref fill(slab& s, std::uint32_t n) {
  buffer_ref b(buffer::make(1 << 16));
  std::memset(b->data(), 'x', 1 << 16);
  std::vector<span_of_bytes> where;
  for (std::uint32_t i = 0; i != n; ++i) where.push_back({i * 10, i % 10});
  cut(b.get(), where.data(), n, reinterpret_cast<record*>(s.reserve(n)));
  s.set_live(0, n);
  return b;
}

}  // namespace

TEST_CASE("slices keep their buffer until the last of them is gone") {
  slice kept;
  {
    slice whole = slice::copy_of("hello world");
    kept = whole.part(6, 5);
    slice copy = kept, moved = std::move(copy);
    CHECK(copy.empty());
    CHECK(moved.view() == "world");
    CHECK_FALSE(kept.owner()->unshared());
  }
  CHECK(kept.owner()->unshared());
  CHECK(kept.view() == "world");
}

TEST_CASE("records are cut and destroyed in bulk") {
  slab s(type_of<record>());
  auto b = fill(s, 256);
  CHECK(s.view().as<record>()[13].view() == "xxx");
  s.view().drop_front(100);
  CHECK_FALSE(b->unshared());
  s.clear();
  CHECK(b->unshared());
}

TEST_CASE("runs of different owners are each let go once") {
  auto a = buffer_ref(buffer::make(8)), b = buffer_ref(buffer::make(8));
  slab s(type_of<line>());
  auto* to = reinterpret_cast<line*>(s.reserve(6));
  buffer* owners[] = {a.get(), a.get(), b.get(), nullptr, a.get(), b.get()};
  for (int i = 0; i != 6; ++i) {
    if (owners[i]) owners[i]->add_references(1);
    ::new (static_cast<void*>(to + i)) line(owners[i], "abc", 3);
  }
  s.set_live(0, 6);
  CHECK_FALSE(a->unshared());
  s.clear();
  CHECK(a->unshared());
  CHECK(b->unshared());
}

TEST_CASE("owners that alternate, more of them than are collected, are each let go") {
  constexpr std::size_t kOwners = 200, kSlices = 1000;
  std::vector<buffer_ref> owners;
  for (std::size_t i = 0; i != kOwners; ++i) owners.emplace_back(buffer::make(8));
  slab s(type_of<line>());
  auto* to = reinterpret_cast<line*>(s.reserve(kSlices));
  for (std::size_t i = 0; i != kSlices; ++i) {
    const std::size_t k = (i + 1) / 2;
    buffer* owner = owners[k % 3 ? k % 5 : k * 7 % kOwners].get();
    owner->add_references(1);
    ::new (static_cast<void*>(to + i)) line(owner, "abc", 3);
  }
  s.set_live(0, kSlices);
  CHECK_FALSE(owners[0]->unshared());
  s.clear();
  for (const buffer_ref& b : owners) CHECK(b->unshared());
}

TEST_CASE("compacted slices let a large buffer go and keep their bytes") {
  slab s(type_of<record>());
  auto b = fill(s, 100);
  auto& t = type_of<record>();
  auto before = t.footprint(t, s.begin(), 100);
  t.compact(t, s.begin(), 100);
  CHECK(b->unshared());
  CHECK(s.view().as<record>()[99].view() == "xxxxxxxxx");
  CHECK(t.footprint(t, s.begin(), 100) == before);
  auto* owner = s.view().as<record>()[99].owner();
  t.compact(t, s.begin(), 100);
  CHECK(s.view().as<record>()[99].owner() == owner);  // compact already
}

TEST_CASE("a record is a text to the engine") {
  auto& t = type_of<record>();
  CHECK(t.kind == kind::text);
  CHECK(t.relocatable);
  record r(slice::copy_of("abc"));
  CHECK(t.text(&r) == "abc");
}

}  // namespace sluice::lib::slice_test
