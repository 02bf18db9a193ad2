// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/batched.hpp"

#include <catch2/catch.hpp>

#include "sluice/element/slice.hpp"

namespace sluice::lib::batch_test {

namespace {

struct sample {
  std::string text;
  std::int64_t label = 0;
  std::array<float, 2> v = {};
};
std::string text_of(int i) { return "the text of row number " + std::to_string(i); }
sample row(int i) { return {text_of(i), i, {static_cast<float>(i), 0.5f}}; }

void fill(slab& s, int n) {
  auto* to = reinterpret_cast<sample*>(s.reserve(static_cast<std::size_t>(n)));
  for (int i = 0; i != n; ++i) ::new (static_cast<void*>(to + i)) sample(row(i));
  s.set_live(0, static_cast<std::size_t>(n));
}

template <class T> std::string json(const T& v) {
  std::string out;
  print(type_of<T>(), &v, out);
  return out;
}

}  // namespace

TEST_CASE("a batch of structures has a column for each member") {
  slab s(type_of<sample>());
  fill(s, 10);
  batched<sample> b;
  block view = s.view();
  b.storage().append(view, 4);
  b.storage().append(view, 6);
  CHECK(s.size() == 0);
  REQUIRE(b.size() == 10);
  for (int i = 0; i != 10; ++i) {
    CHECK(b[&sample::text][static_cast<std::size_t>(i)] == text_of(i));
    CHECK(b[&sample::label][static_cast<std::size_t>(i)] == i);
  }
  auto [text, label, v] = b.columns();
  CHECK(text.size() == 10);
  CHECK(label.data() + 10 == label.data() + label.size());
  CHECK(v[3][0] == 3.0f);
  CHECK(reinterpret_cast<std::uintptr_t>(v.data()) % 64 == 0);
}

TEST_CASE("unbatching gives the rows back, all or some") {
  batched<sample> b;
  for (int i = 0; i != 7; ++i) b.push_back(row(i));
  slab out(type_of<sample>());
  b.storage().take_front(type_of<sample>(), out.reserve(3), 3);
  out.set_live(0, 3);
  CHECK(out.view().as<sample>()[2].text == text_of(2));
  CHECK(b.size() == 4);
  CHECK(b[&sample::text][0] == text_of(3));
  b.storage().drop_front(1);
  CHECK(b[&sample::label][0] == 4);
}

TEST_CASE("rows that are not structures are one column") {
  batched<std::int64_t> numbers;
  for (int i = 0; i != 5; ++i) numbers.push_back(i);
  CHECK(numbers.values()[4] == 4);
  batched<record> records;
  records.push_back(record(slice::copy_of("abc")));
  CHECK(records.values()[0] == "abc");
  CHECK(json(records) == "[\"abc\"]");
}

TEST_CASE("batches of batches and of pairs are columns too") {
  batched<batched<int>> outer;
  for (int i = 0; i != 3; ++i) {
    batched<int> inner;
    for (int k = 0; k <= i; ++k) inner.push_back(k);
    outer.push_back(std::move(inner));
  }
  CHECK(json(outer) == "[[0],[0,1],[0,1,2]]");
  batched<std::pair<std::string, int>> pairs;
  pairs.push_back({"a", 1});
  pairs.push_back({"b", 2});
  auto [first, second] = pairs.columns();
  CHECK(first[1] == "b");
  CHECK(second[0] == 1);
  CHECK(json(pairs) == "[[\"a\",\"b\"],[1,2]]");
}

TEST_CASE("batches print as objects of columns, also empty") {
  batched<sample> b;
  CHECK(json(b) == R"({"text":[],"label":[],"v":[]})");
  b.push_back({"x", 1, {1, 2}});
  b.push_back({"y", 2, {3, 4}});
  CHECK(json(b) == R"({"text":["x","y"],"label":[1,2],"v":[[1.0,2.0],[3.0,4.0]]})");
}

TEST_CASE("a batch is copied deeply and counts its bytes") {
  auto& t = type_of<batched<sample>>();
  batched<sample> b;
  for (int i = 0; i != 100; ++i) b.push_back(row(i));
  CHECK(t.footprint(t, &b, 1) >= 100 * (sizeof(sample) + text_of(0).size()));
  REQUIRE(t.copy);
  slab room(t);
  t.copy(t, room.reserve(1), &b, 1, t.size, t.size);
  room.set_live(0, 1);
  b = batched<sample>();
  CHECK((*room.view().as<batched<sample>>())[&sample::text][99] == text_of(99));
}

TEST_CASE("a batch made by the engine of a type no C++ code names prints alike") {
  auto* made = struct_of("made", {{"text", 0, &type_of<std::string>()}, {"label", 0, &type_of<std::int64_t>()}});
  struct same {
    std::string text;
    std::int64_t label;
  };
  same rows[2] = {{"first", 1}, {"a second row with a text of some length", 2}};
  batch_storage b;
  alignas(same) char room[sizeof rows];
  type_of<same>().relocate(type_of<same>(), room, rows, 2, sizeof(same), sizeof(same));
  for (auto& r : rows) ::new (static_cast<void*>(&r)) same();
  b.append(*made, room, 2);
  std::string out;
  print(*batched_of(made), &b, out);
  CHECK(out == R"({"text":["first","a second row with a text of some length"],"label":[1,2]})");
}

}  // namespace sluice::lib::batch_test
