// SPDX-License-Identifier: Apache-2.0
// What the file formats' sources have in common as verbs: `tfrecord("a")` is a dataset, `tfrecord` alone is a reader.
#pragma once

#include <string_view>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

/// A source over one path. Called with a path it is the dataset; without, or with options alone, a reader for
/// interleave and flat_map, to which stages may be applied: `interleave(tfrecord | take(3))`.
template <class T, class Options> class file_source {
 public:
  constexpr explicit file_source(std::string_view op) : op_(op) {}
  dataset<T> operator()(std::string_view path, Options o = {}) const {
    return dataset<T>(make_source(op_, options::of(o), std::string(path)));
  }
  file_reader<T> operator()(Options o) const { return file_reader<T>(make_reader(op_, options::of(o))); }
  file_reader<T> as_reader() const { return (*this)(Options{}); }

 private:
  std::string_view op_;
};

}  // namespace sluice::lib
