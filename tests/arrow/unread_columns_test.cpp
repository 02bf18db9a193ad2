// SPDX-License-Identifier: Apache-2.0
// from_arrow with columns: the bytes of columns that nobody reads stay in the file, and what is delivered, dropped and
// refused is that of a reader of all columns.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>
#include <catch2/catch.hpp>

#include "sluice/pipeline/write.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::unread_columns_test {
namespace {

struct wide_row {
  std::int64_t a = 0;
  std::vector<float> floats;
  double x = 0;
  std::string text;
  bool flag = false;
  std::vector<std::string> words;
  std::optional<std::int64_t> maybe;
  std::optional<std::vector<std::int32_t>> numbers;
  std::vector<std::vector<std::int64_t>> nested;
  std::int64_t z = 0;
};

wide_row make_row(std::int64_t i) {
  wide_row r;
  r.a = i;
  r.x = static_cast<double>(i) / 4;
  r.flag = i % 3 == 0;
  r.z = i * 7;
  const auto few = static_cast<std::size_t>(i % 5);
  r.floats.assign(few + 4, static_cast<float>(i));
  r.text.assign(few + 20, static_cast<char>('a' + i % 26));
  r.words.assign(few, "word " + std::to_string(i));
  if (i % 4 != 0) r.maybe = i;
  if (i % 7 != 0) r.numbers.emplace(few, static_cast<std::int32_t>(i));
  r.nested.assign(few, {i, i + 1});
  return r;
}

class test_file {
 public:
  test_file(std::int64_t rows, std::int64_t together)
      : path_((std::filesystem::temp_directory_path() / ("unread_columns_" + std::to_string(getpid()) + ".arrow"))
                  .string()) {
    sync_wait(rt_, write(rt_, range(rows) | map(make_row) | batch(together), path_));
    std::ifstream in(path_, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
    schema_ = text_of();
  }
  ~test_file() { std::filesystem::remove(path_); }
  test_file(const test_file&) = delete;

  void put(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  const std::string& bytes() const { return bytes_; }
  /// A plan whose schema was read when the file was sound.
  std::string reading(const std::string& expression) const {
    return "from_arrow(\"" + path_ + "\", schema=\"" + schema_ + "\") | unbatch() | map(" + expression + ")";
  }
  runtime& rt() { return rt_; }

 private:
  static std::string text_of() {
    return "a: int64, floats: float[], x: double, text: string, flag: bool, words: string[], maybe: int64?, "
           "numbers: int32[]?, nested: int64[][], z: int64";
  }
  runtime rt_{{.workers = 1}};
  std::string path_, bytes_, schema_;
};

struct outcome {
  std::vector<std::int64_t> elements;
  std::string why;
  std::uint64_t dropped = 0;
  std::uint64_t read_bytes = 0;
  bool operator==(const outcome& o) const { return elements == o.elements && why == o.why && dropped == o.dropped; }
};

task<void> take_all(stream<std::int64_t>& s, std::vector<std::int64_t>& to) {
  while (const auto x = co_await s.next()) to.push_back(*x);
}

task<outcome> drained(stream<std::int64_t> s) {
  outcome o;
  auto taking = take_all(s, o.elements);
  status why = co_await taking.as_result();
  if (!why.ok()) o.why = why.to_string();
  const run_report report = s.report();
  o.dropped = report.errors;
  for (const site_report& site : report.sites) o.read_bytes += site.read_bytes;
  co_return o;
}

outcome run(test_file& f, const std::string& expression, bool with_rules, error_policy on_error = error_policy::stop,
            bool trust = false) {
  const dataset<std::int64_t> ds(parse_plan(f.reading(expression)));
  iterate_options o{.on_error = on_error};
  o.trust = trust;
  if (!with_rules) o.rules = rule_choice::none();
  return sync_wait(f.rt(), drained(ds.iterate(f.rt(), o)));
}

constexpr const char* kSome[] = {"a + z",          "int(x) + length(text)", "length(words)",
                                 "length(floats)", "length(nested)",        "if(flag, a, value_or(maybe, 3))"};

}  // namespace

TEST_CASE("columns that nobody reads stay in the file") {
  for (std::int64_t together : {64, 3000, 10'000}) {
    test_file f(20'000, together);
    for (const char* expression : kSome) {
      INFO(expression << " of batches of " << together);
      const outcome written = run(f, expression, false);
      REQUIRE(written.why.empty());
      REQUIRE(written.elements.size() == 20'000);
      REQUIRE(written.read_bytes >= f.bytes().size() - 16'000);
      for (bool trust : {false, true}) {
        const outcome rewritten = run(f, expression, true, error_policy::stop, trust);
        REQUIRE(rewritten == written);
        if (together == 10'000) CHECK(rewritten.read_bytes < f.bytes().size() * (trust ? 6 : 8) / 10);
      }
    }
  }
}

TEST_CASE("damage in columns that nobody reads is found at the same element") {
  test_file f(9000, 3000);
  std::string bytes = f.bytes();
  std::uint64_t found = 0;
  for (std::size_t i = 0; i != 400; ++i) {
    const std::size_t at = (i * 7919 * 131 + 17) % bytes.size();
    const auto turned = static_cast<char>(bytes[at] ^ static_cast<char>(1 << i % 8));
    const char before = std::exchange(bytes[at], turned);
    f.put(bytes);
    bytes[at] = before;
    for (error_policy policy : {error_policy::stop, error_policy::skip}) {
      const char* expression = kSome[i % std::size(kSome)];
      const outcome written = run(f, expression, false, policy), rewritten = run(f, expression, true, policy);
      INFO(expression << ", byte " << at << "\n" << written.why << "\n" << rewritten.why);
      REQUIRE(rewritten == written);
      found += !written.why.empty() || written.dropped != 0;
    }
  }
  CHECK(found > 10);
}

TEST_CASE("a file that is cut short ends with the same error") {
  test_file f(9000, 3000);
  for (std::size_t cut = 1; cut < f.bytes().size(); cut += 30'011) {
    f.put(f.bytes().substr(0, f.bytes().size() - cut));
    for (const char* expression : {"a + z", "length(words)"}) {
      const outcome written = run(f, expression, false);
      INFO(expression << ", cut by " << cut << ": " << written.why);
      REQUIRE(run(f, expression, true) == written);
    }
  }
}

}  // namespace sluice::lib::unread_columns_test
