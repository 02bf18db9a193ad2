// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "sluice/element/batched.hpp"
#include "sluice/element/type_of.hpp"
#include "sluice/format/example.hpp"
#include "sluice/format/example_parser.hpp"

#ifdef SLUICE_HAVE_PROTOBUF
#include "example.pb.h"
#endif

namespace sluice::lib::example_test {

namespace {

struct sample {
  std::string text;
  std::int64_t label = -1;
  std::array<float, 3> values{};
};

struct lists {
  std::vector<std::string> a;
  std::vector<std::int64_t> b;
  std::vector<float> c;
  std::optional<std::int64_t> d;
};

const float kValues[] = {0.5f, -0.25f, 3e10f};

std::string sample_bytes() {
  example_writer w;
  return std::string(w.bytes("text", "hello").int64("label", 42).floats("values", kValues, 3).finish());
}

template <class T> status parse(const std::string& bytes, T& to) { return example_schema_of<T>().parse(bytes, &to); }

template <class T> std::string parse_error(const std::string& bytes) {
  T t{};
  return parse(bytes, t).to_string();
}

}  // namespace

TEST_CASE("an example fills the struct whose members name its features") {
  sample s;
  REQUIRE(parse(sample_bytes(), s).ok());
  CHECK(s.text == "hello");
  CHECK(s.label == 42);
  CHECK(s.values == std::array<float, 3>{0.5f, -0.25f, 3e10f});
}

TEST_CASE("features arrive in any order, unknown ones are skipped, and a struct can be filled again") {
  example_writer w;
  std::string bytes(w.floats("values", kValues, 3).bytes("more", "x").int64("label", -7).bytes("text", "").finish());
  sample s{"old", 1, {}};
  REQUIRE(parse(bytes, s).ok());
  CHECK(s.text.empty());
  CHECK(s.label == -7);
  lists l{{"x", "y"}, {1, 2, 3}, {1}, 5};
  REQUIRE(
      parse(std::string(w.bytes_list("a", {"p"}).int64s("b", nullptr, 0).floats("c", kValues, 2).finish()), l).ok());
  CHECK(l.a == std::vector<std::string>{"p"});
  CHECK(l.b.empty());
  CHECK(l.c == std::vector<float>{0.5f, -0.25f});
  CHECK_FALSE(l.d.has_value());
}

namespace {

/// Names that differ in one byte, at any place; some are longer than what is compared at once.
struct alike {
  std::int64_t a = -1, b = -1;
  std::int64_t eight_bytes = -1;
  std::int64_t a_name_of_sixteen = -1;
  std::int64_t a_name_that_is_longer_than_sixteen_1_bytes = -1;
  std::int64_t a_name_that_is_longer_than_sixteen_2_bytes = -1;
};

}  // namespace

TEST_CASE("a parser expects the order of the record before, and reads any other") {
  std::vector<std::string> names(member_names<alike>.begin(), member_names<alike>.end());
  const std::size_t asked_for = names.size();
  REQUIRE(names.back().size() > 16);
  for (std::size_t i = 0; i != asked_for; ++i) {  // and features that nobody asks for, one byte away
    std::string other = names[i];
    other[other.size() / 2] ^= 1;
    names.push_back(other);
    names.push_back(names[i] + "x");
  }
  names.push_back("");
  example_parser parser(example_schema_of<alike>());
  unsigned seed = 17;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), 0u);
  for (int round = 0; round != 2'000; ++round) {
    CAPTURE(round);
    if (round % 5 == 0) std::shuffle(order.begin(), order.end(), random);
    else if (round % 5 == 3) std::swap(order[random() % order.size()], order[random() % order.size()]);
    example_writer w;
    std::size_t left_out = round % 7 == 0 ? random() % names.size() : names.size();
    for (std::size_t i : order)
      if (i != left_out) w.int64(names[i], static_cast<std::int64_t>(i) + 1000 * round);
    alike to;
    status why = parser.parse(w.finish(), &to);
    CHECK(why.ok() == (left_out >= asked_for));
    if (!why.ok()) {
      CHECK_THAT(why.to_string(), Catch::Contains("\"" + names[left_out] + "\" is missing"));
      continue;
    }
    std::size_t i = 0;
    with_members(to, [&](auto&... members) {
      auto check = [&](std::int64_t value) { CHECK(value == static_cast<std::int64_t>(i++) + 1000 * round); };
      (check(members), ...);
    });
  }
}

