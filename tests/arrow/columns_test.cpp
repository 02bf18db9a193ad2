// SPDX-License-Identifier: Apache-2.0
// sluice/arrow/columns.hpp
#include "sluice/arrow/columns.hpp"

#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "arrow/random_columns.hpp"

namespace sluice::lib::columns_test {
namespace {

using namespace test;
using Catch::Contains;

/// What an export gives, released at the end of the block.
struct exported {
  ArrowSchema schema{};
  ArrowArray array{};

  exported() = default;
  exported(const exported&) = delete;
  exported& operator=(const exported&) = delete;
  ~exported() {
    if (schema.release) schema.release(&schema);
    if (array.release) array.release(&array);
  }
  status rows(const batch_storage& b, const element_type& row, const arrow_options& o = {}) {
    status s = export_schema(row, &schema, o);
    return s.ok() ? export_rows(b, row, &array, o) : s;
  }
};

template <class T> std::string json(const batched<T>& b) { return json_of(b.storage(), type_of<T>()); }

/// The message of a status that has to be an error.
std::string words(const status& s) {
  CHECK_FALSE(s.ok());
  return std::string(s.message());
}

struct post {
  std::string text;
  std::int64_t label = 0;
  std::vector<std::int32_t> tags;
  std::optional<double> weight;
  bool flag = false;
};

batched<post> three_posts() {
  batched<post> b;
  b.push_back({"one", 1, {10}, 0.5, true});
  b.push_back({"", 2, {}, std::nullopt, false});
  b.push_back({"three", 3, {30, 31, 32}, 1.5, true});
  return b;
}

}  // namespace

TEST_CASE("10,000 random types and batches are the same after export and import") {
  std::size_t rows = 0, gone = 0, columns = 0;
  for (std::uint64_t seed = 0; seed != 10'000; ++seed) {
    random_columns random(seed);
    const element_type& type = random.row_type();
    batch_storage b = random.batch(type);
    const std::string before = json_of(b, type);
    INFO("seed " << seed << ", rows of " << type.name);
    exported out;
    REQUIRE(out.rows(b, type).to_string() == "ok");
    REQUIRE(out.array.length == b.rows());
    REQUIRE(out.array.offset == 0);
    rows += static_cast<std::size_t>(b.rows());
    gone += b.has_column() ? b.rows_column().gone_in_front() : 0;
    columns += static_cast<std::size_t>(out.array.n_children);
    b = batch_storage();  // the arrays keep what they need
    batch_storage back;
    REQUIRE(append_arrow_rows(back, type, out.schema, out.array).to_string() == "ok");
    REQUIRE(json_of(back, type) == before);
    // Once more behind rows that there are: a part, as a column.
    column& all = back.rows_column();
    std::size_t n = all.rows(), first = n ? random.below(n) : 0, some = n ? random.below(n - first + 1) : 0;
    exported part;
    REQUIRE(export_type(type, "part", &part.schema).ok());
    REQUIRE(export_column(all, first, some, &part.array).ok());
    batch_storage twice, copies;
    twice.make_rows(type).append_copies(all, 0, n);
    twice.rows_column().append_copies(all, first, some);
    copies.make_rows(type).append_copies(all, 0, n);
    REQUIRE(append_arrow(copies.rows_column(), part.schema, part.array, 0, some).to_string() == "ok");
    REQUIRE(json_of(copies, type) == json_of(twice, type));
  }
  CHECK(rows > 50'000);
  CHECK(gone > 10'000);
  CHECK(columns > 20'000);
}

TEST_CASE("an export shares the buffers of the batch") {
  batched<post> b = three_posts();
  exported out;
  REQUIRE(out.rows(b.storage(), type_of<post>()).ok());
  const column& rows = b.storage().rows_column();
  CHECK(out.array.children[0]->buffers[1] == rows.child(0).offsets());
  CHECK(out.array.children[0]->buffers[2] == rows.child(0).bytes());
  CHECK(out.array.children[1]->buffers[1] == rows.child(1).values());
  CHECK(out.array.children[2]->children[0]->buffers[1] == rows.child(2).child(0).values());
  CHECK(out.array.children[3]->buffers[0] == rows.child(3).validity());
  CHECK(out.array.children[3]->buffers[1] == rows.child(3).child(0).values());
  CHECK(out.array.children[3]->null_count == 1);
  CHECK(*static_cast<const std::uint8_t*>(out.array.children[4]->buffers[1]) == 5);  // bools are packed
  CHECK_FALSE(rows.child(1).main_buffer()->unshared());
  out.array.release(&out.array);
  CHECK(out.array.release == nullptr);
  CHECK(rows.child(1).main_buffer()->unshared());
}

TEST_CASE("a schema contains names, formats and nullability") {
  exported out;
  REQUIRE(export_schema(type_of<post>(), &out.schema).ok());
  auto& s = out.schema;
  CHECK(std::string(s.format) == "+s");
  REQUIRE(s.n_children == 5);
  auto format = [&](int k) { return std::string(s.children[k]->name) + ":" + s.children[k]->format; };
  CHECK(format(0) == "text:u");
  CHECK(format(1) == "label:l");
  CHECK(format(2) == "tags:+l");
  CHECK(format(3) == "weight:g");
  CHECK(format(4) == "flag:b");
  CHECK(s.children[3]->flags == ARROW_FLAG_NULLABLE);
  CHECK(s.children[1]->flags == 0);
  exported binary;
  REQUIRE(export_schema(type_of<post>(), &binary.schema, {.texts = arrow_texts::binary}).ok());
  CHECK(std::string(binary.schema.children[0]->format) == "z");
  exported value;
  REQUIRE(export_schema(type_of<std::array<float, 3>>(), &value.schema).ok());
  CHECK(std::string(value.schema.children[0]->name) == "value");
  CHECK(std::string(value.schema.children[0]->format) == "+w:3");
}

TEST_CASE("children may be moved out, and released after their parent on another thread") {
  exported out;
  {
    batched<post> b = three_posts();
    REQUIRE(out.rows(b.storage(), type_of<post>()).ok());
  }
  ArrowArray text = *out.array.children[0];
  out.array.children[0]->release = nullptr;
  ArrowSchema typed = *out.schema.children[0];
  out.schema.children[0]->release = nullptr;
  out.array.release(&out.array);
  out.schema.release(&out.schema);
  std::thread([&] {
    CHECK(std::string(static_cast<const char*>(text.buffers[2]), 8) == "onethree");
    CHECK(std::string(typed.name) == "text");
    text.release(&text);
    typed.release(&typed);
  }).join();
  CHECK(text.release == nullptr);
}

namespace {
struct opaque_one {
  static constexpr std::string_view sluice_name = "opaque_one";
  int x = 0;
};
struct has_opaque {
  std::int64_t a = 0;
  std::vector<opaque_one> things;
};
struct has_maybes {
  std::optional<std::optional<int>> twice;
};
}  // namespace

TEST_CASE("a type without a form in Arrow is refused, with the path of the column") {
  exported out;
  CHECK_THAT(words(export_schema(type_of<has_opaque>(), &out.schema)),
             Contains("column \"things\"") && Contains("opaque_one"));
  CHECK_THAT(words(export_schema(type_of<has_maybes>(), &out.schema)), Contains("column \"twice\""));
  CHECK(out.schema.release == nullptr);
  batched<has_opaque> b;
  b.push_back({});
  CHECK_FALSE(export_rows(b.storage(), type_of<has_opaque>(), &out.array).ok());
  CHECK(out.array.release == nullptr);
}

namespace {
struct words_in_list {
  std::vector<std::string> list;
};
}  // namespace

TEST_CASE("a text that is not UTF-8 is refused with its column and value, or exported as binary") {
  batched<words_in_list> b;
  b.push_back({{"good", "bad \xff"}});
  exported out;
  CHECK_THAT(words(out.rows(b.storage(), type_of<words_in_list>())),
             Contains("column \"list[]\": value 1 is not UTF-8"));
  exported binary;
  CHECK(binary.rows(b.storage(), type_of<words_in_list>(), {.texts = arrow_texts::binary}).ok());
  // Together they would be UTF-8: a character that is cut in two.
  batched<words_in_list> cut;
  cut.push_back({{"\xc3", "\xa4"}});
  CHECK_THAT(words(export_rows(cut.storage(), type_of<words_in_list>(), &out.array)), Contains("value 0"));
}

namespace {
struct reordered {
  std::optional<std::string> missing;
  bool flag = false;
  std::int64_t label = 0;
};
struct wrong_width {
  std::int32_t label = 0;
};
struct not_there {
  std::int32_t absent = 0;
};
struct not_optional {
  double weight = 0;
};
}  // namespace

TEST_CASE("members are found by name; a missing one has to be optional; types are compared") {
  exported out;
  {
    batched<post> b = three_posts();
    REQUIRE(out.rows(b.storage(), type_of<post>()).ok());
  }
  batched<reordered> r;
  REQUIRE(append_arrow_rows(r.storage(), type_of<reordered>(), out.schema, out.array).to_string() == "ok");
  CHECK(json(r) == R"({"missing":[null,null,null],"flag":[true,false,true],"label":[1,2,3]})");
  batched<wrong_width> w;
  CHECK_THAT(words(append_arrow_rows(w.storage(), type_of<wrong_width>(), out.schema, out.array)),
             Contains("column \"label\"") && Contains("int64") && Contains("int32"));
  CHECK_THAT(words(check_arrow_rows(type_of<not_there>(), out.schema)),
             Contains("column \"absent\"") && Contains("not optional"));
  batched<not_optional> n;
  CHECK_THAT(words(append_arrow_rows(n.storage(), type_of<not_optional>(), out.schema, out.array)),
             Contains("column \"weight\": value 1 is null"));
  CHECK(n.size() == 0);
}

TEST_CASE("arrays that break the rules are refused, and no row is left of them") {
  batched<post> b = three_posts();
  exported out;
  REQUIRE(out.rows(b.storage(), type_of<post>()).ok());
  auto refused = [&] {
    batched<post> to = three_posts();
    std::string why = words(append_arrow_rows(to.storage(), type_of<post>(), out.schema, out.array));
    CHECK(to.size() == 3);
    CHECK(json(to) == json(b));
    return why;
  };
  ArrowArray& texts = *out.array.children[0];
  ArrowArray& tags = *out.array.children[2];
  auto with = [&](auto& place, auto value) {
    auto before = place;
    place = value;
    std::string why = refused();
    place = before;
    return why;
  };
  CHECK_THAT(with(texts.length, std::int64_t{2}), Contains("column \"text\"") && Contains("3 are needed"));
  CHECK_THAT(with(texts.length, std::int64_t{-1}), Contains("length"));
  CHECK_THAT(with(texts.offset, std::int64_t{-5}), Contains("offset"));
  CHECK_THAT(with(texts.n_buffers, std::int64_t{2}), Contains("2 buffers instead of 3"));
  CHECK_THAT(with(texts.buffers, static_cast<const void**>(nullptr)), Contains("table of buffers"));
  CHECK_THAT(with(texts.buffers[1], static_cast<const void*>(nullptr)), Contains("offsets are null"));
  CHECK_THAT(with(texts.buffers[2], static_cast<const void*>(nullptr)), Contains("bytes are null"));
  CHECK_THAT(with(tags.n_children, std::int64_t{0}), Contains("children"));
  CHECK_THAT(with(tags.children[0], static_cast<ArrowArray*>(nullptr)), Contains("child is null"));
  CHECK_THAT(with(tags.children[0]->length, std::int64_t{3}), Contains("column \"tags\""));
  CHECK_THAT(with(out.array.length, std::int64_t{1} << 62), Contains("length"));
  CHECK_THAT(with(out.array.offset, std::int64_t{1}), Contains("are needed"));
  const std::int32_t falling[] = {0, 3, 2, 8}, negative[] = {-1, 3, 3, 8};
  CHECK_THAT(with(texts.buffers[1], static_cast<const void*>(falling)), Contains("offset 2 is less"));
  CHECK_THAT(with(texts.buffers[1], static_cast<const void*>(negative)), Contains("negative"));
  const std::int32_t beyond[] = {0, 1, 1, 400}, folded[] = {0, 4, 1, 4};
  CHECK_THAT(with(tags.buffers[1], static_cast<const void*>(beyond)), Contains("leave its 4 elements"));
  CHECK_THAT(with(tags.buffers[1], static_cast<const void*>(folded)), Contains("less than the one before"));
  CHECK_THAT(with(texts.null_count, std::int64_t{1}), Contains("no validity"));
}

namespace {

/// All arrays of a tree, the root first.
void add_nodes(ArrowArray& a, std::vector<ArrowArray*>& to) {
  to.push_back(&a);
  for (std::int64_t k = 0; k != a.n_children; ++k) add_nodes(*a.children[k], to);
}

/// Damages one thing of an array as a careless producer might. What it gives undoes that.
std::function<void()> damage(ArrowArray& a, bool is_root, random_columns& random) {
  auto set = [](auto& place, auto value) -> std::function<void()> {
    auto before = place;
    place = value;
    return [&place, before] { place = before; };
  };
  std::size_t k = a.n_buffers ? random.below(static_cast<std::size_t>(a.n_buffers)) : 0;
  switch (random.below(9)) {
    case 0: return set(a.length, is_root ? -1 : a.length - 1 - static_cast<std::int64_t>(random.below(3)));
    case 1: return set(a.length, std::int64_t{-7});
    case 2: return set(a.offset, -1 - static_cast<std::int64_t>(random.below(3)));
    case 3: return set(a.n_buffers, a.n_buffers + (random.below(2) ? 1 : -1));
    case 4: return set(a.n_children, a.n_children + (random.below(2) ? 1 : -1));
    case 5: return set(a.buffers, static_cast<const void**>(nullptr));
    case 6: return set(a.children, static_cast<ArrowArray**>(nullptr));
    case 7:
      if (a.n_children)
        return set(a.children[random.below(static_cast<std::size_t>(a.n_children))], static_cast<ArrowArray*>(nullptr));
      return set(a.offset, std::int64_t{1} << 62);
    default:
      if (a.n_buffers) return set(a.buffers[k], static_cast<const void*>(nullptr));
      return set(a.length, std::int64_t{1} << 62);
  }
}

}  // namespace

TEST_CASE("random damage is an error that leaves no row, or does not matter") {
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed != 4000; ++seed) {
    random_columns random(seed);
    const element_type& type = random.row_type();
    batch_storage b = random.batch(type);
    INFO("seed " << seed << ", rows of " << type.name);
    exported out;
    REQUIRE(out.rows(b, type).ok());
    std::vector<ArrowArray*> nodes;
    add_nodes(out.array, nodes);
    batch_storage back;
    for (int time = 0; time != 5; ++time) {
      std::size_t which = random.below(nodes.size());
      auto undo = damage(*nodes[which], which == 0, random);
      status s = append_arrow_rows(back, type, out.schema, out.array);
      undo();
      if (!s.ok()) {
        ++refused;
        REQUIRE(back.rows() == 0);
        REQUIRE((s.code() == status_code::data_loss || s.code() == status_code::invalid_argument));
      }
      back = batch_storage();
    }
    REQUIRE(append_arrow_rows(back, type, out.schema, out.array).ok());
    REQUIRE(json_of(back, type) == json_of(b, type));
  }
  CHECK(refused > 8000);
}

}  // namespace sluice::lib::columns_test
