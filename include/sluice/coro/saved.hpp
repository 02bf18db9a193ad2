// SPDX-License-Identifier: Apache-2.0
// saved<S>: a value of a stage that positions, and therefore checkpoints, contain.
//
//   stream<std::int64_t> running_sum(saved<std::int64_t> sum, stream<std::int64_t> in) {
//     while (auto x = co_await in.next()) { *sum += *x; co_yield *sum; }
//   }
//   stream<std::int64_t> sums(stream<std::int64_t> in) { return running_sum(saved<std::int64_t>(), std::move(in)); }
//   auto ds = range(10) | transform(sums);
//
// Use. A stage takes a saved<S> by value as a parameter of its coroutine; the value given to the constructor is the
// state at the start of the run. A resumed run constructs the stage in the same way and then replaces the value, before
// the coroutine is resumed for the first time.
//
// A stage that consumes several elements before its state is consistent again marks its resume points:
//
//   stream<std::int64_t> pair_sums(saved<std::int64_t> pairs, stream<std::int64_t> in) {
//     for (;;) {
//       pairs.commit();                                  // between two pairs nothing else has to be remembered
//       auto a = co_await in.next();
//       if (!a) break;
//       std::int64_t first = *a;                         // not in a saved value: a resume must not start here
//       auto b = co_await in.next();
//       if (!b) break;
//       ++*pairs;
//       co_yield first + *b;
//     }
//   }
//
// A class writes and reads its own state if it has these two members:
//
//   struct histogram {
//     std::map<std::string, std::int64_t> counts;
//     void save(position_writer& w) const {
//       w.number(counts.size());
//       for (auto& [word, n] : counts) { w.text(word); w.number(static_cast<std::uint64_t>(n)); }
//     }
//     void load(position_reader& r) {
//       counts.clear();
//       for (std::size_t n = r.count(); n && r.ok(); --n) {       // count(): a damaged size cannot be large
//         std::string word(r.text());
//         counts[word] = static_cast<std::int64_t>(r.number());
//       }
//     }
//   };
//
// Contract of an element stage (a user's coroutine). At every request for input, the saved value must include every
// element that the stage has consumed and every element that it has yielded: a new coroutine that starts with this
// value must continue exactly as the old one. This moment is a *resume point*. A stage that cannot keep this rule at
// every request calls commit() when it holds: a stage that consumes several elements before it updates the value, and a
// source, which has no input. A resumed run starts the stage at its last resume point and skips the elements that it
// yielded since then, so it makes at most the outputs of one input block again.
//
// Contract of a block stage (an operator of the library): the value is right at every co_yield. A request for input is
// not a resume point of a block stage.
//
// State:  S is `savable`: numbers, enums, strings, vectors, arrays, maps, sets, optional values, pairs, tuples and
//         aggregates of those, and classes with
//           void save(position_writer&) const;  void load(position_reader&);
//         A class whose save() is not const may be an S itself, but not a part of one.
// Format: integers as LEB128, signed ones zigzag-coded; floating point as its bytes; containers after their size;
//         aggregates, pairs, tuples and arrays as their members. The format has no names and no types: a changed S
//         reads other values, so an operator of the library raises op_info::state_version, and a user gives the
//         function another version.
// Errors: damage makes load fail (position_reader::ok) and never allocates more than the number of bytes available;
//         iterate() reports data_loss.
// Thread: not safe for concurrent use; belongs to its stage.
// Limits: at most 4 saved values per stage.
#pragma once

#include <concepts>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sluice/base/reflect.hpp"
#include "sluice/coro/element_stage.hpp"

