// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/value.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "sluice/element/batched.hpp"
#include "sluice/element/serialise.hpp"
#include "sluice/element/slice.hpp"
#include "support/budget.hpp"
#include "support/random/random_values.hpp"

namespace sluice::lib::value_test {
namespace {

using namespace test;
using text_list = std::vector<std::string>;

struct features {
  std::vector<std::uint8_t> image{};
  std::optional<float> weight{};
};
struct example_row {
  std::int64_t label = 0;
  test::shade_kind shade = test::shade_kind::red;
  features parts{};
  std::pair<std::string, record> texts{};
};
struct undescribed {
  virtual ~undescribed() = default;
  std::unique_ptr<int> p{};
};
struct self_describing {
  static constexpr std::string_view sluice_name = "self_describing";
  explicit self_describing(int n) : number(n) {}
  int number;
};
struct alignas(64) wide {
  double x = 0;
};

std::string why(const std::function<void()>& f) {
  try {
    f();
  } catch (const error& e) { return std::string(e.why().message()); }
  return "";
}
std::string why(const result<value>& r) { return r.ok() ? "" : std::string(r.why().message()); }

std::string refusal_of_type(std::string_view text) {
  auto t = type_from_text(text);
  return t.ok() ? "" : std::string(t.why().message());
}

/// Each of `seeds` nests, with a random value of it.
template <class F> void each_nest(std::uint64_t usual, const nest_options& o, F f) {
  for (std::uint64_t seed = first_seed(); seed != first_seed() + cases(usual); ++seed) {
    CAPTURE(seed);
    random_numbers random(seed);
    const element_type& t = random_type(random, o);
    value v = random_value(t, random);
    CAPTURE(type_text(t), v.print());
    f(v, random);
  }
}

}  // namespace

TEST_CASE("a value is an element of its type") {
  value v = value::of(labelled{7, "seven and more than fits inside"});
  CHECK(v.as<labelled>() == labelled{7, "seven and more than fits inside"});
  CHECK(v.get<std::int64_t>() == nullptr);
  CHECK(why([&] { v.as<std::int64_t>(); }) == "expected int64, got labelled{label: int64, text: string}");
  CHECK(why([] { value().as<std::int64_t>(); }) == "expected int64, got no value");
  CHECK(v.print() == R"({"label":7,"text":"seven and more than fits inside"})");
  CHECK(value().print() == "null");
  CHECK(v.at("label").as<std::int64_t>() == 7);
  CHECK(v.at(1).as<std::string>() == "seven and more than fits inside");
  CHECK(why([&] { v.at("lable"); }) == "labelled{label: int64, text: string} has no member lable");
  CHECK(why([&] { v.at(2); }) == "part 2 of labelled{label: int64, text: string}, which has 2");
}

TEST_CASE("values are copied, moved and destroyed, small and large ones") {
  auto try_one = [](auto x) {
    value v = value::of(x);
    value copy = v;
    CHECK(copy == v);
    value moved = std::move(v);
    CHECK_FALSE(v.has_value());
    CHECK(moved == copy);
    v = copy;
    copy = value::of(std::int64_t{1});
    CHECK(v == moved);
    v = std::move(moved);
    v = value(v);
    CHECK(v == value::of(x));
    CHECK(copy.as<std::int64_t>() == 1);
  };
  try_one(std::string("a text that is longer than short strings are"));
  try_one(std::string("short"));
  try_one(1.5f);
  try_one(text_list{"a", "b"});
  try_one(std::array<double, 9>{1, 2, 3});
  try_one(std::optional<std::string>("x"));
  try_one(labelled{1, "x"});
  try_one(std::pair<wide, int>{{2.5}, 1});
  CHECK(reinterpret_cast<std::uintptr_t>(value::of(wide{}).data()) % 64 == 0);
  value only = value::of(std::make_unique<int>(5));
  CHECK(**only.get<std::unique_ptr<int>>() == 5);
  value other = std::move(only);
  CHECK(*other.as<std::unique_ptr<int>>() == 5);
  CHECK(why([&] { value copy = other; }).ends_with("cannot be copied"));
  CHECK(why([] { value::empty_of(type_of<self_describing>()); }) == "self_describing has no default constructor");
  CHECK(value::empty_of(type_of<text_list>()).as<text_list>().empty());
}

TEST_CASE("rows of a batch are parts of it") {
  batched<labelled> b;
  b.push_back({1, "one"});
  b.push_back({2, "two"});
  value v = value::of(std::move(b));
  CHECK(v.size() == 2);
  CHECK(v.at(1).as<labelled>() == labelled{2, "two"});
  value again = *parse_value(serialise(v));
  CHECK(again == v);
  CHECK(again.at(0).as<labelled>() == labelled{1, "one"});
}

TEST_CASE("values of a type are in order") {
  auto less = [](auto a, auto b) {
    return (value::of(a) <=> value::of(b)) == std::partial_ordering::less &&
           (value::of(b) <=> value::of(a)) == std::partial_ordering::greater && !(value::of(a) == value::of(b));
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  CHECK(less(-1, 1));
  CHECK(less(std::uint64_t{1}, ~std::uint64_t{0}));
  CHECK(less(false, true));
  CHECK(less(infinity, nan));
  CHECK(value::of(nan) == value::of(-nan));
  CHECK(value::of(0.0) == value::of(-0.0));
  CHECK(value::of(nan).hash() == value::of(-nan).hash());
  CHECK(value::of(0.0f).hash() == value::of(-0.0f).hash());
  CHECK(less(std::string("ab"), std::string("b")));
  CHECK(less(std::string("\x7f"), std::string("\x80")));
  CHECK(less(text_list{"a"}, text_list{"a", ""}));
  CHECK(less(std::optional<int>(), std::optional<int>(-5)));
  CHECK(less(std::pair(1, std::string("z")), std::pair(2, std::string("a"))));
  CHECK(less(labelled{1, "b"}, labelled{2, "a"}));
  CHECK(less(shade_kind::red, shade_kind::blue));
  CHECK((value::of(1) <=> value::of(1.0)) == std::partial_ordering::unordered);
  CHECK(value() == value());
  CHECK((value() <=> value::of(1)) == std::partial_ordering::less);
  CHECK_FALSE(value::of(self_describing(1)) == value::of(self_describing(1)));
  CHECK(why([] { value::of(self_describing(1)).hash(); }) ==
        "self_describing has no hash: the library does not know all of its parts");
}

TEST_CASE("hashes are the same in every process") {
  CHECK(value::of(std::int64_t{7}).hash() == 0x41446386b5761d53u);
  CHECK(value::of(labelled{7, "seven"}).hash() == 0x55bf82e59e775671u);
  CHECK(value::of(std::vector<float>{1, 2}).hash() == 0x84a35e5e1e35f697u);
}

TEST_CASE("a type's text describes its parts") {
  CHECK(type_text(type_of<example_row>()) ==
        "example_row{label: int64, shade: shade_kind<uint8>, parts: features{image: uint8[], weight: float?}, texts: "
        "(string, record)}");
  CHECK(type_text(type_of<std::optional<std::vector<std::array<int, 3>>>>()) == "int32[3][]?");
  CHECK(type_text(type_of<std::tuple<int, bool>>()) == "tuple(int32, bool)");
  CHECK(type_text(type_of<std::tuple<int, bool, line>>()) == "(int32, bool, line)");
  CHECK(type_text(type_of<batched<labelled>>()) == "batch<labelled{label: int64, text: string}>");
  auto* made = struct_of("", {{"image/encoded", 0, &type_of<record>()}, {"\xff\"", 0, &type_of<double>()}});
  CHECK(type_text(*made) == R"({"image/encoded": record, "\xff\"": double})");
  CHECK(made->name == type_text(*made));
}

TEST_CASE("types are read from their text") {
  for (auto* t : {&type_of<example_row>(), &type_of<std::optional<std::vector<std::array<int, 3>>>>(),
                  &type_of<std::tuple<int, bool>>(), &type_of<std::tuple<line>>(), &type_of<std::pair<bool, double>>(),
                  &type_of<batched<labelled>>(), &type_of<shade_kind>(), &type_of<self_describing>()}) {
    CAPTURE(type_text(*t));
    auto read = type_from_text(type_text(*t));
    REQUIRE(read.ok());
    CHECK(*read == t);
  }
  auto again = [](std::string_view text) { return type_text(**type_from_text(text)); };
  CHECK(again(" { a:int64 , b : ( string,bool )[ 3 ] ? [] } ") == "{a: int64, b: (string, bool)[3]?[]}");
  CHECK(again("unheard_of{a: shade<int16>}[]") == "unheard_of{a: int16}[]");
  CHECK(again("{}") == "{}");
  CHECK(again("labelled{label: int32}") == "labelled{label: int32}");
  CHECK(again("bool[]") == "bool[]");
}

TEST_CASE("a mistake in a type's text has its column") {
  CHECK(refusal_of_type("") == "the type, character 1: it ends where a type should be");
  CHECK(refusal_of_type("int65").starts_with("the type, character 1: there is no type int65 in this program"));
  CHECK(refusal_of_type("int64 x") == "the type, character 7: expected the end, got 'x'");
  CHECK(refusal_of_type("(int64)") == "the type, character 1: one type in parentheses: a tuple of one is tuple(T)");
  CHECK(refusal_of_type("{a int64}") == "the type, character 4: a colon is missing after a: write a: int64");
  CHECK(refusal_of_type("{a}") == "the type, character 3: a colon and a type are missing after a: write a: int64");
  CHECK(refusal_of_type("{a: int64, a: bool}") == "the type, character 12: a second member a");
  CHECK(refusal_of_type("int64[0]") == "the type, character 6: an array of no elements");
  CHECK(refusal_of_type("int64[99999999999]") == "the type, character 7: more than 1073741824");
  CHECK(refusal_of_type("int64[999999999]") == "the type, character 6: an element takes more than 1073741824 bytes");
  CHECK(refusal_of_type("x<string>") == "the type, character 1: an enum is a number, and not string");
  CHECK(refusal_of_type("\"abc") == "the type, character 1: the name has no end");
  CHECK(refusal_of_type(std::string(100, '(')).ends_with("types within types, more than 64 deep"));
  CHECK(refusal_of_type("int8" + std::string(100, '?')).ends_with("types within types, more than 64 deep"));
  CHECK(refusal_of_type("(int8" + std::string(40, '?') + ", bool)" + std::string(40, '?'))
            .ends_with("types within types, more than 64 deep"));
  CHECK(refusal_of_type(std::string(70000, 'x')).starts_with("the type has 70000 bytes"));
  CHECK(type_from_text("bool" + std::string(63, '?')).ok());
}

TEST_CASE("a structure that was made from a text before the program declared it is the same type") {
  struct late {
    std::int32_t a = 0;
    std::vector<std::string> b{};
  };
  auto read = type_from_text("late{a: int32, b: string[]}");
  REQUIRE(read.ok());
  CHECK(*read != &type_of<late>());
  CHECK(is_same_type(**read, type_of<late>()));
  value v = *value_from_json(**read, R"({"a":3,"b":["x"]})");
  CHECK(v.as<late>().b.at(0) == "x");
  CHECK(v == value::of(late{3, {"x"}}));
  CHECK_FALSE(is_same_type(**type_from_text("other{a: int32, b: string[]}"), type_of<late>()));
  CHECK_FALSE(is_same_type(**type_from_text("{a: int32, b: string[]}"), type_of<late>()));
}

TEST_CASE("lists and optionals are made of any type, and are the C++ type's own") {
  struct listed_first {
    std::string text{};
    std::unique_ptr<int> p{};
  };
  auto* list = list_of(&type_of<listed_first>());
  auto* maybe = maybe_of(&type_of<listed_first>());
  REQUIRE(list);
  CHECK(list == &type_of<std::vector<listed_first>>());
  CHECK(maybe == &type_of<std::optional<listed_first>>());
  CHECK(list->size == sizeof(std::vector<listed_first>));
  CHECK(maybe->size == sizeof(std::optional<listed_first>));
  // What the kernels make, C++ changes and destroys, and the other way round.
  value v = value::empty_of(*list);
  auto& in_cpp = v.as<std::vector<listed_first>>();
  for (int i = 0; i != 5; ++i) in_cpp.push_back({"a text longer than fits inside", std::make_unique<int>(i)});
  std::string out = v.print();
  CHECK(out.find("a text longer than fits inside") != out.npos);
  alignas(std::vector<listed_first>) char room[sizeof(std::vector<listed_first>)];
  list->collect(*list, room, in_cpp.data(), 2, 2, 2 * sizeof(listed_first));
  auto* made = std::launder(reinterpret_cast<std::vector<listed_first>*>(room));
  CHECK(made->size() == 2);
  CHECK(*made->at(1).p == 2);
  CHECK(in_cpp[0].p == nullptr);
  made->push_back({"x", nullptr});
  std::destroy_at(made);

  auto* of_pairs = list_of(pair_of(&type_of<std::string>(), &type_of<std::int16_t>()));
  value pairs = *value_from_json(*of_pairs, R"([["a and more than fits inside",1],["b",2]])");
  value copy = pairs;
  CHECK(copy == pairs);
  using pair_list = std::vector<std::pair<std::string, std::int16_t>>;
  CHECK(copy.as<pair_list>() == pair_list{{"a and more than fits inside", 1}, {"b", 2}});
  CHECK(of_pairs->footprint(*of_pairs, pairs.data(), 1) >= 2 * sizeof(pair_list::value_type) + 20);
  value none = value::empty_of(*maybe_of(&type_of<labelled>()));
  CHECK(none.as<std::optional<labelled>>() == std::nullopt);
  none.as<std::optional<labelled>>() = labelled{1, "one and more than fits inside"};
  CHECK(none.print() == R"({"label":1,"text":"one and more than fits inside"})");
  CHECK(value(none) == none);
  CHECK(list_of(&type_of<self_describing>()) != nullptr);  // destroyed trivially
  CHECK(list_of(nullptr) == nullptr);
  CHECK(maybe_of(nullptr) == nullptr);
}

TEST_CASE("a serialised value is read again, at any depth") {
  each_nest(600, {}, [](const value& v, random_numbers&) {
    std::string bytes = serialise(v);
    auto again = parse_value(bytes);
    REQUIRE(again.ok());
    CHECK(*again == v);
    CHECK(again->hash() == v.hash());
    CHECK(type_text(again->type()) == type_text(v.type()));
    CHECK(serialise(*again) == bytes);
    CHECK(again->print() == v.print());
    std::string bare;
    serialise_bare(v.type(), v.data(), bare);
    auto known = parse_bare(v.type(), bare);
    REQUIRE(known.ok());
    CHECK(*known == v);
    value copy = *known;
    CHECK(copy == v);
  });
}

TEST_CASE("value_from_json reads the output of print") {
  each_nest(600, {.optionals_in_optionals = false, .tensors = false}, [](const value& v, random_numbers&) {
    auto again = value_from_json(v.type(), v.print());
    REQUIRE(why(again) == "");
    CHECK(*again == v);
    CHECK(again->print() == v.print());
  });
}

TEST_CASE("types of any depth are read from their text") {
  each_nest(600, {.depth = 5}, [](const value& v, random_numbers&) {
    auto read = type_from_text(type_text(v.type()));
    REQUIRE(read.ok());
    CHECK(is_same_type(**read, v.type()));
    CHECK(type_text(**read) == type_text(v.type()));
    CHECK((*read)->size == v.type().size);
  });
}

TEST_CASE("values are ordered totally") {
  for (std::uint64_t seed = first_seed(); seed != first_seed() + cases(200); ++seed) {
    CAPTURE(seed);
    random_numbers random(seed);
    const element_type& t = random_type(random);
    value v[] = {random_value(t, random), random_value(t, random), random_value(t, random)};
    for (auto& a : v)
      for (auto& b : v) {
        CHECK((a <=> b) == (0 <=> (b <=> a)));
        CHECK((a == b) == ((a <=> b) == 0));
        if (a == b) CHECK(a.hash() == b.hash());
        for (auto& c : v)
          if ((a <=> b) <= 0 && (b <=> c) <= 0) CHECK(((a <=> c) <= 0));
      }
  }
}

TEST_CASE("a serialised value that is damaged anywhere is an error or another value") {
  each_nest(40, {}, [](const value& v, random_numbers& random) {
    std::string bytes = serialise(v), bare;
    serialise_bare(v.type(), v.data(), bare);
    for (std::size_t n = 0; n != bytes.size(); ++n) CHECK_FALSE(parse_value(bytes.substr(0, n)).ok());
    for (std::size_t n = 0; n != bare.size(); ++n) CHECK_FALSE(parse_bare(v.type(), bare.substr(0, n)).ok());
    CHECK_FALSE(parse_bare(v.type(), bare + '\0').ok());
    for (std::size_t i = 0; i != bytes.size(); ++i) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 + random.below(255)));
      CHECK_FALSE(parse_value(damaged).ok());
    }
    // Without a checksum it may be another value: then it writes the bytes that it was read from.
    for (std::size_t i = 0; i != bare.size(); ++i) {
      std::string damaged = bare, again;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 + random.below(255)));
      auto read = parse_bare(v.type(), damaged);
      if (!read.ok()) continue;
      serialise_bare(v.type(), read->data(), again);
      CHECK(again == damaged);
    }
  });
}

