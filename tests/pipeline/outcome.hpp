// SPDX-License-Identifier: Apache-2.0
// What a whole run came to: its elements as text, how it ended, and a checkpoint before each element and at the end.
//
//   outcome got = run(rt, tfrecord(path), {.on_error = error_policy::skip});
//   got.elements, got.why, got.report.errors, got.places[i]
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sluice/sluice.hpp"

namespace sluice::lib::testing {

inline std::string shown(std::int64_t x) { return std::to_string(x); }
inline std::string shown(const std::string& s) { return s; }
inline std::string shown(std::string_view s) { return std::string(s); }
inline std::string shown(const std::unique_ptr<std::int64_t>& x) { return std::to_string(*x); }
template <class T>
  requires requires(const T& t) { t.view(); }
std::string shown(const T& t) {
  return std::string(t.view());
}
template <class T> std::string shown(const batched<T>& b) {
  std::string all = "[";
  for (auto&& x : b.values()) all.append(all.size() > 1 ? " " : "").append(shown(x));
  return all + "]";
}

struct outcome {
  std::vector<std::string> elements;
  std::vector<checkpoint> places;  ///< places[i]: before element i; one more after the last
  status why;                      ///< ok: the end was reached
  run_report report;
  std::string message() const { return why.to_string(); }
};

template <class T> task<void> drain_into(stream<T>& s, outcome& o) {
  o.places.push_back(s.position());
  for (;;) {
    auto x = co_await s.try_next();
    if (!x) {
      o.why = x.why;
      break;
    }
    o.elements.push_back(shown(*x));
    o.places.push_back(s.position());
  }
}

template <class T> task<void> run_into(runtime& rt, const dataset<T>& ds, const iterate_options& options, outcome& o) {
  stream<T> s = ds.iterate(rt, options);
  auto draining = drain_into(s, o);
  co_await draining;
  o.report = report_of(s);
  auto end = cleanup(std::move(s));
  co_await end;
}

template <class T> outcome run(runtime& rt, const dataset<T>& ds, const iterate_options& options = {}) {
  outcome o;
  try {
    sync_wait(rt, run_into(rt, ds, options, o));
  } catch (const error& e) {  // not even a stream: a checkpoint that does not fit, for example
    o.why = e.why();
  }
  return o;
}

}  // namespace sluice::lib::testing
