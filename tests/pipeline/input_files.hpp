// SPDX-License-Identifier: Apache-2.0
// One list of elements as a file of every format and compression, and every way of reading it.
#pragma once

#include <string>
#include <vector>

#include "format/compressed.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::testing {

enum class file_format { lines, tfrecord, fixed_length };
inline constexpr file_format kFormats[] = {file_format::lines, file_format::tfrecord, file_format::fixed_length};
inline constexpr compression kCompressions[] = {compression::none, compression::gzip, compression::zlib};

inline std::string name_of(file_format f) {
  return f == file_format::lines ? "lines" : f == file_format::tfrecord ? "tfrecord" : "fixed_length";
}

inline constexpr std::size_t kElementBytes = 200;

/// Letters that hardly compress, so that compressed files are longer than what is read at once.
inline texts some_elements(std::size_t n, std::uint64_t seed = 1) {
  texts all(n);
  for (std::size_t i = 0; i != n; ++i) {
    all[i] = std::to_string(i) + ":";
    for (std::uint64_t k = 0; all[i].size() < kElementBytes; ++k) {
      std::uint64_t word = draw(derive(seed, i), k);
      for (int c = 0; c != 8 && all[i].size() < kElementBytes; ++c, word >>= 8)
        all[i] += static_cast<char>('0' + (word & 63));
    }
  }
  return all;
}

inline std::string file_bytes(file_format f, compression c, const texts& elements) {
  std::string bytes;
  for (const std::string& e : elements) {
    if (f == file_format::tfrecord) append_tfrecord(bytes, e);
    else bytes.append(e).append(f == file_format::lines ? "\n" : "");
  }
  if (c == compression::gzip) return gzipped(bytes, 1);
  return c == compression::zlib ? zlibbed(bytes, 1) : bytes;
}

/// Calls use(dataset, reader): of the path, and of any path.
template <class Use> void with_reader(file_format f, const std::string& path, Use use) {
  constexpr std::int64_t kRead = 4096;
  constexpr auto kEach = static_cast<std::int64_t>(kElementBytes);
  if (f == file_format::lines) use(lines(path, {.read_bytes = kRead}), lines({.read_bytes = kRead}));
  else if (f == file_format::tfrecord) use(tfrecord(path, {.read_bytes = kRead}), tfrecord({.read_bytes = kRead}));
  else
    use(fixed_length(path, {.record_bytes = kEach, .read_bytes = kRead}),
        fixed_length({.record_bytes = kEach, .read_bytes = kRead}));
}

/// Calls use(how, dataset of text) for the source alone, behind a channel, and in a parallel interleave.
template <class Use> void for_each_way(file_format f, const std::string& path, Use use) {
  auto text = [](const auto& x) { return std::string(x.view()); };
  with_reader(f, path, [&](auto ds, auto reader) {
    use(std::string("directly"), ds | map(text));
    use(std::string("behind prefetch"), ds | prefetch(2) | map(text));
    // Named by a list of one, and not listed: a listing is an input of its own.
    use(std::string("in a parallel interleave"), from_elements(std::vector<std::string>{path}) |
                                                     interleave(reader, {.cycle_length = 2, .parallelism = 2}) |
                                                     map(text));
  });
}

/// As run(), and once `after` elements have come, `change()` is called; no positions are taken.
template <class T, class Change>
task<void> run_changing_into(runtime& rt, const dataset<T>& ds, std::size_t after, Change& change, outcome& o) {
  iterate_options options;
  stream<T> s = ds.iterate(rt, options);
  for (;;) {
    if (o.elements.size() == after) change();
    auto x = co_await s.try_next();
    if (!x) {
      o.why = x.why;
      break;
    }
    o.elements.push_back(shown(*x));
  }
  o.report = report_of(s);
  auto end = cleanup(std::move(s));
  co_await end;
}
template <class T, class Change>
outcome run_changing(runtime& rt, const dataset<T>& ds, std::size_t after, Change change) {
  outcome o;
  sync_wait(rt, run_changing_into(rt, ds, after, change, o));
  return o;
}

}  // namespace sluice::lib::testing
