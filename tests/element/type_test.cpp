// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <thread>
#include <tuple>

#include "sluice/element/batched.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/element/type.hpp"

namespace declared_elsewhere {
struct point {
  double x = 0, y = 0;
};
}  // namespace declared_elsewhere
SLUICE_ELEMENT(declared_elsewhere::point)
SLUICE_ELEMENT_DEFINITION(declared_elsewhere::point)

namespace {

struct sample {
  std::string text;
  std::int64_t label = 0;
};
class unlisted {
 public:
  explicit unlisted(std::string value) : value_(std::move(value)) {}

 private:
  std::string value_;
};
struct nested {
  sample inner;
  float values[3] = {};
  std::vector<float> list;
  std::optional<std::int32_t> maybe;
};
enum class colour : std::uint8_t { red, green };
struct self_described {
  static constexpr std::string_view sluice_name = "self";
  static constexpr bool trivially_relocatable = true;
  std::unique_ptr<int> p;
  void sluice_print(std::string& json) const { json += "7"; }
};
struct with_array {
  int a = 0;
  std::array<float, 4> v = {};
};
struct shared {
  std::shared_ptr<int> p;
  std::int64_t n = 0;
};
struct own_destructor {
  int* p = nullptr;
  ~own_destructor() {}
};
class secretive {
 public:
  int value() const { return value_; }

 private:
  int value_ = 3;
};

template <class T> std::string json(const T& v) {
  std::string out;
  sluice::lib::print(sluice::lib::type_of<T>(), &v, out);
  return out;
}

}  // namespace

using namespace sluice::lib;

TEST_CASE("builtin types have the same name under every compiler") {
  CHECK(type_of<std::int64_t>().name == "int64");
  CHECK(type_of<long long>().name == "int64");
  CHECK(&type_of<long long>() == &type_of<long>());
  CHECK(type_of<char>().name == (std::is_signed_v<char> ? "int8" : "uint8"));
  CHECK(type_of<std::string>().name == "string");
  CHECK(type_of<record>().name == "record");
  CHECK(type_of<std::vector<float>>().name == "float[]");
  CHECK(type_of<std::array<double, 3>>().name == "double[3]");
  CHECK(type_of<std::optional<bool>>().name == "bool?");
  CHECK(type_of<std::pair<std::string, int>>().name == "(string, int32)");
  CHECK(type_of<std::tuple<std::string, int, bool>>().name == "(string, int32, bool)");
  CHECK(type_of<std::tuple<std::string, int>>().name == "tuple(string, int32)");
  CHECK(type_of<batched<sample>>().name == "batch<sample>");
  CHECK(type_of<sample>().name == "sample");
}

TEST_CASE("a type declared in a header and defined in one source is as any other") {
  CHECK(type_of<declared_elsewhere::point>().name == "point");
  CHECK(type_of<std::vector<declared_elsewhere::point>>().element == &type_of<declared_elsewhere::point>());
}

TEST_CASE("a type made at run time is the C++ type's own descriptor") {
  CHECK(pair_of(&type_of<line>(), &type_of<std::uint16_t>()) == &type_of<std::pair<line, std::uint16_t>>());
  CHECK(tuple_of({&type_of<bool>(), &type_of<line>(), &type_of<bool>()}) == &type_of<std::tuple<bool, line, bool>>());
  CHECK(tuple_of({&type_of<bool>(), nullptr}) == nullptr);
  CHECK(tuple_of({}) == nullptr);
  CHECK(batched_of(&type_of<sample>()) == &type_of<batched<sample>>());
  CHECK(array_of(&type_of<std::int32_t>(), 7) == &type_of<std::array<std::int32_t, 7>>());
  CHECK(list_of(&type_of<float>()) == &type_of<std::vector<float>>());
  CHECK(list_of(&type_of<unlisted>()) == nullptr);
  CHECK(maybe_of(&type_of<unlisted>()) == nullptr);
  CHECK(list_of(&type_of<bool>())->name == "bool[]");
  CHECK(maybe_of(&type_of<float>()) == &type_of<std::optional<float>>());
  CHECK(type_of<std::vector<sample>>().element == &type_of<sample>());
  CHECK(list_of(&type_of<sample>()) == &type_of<std::vector<sample>>());
  CHECK(&type_of<std::vector<long>>() == &type_of<std::vector<long long>>());
  CHECK(&type_of<std::vector<std::pair<long long, char>>>() == &type_of<std::vector<std::pair<long, std::int8_t>>>());
  CHECK(type_named("uint8[]") == &type_of<std::vector<std::uint8_t>>());
  CHECK(type_named("no such type") == nullptr);
}

