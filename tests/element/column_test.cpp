// SPDX-License-Identifier: Apache-2.0
// sluice/element/column.hpp, sluice/element/column_ranges.hpp
#include "sluice/element/column.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/element/batched.hpp"
#include "sluice/element/slice.hpp"
#include "support/counting_element.hpp"

namespace sluice::lib::column_test {

namespace {

enum class colour : std::uint8_t { red, green };

struct point {
  float x = 0;
  std::optional<std::string> name;
};

/// A member of every kind that a column can hold.
struct row {
  std::int64_t number = 0;
  bool flag = false;
  colour tint = colour::red;
  std::string text;
  record raw;
  std::array<float, 3> fixed{};
  std::array<std::string, 2> texts;
  std::vector<std::int32_t> numbers;
  std::vector<std::string> tags;
  std::vector<std::vector<double>> table;
  std::optional<std::int64_t> maybe;
  std::optional<std::vector<std::string>> maybe_tags;
  point where;
  std::pair<std::string, std::int16_t> named;
  std::vector<point> path;
  batched<std::int64_t> inner;
  batched<point> points;
};

class source {
 public:
  explicit source(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::size_t below(std::size_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state_ >> 33) % n;
  }
  std::string text() { return std::string(below(40), static_cast<char>('a' + below(26))); }
  template <class T, class F> std::vector<T> list(F f) {
    std::vector<T> all;
    for (std::size_t n = below(4); n != 0; --n) all.push_back(f());
    return all;
  }
  point where() { return {static_cast<float>(below(100)), below(2) ? std::optional(text()) : std::nullopt}; }
  row next() {
    auto number = [this] { return static_cast<std::int32_t>(below(1000)); };
    auto real = [this] { return static_cast<double>(below(1000)) / 8; };
    auto words = [this] { return text(); };
    row r;
    r.number = number();
    r.flag = below(2) == 1;
    r.tint = below(2) ? colour::green : colour::red;
    r.text = text();
    r.raw = record(slice::copy_of(text()));
    for (float& v : r.fixed) v = static_cast<float>(real());
    for (auto& t : r.texts) t = text();
    r.numbers = list<std::int32_t>(number);
    r.tags = list<std::string>(words);
    r.table = list<std::vector<double>>([&] { return list<double>(real); });
    if (below(2)) r.maybe = number();
    if (below(2)) r.maybe_tags = list<std::string>(words);
    r.where = where();
    r.named = {text(), static_cast<std::int16_t>(number())};
    r.path = list<point>([this] { return where(); });
    for (std::size_t n = below(4); n != 0; --n) r.inner.push_back(number());
    for (std::size_t n = below(3); n != 0; --n) r.points.push_back(where());
    return r;
  }

