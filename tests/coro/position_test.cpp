// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/position.hpp"

#include <catch2/catch.hpp>

#include <thread>

#include "coro/positions/position_records.hpp"

namespace sluice::lib::position_test {

namespace {

std::vector<std::uint64_t> counting(std::uint64_t first, std::uint64_t n) {
  std::vector<std::uint64_t> v(n);
  for (auto& x : v) x = first++;
  return v;
}
std::vector<std::uint64_t> read_log(position_reader& r) {
  std::vector<std::uint64_t> v(r.count());
  for (auto& x : v) x = r.number();
  return v;
}

}  // namespace

TEST_CASE("numbers of any size come back, in as few bytes as they need", "[position]") {
  position_writer w;
  std::vector<std::uint64_t> all = {0, 1, 127, 128, 16383, 16384, std::uint64_t{1} << 32, ~std::uint64_t{0}};
  for (auto n : all) w.number(n);
  CHECK(w.bytes().size() == 1 + 1 + 1 + 2 + 2 + 3 + 5 + 10);
  std::string bytes = w.bytes();
  position_reader r(bytes);
  for (auto n : all) CHECK(r.number() == n);
  CHECK(r.ok());
  CHECK(r.done());
}

TEST_CASE("damage turns a reader off, once and for all, and gives zeros", "[position]") {
  std::vector<std::string> damaged = {"", "\x80", std::string(10, '\xff'), std::string(30, '\x80')};
  for (const std::string& bytes : damaged) {
    position_reader r(bytes);
    CHECK(r.number() == 0);
    CHECK_FALSE(r.ok());
    CHECK(r.number() == 0);
    CHECK(r.text().empty());
    CHECK(r.count() == 0);
    std::uint32_t raw = 7;
    r.raw(&raw, sizeof raw);
    CHECK(raw == 0);
  }
}

TEST_CASE("a length or count beyond the data is damage, and nothing is allocated for it", "[position]") {
  position_writer w;
  w.number(std::uint64_t{1} << 40);
  std::string bytes = w.bytes() + "abc";
  position_reader text(bytes), count(bytes);
  CHECK(text.text().empty());
  CHECK_FALSE(text.ok());
  CHECK(count.count() == 0);
  CHECK_FALSE(count.ok());
}

TEST_CASE("bytes written late are at their reserved place, also inside another position", "[position]") {
  decision_log log;
  auto inner = std::make_shared<position_writer>();
  inner->number(5);
  inner->log(log.here());
  position_writer whole;
  whole.text("head");
  whole.number(1);
  whole.blob(inner);
  whole.number(2);
  whole.number(3);
  for (auto v : counting(100, 3)) log.add(v);  // after the position was taken
  std::string bytes = whole.bytes();
  position_reader r(bytes);
  CHECK(r.text() == "head");
  CHECK(r.number() == 1);
  position_reader in(r.text());
  CHECK(in.number() == 5);
  CHECK(read_log(in) == counting(100, 3));
  CHECK(in.done());
  CHECK(r.number() == 2);
  CHECK(r.number() == 3);
  CHECK(r.done());
}

TEST_CASE("positions inside of one another are written in time proportional to their bytes", "[position]") {
  // Written again at each level, these positions would be 40 GB.
  constexpr std::uint64_t kLevels = 2'000;
  const std::string own(20'000, 'x');
  decision_log log;
  auto whole = std::make_shared<position_writer>();
  whole->log(log.here());
  for (std::uint64_t level = 0; level != kLevels; ++level) {
    auto outer = std::make_shared<position_writer>();
    outer->number(level);
    outer->blob(std::move(whole));
    outer->text(own);
    whole = std::move(outer);
  }
  log.add(7);
  const std::string bytes = whole->bytes();
  std::string_view rest = bytes;
  for (std::uint64_t level = kLevels; level-- != 0;) {
    position_reader r(rest);
    REQUIRE(r.number() == level);
    rest = r.text();
    REQUIRE(r.text() == own);
    REQUIRE(r.done());
  }
  position_reader r(rest);
  CHECK((read_log(r) == std::vector<std::uint64_t>{7}));
  CHECK(r.done());
}

TEST_CASE("a place in a log gives everything from there on, across chunks", "[position]") {
  for (std::uint64_t before : {0, 1, 63, 64, 65, 128, 200}) {
    decision_log log;
    for (auto v : counting(0, before)) log.add(v);
    auto here = log.here();
    CHECK(here.read().empty());
    for (auto v : counting(before, 130)) log.add(v);
    CHECK(here.read() == counting(before, 130));
  }
}

TEST_CASE("a log of any length is dropped without a deep stack", "[position]") {
  decision_log::place first;
  {
    decision_log log;
    first = log.here();
    for (std::uint64_t i = 0; i != 20'000'000; ++i) log.add(i);
  }
  first = decision_log::place();
}

TEST_CASE("a reader may follow a log while it grows", "[position][stress]") {
  decision_log log;
  auto first = log.here();
  constexpr std::uint64_t kValues = 20'000;
  std::thread writer([&log] {
    for (std::uint64_t i = 0; i != kValues; ++i) log.add(i);
  });
  for (std::size_t seen = 0; seen < kValues;) {
    auto values = first.read();
    REQUIRE(values.size() >= seen);
    seen = values.size();
    REQUIRE((values == counting(0, seen)));  // not printed: a gap is one all the same
  }
  writer.join();
}

namespace {

mark of_stage(std::uint32_t site, std::uint64_t ordinal, std::uint64_t residual) {
  mark m;
  m.site = site;
  m.ordinal = ordinal;
  m.residual = residual;
  return m;
}

}  // namespace

TEST_CASE("records are found by site, in any order, each once", "[position]") {
  mark upper = of_stage(7, 300, 2), lower = of_stage(9, 5, 0);
  upper.version = 3;
  upper.state.number(1000);
  upper.own_bytes = upper.state.size_bytes();
  lower.state.text("here");
  lower.own_bytes = lower.state.size_bytes();
  upper.state.record(lower, 6);
  position_writer w;
  w.record(upper, 304);
  position_records records(w.bytes());
  CHECK(records.take(8) == nullptr);
  const position_record* l = records.take(9);
  REQUIRE(l);
  CHECK(l->ordinal == 6);
  CHECK(l->to_pass == 1);
  CHECK(position_reader(l->saved).text() == "here");
  CHECK(records.take(9) == nullptr);
  CHECK_FALSE(records.finish().ok());  // the upper stage's state belongs to nobody
  const position_record* u = records.take(7);
  REQUIRE(u);
  CHECK(u->ordinal == 304);
  CHECK(u->to_pass == 6);
  CHECK(u->version == 3);
  CHECK(position_reader(u->saved).number() == 1000);
  CHECK(records.finish().ok());
}

TEST_CASE("an unread record is tolerated if it held nothing", "[position]") {
  for (std::uint64_t residual : {0, 1}) {
    position_writer w;
    w.record(of_stage(7, 300, residual), 300);
    position_records records(w.bytes());
    CHECK(records.finish().ok() == (residual == 0));
  }
}

TEST_CASE("bytes that a stage writes late stay in its record", "[position]") {
  decision_log log;
  mark lower = of_stage(9, 5, 0), upper = of_stage(7, 8, 0);
  lower.state.log(log.here());
  lower.own_bytes = lower.state.size_bytes();
  upper.state.number(1);
  upper.own_bytes = upper.state.size_bytes();
  upper.state.record(lower, 5);
  position_writer w;
  w.record(upper, 8);
  for (auto v : counting(100, 3)) log.add(v);
  position_records records(w.bytes());
  const position_record* l = records.take(9);
  REQUIRE(l);
  position_reader saved(l->saved);
  CHECK(read_log(saved) == counting(100, 3));
  CHECK(saved.done());
  const position_record* u = records.take(7);
  REQUIRE(u);
  CHECK(u->saved.size() == 1);
  CHECK(records.finish().ok());
}

TEST_CASE("records that end early, or skip more than exists, are damage", "[position]") {
  position_writer w;
  w.record(of_stage(7, 300, 2), 300);
  std::string whole = w.bytes();
  for (std::size_t n = 1; n != whole.size(); ++n) CHECK_FALSE(position_records(whole.substr(0, n)).finish().ok());
  position_writer impossible;
  impossible.record(of_stage(7, 3, 4), 3);
  CHECK_FALSE(position_records(impossible.bytes()).finish().ok());
}

TEST_CASE("a mark for a later element goes back by the elements to pass over that do not exist", "[position]") {
  mark m;
  m.ordinal = 3;
  m.residual = 1;
  m.advance_to(10);  // its state stands before the element 2
  CHECK(m.residual == 8);
  m.pass_over_less(6);
  CHECK(m.ordinal == 4);
  CHECK(m.residual == 2);
  m.pass_over_less(2);
  CHECK(m.ordinal == 2);
  CHECK(m.residual == 0);
}

}  // namespace sluice::lib::position_test
