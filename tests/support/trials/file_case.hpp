// SPDX-License-Identifier: Apache-2.0
// What the cases of verbs that read files have in common: how such a file is packed and read, and what stands in it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "format/packed.hpp"
#include "sluice/op/map.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::test {

/// As it is, or gzip, or any other way that is recognised, as digits of `b` have it; half are as they are.
inline std::string packed(std::string bytes, std::uint64_t b) {
  if (b % 4 == 2) return testing::gzipped(bytes, 1);
  if (b % 4 < 2) return bytes;
  static const std::vector<compression> ways = testing::built_in_compressions();
  const compression way = ways[b / 32 % ways.size()];
  return testing::packed(way == compression::snappy_blocks ? compression::zlib : way, bytes, 1);
}

/// How a file is read, of other digits of `b`: in pieces of some records or all at once, how many reads go on at a time, and by how
/// many tasks its texts are parsed.
template <class Options> Options some_reading(const verb_use& use) {
  Options o;
  if (use.b / 4 % 2) o.read_bytes = 4096;
  o.reads_in_flight = use.knob_or(1 + static_cast<std::int64_t>(use.b / 8 % 4));
  if constexpr (requires { o.parallelism; })
    o.parallelism = use.b / 32 % 2 ? use.knob_or(1 + static_cast<std::int64_t>(use.b / 64 % 3)) : 1;
  return o;
}

/// The numbers of records or lines that stand for the places of a source's elements.
template <class Slice> dataset<std::int64_t> elements_of(const dataset<Slice>& in, const verb_use& use) {
  // Only this is captured: a knob in a function would make another plan of it.
  return in | map([from = use.opened_for](const Slice& s) { return source_element(number_in(s), from); });
}

}  // namespace sluice::lib::test