TEST_CASE("a list is built from elements that lie apart, some moved and some copied") {
  std::string texts[6] = {"zero and more than fits inside", "1", "two and more than fits inside", "3", "4", "5"};
  using texts_list = std::vector<std::string>;
  const element_type& list = type_of<texts_list>();
  alignas(texts_list) char room[sizeof(texts_list)];
  list.collect(list, room, texts, 3, 1, 2 * sizeof(std::string));
  auto* made = std::launder(reinterpret_cast<texts_list*>(room));
  CHECK(*made == texts_list{"zero and more than fits inside", "two and more than fits inside", "4"});
  CHECK(texts[0].empty());
  CHECK(texts[2] == "two and more than fits inside");
  list.destroy(list, room, 1);

  std::int64_t numbers[5] = {0, 1, 2, 3, 4};
  const element_type& of_numbers = type_of<std::vector<std::int64_t>>();
  alignas(std::vector<std::int64_t>) char other[sizeof(std::vector<std::int64_t>)];
  for (std::size_t stride : {1, 2}) {
    of_numbers.collect(of_numbers, other, numbers, 2, 2, stride * sizeof(std::int64_t));
    auto* all = std::launder(reinterpret_cast<std::vector<std::int64_t>*>(other));
    CHECK(*all == std::vector<std::int64_t>{0, static_cast<std::int64_t>(stride)});
    of_numbers.destroy(of_numbers, other, 1);
  }
  CHECK(type_of<std::string>().collect == nullptr);
}

TEST_CASE("types made on several threads at once are one type") {
  const element_type* seen[4] = {};
  std::vector<std::thread> threads;
  for (auto& s : seen)
    threads.emplace_back([&s] { s = pair_of(array_of(&type_of<std::uint64_t>(), 91), batched_of(&type_of<bool>())); });
  for (auto& t : threads) t.join();
  for (auto* s : seen) CHECK(s == seen[0]);
}

TEST_CASE("layouts made at run time are the compiler's") {
  auto& p = type_of<std::pair<char, std::pair<double, bool>>>();
  CHECK(p.size == sizeof(std::pair<char, std::pair<double, bool>>));
  CHECK(p.align == alignof(std::pair<char, std::pair<double, bool>>));
  using odd = std::tuple<char, std::string, short, double, bool>;
  auto& t = type_of<odd>();
  CHECK(t.size == sizeof(odd));
  CHECK(t.align == alignof(odd));
  odd value;
  CHECK(reinterpret_cast<char*>(&std::get<0>(value)) - reinterpret_cast<char*>(&value) ==
        static_cast<std::ptrdiff_t>(t.members[0].offset));
  CHECK(reinterpret_cast<char*>(&std::get<1>(value)) - reinterpret_cast<char*>(&value) ==
        static_cast<std::ptrdiff_t>(t.members[1].offset));
  CHECK(reinterpret_cast<char*>(&std::get<4>(value)) - reinterpret_cast<char*>(&value) ==
        static_cast<std::ptrdiff_t>(t.members[4].offset));
  auto* s = struct_of("sample", {{"text", 0, &type_of<std::string>()}, {"label", 0, &type_of<std::int64_t>()}});
  REQUIRE(s);
  CHECK(s->size == sizeof(sample));
  CHECK(s->members[1].offset == offsetof(sample, label));
  CHECK(s == struct_of("sample", {{"text", 0, &type_of<std::string>()}, {"label", 0, &type_of<std::int64_t>()}}));
  CHECK(s != struct_of("sample", {{"text", 0, &type_of<std::string>()}, {"labels", 0, &type_of<std::int64_t>()}}));
  // The text of one without a name is no name.
  auto* nameless = struct_of("", {{"label", 0, &type_of<std::int64_t>()}});
  CHECK(nameless->name == "{label: int64}");
  CHECK(struct_of("{label: int64}", {{"label", 0, &type_of<std::int64_t>()}}) == nameless);
  sample v{"a text that is longer than short strings are", 5};
  std::string out;
  print(*s, &v, out);
  CHECK(out == json(v));
}

