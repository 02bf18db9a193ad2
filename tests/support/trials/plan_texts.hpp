// SPDX-License-Identifier: Apache-2.0
// What a plan gives, and why it is refused, as texts.
#pragma once

#include <string>

#include "sluice/sluice.hpp"

namespace sluice::lib::test {

/// The elements as JSON prints them, with a space between.
template <class T> task<std::string> elements_of(stream<T> s) {
  std::string out;
  while (auto x = co_await s.next()) {
    if (!out.empty()) out += ' ';
    print(type_of<T>(), &*x, out);
  }
  co_return out;
}
template <class T> std::string elements(const dataset<T>& ds, bool in_parallel = false) {
  runtime rt({.workers = in_parallel ? 2u : 1u});
  return sync_wait(rt, elements_of(ds.iterate(rt)));
}
template <class T> std::string elements(const std::string& plan) { return elements(dataset<T>(parse_plan(plan))); }

/// The message of a plan's error.
inline std::string refusal_of(const std::string& plan) {
  try {
    parse_plan(plan);
  } catch (const error& e) { return std::string(e.why().message()); }
  return "no error";
}

}  // namespace sluice::lib::test
