// SPDX-License-Identifier: Apache-2.0
// The argument list of a struct, and the codec of each type. For the sources of operators:
//
//   .arguments = arguments_of<shuffle_arguments>,
//
// An operator that has an argument of its own type defines `template <> const codec& codec_of<T>()` before it names
// arguments_of<A>.
// No public header includes this file: each struct is compiled only where its list is named.
#pragma once

#include <array>
#include <string_view>
#include <type_traits>
#include <utility>

#include "plan/codecs/argument_codec.hpp"
#include "plan/codecs/container_codecs.hpp"
#include "sluice/base/reflect.hpp"

namespace sluice::lib {

struct stage_plan;  // plan/stage_plan.hpp
struct wait_time;   // base/wait_time.hpp

// --- Codecs that are not templates. ---

template <> const codec& codec_of<bool>();
template <> const codec& codec_of<std::int64_t>();
template <> const codec& codec_of<double>();
template <> const codec& codec_of<std::string>();
template <> const codec& codec_of<count>();
template <> const codec& codec_of<integer>();
template <> const codec& codec_of<count_or_all>();
template <> const codec& codec_of<knob>();
template <> const codec& codec_of<seed>();
template <> const codec& codec_of<later_seed>();
template <> const codec& codec_of<byte_size>();
template <> const codec& codec_of<wait_time>();
template <> const codec& codec_of<error_limit>();
template <> const codec& codec_of<quarantine>();
template <> const codec& codec_of<page_cache>();
template <> const codec& codec_of<after_damage>();
template <> const codec& codec_of<external_state>();
template <> const codec& codec_of<size_limit>();
template <> const codec& codec_of<ratio_limit>();
template <> const codec& codec_of<required_text>();
template <> const codec& codec_of<later_text>();
template <> const codec& codec_of<file_path>();
template <> const codec& codec_of<node_ptr>();
template <> const codec& codec_of<initial_value>();
template <> const codec& codec_of<stage_plan>();

namespace detail {

/// The codec of a count_up_to or a knob_up_to with the limit `most`.
const codec& count_codec_up_to(std::int64_t most);
const codec& knob_codec_up_to(std::int64_t most);
/// The codec of an enum of one byte whose values are 0, 1, 2 …
const codec& enum_codec(const std::string_view* names, std::size_t n);
/// The codec of a function_value.
const codec& function_codec(function_filter accepts);
/// The codec of an optional_function.
const codec& optional_function_codec(function_filter accepts);
/// The codec of a number_function.
const codec& number_function_codec(function_filter accepts);
/// The codec of a plan_or_function. If `accepts` is null, functions are not allowed.
const codec& inner_plan_codec(opens which, function_filter accepts);

template <class E, E Value> consteval std::string_view enumerator_name() {
  std::string_view s = __PRETTY_FUNCTION__;  // "… Value = sluice::order::sloppy]", or "(sluice::order)7"
  s = s.substr(s.find("Value = ") + 8);
  s = s.substr(0, s.find_first_of(";]"));
  if (s.find(')') != s.npos) return {};
  return s.substr(s.find_last_of(": ") + 1);
}

template <class E> const codec& codec_of_enum() {
  static_assert(sizeof(E) == 1, "sluice: an enum among arguments has std::uint8_t underneath");
  static constexpr auto names = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<std::string_view, sizeof...(I)>{enumerator_name<E, static_cast<E>(I)>()...};
  }(std::make_index_sequence<16>{});
  static const codec& c = enum_codec(names.data(), names.size());
  return c;
}

template <class Form> bool is_form(const stage_function& f) {
  if constexpr (requires { Form::accepts(f); }) return Form::accepts(f);
  else return dynamic_cast<const Form*>(&f) != nullptr;
}
template <class... Forms> bool is_any_form(const stage_function& f) { return (is_form<Forms>(f) || ...); }

/// The codec of a struct that has this list.
const codec& struct_codec(const argument_list& list);

void add_field(argument_list& list, std::string_view name, std::ptrdiff_t offset, const codec& type, bool by_position);
/// Fills in which fields are required.
void complete_list(argument_list& list);

template <class T, bool ByPosition> void add_fields(argument_list& list, T& object, const char* base);

/// A struct like column_choice.
template <class M> inline constexpr bool is_given_by_name = requires { typename M::given_by_name; };
/// A member that is no argument: plan text, equality and fingerprints omit it, and copies of the struct share it
/// (cache_share).
template <class M> inline constexpr bool is_no_argument = requires { typename M::no_argument; };
/// The I-th member of T. The members of `options`, and of a struct that is given by name (column_choice), are used instead.
/// Both come after the arguments that may be given by position.
template <class T, bool ByPosition, std::size_t I, class M>
void add_member(argument_list& list, M& member, const char* base) {
  constexpr std::string_view name = member_names<T>[I];
  constexpr bool is_last = I + 1 == member_count<T> || (I + 2 == member_count<T> && name == "options");
  if constexpr (is_no_argument<M>) {
    return;
  } else if constexpr (ByPosition && is_last && (name == "options" || is_given_by_name<M>)) {
    add_fields<M, false>(list, member, base);
  } else {
    add_field(list, name, reinterpret_cast<const char*>(&member) - base, codec_of<M>(), ByPosition);
  }
}

template <class T, bool ByPosition> void add_fields(argument_list& list, T& object, const char* base) {
  with_members(object, [&](auto&... m) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (add_member<T, ByPosition, I>(list, m, base), ...);
    }(std::make_index_sequence<sizeof...(m)>{});
  });
  (void)list, (void)base;
}