 private:
  std::uint64_t state_;
};

template <class T> std::string json(const T& v) {
  std::string out;
  print(type_of<T>(), &v, out);
  return out;
}

/// Appends rows by blocks, as the operator does: measured first.
template <class T> void append_block(batched<T>& b, std::vector<T>& rows, std::size_t room) {
  column& c = b.storage().make_rows(type_of<T>());
  std::size_t before = c.memory_bytes();
  std::size_t growth = c.growth(rows.data(), rows.size(), sizeof(T), room);
  c.append(rows.data(), rows.size(), sizeof(T));
  CHECK(c.memory_bytes() <= before + growth);
  for (T& r : rows) ::new (static_cast<void*>(&r)) T();
  rows.clear();
}

template <class T> std::vector<T> unbatched(batched<T>& b, std::size_t at_once) {
  std::vector<T> rows;
  while (!b.empty()) {
    std::size_t n = std::min(at_once, static_cast<std::size_t>(b.size()));
    slab out(type_of<T>());
    b.storage().take_front(type_of<T>(), out.reserve(n), n);
    out.set_live(0, n);
    for (std::size_t i = 0; i != n; ++i) rows.push_back(std::move(out.view().template as<T>()[i]));
  }
  return rows;
}

TEST_CASE("rows may begin with empty ones") {
  batch_storage b;
  column& texts = b.make_rows(type_of<std::string>());
  texts.append_text("");
  texts.append_text("");
  texts.append_text("t");
  CHECK(texts.text(0).empty());
  CHECK(texts.text(1).empty());
  CHECK(texts.text(2) == "t");

  batch_storage c;
  column& lists = c.make_rows(type_of<std::vector<float>>());
  lists.child(0).append_values<float>(nullptr, 0);
  lists.append_list();
  CHECK(lists.is_whole());
  lists.child(0).append_value(1.0f);
  CHECK(!lists.is_whole());
  lists.append_list();
  CHECK(lists.is_whole());
  CHECK(lists.offsets()[1] == 0);
  CHECK(lists.offsets()[2] == 1);
}

TEST_CASE("texts of every length up to 300 are stored unchanged, for any free memory") {
  std::string all;
  for (int i = 0; i != 300; ++i) all += static_cast<char>('a' + i % 26);
  for (std::size_t room : {0, 1, 64}) {
    batch_storage b;
    column& texts = b.make_rows(type_of<std::string>());
    texts.reserve(room);
    for (std::size_t n = 0; n != 301; ++n) texts.append_text(std::string_view(all).substr(300 - n));
    for (std::size_t n = 0; n != 301; ++n) CHECK(texts.text(n) == std::string_view(all).substr(300 - n));
  }
}

}  // namespace

TEST_CASE("a batch of structures is Arrow's arrays in memory") {
  struct sample {
    std::string text;
    std::int64_t label = 0;
    std::vector<std::int32_t> tags;
    std::optional<double> weight;
  };
  batched<sample> b;
  b.push_back({"one", 1, {10}, 0.5});
  b.push_back({"", 2, {}, std::nullopt});
  b.push_back({"three", 3, {30, 31, 32}, 1.5});
  const column& rows = b.storage().rows_column();
  REQUIRE(rows.form() == column_form::members);
  CHECK(rows.rows() == 3);
  const column& text = rows.child(0);
  CHECK(std::vector<std::int32_t>(text.offsets(), text.offsets() + 4) == std::vector<std::int32_t>{0, 3, 3, 8});
  CHECK(std::string_view(text.bytes(), 8) == "onethree");
  CHECK(reinterpret_cast<const std::int64_t*>(rows.child(1).values())[2] == 3);
  const column& tags = rows.child(2);
  CHECK(std::vector<std::int32_t>(tags.offsets(), tags.offsets() + 4) == std::vector<std::int32_t>{0, 1, 1, 4});
  CHECK(reinterpret_cast<const std::int32_t*>(tags.child(0).values())[3] == 32);
  const column& weight = rows.child(3);
  CHECK(weight.validity()[0] == 0b101);
  CHECK(weight.absent() == 1);
  CHECK(reinterpret_cast<const double*>(weight.child(0).values())[2] == 1.5);
  for (const void* array : {static_cast<const void*>(text.offsets()), static_cast<const void*>(text.bytes()),
                            static_cast<const void*>(rows.child(1).values()), static_cast<const void*>(tags.offsets()),
                            static_cast<const void*>(weight.validity())})
    CHECK(reinterpret_cast<std::uintptr_t>(array) % 64 == 0);
  CHECK(text.main_buffer()->capacity() % 64 == 0);
}

TEST_CASE("rows of every kind go in and come out as they were, in blocks of any size") {
  for (std::uint64_t seed = 0; seed != 60; ++seed) {
    source random(seed);
    std::size_t count = 1 + random.below(70), at_once = 1 + random.below(20);
    bool hinted = random.below(2) == 1;
    CAPTURE(seed, count, at_once);
    batched<row> b;
    std::vector<std::string> before;
    while (before.size() < count) {
      std::vector<row> block(std::min(at_once, count - before.size()));
      for (row& r : block) {
        r = random.next();
        before.push_back(json(r));
      }
      append_block(b, block, hinted ? count : 0);
    }
    REQUIRE(static_cast<std::size_t>(b.size()) == count);
    auto rows = b.rows();
    for (std::size_t i = 0; i != count; ++i) REQUIRE(json(static_cast<const row&>(rows[i])) == before[i]);

    auto& t = type_of<batched<row>>();
    batched<row> copy;
    {
      slab room(t);
      t.copy(t, room.reserve(1), &b, 1, t.size, t.size);
      room.set_live(0, 1);
      CHECK(json(*room.view().as<batched<row>>()) == json(b));
      copy = std::move(*room.view().as<batched<row>>());
    }
    for (batched<row>* from : {&b, &copy}) {
      std::vector<row> after = unbatched(*from, at_once);
      REQUIRE(after.size() == count);
      for (std::size_t i = 0; i != count; ++i) REQUIRE(json(after[i]) == before[i]);
    }
  }
}

TEST_CASE("a batch is a range of its rows") {
  batched<row> b;
  source random(1);
  std::vector<std::string> before;
  for (int i = 0; i != 5; ++i) {
    row r = random.next();
    before.push_back(json(r));
    b.push_back(std::move(r));
  }
  std::vector<std::string> rows;
  for (const auto& r : std::as_const(b)) rows.push_back(json(static_cast<const row&>(r)));
  CHECK(rows == before);
  CHECK(b.end() - b.begin() == b.size());
  batched<std::int64_t> numbers;
  for (std::int64_t x : {3, 1, 2}) numbers.push_back(x);
  std::int64_t sum = 0;
  for (std::int64_t x : numbers) sum = sum * 10 + x;
  CHECK(sum == 312);
}

TEST_CASE("columns are random-access ranges of their types") {
  using texts = decltype(std::declval<batched<row>&>()[&row::text]);
  STATIC_REQUIRE(std::ranges::random_access_range<texts>);
  STATIC_REQUIRE(std::is_same_v<std::ranges::range_value_t<texts>, std::string_view>);
  using numbers = decltype(std::declval<batched<row>&>()[&row::numbers]);
  STATIC_REQUIRE(std::is_same_v<std::ranges::range_value_t<numbers>, std::span<const std::int32_t>>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<batched<row>&>()[&row::number]), std::span<std::int64_t>>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<const batched<row>&>()[&row::flag]), std::span<const bool>>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<batched<row>&>()[&row::fixed]), std::span<std::array<float, 3>>>);

  source random(7);
  batched<row> b;
  std::vector<row> all;
  for (int i = 0; i != 20; ++i) {
    b.push_back(source(static_cast<std::uint64_t>(i)).next());
    all.push_back(source(static_cast<std::uint64_t>(i)).next());
  }
  for (std::size_t i = 0; i != all.size(); ++i) {
    CHECK(b[&row::text][i] == all[i].text);
    CHECK(b[&row::raw][i] == all[i].raw.view());
    CHECK(b[&row::flag][i] == all[i].flag);
    CHECK(b[&row::tint][i] == all[i].tint);
    CHECK(b[&row::fixed][i] == all[i].fixed);
    CHECK(std::ranges::equal(b[&row::texts][i], all[i].texts));
    CHECK(std::ranges::equal(b[&row::numbers][i], all[i].numbers));
    CHECK(std::ranges::equal(b[&row::tags][i], all[i].tags));
    CHECK(b[&row::table][i].size() == all[i].table.size());
    CHECK(b[&row::maybe][i] == all[i].maybe);
    CHECK(b[&row::maybe_tags][i].has_value() == all[i].maybe_tags.has_value());
    CHECK(b[&row::where][&point::x][i] == all[i].where.x);
    CHECK(b[&row::where][&point::name][i] == all[i].where.name);
    CHECK(b[&row::where][i].name == all[i].where.name);
    CHECK(std::get<0>(b[&row::named].columns())[i] == all[i].named.first);
    CHECK(b[&row::path][i].size() == all[i].path.size());
    CHECK(std::ranges::equal(b[&row::inner][i], all[i].inner.values()));
    CHECK(std::ranges::equal(b[&row::points][i][&point::x], all[i].points[&point::x]));
  }
  auto of_text = b[&row::text];
  CHECK(of_text.end() - of_text.begin() == 20);
  CHECK(*(of_text.begin() + 3) == of_text[3]);
  b[&row::number][0] = 77;
  CHECK(b[&row::number][0] == 77);
  CHECK(batched<row>()[&row::text].empty());
}

