// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/fields.hpp"

#include <catch2/catch.hpp>

#include <limits>

namespace fields_test {

enum class fruit : std::uint8_t { apple, pear, plum };
struct all_options {
  sluice::lib::count size = {};
  sluice::lib::integer offset = {};
  bool flag = true;
  std::int64_t whole = -3;
  double real = 0.1;
  sluice::lib::knob parallelism = sluice::lib::autotune;
  sluice::lib::seed seed = {};
  sluice::lib::order order = sluice::lib::order::deterministic;
  fruit kind = fruit::pear;
  sluice::lib::byte_size memory = 64 << 20;
};

}  // namespace fields_test

template <> const sluice::lib::field_list& sluice::lib::fields_of<fields_test::all_options>() {
  return make_field_list<fields_test::all_options>();
}

using namespace sluice::lib;
using fields_test::all_options;

namespace {

std::string read(options& o, std::string_view name, std::string_view text, bool quoted = false) {
  auto* f = o.list().find(name);
  REQUIRE(f);
  auto expected = f->type->read(o.at(*f), text, quoted);
  return expected.empty() ? f->type->check(o.at(*f)) : "expects " + expected;
}

}  // namespace

TEST_CASE("an options struct is its field list") {
  auto& list = fields_of<all_options>();
  std::string names;
  for (auto& f : list.fields) names += std::string(f.name) + (f.required ? "! " : " ");
  CHECK(names == "size! offset! flag whole real parallelism seed order kind memory ");
  CHECK(list.find("colour") == nullptr);
}

TEST_CASE("a default prints, and what is printed reads back equal") {
  auto o = options::of(all_options{.size = 5, .offset = 0});
  std::string text;
  for (auto& f : o.list().fields) text += o.text(f) + " ";
  CHECK(text == "5 0 true -3 0.1 autotune -1 deterministic pear 64MiB ");
  options again(o.list());
  for (auto& f : o.list().fields) CHECK(again.list().find(f.name)->type->read(again.at(f), o.text(f), false) == "");
  CHECK(again == o);
  CHECK(again.as<all_options>().size == 5);
}

TEST_CASE("codecs say what they expect and which rule is broken") {
  options o(fields_of<all_options>());
  CHECK(read(o, "size", "0") == "at least 1");
  CHECK(read(o, "size", "1x") == "expects a whole number");
  CHECK(read(o, "size", "7", true) == "expects a whole number");
  CHECK(read(o, "flag", "yes") == "expects true or false");
  CHECK(read(o, "real", "inf") == "finite");
  CHECK(read(o, "real", "1e400") == "expects a number");
  CHECK(read(o, "parallelism", "0") == "at least 1, or autotune");
  CHECK(read(o, "parallelism", "fast") == "expects a whole number or autotune");
  CHECK(read(o, "kind", "fig") == "expects apple, pear or plum");
  CHECK(read(o, "kind", "plum") == "");
  CHECK(o.as<all_options>().kind == fields_test::fruit::plum);
  CHECK(read(o, "memory", "2 parsecs") == "expects a size in bytes, such as 64MiB (or 64M), 64MB, 4096");
  CHECK(o.check() == "size must be at least 1, and is 0");
  CHECK(read(o, "size", "1") == "");
  CHECK(o.check() == "offset must be given");
}

TEST_CASE("doubles print so that they read back the same") {
  for (double v : {0.1, 1e300, 5e-324, std::numeric_limits<double>::max(), -0.0}) {
    auto o = options::of(all_options{.real = v});
    auto* f = o.list().find("real");
    options again(o.list());
    CHECK(f->type->read(again.at(*f), o.text(*f), false) == "");
    CHECK(again.as<all_options>().real == v);
  }
}

TEST_CASE("sizes are read with units and printed with the largest that divides them") {
  std::int64_t bytes = 0;
  CHECK((read_byte_size("64MiB", bytes) && bytes == 64 << 20));
  CHECK((read_byte_size("1.5 KiB", bytes) && bytes == 1536));
  CHECK((read_byte_size("10kB", bytes) && bytes == 10000));
  CHECK((read_byte_size("9223372036854775807", bytes) && bytes == std::numeric_limits<std::int64_t>::max()));
  for (auto bad : {"", "MiB", "12 parsecs", "-5MiB", "99999999999TiB", "1e3"}) {
    INFO(bad);
    CHECK_FALSE(read_byte_size(bad, bytes));
  }
  CHECK(print_byte_size(64 << 20) == "64MiB");
  CHECK(print_byte_size(1025) == "1025");
  CHECK(print_byte_size(0) == "0");
}
