// SPDX-License-Identifier: Apache-2.0
// The verbs of the file formats: `tfrecord("a")` is a dataset, `tfrecord` alone is a reader, a plan that lacks its
// path.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

/// A source over one path. A call with a path returns the dataset. Without a call, or with options alone, it is a
/// reader for interleave and flat_map, to which stages may be applied: `interleave(tfrecord | take(3))`.
template <class T, class Arguments> class file_source {
 public:
  using options = decltype(Arguments::options);
  constexpr explicit file_source(const op_info& op) : op_(&op) {}
  dataset<T> operator()(std::string_view path, options o = {}) const {
    return dataset<T>(*op_, arguments::of(Arguments{std::string(path), o}));
  }
  template <class Option>
    requires(!std::is_convertible_v<Option, options>)
  dataset<T> operator()(std::string_view, Option) const {
    static_assert(detail::options_stand_in_braces<Option>,
                  "a reader: options stand in braces, with their names: tfrecord(\"a\", {.read_bytes = 1 << 20})");
    return detail::no_result<dataset<T>>();
  }
  file_reader<T> operator()(options o) const {
    return file_reader<T>(make_source(*op_, arguments::of(Arguments{{}, o})));
  }
  file_reader<T> as_reader() const { return (*this)(options{}); }

 private:
  const op_info* op_;
};

}  // namespace sluice::lib