TEST_CASE("lengths that the bytes cannot hold are refused before anything is allocated") {
  auto refusal = [](const element_type& t, std::string_view bytes, parse_limits limits = {}) {
    return why(parse_bare(t, bytes, limits));
  };
  using namespace std::string_view_literals;
  CHECK(refusal(type_of<std::vector<std::int64_t>>(), "\xff\xff\xff\xff\x0f") ==
        "the value's byte 5: 4294967295 of int64, where 0 bytes are left");
  CHECK(refusal(type_of<std::string>(), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01") ==
        "the value's byte 10: a text of 18446744073709551615 bytes, where 0 are left");
  CHECK(refusal(type_of<std::string>(), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02") ==
        "the value's byte 10: a length of more than 64 bits");
  CHECK(refusal(type_of<std::string>(), "\x80\x00"sv) == "the value's byte 2: a length of more bytes than it needs");
  CHECK(refusal(type_of<std::vector<bool*>>(), "").find("cannot be written as bytes") != std::string::npos);
  CHECK(refusal(type_of<bool>(), "\x02") == "the value's byte 1: a bool that is neither 0 nor 1");
  // A list of empty structures takes a byte each, too.
  auto* empties = list_of(struct_of("", {}));
  CHECK(refusal(*empties, "\x03\x00\x00"sv) == "the value's byte 1: 3 of {}, where 2 bytes are left");
  CHECK(parse_bare(*empties, "\x02\x00\x00"sv)->size() == 2);
  // Optionals without a value take a byte here, and all of their room in memory.
  auto roomy = type_from_text("int8[100000000]?");
  REQUIRE(roomy.ok());
  CHECK(refusal(**roomy, "\x00"sv).find("more memory than 1 bytes may") != std::string::npos);
  CHECK(parse_bare(**roomy, "\x00"sv, {.memory_bytes = 200'000'000}).ok());
  CHECK(refusal(**type_from_text("int8[100000000]"), "abc") ==
        "the value's byte 0: an element of int8[100000000] where 3 bytes are left");
}

TEST_CASE("values of other versions, and bytes that are no value, are refused") {
  std::string bytes = serialise(value::of(7));
  CHECK(why(parse_value("")) == "these bytes are no value: they do not begin with \"SLV\"");
  CHECK(why(parse_value("{\"a\":1, \"b\": 2}")) == "these bytes are no value: they do not begin with \"SLV\"");
  bytes[3] = 2;
  CHECK(why(parse_value(bytes)) == "a value of version 2; this library reads version 1");
  CHECK(why([] { serialise(value()); }) == "there is no value to be written as bytes");
  CHECK(why([] { serialise(value::of(self_describing(1))); }) ==
        "self_describing cannot be written as bytes: the library does not know what it consists of");
}

TEST_CASE("a serialised value is the same bytes in every version") {
  std::string bytes = serialise(value::of(labelled{-2, "ab"}));
  std::string expected("SLV\x01\x24labelled{label: int64, text: string}", 5 + 36);
  expected += std::string(
      "\xfe\xff\xff\xff\xff\xff\xff\xff\x02"
      "ab",
      11);
  CHECK(bytes.substr(0, bytes.size() - 4) == expected);
}

TEST_CASE("JSON of another type is refused with its place") {
  auto refusal = [](const element_type& t, std::string_view json) { return why(value_from_json(t, json)); };
  auto& row = type_of<example_row>();
  auto with = [&](std::string_view image, std::string_view more = "") {
    return refusal(row, R"({"label":1,"shade":2,"texts":["a","b"],"parts":{"image":)" + std::string(image) + "}" +
                            std::string(more) + "}");
  };
  CHECK(with("[1,2]") == "");  // the weight is an optional
  CHECK(with(R"([1,2,3,"x"])") == R"(parts.image[3]: expected uint8, got "x")");
  CHECK(with("[256]") == "parts.image[0]: expected uint8, got 256");
  CHECK(with("[-1]") == "parts.image[0]: expected uint8, got -1");
  CHECK(with("[1.5]") == "parts.image[0]: expected uint8, got 1.5");
  CHECK(with("[2e1, 3.0]") == "");
  CHECK(with("3") == "parts.image: expected uint8[], got 3");
  CHECK(with("[]", R"(,"lable":1)") == "there is no member lable (there is label, shade, parts, texts)");
  CHECK(refusal(row, R"({"label":1})") == "the member shade is missing");
  CHECK(refusal(type_of<labelled>(), "[1]") == "expected labelled{label: int64, text: string}, got an array of 1");
  CHECK(refusal(type_of<labelled>(), R"({"label":1,"label":2,"text":""})") == "an object has the name label twice");
  CHECK(refusal(type_of<std::pair<int, int>>(), "[1]") == "expected (int32, int32), got an array of 1");
  CHECK(refusal(type_of<std::array<int, 3>>(), "[1]") == "expected int32[3], got an array of 1");
  CHECK(refusal(type_of<int>(), "[1").starts_with("not JSON: parse error at line 1, column 3"));
  CHECK(refusal(type_of<int>(), std::string(300, '[')) == "more than 256 arrays and objects deep");
  CHECK(refusal(type_of<bool>(), "1") == "expected bool, got 1");
  CHECK(refusal(type_of<std::string>(), R"({"base64":"!"})") == "this is no base64");
  CHECK(refusal(type_of<self_describing>(), "1") == "self_describing cannot be read from JSON");
  CHECK(refusal(type_of<batched<labelled>>(), R"({"label":[1,2],"text":["a"]})") ==
        "text: a column of 1 rows, where the first one has 2");
  CHECK(refusal(type_of<batched<labelled>>(), R"({"label":[1,"b"],"text":["a","b"]})") ==
        R"(label[1]: expected int64, got "b")");
}

TEST_CASE("numbers in JSON are read as their type wants them") {
  auto read = []<class T>(T, std::string_view json) { return value_from_json(type_of<T>(), json)->template as<T>(); };
  CHECK(read(float{}, "16777217.000000001") == 16777218.0f);  // by way of a double it would be 16777216
  CHECK(std::signbit(read(double{}, "-0")));
  CHECK(std::isnan(read(double{}, "\"NaN\"")));
  CHECK(read(std::uint64_t{}, "18446744073709551615") == ~std::uint64_t{0});
  CHECK(read(std::int64_t{}, "-9223372036854775808") == INT64_MIN);
  CHECK_FALSE(value_from_json(type_of<std::int64_t>(), "9223372036854775808").ok());
  CHECK(read(std::string{}, R"({"base64":"/w=="})") == "\xff");
}

}  // namespace sluice::lib::value_test