namespace sluice::lib {

/// A class that writes and reads its own state.
template <class S>
concept self_saving = requires(S s, position_writer& w, position_reader& r) {
  s.save(w);
  s.load(r);
};

namespace detail {

template <class S> void save_value(position_writer& w, const S& value);
template <class S> void load_value(position_reader& r, S& value);

/// A self-saving class that may be part of another value: its save() is const.
template <class S> concept saves_itself = self_saving<S> && requires(const S& s, position_writer& w) { s.save(w); };
template <class S>
concept pair_like = requires {
  typename S::first_type;
  typename S::second_type;
};
template <class S> concept array_like = std::is_array_v<S> || (tuple_like<S> && requires(S s) { s.data(); });
template <class S>
concept vector_like = requires(S s) {
  typename S::value_type;
  s.push_back(s.front());
};
template <class S>
concept set_like = requires(S s) {
  typename S::key_type;
  s.emplace_hint(s.end());
};
template <class S> concept map_like = set_like<S> && requires { typename S::mapped_type; };
template <class S>
concept optional_like = requires(S s) {
  typename S::value_type;
  s.has_value();
  s.emplace();
};

template <class S> constexpr bool is_savable();
template <class... M> constexpr bool all_savable(std::tuple<M*...>*) {
  return (is_savable<std::remove_cv_t<M>>() && ...);
}
template <class... M> constexpr bool tuple_savable(std::tuple<M...>*) { return (is_savable<M>() && ...); }

template <class S> constexpr bool is_savable() {
  if constexpr (saves_itself<S> || std::is_arithmetic_v<S> || std::is_enum_v<S> || std::is_same_v<S, std::string>)
    return true;
  else if constexpr (std::is_array_v<S>) return is_savable<std::remove_extent_t<S>>();
  else if constexpr (pair_like<S>)
    return is_savable<std::remove_cv_t<typename S::first_type>>() && is_savable<typename S::second_type>();
  else if constexpr (map_like<S>) return is_savable<typename S::key_type>() && is_savable<typename S::mapped_type>();
  else if constexpr (set_like<S>) return is_savable<typename S::key_type>();
  else if constexpr (array_like<S> || vector_like<S> || optional_like<S>) return is_savable<typename S::value_type>();
  else if constexpr (tuple_like<S>) return tuple_savable(static_cast<S*>(nullptr));
  else if constexpr (reflectable<S>) return all_savable(static_cast<member_pointers<S>*>(nullptr));
  else return false;
}

/// Writes a value in the format above.
template <class S> void save_value(position_writer& w, const S& value) {
  if constexpr (saves_itself<S>) value.save(w);
  else if constexpr (std::is_floating_point_v<S>) w.raw(&value, sizeof value);
  else if constexpr (std::is_signed_v<S>) {  // zigzag: small numbers of either sign stay small
    auto v = static_cast<std::int64_t>(value);
    w.number((static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63));
  } else if constexpr (std::is_integral_v<S> || std::is_enum_v<S>) w.number(static_cast<std::uint64_t>(value));
  else if constexpr (std::is_same_v<S, std::string>) w.text(value);
  else if constexpr (pair_like<S>) {
    save_value(w, value.first);
    save_value(w, value.second);
  } else if constexpr (array_like<S>) {
    for (const auto& x : value) save_value(w, x);
  } else if constexpr (vector_like<S> || set_like<S>) {
    w.number(value.size());
    for (const auto& x : value) save_value(w, x);
  } else if constexpr (optional_like<S>) {
    w.number(value.has_value());
    if (value) save_value(w, *value);
  } else if constexpr (tuple_like<S>) {
    std::apply([&](const auto&... member) { (save_value(w, member), ...); }, value);
  } else with_members(value, [&](const auto&... member) { (save_value(w, member), ...); });
}

/// Reads a value that save_value() wrote. After damage the value is valid but arbitrary: the caller checks r.ok().
template <class S> void load_value(position_reader& r, S& value) {
  if constexpr (saves_itself<S>) value.load(r);
  else if constexpr (std::is_floating_point_v<S>) r.raw(&value, sizeof value);
  else if constexpr (std::is_signed_v<S>) {
    std::uint64_t v = r.number();
    value = static_cast<S>(static_cast<std::int64_t>(v >> 1) ^ -static_cast<std::int64_t>(v & 1));
  } else if constexpr (std::is_integral_v<S> || std::is_enum_v<S>) value = static_cast<S>(r.number());
  else if constexpr (std::is_same_v<S, std::string>) value = std::string(r.text());
  else if constexpr (pair_like<S>) {
    load_value(r, value.first);
    load_value(r, value.second);
  } else if constexpr (array_like<S>) {
    for (auto& x : value) load_value(r, x);
  } else if constexpr (vector_like<S>) {
    value.clear();  // grows as elements are read, so that a forged count allocates no more than the bytes available
    for (std::size_t n = r.count(); n && r.ok(); --n) {
      typename S::value_type x{};
      load_value(r, x);
      value.push_back(std::move(x));
    }
  } else if constexpr (map_like<S>) {
    value.clear();
    for (std::size_t n = r.count(); n && r.ok(); --n) {
      typename S::key_type key{};
      load_value(r, key);
      typename S::mapped_type mapped{};
      load_value(r, mapped);
      value.emplace_hint(value.end(), std::move(key), std::move(mapped));
    }
  } else if constexpr (set_like<S>) {
    value.clear();
    for (std::size_t n = r.count(); n && r.ok(); --n) {
      typename S::key_type key{};
      load_value(r, key);
      value.emplace_hint(value.end(), std::move(key));
    }
  } else if constexpr (optional_like<S>) {
    value.reset();
    if (r.number()) load_value(r, value.emplace());
  } else if constexpr (tuple_like<S>) {
    std::apply([&](auto&... member) { (load_value(r, member), ...); }, value);
  } else with_members(value, [&](auto&... member) { (load_value(r, member), ...); });
}

}  // namespace detail

/// The types of values that a position can contain (see State).
template <class S> concept savable = detail::is_savable<S>();

/// Access the value through `*` and `->`. The class has a second copy of the value, from the last resume point, since a
/// position may be read after the stage has continued from there. A self-saving S has no copy and must be right at
/// every request.
template <class S> class saved final : public saved_base {
 public:
  using value_type = S;
  saved() = default;
  explicit saved(S value) : value_(std::move(value)) {}

  S& operator*() noexcept { return value_; }
  S* operator->() noexcept { return &value_; }
  const S& operator*() const noexcept { return value_; }
  const S* operator->() const noexcept { return &value_; }

  /// Declares a resume point: a new coroutine that starts with the stage's saved values and its inputs' current
  /// positions continues exactly as this one. After the first call only committed moments are resume points; requests
  /// for input no longer are.
  /// REQUIRES: a parameter of a coroutine that returns stream<T>, which makes this call. The values include every
  /// element consumed and yielded so far. Place the call after the co_yield of an element that the value includes, not
  /// before it.
  /// Cost: some nanoseconds, and a copy of the value.
  void commit() {
    element_stage& o = *owner_;
    if (!o.simple_commit_) return o.commit();
    // The usual case, with one saved value and at most one input: no virtual call; the stage's flags are already set.
    stage_input& in = o.state_.inputs().only();
    if (in.stream) in.cut_cursor = in.stream->cur_;
    o.cut_put_ = o.put_;
    cut();
  }

 private:
  // Called by the promise of the stage (saved_base.hpp).

  void cut() override {
    if constexpr (!self_saving<S>) at_cut_ = value_;
  }
  void save(position_writer& w, [[maybe_unused]] bool at_resume_point) override {
    static_assert(
        self_saving<S> || savable<S>,
        "sluice: a position cannot hold this value: saved<S> takes numbers, enums, strings, vectors, maps, "
        "pairs, arrays and structs of those, or a class with save(position_writer&) and load(position_reader&)");
    if constexpr (self_saving<S>) value_.save(w);
    else detail::save_value(w, at_resume_point ? at_cut_ : value_);
  }
  void load(position_reader& r) override {
    if constexpr (self_saving<S>) value_.load(r);
    else {
      detail::load_value(r, value_);
      at_cut_ = value_;
    }
  }
  bool keeps_resume_point() const override { return !self_saving<S>; }
  bool may_wait() const override {
    if constexpr (requires(const S& s) { s.may_wait(); }) return value_.may_wait();
    else return false;
  }
  bool holds_nothing() const override {
    return requires { S::kHoldsNothing; };
  }
  bool owns_input() const override { return kOwnsInput; }
  mark input_place() override {
    if constexpr (kOwnsInput) return value_.input_place();
    else return {};
  }
  void restore_input([[maybe_unused]] position_records& from) override {
    if constexpr (kOwnsInput) value_.restore_input(from);
  }
  const stream_base* input_stream() const override {
    if constexpr (requires(const S& s) { s.input_stream(); }) return value_.input_stream();
    else return nullptr;
  }
  std::uint64_t input_consumed() const override {
    if constexpr (kOwnsInput) return value_.input_consumed();
    else return 0;
  }
  static constexpr bool kOwnsInput = requires(S& s) { s.input_place(); };

  struct nothing {};
  S value_{};
  [[no_unique_address]] std::conditional_t<self_saving<S>, nothing, S> at_cut_{};  ///< at the last resume point
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::savable;
using lib::saved;

}  // namespace sluice
