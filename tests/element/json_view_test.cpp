// SPDX-License-Identifier: Apache-2.0
// element/text/json_view.hpp: JSON that is read where it stands, and what value_from_json takes for it.
#include "element/text/json_view.hpp"

#include <catch2/catch.hpp>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sluice/element/value.hpp"
#include "support/process_memory.hpp"
#include "support/random/random_numbers.hpp"

namespace sluice::lib::json_view_test {
using detail::checked_json;
using detail::json_items;
using detail::json_value;
using sluice::lib::test::random_numbers;

namespace {

/// The document that walking along the text finds.
nlohmann::json rebuilt(const json_value& v) {
  switch (v.kind()) {
    case json_value::null: return nullptr;
    case json_value::boolean: return v.spelled() == "true";
    case json_value::number: return nlohmann::json::parse(v.spelled());
    case json_value::string: return v.text();
    case json_value::array: {
      auto out = nlohmann::json::array();
      for (json_items items(v); items.next();) out.push_back(rebuilt(items.value()));
      CHECK(out.size() == v.count());
      return out;
    }
    case json_value::object: {
      auto out = nlohmann::json::object();
      for (json_items items(v); items.next();) out[items.name()] = rebuilt(items.value());
      return out;
    }
  }
  return {};
}

nlohmann::json random_json(random_numbers& r, int depth) {
  const auto kind = r.below(depth == 0 ? 5 : 7);
  if (kind == 0) return nullptr;
  if (kind == 1) return r.below(2) == 0;
  if (kind == 2) return static_cast<std::int64_t>(r.below(1000)) - 500;
  if (kind == 3) return static_cast<double>(r.below(1000)) / 7;
  auto text = [&] {
    static const std::vector<std::string> pieces{"a",  "\"", "\\", "\n", "\x01", "ä", "日",
                                                 "😀", "]",  "{",  ",",  "/",    " "};
    std::string out;
    for (auto n = r.below(6); n != 0; --n) out += pieces[r.below(pieces.size())];
    return out;
  };
  if (kind == 4) return text();
  nlohmann::json out = kind == 5 ? nlohmann::json::array() : nlohmann::json::object();
  for (auto n = r.below(5); n != 0; --n) {
    if (kind == 5) out.push_back(random_json(r, depth - 1));
    else out[text()] = random_json(r, depth - 1);
  }
  return out;
}

struct taken {
  std::size_t peak_bytes;
};

}  // namespace

TEST_CASE("walking along a text finds the same values as a parser", "[element]") {
  random_numbers r(7);
  for (int i = 0; i != 3000; ++i) {
    const nlohmann::json j = random_json(r, 4);
    // Plainly, with spaces, and with all characters escaped that can be.
    for (const std::string& text :
         {j.dump(), " \n" + j.dump(3) + "\t ", j.dump(-1, ' ', true), "\xEF\xBB\xBF" + j.dump()}) {
      INFO(text);
      CHECK(rebuilt(checked_json(text)) == j);
    }
  }
  CHECK(checked_json(R"("\b\f\n\r\t\/\\\"\u0041\u00e4\u65E5\uD83D\uDE00")").text() == "\b\f\n\r\t/\\\"Aä日😀");
}

TEST_CASE("text that is not JSON is refused before anything is read", "[element]") {
  for (std::string_view text : {"", " ", "[", "[1", "[1,]", "{\"a\"}", "{\"a\":}", "\"\\x\"", "\"\\uD800\"", "\"\xff\"",
                                "01", "1 2", "tru", "[1}", "nul", "\"a", "{\"a\":1,}"}) {
    INFO(text);
    CHECK_THROWS_AS(checked_json(text), error);
  }
}

TEST_CASE("a value from JSON takes memory for itself, and not for a document", "[element]") {
  if (testing::kSanitized) return;
  std::string numbers = "[1";
  for (int i = 1; i != 4'000'000; ++i) numbers += ",1";
  std::string rows = "[";
  for (int i = 0; i != 200'000; ++i) rows += i == 0 ? R"({"id":7,"text":"seven"})" : R"(,{"id":7,"text":"seven"})";
  (numbers += "]"), (rows += "]");
  auto bytes_of = [](const element_type& t, const std::string& text) {
    return testing::in_own_process<taken>([&] {
             auto v = value_from_json(t, text);
             if (!v.ok()) throw error(v.why());
             return taken{0};
           })
        .peak_bytes;
  };
  // The list, and the room in which its items are made.
  CHECK(bytes_of(type_of<std::vector<std::int8_t>>(), numbers) < 3 * numbers.size());
  auto t = type_from_text("{id: int64, text: string}[]");
  CHECK(bytes_of(**t, rows) < 5 * rows.size());
}

}  // namespace sluice::lib::json_view_test