TEST_CASE("members are found with their names and offsets") {
  auto& t = type_of<nested>();
  REQUIRE(t.members.size() == 4);
  CHECK(t.members[0].name == "inner");
  CHECK(t.members[3].name == "maybe");
  CHECK(t.members[2].offset == offsetof(nested, list));
  CHECK(t.members[1].type == array_of(&type_of<float>(), 3));
}

TEST_CASE("elements print as JSON") {
  CHECK(json(std::int8_t{-5}) == "-5");
  CHECK(json(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
  CHECK(json(0.1f) == "0.1");
  CHECK(json(std::nan("")) == "\"NaN\"");
  CHECK(json(-std::numeric_limits<double>::infinity()) == "\"-Infinity\"");
  CHECK(json(true) == "true");
  CHECK(json(colour::green) == "1");
  CHECK(json(std::pair(std::string("a"), 2)) == "[\"a\",2]");
  CHECK(json(std::optional<int>()) == "null");
  CHECK(json(std::vector<std::string>{"x", "y"}) == "[\"x\",\"y\"]");
  CHECK(json(self_described{}) == "7");
  CHECK(json(secretive()) == "\"<secretive>\"");
  CHECK(json(record(slice::copy_of("r"))) == "\"r\"");
  CHECK(json(nested{{"t", 4}, {1, 2, 3}, {0.5f}, {}}) ==
        R"({"inner":{"text":"t","label":4},"values":[1.0,2.0,3.0],"list":[0.5],"maybe":null})");
}

TEST_CASE("texts are valid JSON for any bytes") {
  auto quoted = [](std::string_view s) {
    std::string out;
    print_json_text(s, out);
    return out;
  };
  CHECK(quoted("a\"b\\c\n\t\x01") == R"("a\"b\\c\n\t\u0001")");
  CHECK(quoted("größe €, 𝄞") == "\"größe €, 𝄞\"");
  CHECK(quoted("a\"\xff") == R"({"base64":"YSL/"})");
  CHECK(quoted("\xc0\xaf") == R"({"base64":"wK8="})");      // overlong
  CHECK(quoted("\xed\xa0\x80") == R"({"base64":"7aCA"})");  // a surrogate
  CHECK(quoted(std::string_view("\0", 1)) == R"("\u0000")");
}

TEST_CASE("names of members are strings for any bytes, and stay distinct") {
  auto name = [](std::string_view s) {
    std::string out;
    print_json_name(s, out);
    return out;
  };
  CHECK(name("größe") == "\"größe\"");
  CHECK(name("base64") == "\"base64\"");
  CHECK(name("k\xff") == "\"base64:a/8=\"");
  CHECK(name("base64:a/8=") == "\"base64:YmFzZTY0OmEvOD0=\"");
}

TEST_CASE("only relocatable types are moved by their bytes") {
  STATIC_REQUIRE(trivially_relocatable_v<std::int64_t>);
  STATIC_REQUIRE(trivially_relocatable_v<shared>);
  STATIC_REQUIRE(trivially_relocatable_v<record>);
  STATIC_REQUIRE(trivially_relocatable_v<with_array>);
  STATIC_REQUIRE(trivially_relocatable_v<std::pair<std::unique_ptr<int>, std::vector<std::string>>>);
  STATIC_REQUIRE(!trivially_relocatable_v<std::string>);
  STATIC_REQUIRE(!trivially_relocatable_v<sample>);
  STATIC_REQUIRE(!trivially_relocatable_v<own_destructor>);
  STATIC_REQUIRE(!trivially_relocatable_v<std::map<int, int>>);
}

namespace {

/// Values that are long enough to own memory, where T can.
template <class T> T made(int i) {
  if constexpr (std::is_arithmetic_v<T>) return static_cast<T>(i);
  else if constexpr (std::is_same_v<T, std::string>) return "a string with the number " + std::to_string(i);
  else if constexpr (std::is_same_v<T, sample>) return {made<std::string>(i), i};
  else if constexpr (detail::is_pair<T>) return {made<typename T::first_type>(i), made<typename T::second_type>(i)};
  else if constexpr (detail::is_tuple<T>)
    return [i]<class... M>(std::tuple<M...>*) { return T(made<M>(i)...); }(static_cast<T*>(nullptr));
  else if constexpr (detail::is_array<T>) return {made<typename T::value_type>(i), made<typename T::value_type>(i + 1)};
  else return {made<typename T::value_type>(i)};
}

template <class T> struct cells {
  static constexpr int kCount = 20;
  alignas(T) char bytes[kCount * 2 * sizeof(T)];
  T* at(int i) { return std::launder(reinterpret_cast<T*>(bytes) + i); }
};

}  // namespace

TEMPLATE_TEST_CASE("kernels move, copy, exchange and destroy each element once", "", std::int8_t, double, std::string,
                   sample, (std::pair<std::string, int>), (std::pair<std::int64_t, double>),
                   (std::tuple<char, std::string, short, double>), (std::tuple<char, short, int, std::int64_t>),
                   std::vector<std::string>, (std::array<std::string, 2>), (std::array<char, 2>)) {
  using T = TestType;
  auto& t = type_of<T>();
  constexpr int n = cells<T>::kCount;
  cells<T> source, spread, out;
  for (int i = 0; i != n; ++i) ::new (static_cast<void*>(source.at(i))) T(made<T>(i));
  t.relocate(t, spread.bytes, source.bytes, n, 2 * t.size, t.size);
  for (int i = 0; i != n; ++i) CHECK(json(*spread.at(2 * i)) == json(made<T>(i)));
  t.relocate(t, source.bytes, spread.bytes, n, t.size, 2 * t.size);
  t.copy(t, out.bytes, source.bytes, n, t.size, t.size);

  // slots hold 0 … n-1; as many come in, all at slot 3: what came in last time goes out next.
  std::vector<std::uint32_t> at(n, 3);
  cells<T> given;
  t.exchange(t, given.bytes, source.bytes, out.bytes, at.data(), n);
  CHECK(json(*given.at(0)) == json(made<T>(3)));
  for (int i = 1; i != n; ++i) CHECK(json(*given.at(i)) == json(made<T>(i - 1)));
  CHECK(json(*source.at(3)) == json(made<T>(n - 1)));
  CHECK(json(*source.at(4)) == json(made<T>(4)));
  t.destroy(t, source.bytes, n);
  t.destroy(t, given.bytes, n);

  t.construct(t, out.bytes, n, t.size);
  CHECK(json(*out.at(n - 1)) == json(T()));
  t.destroy(t, out.bytes, n);
}

TEST_CASE("footprints count the memory that elements own") {
  std::string strings[2] = {"short", std::string(1000, 'x')};
  auto& t = type_of<std::string>();
  CHECK(t.footprint(t, strings, 1) == 0);
  CHECK(t.footprint(t, strings, 2) >= 1000);
  std::pair<std::string, std::int64_t> p{std::string(500, 'y'), 1};
  auto& pt = type_of<decltype(p)>();
  CHECK(pt.footprint(pt, &p, 1) >= 500);
  std::vector<std::string> list{std::string(100, 'a'), std::string(200, 'b')};
  auto& lt = type_of<decltype(list)>();
  CHECK(lt.footprint(lt, &list, 1) >= 300 + 2 * sizeof(std::string));
}

TEST_CASE("types that cannot be copied or default-constructed lack these kernels") {
  CHECK(type_of<self_described>().copy == nullptr);
  CHECK(type_of<std::vector<std::unique_ptr<int>>>().copy == nullptr);
  CHECK((type_of<std::pair<int, std::unique_ptr<int>>>().copy) == nullptr);
  CHECK(type_of<sample>().copy != nullptr);
  CHECK(type_of<std::int32_t>().copy != nullptr);
}

namespace {

template <class T> void agree(bool expected) {
  INFO(type_of<T>().name);
  CHECK(stackable<T> == expected);
  CHECK(can_stack(type_of<T>()) == expected);
  CHECK((batched_of(&type_of<T>()) != nullptr) == expected);
}

}  // namespace

TEST_CASE("the concept and the descriptor agree on stackable types") {
  agree<std::int64_t>(true);
  agree<bool>(true);
  agree<colour>(true);
  agree<std::string>(true);
  agree<record>(true);
  agree<std::array<float, 3>>(true);
  agree<std::array<sample, 2>>(true);
  agree<std::vector<std::string>>(true);
  agree<std::optional<double>>(true);
  agree<sample>(true);
  agree<nested>(true);
  agree<std::pair<sample, batched<int>>>(true);
  agree<batched<batched<sample>>>(true);
  agree<self_described>(true);
  agree<std::unique_ptr<int>>(false);
  agree<secretive>(false);
  agree<shared>(false);
  agree<std::map<int, int>>(false);
  agree<std::vector<std::unique_ptr<int>>>(false);
  agree<std::pair<int, secretive>>(false);
}