namespace {

struct many_forms {
  std::int64_t number = 0;
  std::string text;
  std::array<float, 3> values{};
  std::vector<std::int64_t> list;
  std::optional<std::int64_t> maybe;
  std::string name_of_twenty_two_ch;
  std::string name_of_twenty_three_ch;
  bool operator==(const many_forms&) const = default;
};

std::vector<int> random_order(std::mt19937_64& random) {
  std::vector<int> order(7);
  std::iota(order.begin(), order.end(), 0);
  if (random() % 2 == 0) std::swap(order[random() % 7], order[random() % 7]);
  if (random() % 3 == 0) order.erase(order.begin() + static_cast<std::ptrdiff_t>(random() % order.size()));
  if (random() % 3 == 0) order.push_back(static_cast<int>(random() % 7));
  return order;
}

/// A record whose values have the lengths of the record before, or others.
std::string random_record(std::mt19937_64& random, const std::vector<int>& order) {
  example_writer w;
  const std::int64_t numbers[] = {1, static_cast<std::int64_t>(random() >> random() % 64), -1};
  const auto any = static_cast<std::size_t>(random() % 4);
  const std::string text(random() % 8 == 0 ? random() % 300 : random() % 3 + 5, 'x');
  for (int what : order) {
    switch (what) {
      case 0: w.int64s("number", numbers + random() % 2, random() % 16 == 0 ? random() % 2 : 1); break;
      case 1: w.bytes("text", text); break;
      case 2: w.floats("values", kValues, random() % 16 == 0 ? any % 4 : 3); break;
      case 3: w.int64s("list", numbers, any % 4); break;
      case 4: w.int64s("maybe", numbers + 1, 1); break;
      case 5: w.bytes("name_of_twenty_two_ch", text); break;
      default: w.bytes("name_of_twenty_three_ch", "y");
    }
  }
  std::string bytes(w.finish());
  if (random() % 3 == 0) bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
  if (random() % 40 == 0) bytes.resize(random() % bytes.size());
  return bytes;
}

}  // namespace

