// SPDX-License-Identifier: Apache-2.0
// dataset<T>: a typed handle on a plan. Operators are connected by `|`.
//
//   auto ds = range(100) | shuffle(10, {.seed = 7}) | batch(4);       // dataset<batched<int64>>
//   auto tail = shuffle(10) | batch(2);                               // a part of a pipeline, without a source
//   auto files = list_files("*.tfrecord") | interleave(tfrecord | take(3));   // a reader: a plan that lacks its path
//
// The plan is immutable: copying a dataset is cheap, and one dataset may have many runs. Element types are checked
// here, when the program is compiled: a verb's apply() has a static_assert, whose message is the first error that the
// compiler prints. Below this class the library works with element_type descriptors.
// Thread: immutable.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/plan/function.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

class runtime;
struct spec;  // element/spec.hpp
template <class T> class stream;
template <class T> class task;
struct iterate_options;

/// The element type of apply()'s result after its static_assert has failed. Later operators report no further errors
/// for it.
struct refused {};

namespace detail {
/// Always false: the conditions of static_asserts, so that the first line of the error names the element and the
/// function: "static assertion failed due to requirement 'element_is<long>::taken_by<(lambda …)>'".
template <class T> struct element_is {
  template <class F> static constexpr bool taken_by = false;
  template <class Source> static constexpr bool can_be_piped_into = false;
};
}  // namespace detail

/// The base of datasets and readers: owns a reference to the plan. Its members are not inline, because a program copies
/// and destroys one for every stage, and would compile all of that.
class plan_holder {
 public:
  const node_ptr& plan() const noexcept { return node_; }
  /// The number of elements, as far as it is known without a run: exact, infinite or unknown. cardinality_limits()
  /// returns bounds.
  sluice::lib::cardinality cardinality() const;
  cardinality_bounds cardinality_limits() const;
  /// The spec of the elements: dtypes, shapes as far as they are known, structures. `element_spec().text()` is its
  /// text, such as "{label: int64, image: uint8[?,?,3]}". Include sluice/element/spec.hpp to use the result.
  spec element_spec() const;
  /// The combined options of its with_options calls, the outermost first. Include sluice/engine/dataset_options.hpp to
  /// use the result.
  dataset_options options() const;
  /// Prints the dataset as an element of another one: its plan's text, as JSON.
  void sluice_print(std::string& json) const;

 protected:
  explicit plan_holder(node_ptr n) noexcept;
  /// Errors: throws invalid_argument if the elements of the plan are not of type t.
  plan_holder(node_ptr n, const element_type& t);
  /// Holds the result of make_stage(op, a, in), or of make_source(op, a). Errors: those of these functions.
  plan_holder(const op_info& op, const arguments& a, const node_ptr& in, const element_type& t);
  plan_holder(const op_info& op, const arguments& a, const element_type& t);
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
  /// Datasets may be elements, too; flat_map and interleave read the datasets that their functions return.
  static std::string sluice_type_name() { return "dataset<" + type_of<T>().name + ">"; }
  static constexpr bool trivially_relocatable = true;
  /// Errors: throws invalid_argument if the elements of the plan are of another type.
  explicit dataset(node_ptr n) : plan_holder(std::move(n), type_of<T>()) {}
  /// Makes the stage of a verb from its input, or a source. Does what make_stage() and make_source() do, but the
  /// program compiles less code: it has no node_ptr to destroy.
  dataset(const op_info& op, const arguments& a, const node_ptr& in) : plan_holder(op, a, in, type_of<T>()) {}
  dataset(const op_info& op, const arguments& a) : plan_holder(op, a, type_of<T>()) {}

  /// Starts a run and returns its root. Defined in pipeline/iterate.hpp.
  stream<T> iterate(runtime& rt) const;
  stream<T> iterate(runtime& rt, const iterate_options& o) const;
  /// The element number `index`, from 0. Defined in pipeline/one_element.hpp.
  task<T> at(runtime& rt, std::int64_t index) const;
  task<T> at(runtime& rt, std::int64_t index, const iterate_options& o) const;
};
template <> class dataset<refused> {};

namespace detail {
/// node_ptr, as a dependent type, which is complete when the calling function is instantiated.
template <class T> struct plan_of {
  using type = node_ptr;
};
}  // namespace detail

/// The plans of several datasets, for verbs with many inputs.
template <class T> std::vector<node_ptr> plans_of(const std::vector<dataset<T>>& datasets) {
  std::vector<typename detail::plan_of<T>::type> plans;
  for (const dataset<T>& d : datasets) plans.push_back(d.plan());
  return plans;
}

/// The base of all classes of verbs that may follow a `|`. Each has a member template apply(const dataset<T>&).
struct stage_base_tag {};
template <class S> concept stage = std::is_base_of_v<stage_base_tag, S>;

/// The class of the verbs of operators that accept elements of any type T and yield elements of type Out<T>. A verb
/// that depends on T in another way, because it rejects some types or has a function, has its own class, NAME_verb.
template <template <class> class Out> class verb : public stage_base_tag {
 public:
  verb(const op_info& op, arguments a) : op_(&op), arguments_(std::move(a)) {}
  template <class T> dataset<Out<T>> apply(const dataset<T>& in) const {
    return dataset<Out<T>>(*op_, arguments_, in.plan());
  }

 private:
  const op_info* op_;
  arguments arguments_;
};
/// For operators that yield elements of the type of their input.
using preserving = verb<std::type_identity_t>;

template <stage A, stage B> class composed : public stage_base_tag {
 public:
  composed(A a, B b) : a_(std::move(a)), b_(std::move(b)) {}
  template <class T> auto apply(const dataset<T>& in) const { return in | a_ | b_; }

 private:
  A a_;
  B b_;
};

// The parameters are taken by value, so that these overloads are preferred to an unconstrained operator| in the
// namespace of the element type.
template <class T, stage S> auto operator|(dataset<T> in, S s) {
  if constexpr (std::is_same_v<T, refused>) return in;
  else return s.apply(in);
}
template <stage A, stage B> composed<A, B> operator|(A a, B b) { return {std::move(a), std::move(b)}; }

// Each of these overloads reports a mistake with `|`.
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

/// A reader: a plan that lacks its path. interleave and flat_map open it once for each path.
template <class T> class file_reader : public plan_holder {
 public:
  using value_type = T;
  explicit file_reader(node_ptr n) : plan_holder(std::move(n)) {}
  const file_reader& as_reader() const noexcept { return *this; }
  dataset<T> operator()(std::string_view path) const { return dataset<T>(with_path(plan(), path)); }
};

/// The types that can be used as a reader: file_reader, and verbs with a member `file_reader<T> as_reader() const`
/// (tfrecord, lines).
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

// The public names.
using lib::dataset;
using lib::file_reader;

}  // namespace sluice