TEST_CASE("texts that are slices share the batch's bytes when they are rows again") {
  batched<record> b;
  for (const char* text : {"one", "two", "three"}) b.push_back(record(slice::copy_of(text)));
  buffer* bytes = b.storage().rows_column().bytes_buffer();
  std::vector<record> rows = unbatched(b, 2);
  b = batched<record>();
  CHECK(rows[2].view() == "three");
  for (const record& r : rows) CHECK(r.owner() == bytes);
  CHECK(rows[0].data() + 3 == rows[1].data());
}

TEST_CASE("a decoder writes rows into columns, and removes one that failed") {
  struct sample {
    std::string text;
    std::array<float, 2> v{};
    std::vector<std::string> tags;
    std::optional<std::int64_t> n;
  };
  batched<sample> b;
  column& rows = b.storage().make_rows(type_of<sample>());
  rows.reserve(4);
  for (std::int64_t i = 0; i != 5; ++i) {
    rows.child(0).append_text(std::to_string(i));
    rows.child(1).child(0).append_value(static_cast<float>(i));
    rows.child(1).child(0).append_value(0.5f);
    rows.child(1).append_row();
    for (std::int64_t k = 0; k != i; ++k) rows.child(2).child(0).append_text("t");
    if (i == 3) {  // it fails half-way
      rows.truncate(3);
      continue;
    }
    rows.child(2).append_list();
    if (i % 2 == 0) rows.child(3).child(0).append_value(i);
    rows.child(3).append_valid(i % 2 == 0);
    rows.append_row();
  }
  CHECK(json(b) == R"({"text":["0","1","2","4"],"v":[[0.0,0.5],[1.0,0.5],[2.0,0.5],[4.0,0.5]],)"
                   R"("tags":[[],["t"],["t","t"],["t","t","t","t"]],"n":[0,null,2,4]})");
  rows.append_empty(2);
  rows.truncate(5);
  CHECK(rows.child(0).text(4).empty());
  CHECK(rows.child(3).absent() == 2);
  CHECK(b.size() == 5);
}