TEST_CASE("a parser that knows the bytes before the values reads the same as one that knows nothing") {
  std::uint64_t sound = 0;
  for (std::uint64_t seed = 0; seed != 300; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<feature_slot> slots;
    for (feature_slot slot : example_schema_of<many_forms>().slots()) {
      slot.is_built = random() % 3 == 0;
      if (random() % 4 != 0) slots.push_back(std::move(slot));
    }
    const example_schema schema(std::move(slots));
    example_parser reused(schema);
    std::vector<int> order;
    for (int round = 0; round != 100; ++round) {
      if (round % 8 == 0) order = random_order(random);
      const std::string bytes = random_record(random, order);
      many_forms expected, found;
      const status why = schema.parse(bytes, &expected), again = reused.parse(bytes, &found);
      INFO("seed " << seed << ", record " << round << ": " << why.to_string() << "; " << again.to_string());
      REQUIRE(again.to_string() == why.to_string());
      if (why.ok()) REQUIRE(found == expected);
      sound += why.ok();
    }
  }
  CHECK(sound > 10'000);
}

TEST_CASE("a record of very many features is read, and its order is learned only so far") {
  example_writer w;
  for (int i = 0; i != 5'000; ++i) w.int64("other" + std::to_string(i), i);
  std::string bytes(w.int64("label", 7).bytes("text", "t").floats("values", kValues, 3).finish());
  example_parser parser(example_schema_of<sample>());
  for (int round = 0; round != 3; ++round) {
    sample s;
    REQUIRE(parser.parse(bytes, &s).ok());
    CHECK(s.label == 7);
  }
}

TEST_CASE("errors name the feature and the expected form") {
  example_writer w;
  auto make = [&](auto fill) {
    fill();
    return std::string(w.finish());
  };
  CHECK(parse_error<sample>(make([&] { w.bytes("text", "x"); })) == "invalid_argument: feature \"label\" is missing");
  CHECK(parse_error<sample>("") == "invalid_argument: feature \"text\" is missing");
  CHECK(parse_error<sample>(make([&] { w.int64("text", 1); })) ==
        "invalid_argument: feature \"text\" holds int64 values, expected bytes: the type int64 reads them");
  CHECK(parse_error<sample>(make([&] { w.bytes("text", "x").int64("label", 1).floats("values", kValues, 2); })) ==
        "invalid_argument: feature \"values\" has 2 values, expected 3");
  const float four[] = {1, 2, 3, 4};
  CHECK(parse_error<sample>(make([&] { w.bytes("text", "x").int64("label", 1).floats("values", four, 4); })) ==
        "invalid_argument: feature \"values\" has 4 values, expected 3");
  CHECK(parse_error<sample>(make([&] { w.bytes_list("text", {"x", "y"}); })) ==
        "invalid_argument: feature \"text\" has 2 values, expected 1");
  CHECK(parse_error<sample>("not an example") == "data_loss: the bytes are no tf.Example: its wire format is damaged");
}

TEST_CASE("a slice shares the record's buffer") {
  struct view {
    slice text;
  };
  example_writer w;
  std::string bytes(w.bytes("text", "shared").finish());
  buffer_ref owner(buffer::make(bytes.size()));
  bytes.copy(owner->data(), bytes.size());
  owner->add_references(1);
  {
    record r(owner.get(), owner->data(), bytes.size());
    auto v = example_as<view>(r);
    CHECK(v.text.view() == "shared");
    CHECK(v.text.owner() == owner.get());
    view copied;
    REQUIRE(example_schema_of<view>().parse(bytes, &copied).ok());  // bytes that nobody counts are copied
    CHECK(copied.text.view() == "shared");
    CHECK(copied.text.data() != bytes.data() + (v.text.data() - owner->data()));
  }
  CHECK(owner->unshared());
}

TEST_CASE("example_as throws an error with the reason") {
  try {
    example_as<sample>(record(slice::copy_of("")));
    FAIL("it did not throw");
  } catch (const error& e) { CHECK(e.code() == status_code::invalid_argument); }
}

TEST_CASE("the last entry of a key counts, and the parts of one entry merge") {
  example_writer w;
  std::string first(w.bytes("text", "first").floats("values", kValues, 3).finish());
  std::string second(w.bytes("text", "second").int64("label", 1).finish());
  sample s;
  REQUIRE(parse(first + second, s).ok());  // two Features messages merge
  CHECK(s.text == "second");
  // An entry with its value in two pieces, the key last: floats [0.5], then [-0.25, …].
  std::string list1("\x12\x06\x0a\x04", 4), list2("\x12\x0a\x0a\x08", 4);
  list1.append(reinterpret_cast<const char*>(kValues), 4);
  list2.append(reinterpret_cast<const char*>(kValues + 1), 8);
  std::string entry = std::string("\x12") + static_cast<char>(list1.size()) + list1 + '\x12' +
                      static_cast<char>(list2.size()) + list2 + "\x0a\x06values";
  std::string feature = std::string("\x0a") + static_cast<char>(entry.size()) + entry;
  std::string example = std::string("\x0a") + static_cast<char>(feature.size()) + feature;
  sample t;
  REQUIRE(parse(second + example, t).ok());
  CHECK(t.values == std::array<float, 3>{0.5f, -0.25f, 3e10f});
}

TEST_CASE("JSON shows texts, numbers, bytes that are no text, and the shortest floats") {
  const float odd[] = {0.1f, 1e-40f, NAN, -INFINITY, 16777216.0f};
  const std::int64_t wide[] = {std::numeric_limits<std::int64_t>::min(), 7};
  example_writer w;
  std::string bytes(w.bytes("text", "a \"quote\"\n\xc3\xa9")
                        .bytes("raw", "\xff\x00z")
                        .int64s("i", wide, 2)
                        .floats("f", odd, 5)
                        .bytes_list("none", {})
                        .int64("k\xff", 1)
                        .finish());
  CHECK(*example_to_json(bytes) ==
        "{\"f\":[0.1,1e-40,\"NaN\",\"-Infinity\",16777216.0],\"i\":[-9223372036854775808,7],\"base64:a/8=\":1,"
        "\"none\":[],\"raw\":{\"base64\":\"/w==\"},\"text\":\"a \\\"quote\\\"\\n\xc3\xa9\"}");
  CHECK(*example_to_json("") == "{}");
  CHECK(example_to_json("\x0a").why().code() == status_code::data_loss);
}

TEST_CASE("a truncated example never gives values it does not hold") {
  std::string bytes = sample_bytes();
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    std::string cut = bytes.substr(0, n);
    sample s;
    REQUIRE_FALSE(parse(cut, s).ok());
    if (n > 0) REQUIRE_FALSE(example_to_json(cut).ok());
  }
}

#ifdef SLUICE_HAVE_PROTOBUF
namespace {

/// Reads with protobuf into the form that read_example gives.
bool oracle(const std::string& bytes, std::map<std::string, feature_values, std::less<>>& features) {
  sluice_test::Example e;
  if (!e.ParseFromString(bytes)) return false;
  for (auto& [name, f] : e.features().feature()) {
    feature_values v;
    v.kind = static_cast<feature_kind>(f.kind_case());
    v.bytes.assign(f.bytes_list().value().begin(), f.bytes_list().value().end());
    v.floats.assign(f.float_list().value().begin(), f.float_list().value().end());
    v.int64s.assign(f.int64_list().value().begin(), f.int64_list().value().end());
    features[name] = v;
  }
  return true;
}

bool same(const feature_values& a, const feature_values& b) {
  return a.kind == b.kind && a.bytes == b.bytes && a.int64s == b.int64s && a.floats.size() == b.floats.size() &&
         (a.floats.empty() || std::memcmp(a.floats.data(), b.floats.data(), a.floats.size() * 4) == 0);
}

/// An example goes into a column as into a structure, or not at all.
void check_row(const std::string& bytes, const status& why, const lists& expected) {
  static example_parser learned(example_schema_of<lists>());
  static batch_storage made;
  column& rows = made.make_rows(type_of<lists>());
  const std::size_t before = rows.rows();
  status told = learned.append_to(rows, bytes);
  REQUIRE(told.to_string() == why.to_string());
  REQUIRE(rows.rows() == before + (why.ok() ? 1 : 0));
  for (std::size_t k = 0; k != rows.children(); ++k) REQUIRE(rows.child(k).rows() == rows.rows());
  if (why.ok()) {
    lists row;
    row = {};
    std::destroy_at(&row);
    rows.make(before, 1, &row, sizeof(row));
    REQUIRE(row.a == expected.a);
    REQUIRE(row.b == expected.b);
    REQUIRE(row.c.size() == expected.c.size());
    REQUIRE((row.c.empty() || std::memcmp(row.c.data(), expected.c.data(), row.c.size() * sizeof(float)) == 0));
    REQUIRE(row.d == expected.d);
  }
  if (rows.rows() == 100) rows.truncate(0);
}

/// Our answer on these bytes is protobuf's. Returns whether they are an example. `learned` has parsed others before.
bool agree(const std::string& bytes, example_parser& learned) {
  std::map<std::string, feature_values, std::less<>> want;
  bool sound = oracle(bytes, want);
  auto got = read_example(bytes);
  REQUIRE(got.ok() == sound);
  if (!sound) return false;
  REQUIRE(got->size() == want.size());
  for (auto& [name, v] : want) REQUIRE(same((*got)[name], v));
  lists l;
  status why = learned.parse(bytes, &l);
  lists alone;
  REQUIRE(example_schema_of<lists>().parse(bytes, &alone).to_string() == why.to_string());
  check_row(bytes, why, l);
  auto fits = [&](const char* name, feature_kind kind) { return !want.count(name) ? false : want[name].kind == kind; };
  auto& d = want["d"];
  bool expected = fits("a", feature_kind::bytes) && fits("b", feature_kind::int64s) &&
                  fits("c", feature_kind::floats) &&
                  (d.kind == feature_kind::none || (d.kind == feature_kind::int64s && d.int64s.size() == 1));
  REQUIRE(why.ok() == expected);
  if (!expected) return true;
  REQUIRE(l.a == want["a"].bytes);
  REQUIRE(l.b == want["b"].int64s);
  REQUIRE(l.c.size() == want["c"].floats.size());
  REQUIRE(l.d.has_value() == (d.kind == feature_kind::int64s));
  return true;
}

std::string random_wire(std::mt19937_64& random, int depth) {
  static const char* const kNames[] = {"a", "b", "c", "d", ""};
  std::string out;
  for (unsigned n = random() % 4; n > 0; --n) {
    unsigned field = random() % 12 == 0 ? random() % 6 : 1 + random() % 3;
    if (random() % 10 == 0) {  // not what the schema says
      unsigned type = random() % 8;
      out += static_cast<char>(field << 3 | type);
      for (unsigned k = random() % 10; k > 0; --k) out += static_cast<char>(random());
      continue;
    }
    std::string inner = depth == 0                   ? std::string(random() % 9, '\1')
                        : depth == 3 && random() % 2 ? kNames[random() % 5]
                                                     : random_wire(random, depth - 1);
    if (depth == 3) field = 1 + random() % 2;
    if (depth > 3) field = 1;
    out += static_cast<char>(field << 3 | 2);
    out += static_cast<char>(inner.size() & 0x7f);
    out += inner;
  }
  return out;
}

}  // namespace

TEST_CASE("we read the same as protobuf: written examples, damaged ones, and random bytes") {
  unsigned seed = 31;
  CAPTURE(seed);
  google::protobuf::SetLogHandler(nullptr);  // proto2 only grumbles about names that are not UTF-8
  std::mt19937_64 random(seed);
  int sound = 0, unsound = 0;
  example_parser learned(example_schema_of<lists>());
  auto count = [&](const std::string& bytes) { (agree(bytes, learned) ? sound : unsound)++; };
  for (int round = 0; round < 300; ++round) {
    sluice_test::Example e;
    auto& f = *e.mutable_features()->mutable_feature();
    for (unsigned n = random() % 4; n > 0; --n)
      f["a"].mutable_bytes_list()->add_value(std::string(random() % 200, 'x'));
    if (random() % 2) f["a"].mutable_bytes_list();
    f["b"].mutable_int64_list();
    for (unsigned n = random() % 20; n > 0; --n)
      f["b"].mutable_int64_list()->add_value(static_cast<std::int64_t>(random() >> random() % 64));
    f["c"].mutable_float_list();
    for (unsigned n = random() % 20; n > 0; --n) f["c"].mutable_float_list()->add_value(static_cast<float>(random()));
    if (random() % 2) f["d"].mutable_int64_list()->add_value(static_cast<std::int64_t>(random()));
    if (random() % 4 == 0) f["other"];
    std::string bytes = e.SerializeAsString();
    count(bytes);
    for (int flips = 0; flips < 60; ++flips) {
      std::string copy = bytes;
      for (unsigned k = 1 + random() % 3; k > 0; --k)
        copy[random() % copy.size()] ^= static_cast<char>(1 << random() % 8);
      count(copy);
    }
    count(bytes.substr(0, random() % bytes.size()));
    std::string both = bytes + bytes.substr(0, random() % bytes.size());
    count(both);
  }
  for (int round = 0; round < 60'000; ++round) count(random_wire(random, 5));
  CAPTURE(sound, unsound);
  CHECK(sound > 5'000);
  CHECK(unsound > 5'000);
}
#endif

}  // namespace sluice::lib::example_test
