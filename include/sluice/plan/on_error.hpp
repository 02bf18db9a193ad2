// SPDX-License-Identifier: Apache-2.0
// on_error: sets the error policy of the operators inside.
//
//   files | on_error(error_policy::skip, map(parse)) | batch(64)  // in text: … | map(parse, on_error=skip) | …
//   files | on_error(error_policy::skip, map(parse) | filter(is_whole), {.errors_max = 100})  // 100 in each of the two
//   on_error(error_policy::skip, tfrecord("a"))                   // for a source, or any dataset
//   names | interleave(on_error(error_policy::skip, tfrecord))    // for a reader
//   on_error(quarantine("bad.tfrecord"), tfrecord("a"))           // skip, and store dropped elements there
//
// It makes no stage, but sets an argument that every operator has (plan/node.hpp, error_handling). An operator inside
// that has a policy already keeps it, and an ignore_errors inside is unchanged. The policy of a flat_map or an
// interleave also applies to the inner plans that it opens.
// Errors: invalid_argument when the plan is built: errors_max with error_policy::stop, or below 0.
// See:    op/ignore_errors.hpp, for all stages upstream of it.
#pragma once

#include <utility>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

struct on_error_options {
  error_limit errors_max = {};  ///< for each operator inside; one more bad element ends the stream
};

template <stage S> class handling_stage : public stage_base_tag {
 public:
  handling_stage(S inside, error_handling errors) : inside_(std::move(inside)), errors_(errors) {}
  template <class T> auto apply(const dataset<T>& in) const {
    auto out = in | inside_;
    using result = decltype(out);
    if constexpr (std::is_same_v<result, dataset<refused>>) return out;
    else return result(with_error_handling(out.plan(), errors_, in.plan().get()));
  }

 private:
  S inside_;
  error_handling errors_;
};

template <stage S> handling_stage<S> on_error(error_policy policy, S inside, on_error_options o = {}) {
  return {std::move(inside), {policy, o.errors_max, {}}};
}
template <class T> dataset<T> on_error(error_policy policy, const dataset<T>& inside, on_error_options o = {}) {
  return dataset<T>(with_error_handling(inside.plan(), {policy, o.errors_max, {}}));
}
template <reader_verb R> auto on_error(error_policy policy, const R& inside, on_error_options o = {}) {
  auto reader = reader_of(inside);
  return decltype(reader)(with_error_handling(reader.plan(), {policy, o.errors_max, {}}));
}

// The policy error_policy::skip; dropped elements are stored in a file (docs/errors.md, Quarantine).
template <stage S> handling_stage<S> on_error(quarantine into, S inside, on_error_options o = {}) {
  return {std::move(inside), {error_policy::skip, o.errors_max, std::move(into)}};
}
template <class T> dataset<T> on_error(quarantine into, const dataset<T>& inside, on_error_options o = {}) {
  return dataset<T>(with_error_handling(inside.plan(), {error_policy::skip, o.errors_max, std::move(into)}));
}
template <reader_verb R> auto on_error(quarantine into, const R& inside, on_error_options o = {}) {
  auto reader = reader_of(inside);
  return decltype(reader)(with_error_handling(reader.plan(), {error_policy::skip, o.errors_max, std::move(into)}));
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::on_error;
using lib::on_error_options;

}  // namespace sluice
