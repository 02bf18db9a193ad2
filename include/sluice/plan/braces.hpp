// SPDX-License-Identifier: Apache-2.0
// SLUICE_OPTIONS_IN_BRACES and similar macros: the message for an option that is not in braces, as in batch(4, true).
//
// Each macro declares the overload that a compiler chooses if the last argument of a call is not the verb's options.
// Braces fit no parameter that is a template, so a correct call never meets it. The cost is that of reading a declaration.
#pragma once

#include <string_view>
#include <type_traits>

namespace sluice::lib::detail {

/// Always false; the condition of the static_assert.
template <class Option> inline constexpr bool options_stand_in_braces = false;
/// The value of a call that does not compile. Never defined.
template <class Result> Result no_result();
template <class Option, class Options>
inline constexpr bool is_bare_option =
    !std::is_convertible_v<Option, Options> && !std::is_convertible_v<Option, std::string_view>;

}  // namespace sluice::lib::detail

#define SLUICE_DETAIL_REFUSE_OPTION(RESULT, VERB, EXAMPLE)                      \
  static_assert(::sluice::lib::detail::options_stand_in_braces<Option>,         \
                #VERB ": options stand in braces, with their names: " EXAMPLE); \
  return ::sluice::lib::detail::no_result<RESULT>()

/// Declares the overload of VERB(ARGUMENTS…, OPTIONS). The arguments' types come last. EXAMPLE shows the call as it should
/// be. RESULT: what VERB returns.
#define SLUICE_OPTIONS_IN_BRACES_AFTER(RESULT, VERB, OPTIONS, EXAMPLE, ...) \
  template <class Option>                                                   \
    requires(!std::is_convertible_v<Option, OPTIONS>)                       \
  RESULT VERB(__VA_ARGS__ __VA_OPT__(, ) Option) {                          \
    SLUICE_DETAIL_REFUSE_OPTION(RESULT, VERB, EXAMPLE);                     \
  }
/// The same for one argument.
#define SLUICE_OPTIONS_IN_BRACES(RESULT, VERB, ARGUMENT, OPTIONS, EXAMPLE) \
  SLUICE_OPTIONS_IN_BRACES_AFTER(RESULT, VERB, OPTIONS, EXAMPLE, ARGUMENT)
/// The same for VERB<T>, as in csv<T>("a.csv", true), or for arguments that contain T. A text is never taken for an
/// option.
#define SLUICE_TYPED_OPTIONS_IN_BRACES(RESULT, VERB, OPTIONS, EXAMPLE, ...) \
  template <class T, class Option>                                          \
    requires ::sluice::lib::detail::is_bare_option<Option, OPTIONS>         \
  RESULT VERB(__VA_ARGS__ __VA_OPT__(, ) Option) {                          \
    SLUICE_DETAIL_REFUSE_OPTION(RESULT, VERB, EXAMPLE);                     \
  }
/// The same for a verb whose first argument is a function of any type F.
#define SLUICE_FUNCTION_OPTIONS_IN_BRACES(RESULT, VERB, OPTIONS, EXAMPLE, ...) \
  template <class F, class Option>                                             \
    requires(!std::is_convertible_v<Option, OPTIONS>)                          \
  RESULT VERB(F, __VA_ARGS__ __VA_OPT__(, ) Option) {                          \
    SLUICE_DETAIL_REFUSE_OPTION(RESULT, VERB, EXAMPLE);                        \
  }