TEST_CASE("a batch counts the memory of its objects until they leave it") {
  struct holder {
    std::int64_t number;
    std::optional<tensor> object;
  };
  constexpr std::size_t kTensorBytes = 8'000;
  const element_type& t = type_of<holder>();
  batched<holder> b;
  for (std::int64_t i = 0; i != 10; ++i) b.push_back({i, tensor::zeros(dtype::int64, {1'000})});
  const std::size_t full = b.storage().memory_bytes();
  CHECK(full >= 10 * kTensorBytes);
  CHECK(full <= 11 * kTensorBytes);
  slab out(t);
  b.storage().take_front(t, out.reserve(3), 3);
  out.set_live(0, 3);
  CHECK(b.storage().memory_bytes() <= full - 3 * kTensorBytes);
  CHECK(b.storage().memory_bytes() >= 7 * kTensorBytes);
  b.storage().drop_front(2);
  CHECK(b.storage().memory_bytes() <= full - 5 * kTensorBytes);

  // Rows that move to another batch take what they own with them.
  batched<holder> to;
  column& from = b.storage().rows_column();
  to.storage().make_rows(t).append_from(from, from.gone_in_front(), 4);
  from.drop_front(4);
  CHECK(to.storage().memory_bytes() >= 4 * kTensorBytes);
  CHECK(b.storage().memory_bytes() >= kTensorBytes);
  CHECK(b.storage().memory_bytes() < 2 * kTensorBytes);
  b.storage().rows_column().truncate(b.storage().rows_column().gone_in_front());
  CHECK(b.storage().memory_bytes() < kTensorBytes);

  batched<batched<holder>> outer;
  outer.push_back(std::move(to));
  CHECK(outer.storage().memory_bytes() >= 4 * kTensorBytes);
  auto inner = unbatched(outer, 1);
  CHECK(inner[0].storage().memory_bytes() >= 4 * kTensorBytes);
  CHECK(outer.storage().memory_bytes() < kTensorBytes);
}

TEST_CASE("objects that only move are of a batch, alone and in structures and batches") {
  using counting = test::counting_element;
  struct holder {
    std::string text;
    counting object;
    std::vector<counting> several;
  };
  test::lifetimes watched;
  {
    batched<holder> b;
    for (int i = 0; i != 10; ++i) {
      holder h{"a text that is longer than a string keeps inside " + std::to_string(i), counting(i), {}};
      h.several.emplace_back(i + 100);
      b.push_back(std::move(h));
    }
    CHECK(b[&holder::object][4].number() == 4);
    CHECK(b[&holder::several][4][0].number() == 104);
    CHECK(type_of<batched<holder>>().copy == nullptr);
    slab out(type_of<holder>());
    b.storage().take_front(type_of<holder>(), out.reserve(3), 3);
    out.set_live(0, 3);
    CHECK(out.view().as<holder>()[2].several[0].number() == 102);
    b.storage().drop_front(2);
    b.push_back({"", counting(50), {}});
    CHECK(b[&holder::object][0].number() == 5);
    CHECK(b.size() == 6);
    batched<batched<holder>> outer;
    outer.push_back(std::move(b));
    outer.push_back({});
    auto inner = unbatched(outer, 1);
    CHECK(inner[0][&holder::object][5].number() == 50);
  }
  CHECK(watched.complaint() == "");
}

TEST_CASE("rows of one size use free memory after rows that were removed in both columns") {
  struct fixed_row {
    std::int64_t number = 0;
    std::array<std::array<std::int32_t, 2>, 2> fixed{};
    std::optional<double> maybe;
  };
  const auto row_of = [](std::int64_t i) {
    const auto n = static_cast<std::int32_t>(i);
    fixed_row r{i, {{{n, n + 1}, {n + 2, n + 3}}}, {}};
    if (i % 3 != 0) r.maybe = 0.5 * static_cast<double>(i);
    return r;
  };
  batched<fixed_row> from, to;
  for (std::int64_t i = 0; i != 20; ++i) from.push_back(row_of(i));
  column &in = from.storage().rows_column(), &out = to.storage().make_rows(type_of<fixed_row>());
  out.reserve(30);
  const std::size_t bytes = out.memory_bytes();
  const char* const numbers = out.child(0).values();
  auto append = [&](std::size_t first, std::size_t n) { out.append_from(in, first, n); };
  append(0, 4);
  to.storage().drop_front(2);
  append(4, 9);
  append(13, 0);
  append(13, 7);
  CHECK(out.memory_bytes() == bytes);  // in the room there was
  CHECK(out.child(0).values() == numbers);
  CHECK(out.is_whole());
  append(5, 15);  // for which there is none
  CHECK(out.is_whole());
  CHECK(out.memory_bytes() > bytes);
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 2; i != 20; ++i) expected.push_back(i);
  for (std::int64_t i = 5; i != 20; ++i) expected.push_back(i);
  REQUIRE(to.size() == static_cast<std::int64_t>(expected.size()));
  std::size_t k = 0;
  for (const fixed_row& r : to.rows()) {
    const fixed_row wanted = row_of(expected[k++]);
    CHECK(r.number == wanted.number);
    CHECK(r.fixed == wanted.fixed);
    CHECK(r.maybe == wanted.maybe);
  }
}

TEST_CASE("a column of more bytes than 32-bit offsets allow is refused before a row is moved") {
  batched<record> b;
  std::vector<record> large;
  for (int i = 0; i != 3; ++i) large.emplace_back(nullptr, "", std::size_t{1} << 30);
  column& c = b.storage().make_rows(type_of<record>());
  CHECK_THROWS_WITH(c.growth(large.data(), 3, sizeof(record), 0), Catch::Contains("2^31 - 1"));
  CHECK(c.rows() == 0);
}

}  // namespace sluice::lib::column_test