template <class A> argument_list read_arguments() {
  static const A defaults{};
  argument_list l;
  A object{};
  add_fields<A, true>(l, object, reinterpret_cast<const char*>(&object));
  l.tag = &arguments_tag<A>;
  l.defaults = &defaults;
  l.copy = [](const void* a) -> std::shared_ptr<void> {
    void (*destroy)(void*) = [](void* p) { delete static_cast<A*>(p); };
    void* made = new A(*static_cast<const A*>(a));
    return {made, destroy};  // one kind of control block for all structs
  };
  complete_list(l);
  return l;
}

template <class T> inline constexpr bool list_type = false;
template <class T> inline constexpr bool list_type<std::vector<T>> = true;
template <class T> inline constexpr bool map_type = false;
template <class T> inline constexpr bool map_type<std::map<std::string, T>> = true;
template <class T> inline constexpr bool member_map_type = false;
template <class T> inline constexpr bool member_map_type<member_map<T>> = true;
template <class T> inline constexpr bool optional_type = false;
template <class T> inline constexpr bool optional_type<std::optional<T>> = true;

template <class T> struct function_codec_of {
  static constexpr bool exists = false;
};
template <class... Forms> struct function_codec_of<function_arg<Forms...>> {
  static constexpr bool exists = true;
  static const codec& make() { return function_codec(is_any_form<Forms...>); }
};
template <class... Forms> struct function_codec_of<optional_function<Forms...>> {
  static constexpr bool exists = true;
  static const codec& make() { return optional_function_codec(is_any_form<Forms...>); }
};
template <class... Forms> struct function_codec_of<number_function<Forms...>> {
  static constexpr bool exists = true;
  static const codec& make() { return number_function_codec(is_any_form<Forms...>); }
};
template <opens Which, class... Forms> struct function_codec_of<inner_plan<Which, Forms...>> {
  static constexpr bool exists = true;
  static const codec& make() {
    return inner_plan_codec(Which, sizeof...(Forms) == 0 ? nullptr : is_any_form<Forms...>);
  }
};

}  // namespace detail

template <class T> const codec& codec_of() {
  if constexpr (std::is_enum_v<T>) {
    return detail::codec_of_enum<T>();
  } else if constexpr (std::is_base_of_v<count, T>) {
    static const codec& c = detail::count_codec_up_to(T::kMost);
    return c;
  } else if constexpr (std::is_base_of_v<knob, T>) {
    static const codec& c = detail::knob_codec_up_to(T::kMost);
    return c;
  } else if constexpr (detail::function_codec_of<T>::exists) {
    static const codec& c = detail::function_codec_of<T>::make();
    return c;
  } else if constexpr (detail::list_type<T>) {
    static const detail::list_codec<typename T::value_type> c;
    return c;
  } else if constexpr (detail::map_type<T>) {
    static const detail::map_codec<typename T::mapped_type> c;
    return c;
  } else if constexpr (detail::member_map_type<T>) {
    using value = std::remove_cvref_t<decltype(T::value_type::second)>;
    static const detail::member_map_codec<value> c;
    return c;
  } else if constexpr (detail::optional_type<T>) {
    static const detail::optional_codec<typename T::value_type> c;
    return c;
  } else {
    static_assert(reflectable<T>,
                  "sluice: no codec for an argument of this type (plan/arguments.hpp has those there are)");
    static const codec& c = detail::struct_codec(arguments_of<T>());
    return c;
  }
}

template <class A> const argument_list& arguments_of() {
  static const argument_list list = detail::read_arguments<A>();
  return list;
}

}  // namespace sluice::lib
