// SPDX-License-Identifier: Apache-2.0
#include "format/csv/csv_writer.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <random>

#include "sluice/element/batched.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib::csv_writer_test {

namespace {

struct place {
  std::string town;
  std::pair<float, float> at;
};
struct person {
  std::string name;
  std::optional<std::int64_t> age;
  place home;
  bool is_known = false;
};
struct with_list {
  std::int64_t id = 0;
  std::pair<std::int64_t, std::vector<int>> inner;
};
enum class colour : std::uint8_t { red, green };

template <class T> std::string row(const T& x) {
  std::string out;
  csv_writer::of(type_of<T>()).value().append(&x, out);
  return out;
}
template <class T> std::string refusal() {
  auto writer = csv_writer::of(type_of<T>());
  return writer.ok() ? "" : std::string(writer.why().message());
}

/// As RFC 4180 has it, and nothing of the writer's: rows of fields.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < text.size();) {
    auto& fields = rows.emplace_back();
    for (bool more = true; more; ++i) {
      std::string& field = fields.emplace_back();
      if (text.at(i) == '"') {
        for (++i;; ++i) {
          if (text.at(i) != '"') field += text[i];
          else if (i + 1 < text.size() && text[i + 1] == '"') field += text[++i];
          else break;
        }
        ++i;
      } else {
        while (text.at(i) != ',' && text[i] != '\n') field += text[i++];
      }
      more = text.at(i) == ',';
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("a field of CSV is in quotes where it has to be") {
  auto field = [](std::string_view text) {
    std::string out;
    append_csv_field(out, text);
    return out;
  };
  CHECK(field("a b;c\td") == "a b;c\td");
  CHECK(field("a,b") == "\"a,b\"");
  CHECK(field("say \"hi\"") == "\"say \"\"hi\"\"\"");
  CHECK(field("\"") == "\"\"\"\"");
  CHECK(field("two\nlines") == "\"two\nlines\"");
  CHECK(field("\r") == "\"\r\"");
  CHECK(field(" blank") == "\" blank\"");
  CHECK(field("blank\t") == "\"blank\t\"");
  CHECK(field("").size() == 2);
  CHECK(field("\xff\x01") == "\xff\x01");
}

TEST_CASE("columns of CSV are members, inner ones by dotted paths") {
  auto writer = csv_writer::of(type_of<person>()).value();
  std::string out;
  writer.append_header(out);
  CHECK(out == "name,age,home.town,home.at.first,home.at.second,is_known\n");
  CHECK(row(person{"Ann, B", 41, {"Ulm", {0.1f, -3}}, true}) == "\"Ann, B\",41,Ulm,0.1,-3.0,true\n");
  CHECK(row(person{"", {}, {" x", {1e30f, 0}}, false}) == "\"\",,\" x\",1e+30,0.0,false\n");
  CHECK(row(std::tuple<int, std::string>(1, "b")) == "1,b\n");
  CHECK(row(std::int64_t{-7}) == "-7\n");
  CHECK(row(colour::green) == "1\n");
  std::string header;
  csv_writer::of(type_of<std::int64_t>()).value().append_header(header);
  CHECK(header == "value\n");
}

TEST_CASE("an optional without a value is nothing in CSV, but no empty line; numbers read back to the same") {
  CHECK(row(std::optional<std::string>()) == "\"\"\n");
  CHECK(row(std::pair(std::optional<std::string>(), std::optional<std::string>(""))) == ",\"\"\n");
  CHECK(row(std::numeric_limits<double>::quiet_NaN()) == "nan\n");
  CHECK(row(-std::numeric_limits<float>::quiet_NaN()) == "nan\n");
  CHECK(row(-std::numeric_limits<float>::infinity()) == "-inf\n");
  CHECK(row(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615\n");
  std::mt19937_64 draw(3);
  for (int i = 0; i != 2000; ++i) {
    double x;
    std::uint64_t bits = draw();
    std::memcpy(&x, &bits, sizeof x);
    if (std::isnan(x)) continue;
    CHECK(std::strtod(row(x).c_str(), nullptr) == x);
  }
}

TEST_CASE("a reader of RFC 4180 reads the written rows") {
  std::mt19937_64 draw(11);
  constexpr std::string_view kLetters("a\",\n\r \t\0\xc3\xa9;'x", 13);
  std::string out;
  std::vector<std::vector<std::string>> expected;
  for (int i = 0; i != 3000; ++i) {
    std::pair<std::string, std::string> x;
    for (std::string* text : {&x.first, &x.second})
      for (auto n = draw() % 6; n != 0; --n) *text += kLetters[draw() % kLetters.size()];
    out += row(x);
    expected.push_back({x.first, x.second});
  }
  CHECK(read_csv(out) == expected);
}

TEST_CASE("a type without a form in CSV is refused by its path, with advice") {
  CHECK_THAT(refusal<with_list>(), Catch::Contains("inner.second is int32[]") && Catch::Contains("jsonl"));
  CHECK_THAT(refusal<tensor>(), Catch::Contains("value is tensor"));
  CHECK_THAT(refusal<batched<int>>(), Catch::Contains("| unbatch"));
  CHECK_THAT((refusal<std::optional<std::pair<int, int>>>()), Catch::Contains("value is "));
}

}  // namespace sluice::lib::csv_writer_test
