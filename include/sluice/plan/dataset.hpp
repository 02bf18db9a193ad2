// SPDX-License-Identifier: Apache-2.0
// dataset<T>: a pipeline as a value, and `|`.
//
//   auto ds = range(100) | shuffle(10, {.seed = 7}) | batch(4);       // dataset<batched<int64>>
//   auto tail = shuffle(10) | batch(2);                               // stages compose without a source
//   auto files = list_files("*.tfrecord") | interleave(tfrecord | take(3));   // a reader lacks its path
//
// A handle on an immutable plan: copying is cheap, one dataset serves many runs. Elements are typed here and erased
// below: a stage's apply() checks types with a static_assert, whose message is the first error the compiler prints.
// Thread: immutable.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sluice/plan/function.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

class runtime;
template <class T> class stream;
struct iterate_options;

/// What a stage returns that was refused at compile time, so that one mistake makes one error.
struct refused {};

namespace detail {
/// False. The condition of a stage's static_assert, so that the first line of the error names the element and the
/// function: "static assertion failed due to requirement 'element_is<long>::taken_by<(lambda …)>'".
template <class T> struct element_is {
  template <class F> static constexpr bool taken_by = false;
  template <class Source> static constexpr bool can_be_piped_into = false;
};
}  // namespace detail

/// What datasets and readers of all types hold. Its members are in the library: a program copies and destroys one for every
/// stage that it writes down, and compiles none of it.
class plan_holder {
 public:
  const node_ptr& plan() const noexcept { return node_; }

 protected:
  explicit plan_holder(node_ptr n) noexcept;
  /// Throws invalid_argument unless the plan yields t.
  plan_holder(node_ptr n, const element_type& t);
  plan_holder(const plan_holder& other) noexcept;
  plan_holder(plan_holder&& other) noexcept;
  plan_holder& operator=(const plan_holder& other) noexcept;
  plan_holder& operator=(plan_holder&& other) noexcept;
  ~plan_holder();

 private:
  node_ptr node_;
};

template <class T> class dataset : public plan_holder {
 public:
  using value_type = T;
  /// Errors: invalid_argument: the plan yields another type.
  explicit dataset(node_ptr n) : plan_holder(std::move(n), type_of<T>()) {}

  /// Starts a run, which keeps the plan. Defined in pipeline/.
  stream<T> iterate(runtime& rt) const;
  stream<T> iterate(runtime& rt, const iterate_options& o) const;
};
template <> class dataset<refused> {};

/// Every stage derives from this and has `apply(const dataset<T>&)`.
struct stage_base_tag {};
template <class S> concept stage = std::derived_from<S, stage_base_tag>;

/// The class of verbs that take elements of any type T and give elements of type Out<T>. A verb that has to look at T, to
/// refuse some or to keep a function of it, has a class of its own, NAME_verb.
template <template <class> class Out> class verb : public stage_base_tag {
 public:
  verb(const op_info& op, arguments a) : op_(&op), arguments_(std::move(a)) {}
  template <class T> dataset<Out<T>> apply(const dataset<T>& in) const {
    return dataset<Out<T>>(make_stage(*op_, arguments_, in.plan()));
  }

 private:
  const op_info* op_;
  arguments arguments_;
};
/// Of those that keep the element type.
using preserving = verb<std::type_identity_t>;

template <stage A, stage B> class composed : public stage_base_tag {
 public:
  composed(A a, B b) : a_(std::move(a)), b_(std::move(b)) {}
  template <class T> auto apply(const dataset<T>& in) const { return in | a_ | b_; }

 private:
  A a_;
  B b_;
};

// By value: a greedy operator| in the element's own namespace then loses to these.
template <class T, stage S> auto operator|(dataset<T> in, S s) {
  if constexpr (std::is_same_v<T, refused>) return in;
  else return s.apply(in);
}
template <stage A, stage B> composed<A, B> operator|(A a, B b) { return {std::move(a), std::move(b)}; }

// What cannot be piped, with words of its own.
template <class T, class U> auto operator|(dataset<T>, dataset<U>) {
  static_assert(detail::element_is<T>::template can_be_piped_into<dataset<U>>,
                "sluice: a source stands first and takes no input, so nothing can be piped into it; flat_map and "
                "interleave open a dataset for each element");
  return dataset<refused>();
}
template <stage A, class U> auto operator|(A, dataset<U>) {
  static_assert(detail::element_is<U>::template can_be_piped_into<dataset<U>>,
                "sluice: a source stands first and takes no input, so nothing can be piped into it");
  return dataset<refused>();
}

/// A plan that lacks its path: what interleave opens once for each name.
template <class T> class file_reader : public plan_holder {
 public:
  using value_type = T;
  explicit file_reader(node_ptr n) : plan_holder(std::move(n)) {}
  const file_reader& as_reader() const noexcept { return *this; }
  dataset<T> operator()(std::string_view path) const { return dataset<T>(with_path(plan(), path)); }
};

/// What can stand as a reader: a file_reader, or a verb that makes one (tfrecord, lines), which says so by
/// `file_reader<T> as_reader() const`.
template <class R> concept reader_verb = requires(const R& r) { r.as_reader().plan(); };
template <reader_verb R> auto reader_of(const R& r) { return r.as_reader(); }

template <class T, reader_verb R> auto operator|(dataset<T>, const R&) {
  static_assert(detail::element_is<T>::template can_be_piped_into<R>,
                "sluice: a source takes no input: give it its path, as in tfrecord(path), or open one for each element "
                "with interleave(tfrecord)");
  return dataset<refused>();
}
template <reader_verb R, stage S> auto operator|(const R& reader, S s) {
  auto in = reader_of(reader);
  auto out = s.apply(dataset<typename decltype(in)::value_type>(in.plan()));
  if constexpr (std::is_same_v<decltype(out), dataset<refused>>) return out;
  else return file_reader<typename decltype(out)::value_type>(out.plan());
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::dataset;
using lib::file_reader;

}  // namespace sluice
