// SPDX-License-Identifier: Apache-2.0
// Values as bytes, types and specs as text, values from JSON: whatever is read writes what it was read from.
#include <algorithm>

#include "fuzz/target.hpp"
#include "sluice/element/serialise.hpp"
#include "sluice/element/spec.hpp"
#include "sluice/element/value.hpp"
#include "support/random/random_values.hpp"

namespace sluice::lib::fuzz {
namespace {

constexpr parse_limits kLimits{.memory_bytes = std::size_t{1} << 20, .per_byte = 64};

/// The types of a few texts and a few hundred seeds: what is made lives for ever, so there must not be millions.
const element_type& type_at(std::uint8_t n, std::uint8_t m) {
  static constexpr std::string_view kTexts[] = {"int64",
                                                "string[]",
                                                "{a: int8, b: (string, bool?)}[]",
                                                "batch<{x: float[3], y: record?}>",
                                                "{}[]",
                                                "bool[5]?",
                                                "batch<string[][]>",
                                                "line??"};
  if (n < 128) return **type_from_text(kTexts[n % std::size(kTexts)]);
  test::random_numbers random(n * 4u + m % 4u);
  return test::random_type(random);
}

void bare(const element_type& t, std::string_view bytes) {
  auto v = parse_bare(t, bytes, kLimits);
  if (!v.ok()) return;
  std::string again;
  serialise_bare(t, v->data(), again);
  expect(again == bytes, "a value writes other bytes than it was read from");
  value copy = *v;
  expect(copy == *v && copy.hash() == v->hash(), "a copy differs from its value");
  expect(check(spec_of(t), *v).ok(), "a value does not fit the spec of its type");
  auto whole = parse_value(serialise(*v), kLimits);
  expect(whole.ok() || whole.why().code() == status_code::resource_exhausted, "a value's bytes are not read");
}

void from_json(const element_type& t, std::string_view text) {
  auto v = value_from_json(t, text);
  if (!v.ok()) return;
  auto printed = v->print();
  auto again = value_from_json(t, printed);
  expect(again.ok(), "what print writes is not read: " + printed);
  expect(again->print() == printed, "what print writes is read as something else: " + printed);
}

void texts(std::string_view text) {
  if (auto s = spec_from_text(text); s.ok()) {
    auto again = spec_from_text(s->text());
    expect(again.ok() && *again == *s, "a spec's text reads as something else");
    expect(holds(*s, *s) && is_compatible(*s, *s), "a spec does not hold itself");
    auto merged = merge(*s, *s);
    expect(merged.ok() && *merged == *s, "a spec merged with itself is another one");
  }
  auto t = type_from_text(text);
  if (!t.ok()) {
    auto code = t.why().code();
    expect(code == status_code::invalid_argument || code == status_code::resource_exhausted, t.why().to_string());
    return;
  }
  auto again = type_from_text(type_text(**t));
  expect(!again.ok() || is_same_type(**again, **t), "a type's text reads as another type");
}

}  // namespace

void value_input(std::string_view bytes) {
  input in(bytes);
  auto mode = in.byte();
  switch (mode % 4) {
    case 0: {
      auto v = parse_value(in.rest(), kLimits);
      if (!v.ok()) return;
      auto again = parse_value(serialise(*v), kLimits);
      expect(again.ok() ? *again == *v : again.why().code() == status_code::resource_exhausted,
             "a value's bytes are read as something else");
      return;
    }
    case 1: {
      auto n = in.byte(), m = in.byte();
      return bare(type_at(n, m), in.rest());
    }
    case 2: {
      auto n = in.byte(), m = in.byte();
      return from_json(type_at(n, m), in.rest());
    }
    default: return texts(in.rest());
  }
}

}  // namespace sluice::lib::fuzz
